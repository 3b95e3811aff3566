"""Droid's sessions: JSON Lines, one file per session.

Learned from a session of version 0.215.0 (`tests/fixtures/droid`).

`~/.factory/sessions/<folder of the directory>/<session id>.jsonl`. The first row, `session_start`, has the session's
`id`, `title` and `cwd`. A row of type `message` has `id`, `parentId`, `timestamp`, and a `message` as Anthropic's
Messages API has it. Three kinds of messages are the host's own: the context of a prompt, whose id begins with
`context-`; the run of a hook (`hookEventName`); and notices for the screen (`visibility: user_only`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from palazzo.model import Role
from palazzo.sources.formats import Content, Feeder, Identity, Message, Noise, Row, Unreadable
from palazzo.sources.formats.claude_blocks import ToolCalls, compose
from palazzo.sources.formats.jsonl_rows import JsonObject, json_lines, objects_in_head, parse_line, string
from palazzo.sources.formats.source_times import moment

KIND = "droid"
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_LONGEST_HEADER = 64 * 1024


class Droid:
    """Reads Droid's sessions."""

    kind = KIND
    version = 1
    appends = True

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether the first row is the beginning of a session."""
        objects, _ = objects_in_head(head)
        return bool(objects) and _is_header(objects[0])

    def identify(self, path: Path, head: bytes) -> Identity:
        """Return the session, from the file's name if it is the host's own, else from its first row."""
        objects, _ = objects_in_head(head)
        session_id = string(objects[0], "id") if objects and _is_header(objects[0]) else ""
        session = path.stem if _UUID.fullmatch(path.stem) else session_id or path.stem
        return Identity((KIND, session), session)

    def rows(self, stream: BinaryIO, start: int = 0) -> Iterator[Row]:
        """Yield every row from byte `start`."""
        directory = _directory_before(stream, start)
        calls = ToolCalls(stream, start)
        for position, raw, value in json_lines(stream, start):
            if not isinstance(value, dict):
                yield Row(position, raw, value)
                continue
            if position == 0:
                directory = string(value, "cwd") if _is_header(value) else ""
            title = string(value, "title").strip() if _is_header(value) else ""
            yield Row(position, raw, _content(value, calls, directory), title)


def _is_header(row: JsonObject) -> bool:
    return string(row, "type") == "session_start" and bool(string(row, "id"))


def _directory_before(stream: BinaryIO, start: int) -> str:
    """Return the directory that the first row names, if a read begins after it."""
    if not start:
        return ""
    stream.seek(0)
    header = parse_line(stream.readline(_LONGEST_HEADER))
    stream.seek(start)
    return string(header, "cwd") if isinstance(header, dict) and _is_header(header) else ""


def _content(row: JsonObject, calls: ToolCalls, directory: str) -> Content:
    kind = string(row, "type")
    if not kind:
        return Unreadable("row without a type")
    if kind != "message":
        return Noise(kind)
    message = row.get("message")
    if not isinstance(message, dict):
        return Unreadable("message row without a message")
    own_reason = _reason_of_host(row, message)
    if own_reason:
        return Noise(own_reason)
    speaker = string(message, "role")
    if speaker not in ("user", "assistant"):
        return Unreadable(f"a message with the unknown role {speaker!r}")
    try:
        composer, only_results = compose(message.get("content"), calls)
    except RecursionError:
        return Unreadable("nested too deeply")
    if not composer.text:
        return Noise(f"{speaker}/empty")
    role: Role = "assistant" if speaker == "assistant" else "tool" if only_results else "user"
    return Message(
        composer.text,
        role,
        author=string(message, "modelId") if role == "assistant" else "",
        parts=composer.parts,
        uuid=string(row, "id"),
        parent=string(row, "parentId"),
        created_at=moment(row.get("timestamp")),
        cwd=directory,
    )


def _reason_of_host(row: JsonObject, message: JsonObject) -> str:
    """Return what a message of the host's own is; empty for one of the conversation."""
    if string(message, "hookEventName"):
        return f"hook/{string(message, 'hookEventName')}"
    if string(row, "id").startswith("context-"):
        return "context"
    return "notice" if string(message, "visibility") == "user_only" else ""


FEEDERS: tuple[Feeder, ...] = (Droid(),)
