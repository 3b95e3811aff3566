"""Gemini CLI's chat recordings: an append-only log of changes, and its predecessor, a single JSON text.

Learned from files that Gemini CLI 0.61 wrote (`tests/fixtures/gemini`) and from its public sources
(`chatRecordingService.ts`, `chatRecordingTypes.ts`), which also show how it reads its older files.

`~/.gemini/tmp/<project>/chats/session-<time>-<first 8 of the session id>.jsonl`; a sub-agent's file is in a folder
named after its parent's session. `<project>` was the SHA-256 of the directory's path (as `projectHash` is), and since
early 2026 is a short name; `gemini_projects` finds the path, which no row of an older session states. The first row is
a header without a `type` (`sessionId`, `projectHash`). The others are

- messages with `id` and `type` (`user`, `gemini`, `info`, `warning`, `error`). A message is written again, whole,
  under its id whenever its tool calls change. A tool's output is in the call's `result`, and again in
  the `user` row that answers it.
- `{"$set": …}`, new values for the header's fields. `messages` among them is the model's view from then on:
  the context at the start, and the whole history again after a resume or a compression, under other ids.
- `{"$rewindTo": id}`, which takes back that message and all after it. They were said, so they stay.

Until early 2026 a session was one JSON text, the header's fields with `messages`, rewritten at each change
(`session-….json`). When such a session is resumed, it is copied into the newer form with its ids.

**No repetition.** Every row is archived to the byte. If a message is written again, the later row contributes only what
no earlier row of that id contained (`meta["continues"]`), so that nothing is repeated and nothing is taken back,
however the file grew while it was read. Of `$set` messages, only text is taken that its speaker has not yet said in
this file. A row of many messages comes as one row per message and one for the bytes on either side.

**Resuming.** The mark that a read leaves tells which ids it has seen (`seen_ids`). A message of other ids needs no
earlier row, and one whose ids stand in the last rows needs those alone. At any other, and at `$set` messages, all
earlier rows are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from palazzo.errors import SourceUnreadable
from palazzo.hosts.gemini_cli.gemini_messages import ConversationHistory, ids_in, read_message
from palazzo.hosts.gemini_cli.gemini_projects import directory_of
from palazzo.hosts.gemini_cli.seen_ids import SeenIds
from palazzo.sources.formats import Content, Feeder, Identity, Message, Noise, ResumePoint, Row, Unreadable
from palazzo.sources.formats.json_members import elements
from palazzo.sources.formats.jsonl_rows import JsonObject, json_lines, objects_in_head, parse_line, string
from palazzo.sources.formats.resume_context import lines_before
from palazzo.text.lazy_patterns import make_regex

KIND = "gemini"

LARGEST = 256 * 1024 * 1024
"""Maximum bytes of a session in one JSON text; the host itself reads it whole."""

_SPEAKERS = frozenset({"user", "gemini", "info", "warning", "error"})
_WHOLE = make_regex(rb'(?:\xef\xbb\xbf)?\{[ \t]*\r?\n\s+"sessionId"\s*:\s*"')
"""The beginning of a single JSON text: indented. The header of the newer form is one line."""
_HEADER = make_regex(rb'\{\s*"sessionId"\s*:\s*"[^"]*"\s*,\s*"projectHash"\s*:')
_FIELD_PATTERNS = {
    key: re.compile(rf'"{key}"\s*:\s*"([^"\\]+)"'.encode()) for key in ("sessionId", "kind", "projectHash")
}
_LINE = 64 * 1024


class Gemini:
    """Reads Gemini CLI's sessions, in both forms.

    `appends` applies to the newer form. Files of the older form are rewritten, which is detected by the hash of the
    last bytes read.
    """

    kind = KIND
    version = 2
    appends = True

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether `head` begins with a session's header, alone or with its messages."""
        if _WHOLE.match(head) or _HEADER.match(head.removeprefix(b"\xef\xbb\xbf")):
            return b'"projectHash"' in head
        objects, lines = objects_in_head(head)
        return 2 * len(objects) >= max(lines, 1) and any(map(_is_header, objects))

    def identify(self, path: Path, head: bytes) -> Identity:
        """Return the session, from its header; a sub-agent's parent from its folder."""
        start = head.partition(b'"messages"' if _WHOLE.match(head) else b"\n")[0]
        fields = {
            key: match[1].decode("utf-8", "replace")
            for key in _FIELD_PATTERNS
            if (match := _FIELD_PATTERNS[key].search(start))
        }
        session = fields.get("sessionId") or path.stem
        parent = path.parent.name if fields.get("kind") == "subagent" and path.parent.name != "chats" else ""
        directory = directory_of(path, fields.get("projectHash", ""))
        return Identity((KIND, session), session, parent, directory, led_by_agent=fields.get("kind") == "subagent")

    def rows(self, stream: BinaryIO, start: int = 0) -> Iterator[Row]:
        """Yield every row from byte `start`, which may lie between two messages of one line.

        Raises SourceUnreadable for a session in one JSON text that is incomplete: it is being written.
        """
        return self.resume(stream, start, ResumePoint())

    def resume(self, stream: BinaryIO, start: int, point: ResumePoint) -> Iterator[Row]:
        """Yield every row from byte `start`, as `rows` does."""
        if _is_one_text(stream, start):
            yield from (row for row in _rows_of_text(stream) if row.position >= start)
            return
        line = _line_at(stream, start)
        marked_ids = SeenIds.from_mark(point.mark) if line == start else None
        seen_ids, is_whole, history = marked_ids or SeenIds(), marked_ids is None, ConversationHistory()
        for position, raw in lines_before(stream, line, None if marked_ids is None else line - marked_ids.begin):
            value = parse_line(raw)
            is_told = is_whole or _is_told(raw, value, seen_ids)
            _replay(position, raw, value, history)
            if is_told:
                seen_ids.add(position, position + len(raw), history.take_ids())
            else:  # what it said before is not known, so neither is what a later row of its ids adds
                seen_ids.add_earlier(history.take_ids())
        for position, raw, value in json_lines(stream, line):
            if not is_whole and not _is_told(raw, value, seen_ids):
                history, is_whole = _read_history(stream, position), True
            rows, end = [*_rows_of_line(position, raw, value, history)], position + len(raw)
            seen_ids.add(position, end, history.take_ids())
            if raw.endswith(b"\n"):
                point.reach(end, seen_ids.make_mark)
            for row in rows:
                if row.position >= start:
                    yield row
                elif row.position + len(row.raw) > start:
                    yield _rest(row, start)


def _is_told(raw: bytes, value: JsonObject | Noise | Unreadable, seen_ids: SeenIds) -> bool:
    """Whether a line means the same whatever stands in rows before `seen_ids.begin`.

    It has no copies, and no id of those rows.
    """
    if not isinstance(value, dict):
        return True
    return not _elements(raw, value) and not (_is_message(value) and seen_ids.may_be_earlier(ids_in(value)))


def _read_history(stream: BinaryIO, end: int) -> ConversationHistory:
    """Return what all rows before byte `end` say; the stream stays where it is."""
    history, position_before = ConversationHistory(), stream.tell()
    for position, raw in lines_before(stream, end, None):
        _replay(position, raw, parse_line(raw), history)
        history.take_ids()
    stream.seek(position_before)
    return history


def _replay(position: int, raw: bytes, value: JsonObject | Noise | Unreadable, history: ConversationHistory) -> None:
    for _ in _rows_of_line(position, raw, value, history):
        pass


def _rest(row: Row, start: int) -> Row:
    """Return the rest of a line whose row was read before the line had ended."""
    rest = row.raw[start - row.position :]
    return Row(start, rest, Noise("blank") if not rest.strip() else Unreadable("text after a complete row"))


def _is_header(row: JsonObject) -> bool:
    return "type" not in row and bool(string(row, "sessionId") and string(row, "projectHash"))


def _is_one_text(stream: BinaryIO, start: int) -> bool:
    if not stream.seekable():
        return False
    stream.seek(0)
    match = _WHOLE.match(stream.read(256))
    stream.seek(start)
    return match is not None


def _line_at(stream: BinaryIO, start: int) -> int:
    """Return where the line that contains byte `start` begins, and move the stream there."""
    if not start or not stream.seekable():
        return start
    end = start
    while end:
        begin = max(0, end - _LINE)
        stream.seek(begin)
        newline_offset = stream.read(end - begin).rfind(b"\n")
        if newline_offset >= 0:
            end = begin + newline_offset + 1
            break
        end = begin
    stream.seek(end)
    return end


def _rows_of_text(stream: BinaryIO) -> Iterator[Row]:
    stream.seek(0)
    raw = stream.read(LARGEST + 1)
    if len(raw) > LARGEST:
        raise SourceUnreadable(
            f"The session is one JSON text of more than {LARGEST:,} bytes, which is too long to read."
        )
    value = parse_line(raw)
    if not isinstance(value, dict):
        raise SourceUnreadable("The session is one incomplete JSON text; it may still be being written, so try again.")
    return _rows_of_line(0, raw, value, ConversationHistory())


def _rows_of_line(
    position: int, raw: bytes, value: JsonObject | Noise | Unreadable, history: ConversationHistory
) -> Iterator[Row]:
    if not isinstance(value, dict):
        yield Row(position, raw, value)
        return
    title = _title(value)
    spans = _elements(raw, value)
    if not spans:
        yield Row(position, raw, _content(value, history, is_copy=False), title)
        return
    around = Noise("$set" if "$set" in value else "header")
    yield Row(position, raw[: spans[0][0]], around, title)
    ends = [start for start, _, _ in spans[1:]] + [spans[-1][1]]
    for (start, _, message), end in zip(spans, ends, strict=True):
        content: Content = Unreadable("a message that is not an object")
        if isinstance(message, dict):
            content = _content(message, history, is_copy="$set" in value)
        yield Row(position + start, raw[start:end], content)
    yield Row(position + ends[-1], raw[ends[-1] :], around)


def _elements(raw: bytes, value: JsonObject) -> list[tuple[int, int, object]]:
    """Return the messages that a line holds as elements, with their places in it."""
    if b'"messages"' not in raw:
        return []
    path = ("$set", "messages") if "$set" in value else ("messages",)
    try:
        return elements(raw, path)
    except (ValueError, RecursionError):
        return []


def _is_message(row: JsonObject) -> bool:
    return bool(string(row, "id")) and string(row, "type") in _SPEAKERS


def _title(row: JsonObject) -> str:
    values = row.get("$set")
    return string(values if isinstance(values, dict) else row, "summary").strip()


def _content(row: JsonObject, history: ConversationHistory, *, is_copy: bool) -> Message | Noise | Unreadable:
    if "$set" in row or "$rewindTo" in row:
        return Noise("$set" if "$set" in row else "$rewindTo")
    if _is_header(row):
        return Noise("header")
    if not _is_message(row):
        return Noise(string(row, "type")) if string(row, "type") else Unreadable("row without a type")
    history.note_ids(ids_in(row))
    try:
        return read_message(row, history, is_copy=is_copy)
    except RecursionError:
        return Unreadable("nested too deeply")


FEEDERS: tuple[Feeder, ...] = (Gemini(),)
