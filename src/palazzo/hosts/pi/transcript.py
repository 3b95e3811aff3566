"""pi's session files: JSON Lines that hold a tree, only ever appended to.

Learned from files that pi 0.73, 0.87 and 0.99 wrote (`tests/fixtures/pi`), and from pi's own description of them
(`docs/session.md` of its coding agent).

`sessions/--<directory with - for />--/<time>_<session id>.jsonl`. The first row is a header (`type: session`) with the
directory and, for a fork, the file it was copied from; the others are entries with an `id` and the `parentId` of the
entry before. Going back in a conversation appends an entry whose parent is further up: the entries after that parent
are abandoned and stay in the file. The active history is the path from the last entry up to the root. Version 1 had no
ids; its files are one line of entries.

**Branches and threads.** An entry continues its parent's thread if the parent is that thread's newest entry; otherwise
it begins a thread of its own, which is named by its id. So within a thread each entry's parent is the entry before it:
a thread reads as one conversation, none mixes two attempts, and going back to an abandoned end continues its thread.
The active history is the last entry's thread, above it the part up to the branch of the thread it left, and so on;
`parent` says where (`meta["branch"]` marks an entry that begins one). The thread of an entry depends only on what
stands before it and never changes as the file grows, so that nothing is archived twice. Which branch is the abandoned
one does change, and is not recorded here.

**Forks.** A session that was forked from another begins with copies of its entries, whole and with their ids and times;
only labels are created anew (`SessionManager.createBranchedSession` and `forkFrom`). An id is eight hexadecimal digits,
so a message is identified by its id and its time, wherever its entry stands, and a copy is the same message.

**Resuming.** The mark that a read leaves is the position of the newest entry and that of the entry which names its
thread. An entry that continues the newest one needs no more. At any other, the ids of all entries before it are
scanned, without parsing their rows.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from palazzo.hosts.pi.pi_messages import Origin, calls_in, read_entry
from palazzo.sources.formats import Content, Feeder, Identity, Noise, ResumePoint, Row, Unreadable
from palazzo.sources.formats.jsonl_rows import JsonObject, json_lines, objects_in_head, parse_line, string
from palazzo.sources.formats.resume_context import LOOK_BACK, Calls, lines_before
from palazzo.text.lazy_patterns import make_regex

KIND = "pi"

_ENTRIES = frozenset(
    {
        *("message", "model_change", "thinking_level_change", "compaction", "branch_summary", "custom"),
        *("custom_message", "label", "session_info", "usage", "context_edit"),
    }
)
_DROIDS_HEADER = "session_start"
"""The type of the first row of Droid's sessions, whose other rows have the form of entries."""
_EVENT_TYPES = frozenset({"agent_start", "agent_end", "turn_start", "message_start", "message_update", "message_end"})
"""Types of rows that `pi --mode json` prints after the same header."""

_LINK = make_regex(
    rb'\s*\{\s*"type"\s*:\s*"[a-z_]+"\s*,\s*"id"\s*:\s*"([^"\\]+)"\s*,'
    rb'\s*"parentId"\s*:\s*(?:"([^"\\]*)"|null)\s*[,}]'
)
"""The form of most of pi's entries. It gives the link without parsing, even of a row that is damaged further on."""


class Pi:
    """Reads pi's session files."""

    kind = KIND
    version = 1
    appends = True

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether `head` is a header with entries below it. The output that pi streams to a program is not."""
        objects, lines = objects_in_head(head)
        if 2 * len(objects) < lines or any(string(row, "type") in _EVENT_TYPES for row in objects):
            return False
        if any(string(row, "type") == _DROIDS_HEADER for row in objects[:1]):
            return False
        return any(map(_is_header, objects[:2])) or sum(map(_is_entry, objects)) > len(objects) // 2

    def identify(self, path: Path, head: bytes) -> Identity:
        """Return the session, from the header, else the file name; its parent is the session it was forked from."""
        objects, _ = objects_in_head(head)
        header = next(filter(_is_header, objects), {})
        session = string(header, "id") or _id_in(path.name)
        parent = _id_in(string(header, "parentSession"))
        return Identity((KIND, session), session, parent if parent != session else "")

    def rows(self, stream: BinaryIO, start: int = 0) -> Iterator[Row]:
        """Yield every row from byte `start`."""
        return self.resume(stream, start, ResumePoint())

    def resume(self, stream: BinaryIO, start: int, point: ResumePoint) -> Iterator[Row]:
        """Yield every row from byte `start`, as `rows` does."""
        newest_tree, calls, cwd = _read_newest(stream, start, point.mark), Calls(), ""
        tree, is_resumable = newest_tree or _Tree(), False
        for position, raw in lines_before(stream, start, LOOK_BACK if newest_tree else None):
            if not newest_tree:
                tree.place(_link(raw), position)
            if not cwd or (b'"toolCall"' in raw and start - position <= LOOK_BACK):
                row = parse_line(raw)
                cwd = cwd or _directory(row)
                _remember(row, calls)
            is_resumable = bool(cwd) if position == 0 else is_resumable
        for position, raw, value in json_lines(stream, start):
            link = _link(raw)
            if not tree.is_told(link):
                tree = _read_tree(stream, position)
            thread, begins = tree.place(link, position)
            cwd = cwd or _directory(value)
            _remember(value, calls)
            is_resumable = (bool(cwd) if position == 0 else is_resumable) and raw.endswith(b"\n")
            if is_resumable:
                point.reach(position + len(raw), tree.make_mark)
            if isinstance(value, dict):
                origin = Origin(thread, begins, cwd)
                yield Row(position, raw, _content(value, origin, calls), _title(value))
            else:
                yield Row(position, raw, value)


_MARK = struct.Struct("<qq")
_NOWHERE = -1


class _Tree:
    """Determines the thread of each entry.

    A tree that was made from its newest entry alone (`from_newest`) places only what continues that (`is_told`).
    """

    def __init__(self) -> None:
        self._thread_of: dict[str, str] = {}
        self._newest: dict[str, str] = {}
        self._last = ""
        self._last_position = _NOWHERE
        self._first_positions: dict[str, int] = {"": _NOWHERE}
        self._is_whole = True

    @classmethod
    def from_newest(cls, entry: str, position: int, thread: str, first_position: int) -> _Tree:
        """Return a tree of which only the newest entry and its thread are known."""
        tree = cls()
        tree._thread_of[entry] = tree._last = thread
        tree._newest[thread], tree._last_position = entry, position
        tree._first_positions[thread] = first_position
        tree._is_whole = False
        return tree

    def is_told(self, link: tuple[str, str] | None) -> bool:
        """Whether the entry of this link can be placed without the entries that are not known here."""
        return self._is_whole or link is None or self._continues(link[1])

    def place(self, link: tuple[str, str] | None, position: int) -> tuple[str, bool]:
        """Place an entry, given its ID and its parent's; return its thread, and whether it begins one.

        An entry whose parent is not in the file (its row was damaged) continues the thread before it. A row without a
        link belongs to the thread of the row before it.
        """
        if link is None:
            return self._last, False
        entry, parent = link
        if self._continues(parent):  # whatever stands before: an entry can be placed by the newest one alone
            self._thread_of.setdefault(entry, self._last)
            self._newest[self._last], self._last_position = entry, position
            return self._last, False
        if entry in self._thread_of:  # an id twice: its first row stands for it
            return self._thread_of[entry], False
        thread = self._thread_of.get(parent, self._last)
        newest = self._newest.get(thread, "")
        begins = bool(newest) and newest != parent and (parent in self._thread_of or not parent)
        if begins:
            thread = entry
            self._first_positions[entry] = position
        self._thread_of[entry] = self._last = thread
        self._newest[thread], self._last_position = entry, position
        return thread, begins

    def make_mark(self) -> bytes:
        """Return the positions of the newest entry and of the one that names its thread."""
        return _MARK.pack(self._last_position, self._first_positions[self._last])

    def _continues(self, parent: str) -> bool:
        """Whether an entry with this parent continues the newest entry of all."""
        return bool(parent) and parent == self._newest.get(self._last)


def _read_newest(stream: BinaryIO, start: int, mark: bytes) -> _Tree | None:
    """Return a tree with the newest entry before `start` alone; None if the mark does not lead to it."""
    if len(mark) != _MARK.size:
        return None
    position, first_position = _MARK.unpack(mark)
    newest = _link_at(stream, start, position)
    first = ("", "") if first_position == _NOWHERE else _link_at(stream, start, first_position)
    stream.seek(start)
    return _Tree.from_newest(newest[0], position, first[0], first_position) if newest and first else None


def _link_at(stream: BinaryIO, start: int, position: int) -> tuple[str, str] | None:
    if not 0 <= position < start:
        return None
    stream.seek(position)
    return _link(stream.readline(start - position))


def _read_tree(stream: BinaryIO, end: int) -> _Tree:
    """Return the tree of the entries before byte `end`; the stream stays where it is."""
    tree, position_before = _Tree(), stream.tell()
    for position, raw in lines_before(stream, end, None):
        tree.place(_link(raw), position)
    stream.seek(position_before)
    return tree


def _link(raw: bytes) -> tuple[str, str] | None:
    match = _LINK.match(raw)
    if match:
        return match[1].decode("utf-8", "surrogateescape"), (match[2] or b"").decode("utf-8", "surrogateescape")
    row = parse_line(raw) if b'"parentId"' in raw else None
    if not isinstance(row, dict) or _is_header(row) or not string(row, "id"):
        return None
    return string(row, "id"), string(row, "parentId")


def _is_header(row: JsonObject) -> bool:
    return string(row, "type") == "session" and bool(string(row, "id") and string(row, "timestamp"))


def _is_entry(row: JsonObject) -> bool:
    has_parent_link = bool(string(row, "id")) and "parentId" in row
    return has_parent_link and string(row, "type") in _ENTRIES and bool(string(row, "timestamp"))


def _id_in(path: str) -> str:
    """Return the session's ID from a file's name or path, which may use another system's separators."""
    return path.replace("\\", "/").rpartition("/")[2].removesuffix(".jsonl").rpartition("_")[2]


def _directory(row: object) -> str:
    return string(row, "cwd") if isinstance(row, dict) and _is_header(row) else ""


def _remember(row: object, calls: Calls) -> None:
    if isinstance(row, dict):
        for call_info in calls_in(row):
            calls.record_arguments(*call_info)


def _title(row: JsonObject) -> str:
    return string(row, "name").strip() if string(row, "type") == "session_info" else ""


def _content(row: JsonObject, origin: Origin, calls: Calls) -> Content:
    kind = string(row, "type")
    if not kind:
        return Unreadable("row without a type")
    try:
        return read_entry(row, origin, calls) if kind != "session" else Noise("session")
    except RecursionError:
        return Unreadable("nested too deeply")


FEEDERS: tuple[Feeder, ...] = (Pi(),)
