"""Tasks of Cline's editor extension and of Roo Code: a directory for each, `tasks/<task id>`, with files of JSON.

Learned from the source code of Cline 3 (`src/core/storage/disk.ts`, `src/shared/HistoryItem.ts`) and of Roo Code 3.52
(`src/core/task-persistence`, `packages/types/src/history.ts`).

    api_conversation_history.json   the messages, complete and in order (`hosts/task_messages`)
    claude_messages.json            the same in the oldest versions
    ui_messages.json                what the extension shows: `{ts, type, say | ask, text, conversationHistoryIndex}`
    history_item.json               Roo Code's entry of the task in its list: `{id, ts, task, workspace, parentTaskId}`
    ../../state/taskHistory.json    Cline's list, of `{id, ts, task, cwdOnTaskInitialization}`

Both programs replace a file by another, so it is never half-written. Messages of older versions have no `ts`. Their
time is that of the line of `ui_messages.json` that was shown after them; Cline's task id is the time of its start.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from pathlib import Path

from palazzo.errors import SourceUnreadable
from palazzo.frozen_class import frozen
from palazzo.hosts.json_sessions import read_records
from palazzo.hosts.task_messages import read_message
from palazzo.model import Micros
from palazzo.sources.formats import Identity, Row, Session, Unreadable
from palazzo.sources.formats.conversation_exports import Rows
from palazzo.sources.formats.jsonl_rows import JsonObject, string
from palazzo.sources.formats.resume_context import Calls
from palazzo.sources.formats.row_records import decode_json_text, objects_in, parse, stamp_of
from palazzo.sources.formats.source_times import moment
from palazzo.sources.formats.whole_files import read_file

_NAMES = ("api_conversation_history.json", "claude_messages.json")
_ITEM, _UI_MESSAGES = "history_item.json", "ui_messages.json"
_BEGINNING = re.compile(rb"(?:\xef\xbb\xbf)?\s*\[\s*\{\s*\"")
_DIRECTORY = re.compile(r"^# Current (?:Working|Workspace) Directory \((.{1,4096}?)\) Files", re.MULTILINE)
_TIMESTAMP = re.compile(r"1\d{12}")
_LONGEST_TITLE = 120


class TaskFiles:
    """Reads the messages of a task, given their file. `is_own` says whether a task's directory is the host's."""

    version = 1

    def __init__(self, kind: str, is_own: Callable[[Path], bool]) -> None:
        self.kind, self._is_own = kind, is_own

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether this is a task's file of messages."""
        return path.name in _NAMES and _BEGINNING.match(head) is not None and self._is_own(path.parent)

    def sessions(self, path: Path) -> Iterator[Session]:
        """Yield the one conversation."""
        data = read_file(path)
        records, fault = read_records(decode_json_text(data), 0, path.name)
        task = path.parent.name
        entry = _entry_of(path.parent)
        parent = string(entry, "parentTaskId")
        cwd = string(entry, "workspace") or string(entry, "cwdOnTaskInitialization") or _stated_directory(records)
        yield Session(
            Identity((self.kind, task), task, parent, led_by_agent=bool(parent)),
            stamp_of(data),
            partial(_rows, path.parent, records, fault, cwd),
            title_of(string(entry, "task")),
            cwd,
            moment(entry.get("ts")),
        )


def title_of(task: str) -> str:
    """Return the first line of a task as its title, as the hosts shorten it."""
    lines = task.strip().splitlines()
    return lines[0].strip()[:_LONGEST_TITLE] if lines else ""


@frozen
class _FileState:
    """A file as it was at some time, so that a parsed file is recognised as unchanged."""

    path: Path
    size: int
    modified_ns: int


def _entry_of(directory: Path) -> JsonObject:
    """Return the entry of a task in the host's list; empty if there is none."""
    item = _read_list(directory / _ITEM)
    if item:
        return item[0]
    tasks = _read_list(directory.parent.parent / "state" / "taskHistory.json")
    return next((entry for entry in tasks if string(entry, "id") == directory.name), {})


def _read_list(path: Path) -> tuple[JsonObject, ...]:
    """Return the objects in a file beside the messages; none if it is absent, a link or not JSON."""
    try:
        status = path.lstat()
        return _parse_file(_FileState(path, status.st_size, status.st_mtime_ns)) if path.is_file() else ()
    except OSError:
        return ()


@lru_cache(maxsize=2)
def _parse_file(state: _FileState) -> tuple[JsonObject, ...]:
    """Return the objects in a file: Cline's list is read for each of its tasks."""
    if state.path.is_symlink():
        return ()
    try:
        value = parse(read_file(state.path), state.path.name)
    except SourceUnreadable:
        return ()
    return tuple(objects_in([value] if isinstance(value, dict) else value))


def _stated_directory(records: list[object]) -> str:
    """Return the directory that the host told the model with the first message."""
    for record in objects_in(records)[:1]:
        for block in objects_in(record.get("content")):
            text = string(block, "text")
            match = _DIRECTORY.search(text) if text.lstrip().startswith("<environment_details>") else None
            if match is not None:
                return match.group(1)
    return ""


def _rows(directory: Path, records: list[object], fault: str, cwd: str) -> Iterator[Row]:
    rows, calls = Rows(), Calls()
    is_timed = all("ts" in record for record in objects_in(records))
    times = {} if is_timed else _times_shown(directory)
    said_at = moment(int(directory.name)) if _TIMESTAMP.fullmatch(directory.name) else None
    for index, record in enumerate(records):
        said_at = times.get(index, said_at)
        if isinstance(record, dict):
            yield rows.row(record, read_message(record, calls, cwd, said_at, is_plain_said=False))
        else:
            yield rows.row(record, Unreadable("not a message"))
    if fault:
        yield rows.row({"fault": "the end of the file is not valid JSON"}, Unreadable(fault))


def _times_shown(directory: Path) -> dict[int, Micros]:
    """Return when a line was first shown after each message, by the message's index."""
    times: dict[int, Micros] = {}
    for line in _read_list(directory / _UI_MESSAGES):
        index, shown_at = line.get("conversationHistoryIndex"), moment(line.get("ts"))
        if isinstance(index, int) and shown_at is not None:
            times.setdefault(index, shown_at)
    return times
