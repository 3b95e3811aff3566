"""opencode's older history: a tree of JSON files, `storage/`, from before it kept a database.

Learned from a store of opencode 1.1.65 (`tests/fixtures/opencode`).

    session/<project id>/<session id>.json    id, parentID, directory, title, time
    message/<session id>/<message id>.json    id, sessionID, and what opencode_parts describes
    part/<message id>/<part id>.json          id, messageID, sessionID, likewise

Versions 1.2 imported this into the database and left the files; 1.18, started on such a store, imports nothing, so the
files may be the only copy. The two have one kind and the same ids, hence a message of both is archived once. Sessions
that `opencode.db` beside the tree has are left to it.

The rows are the files, to the byte: the session's, then each message followed by its parts.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from palazzo.errors import SourceUnreadable
from palazzo.frozen_class import frozen
from palazzo.hosts.opencode.opencode_database import IDLE_LIMIT, Opencode
from palazzo.hosts.opencode.opencode_parts import (
    KIND,
    is_unfinished,
    message_content,
    part_content,
    rank_id,
    speech_of,
)
from palazzo.model import Micros
from palazzo.sources.formats import Content, Identity, Noise, Row, Session, Unreadable
from palazzo.sources.formats.jsonl_rows import JsonObject, string
from palazzo.sources.formats.row_records import stamp_of
from palazzo.sources.formats.source_times import moment

_ID = re.compile(r"[A-Za-z]+_[\w-]{1,100}")


def _read_clock() -> Micros:
    return Micros(time.time_ns() // 1000)


class OpencodeStorage:
    """Reads opencode's tree of JSON files; `path` is the directory `storage`, or the one that contains it."""

    kind = KIND
    version = 1

    def __init__(self, clock: Callable[[], Micros] = _read_clock) -> None:
        self._now = clock

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether the directory has sessions and messages in opencode's layout."""
        if head:
            return False
        root = _root(path)
        return root is not None and any(_ID.fullmatch(entry.name) for entry in _list_directory(root / "message"))

    def sessions(self, path: Path) -> Iterator[Session]:
        """Yield the sessions that are in no database beside them, oldest first."""
        root = _root(path)
        if root is None:
            raise SourceUnreadable(
                f"{path} has no directories 'session' and 'message', so it is not opencode's storage."
            )
        database_ids = _in_database(root.parent / "opencode.db")
        files = [
            file
            for project in _list_directory(root / "session")
            for file in _list_directory(project)
            if file.suffix == ".json"
        ]
        for file in sorted(_read_all(files), key=lambda one: (_created(one.value), one.id)):
            if file.id not in database_ids:
                yield self._session(root, file)

    def _session(self, root: Path, file: _File) -> Session:
        messages = _list_directory(root / "message" / file.id)
        parts = [part for message in messages for part in _list_directory(root / "part" / message.stem)]
        states = [_state(path) for path in (file.path, *messages, *parts)]
        changed = max(at for _, at in states) // 1000
        is_resting = self._now() - changed > IDLE_LIMIT
        stamp = stamp_of(*(state for state, _ in states)) + ("" if is_resting else "+")
        value = file.value if isinstance(file.value, dict) else {}
        parent = string(value, "parentID")
        return Session(
            Identity((KIND, file.id), file.id, parent, led_by_agent=bool(parent)),
            stamp,
            partial(_rows, root, file, is_resting),
            string(value, "title").strip(),
            string(value, "directory"),
            Micros(changed),
            settled=is_resting,
        )


@frozen
class _File:
    """A file's bytes and its JSON value; None if it is not JSON."""

    path: Path
    raw: bytes
    value: object

    @property
    def id(self) -> str:
        """Return the ID that the file is named after."""
        return self.path.stem

    @property
    def object(self) -> JsonObject:
        """Return the JSON object; an empty one if it is not an object."""
        return self.value if isinstance(self.value, dict) else {}


def _rows(root: Path, session: _File, is_resting: bool) -> Iterator[Row]:
    yield Row(0, session.raw, Noise("session"), string(session.object, "title").strip())
    position = 1
    messages = _read_all(_list_directory(root / "message" / session.id))
    messages.sort(key=lambda one: (_created(one.value), one.id))
    open_message = None if is_resting else _find_open_message(messages)
    for message in messages:
        if message is open_message:
            return
        yield Row(position, message.raw, _check_json(message, message_content(message.id, message.value)))
        position += 1
        speech = speech_of(message.id, message.object)
        parts = _read_all(_list_directory(root / "part" / message.id))
        for part in sorted(parts, key=lambda one: (rank_id(one.id, message.id), one.id)):
            yield Row(position, part.raw, _check_json(part, part_content(part.id, part.value, speech)))
            position += 1


def _check_json(file: _File, content: Content) -> Content:
    return Unreadable("not valid JSON") if file.value is None else content


def _find_open_message(messages: list[_File]) -> _File | None:
    for message in reversed(messages):
        if string(message.object, "role") == "assistant":
            return message if is_unfinished(message.object) else None
    return None


def _root(path: Path) -> Path | None:
    for root in (path, path / "storage"):
        if (root / "session").is_dir() and (root / "message").is_dir():
            return root
    return None


def _list_directory(directory: Path) -> list[Path]:
    """Return a directory's entries, sorted and without links; nothing if it does not exist."""
    try:
        return sorted(entry for entry in directory.iterdir() if not entry.is_symlink())
    except OSError:
        return []


def _read_all(files: list[Path]) -> list[_File]:
    """Read the files. A file that opencode has removed since the listing is skipped."""
    read = []
    for file in files:
        try:
            raw = file.read_bytes()
        except (FileNotFoundError, IsADirectoryError):
            continue
        except OSError as error:
            raise SourceUnreadable(f"{file} cannot be read ({error}).") from None
        try:
            value: object = json.loads(raw.decode("utf-8", "surrogateescape"), strict=False)
        except (ValueError, RecursionError):
            value = None
        read.append(_File(file, raw, value))
    return read


def _state(file: Path) -> tuple[str, int]:
    try:
        status = file.stat()
    except OSError:
        return f"{file.name}:gone", 0
    return f"{file.name}:{status.st_size}:{status.st_mtime_ns}", status.st_mtime_ns


def _created(value: object) -> int:
    times = value.get("time") if isinstance(value, dict) else None
    return (moment(times.get("created")) or 0) if isinstance(times, dict) else 0


def _in_database(path: Path) -> set[str]:
    """Return the IDs of the sessions in the database beside the tree."""
    try:
        return {session.identity.session_id for session in Opencode().sessions(path)} if path.is_file() else set()
    except SourceUnreadable:
        return set()
