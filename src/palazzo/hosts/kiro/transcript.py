"""Kiro's sessions: those of its program, in three forms, and those of its editor, in two.

See `kiro_rows` (JSON Lines) and `conversation_database` (SQLite). Beside the rows of a session lies its header, with
its directory: `cli/<session id>.json` has `session_id`, `cwd` and `parent_session_id`, `sess_<id>/session.json` has
`id`, `workspacePaths`, `parentSessionId` and `createdReason` (the readers named in `kiro_rows`). A session with a
parent is a sub-agent's, except the "tangent" of a person. The reason in the first header is always "subagent".

Before version 1.0 the editor wrote sessions as Continue does, from which its extension was made, into
`globalStorage/kiro.kiroagent/workspace-sessions`. There the model's answers may be placeholders ("On it."): the answers
themselves are in the extension's execution logs, which are not read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from palazzo.hosts.continue_dev.transcript import ContinueDev
from palazzo.hosts.kiro.conversation_database import KiroDatabase
from palazzo.hosts.kiro.kiro_rows import RowContext, content_of_row, is_session_row
from palazzo.sources.file_heads import read_whole
from palazzo.sources.formats import Collection, Feeder, Identity, Row
from palazzo.sources.formats.jsonl_rows import JsonObject, json_lines, objects_in_head, string
from palazzo.sources.formats.resume_context import rows_before

KIND = "kiro"
_ROWS = "messages.jsonl"
_LONGEST_HEADER = 16 * 1024 * 1024
_DIRECTORY_KEYS = ("workspacePaths", "rootPaths")
_BRANCH = "tangent"


class KiroSessions:
    """Reads the sessions of Kiro in JSON Lines."""

    kind = KIND
    version = 1
    appends = True

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether most rows of `head` are of a session."""
        objects, lines = objects_in_head(head)
        return 2 * len(objects) >= max(lines, 1) and any(map(is_session_row, objects))

    def identify(self, path: Path, head: bytes) -> Identity:
        """Return the session, from its header and the names of its file and folder."""
        is_folder = path.name == _ROWS
        header = _read_header(path.with_name("session.json") if is_folder else path.with_suffix(".json"))
        own = string(header, "id") or string(header, "session_id")
        session = own or (path.parent.name if is_folder else path.stem)
        parent = string(header, "parentSessionId") or string(header, "parent_session_id")
        is_by_agent = bool(parent) and string(header, "createdReason") != _BRANCH
        return Identity((KIND, session), session, parent, _directory(header), led_by_agent=is_by_agent)

    def rows(self, stream: BinaryIO, start: int = 0) -> Iterator[Row]:
        """Yield every row from byte `start`."""
        context = RowContext()
        for earlier_row in rows_before(stream, start):
            context.record(earlier_row)
        for position, raw, value in json_lines(stream, start):
            if isinstance(value, dict):
                context.record(value)
                yield Row(position, raw, content_of_row(value, context))
            else:
                yield Row(position, raw, value)


def _read_header(path: Path) -> JsonObject:
    try:
        header: object = json.loads(read_whole(path, _LONGEST_HEADER), strict=False)
    except (OSError, ValueError, RecursionError):
        return {}
    return header if isinstance(header, dict) else {}


def _directory(header: JsonObject) -> str:
    listed = [header.get(key) for key in _DIRECTORY_KEYS]
    paths = [path for value in listed if isinstance(value, list) for path in value if isinstance(path, str) and path]
    return string(header, "cwd") or next(iter(paths), "")


FEEDERS: tuple[Feeder, ...] = (KiroSessions(),)
COLLECTIONS: tuple[Collection, ...] = (KiroDatabase(KIND), ContinueDev(KIND, "kiro.kiroagent"))
