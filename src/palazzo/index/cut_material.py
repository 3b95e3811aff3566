"""Input of the cutter: items with the acts on them, and the positions at which the segments of a thread begin."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from palazzo.index import cut_rules
from palazzo.index.act_overlay import ActsOnItems
from palazzo.index.cut_rules import CutItem, ItemContext
from palazzo.model import ContentKind, Micros, Trust
from palazzo.store import act_rows, items, taint_rows
from palazzo.store.database import Connection
from palazzo.store.json_columns import decode_string, string_at
from palazzo.store.taint_rows import Beginnings, Thread

_EARLIEST_POINT, _NO_END = -(1 << 63), (1 << 63) - 1

_AT_ONCE = 500
"""Rows that one statement loads."""
ThreadRow = tuple[int, str, int]
"""An item's row id, role and ordinal."""


class Moment(NamedTuple):
    """A position in a thread, and its time."""

    ordinal: int
    at: Micros


def load(connection: Connection, rows: Sequence[int]) -> tuple[list[CutItem], ActsOnItems]:
    """Return the items of these row ids, with holes where words were forgotten, and the acts on them.

    Text with the trust of untrusted content is marked.
    """
    cut_items, on = load_unmarked(connection, rows)
    return add_marks(cut_items, taint_rows.beginnings(connection, rows)), on


def add_marks(cut_items: Sequence[CutItem], beginnings: Mapping[int, Beginnings]) -> list[CutItem]:
    """Return the items with the starts of their untrusted parts, and of the parts judged local after all."""
    return [
        replace(item, outside=beginnings[item.row].outside, local=beginnings[item.row].local)
        if item.row in beginnings
        else item
        for item in cut_items
    ]


def load_unmarked(connection: Connection, rows: Sequence[int]) -> tuple[list[CutItem], ActsOnItems]:
    """Return the items of these row ids, with holes where words were forgotten, and the acts on them."""
    cut_items = _load_items(connection, rows)
    on = ActsOnItems(act_rows.acts_on(connection, [item.uid for item in cut_items]))
    if on:
        cut_items = [replace(item, holes=on.holes(item.uid)) for item in cut_items]
    return cut_items, on


def thread_rows(
    connection: Connection, source: int, thread: str, start: int, until: int | None = None
) -> list[ThreadRow]:
    """Return the messages of a thread from the ordinal `start` on, and before `until`."""
    rows = connection.execute(
        "SELECT id, role, ordinal FROM item WHERE source = ? AND thread = ? AND ordinal >= ? AND kind = 'message'"
        " AND standing = 'said' AND ordinal < ? ORDER BY ordinal, recorded_at, uid",
        (source, thread, start, _NO_END if until is None else until),
    )
    return [(int(a), str(b), int(c)) for a, b, c in rows]


def from_segment(connection: Connection, source: int, thread: str, ordinal: int) -> list[ThreadRow]:
    """Return the messages of a thread from the beginning of the segment that holds `ordinal`."""
    rows = thread_rows(connection, source, thread, _human_before(connection, source, thread, ordinal))
    starts = _segment_starts([role for _, role, _ in rows])
    first = next((start for start in reversed(starts) if rows[start][2] <= ordinal), 0)
    return rows[first:]


def segment(connection: Connection, source: int, thread: str, ordinal: int) -> tuple[list[ThreadRow], int | None]:
    """Return the segment that holds `ordinal`, and where the next one begins; None if it is the last."""
    rows = from_segment(connection, source, thread, ordinal)
    starts = _segment_starts([role for _, role, _ in rows])
    return (rows[: starts[1]], rows[starts[1]][2]) if len(starts) > 1 else (rows, None)


def segment_ordinals(connection: Connection, source: int, thread: str) -> list[int]:
    """Return the ordinals at which the segments of a thread begin."""
    rows = thread_rows(connection, source, thread, -1)
    return [rows[start][2] for start in _segment_starts([role for _, role, _ in rows])]


_BY_A_PERSON = "role = 'user' AND standing = 'said' AND trust = 'user' AND instr(parts, '\"agent\"]') = 0"
"""Selects words of a person, not of an agent in a person's role (`session_taint.is_human`)."""


def human_before(connection: Connection, thread: Thread, ordinal: int) -> Moment:
    """Return where and when a person last spoke in a thread before the ordinal; before all rows if none did."""
    rows = connection.execute(
        "SELECT ordinal, created_at FROM item WHERE source = ? AND thread = ? AND ordinal < ? AND kind = 'message'"
        f" AND {_BY_A_PERSON} ORDER BY ordinal DESC LIMIT 1",
        (*thread, ordinal),
    )
    return next((Moment(int(a), Micros(b)) for a, b in rows), Moment(_EARLIEST_POINT, Micros(_EARLIEST_POINT)))


def human_until(connection: Connection, thread: Thread, at: Micros) -> Moment:
    """Return where and when a person last spoke in a thread up to that time; before all rows if none did."""
    rows = connection.execute(
        "SELECT ordinal, created_at FROM item WHERE source = ? AND thread = ? AND created_at <= ? AND kind = 'message'"
        f" AND {_BY_A_PERSON} ORDER BY ordinal DESC LIMIT 1",
        (*thread, at),
    )
    return next((Moment(int(a), Micros(b)) for a, b in rows), Moment(_EARLIEST_POINT, Micros(_EARLIEST_POINT)))


class StoredWords(NamedTuple):
    """The words of a message as they are stored, with what says who spoke them."""

    role: str
    trust: Trust
    text: bytes
    codec: int
    parts: str


def words_before(connection: Connection, thread: Thread, ordinal: int) -> Iterator[tuple[int, int, StoredWords]]:
    """Yield row id, ordinal and words of a thread's messages before the ordinal, the last first, as they are taken."""
    rows = connection.execute(
        "SELECT id, ordinal, role, trust, text, text_codec, parts FROM item WHERE source = ? AND thread = ?"
        " AND ordinal < ? AND kind = 'message' AND standing = 'said' ORDER BY ordinal DESC, recorded_at DESC, uid DESC",
        (*thread, ordinal),
    )
    return ((int(row), int(at), StoredWords(*columns)) for row, at, *columns in rows)


def has_begun(connection: Connection, thread: Thread, ordinal: int) -> bool:
    """Return whether a thread has messages before the ordinal."""
    rows = connection.execute(
        "SELECT 1 FROM item WHERE source = ? AND thread = ? AND ordinal < ? AND kind = 'message' AND standing = 'said'"
        " LIMIT 1",
        (*thread, ordinal),
    )
    return next(iter(rows), None) is not None


def first_since(connection: Connection, thread: Thread, at: Micros) -> int | None:
    """Return the ordinal of a thread's first message at that time or later."""
    rows = connection.execute(
        "SELECT min(ordinal) FROM item WHERE source = ? AND thread = ? AND kind = 'message' AND standing = 'said'"
        " AND created_at >= ?",
        (*thread, at),
    )
    (first,) = next(iter(rows))
    return None if first is None else int(first)


def works_for(connection: Connection, source: int) -> str:
    """Return the session for which a sub-agent's session works, if its host records it; else ''."""
    rows = connection.execute(
        f"SELECT {string_at('meta', '$.works_for')} FROM item WHERE source = ? AND kind = 'message'"
        " ORDER BY thread, ordinal LIMIT 1",
        (source,),
    )
    return next((decode_string(session) for (session,) in rows if session), "")


def begins_at(connection: Connection, thread: Thread) -> Micros:
    """Return the time of the first message of a thread that has messages."""
    rows = connection.execute(
        "SELECT created_at FROM item WHERE source = ? AND thread = ? AND kind = 'message' AND standing = 'said'"
        " ORDER BY ordinal LIMIT 1",
        thread,
    )
    (at,) = next(iter(rows))
    return Micros(at)


def is_active(connection: Connection, thread: Thread, since: Micros) -> bool:
    """Return whether a thread has messages at that time or later."""
    return first_since(connection, thread, since) is not None


def find_host_rows(
    connection: Connection, thread: Thread, start: int | None, until: int | None
) -> Iterator[tuple[int, ContentKind]]:
    """Yield rows of a range without a speaker that an agent was shown: summaries, notices, outside files."""
    rows = connection.execute(
        "SELECT id, standing FROM item WHERE source = ? AND thread = ? AND ordinal >= ? AND ordinal < ?"
        " AND kind = 'message' AND standing <> 'said'"
        " AND (standing = 'summary' OR role = 'user' OR trust = 'external' OR instr(parts, '\"external\"]') > 0)",
        (*thread, _EARLIEST_POINT if start is None else start, _NO_END if until is None else until),
    )
    for row, status in rows:
        yield int(row), status


def _human_before(connection: Connection, source: int, thread: str, ordinal: int) -> int:
    rows = connection.execute(
        "SELECT ordinal FROM item WHERE source = ? AND thread = ? AND ordinal <= ? AND kind = 'message'"
        " AND standing = 'said' AND role = 'user' ORDER BY ordinal DESC LIMIT 1",
        (source, thread, ordinal),
    )
    for (at,) in rows:
        return int(at)
    return -1


def _segment_starts(roles: Sequence[str]) -> list[int]:
    """Return where `cut_rules.segments` begins a segment, from the roles alone."""
    starts: list[int] = []
    for n, role in enumerate(roles):
        if not starts or role == "user" or n - starts[-1] >= cut_rules.SEGMENT_ITEMS:
            starts.append(n)
    return starts


def _load_items(connection: Connection, rows: Sequence[int]) -> list[CutItem]:
    """Return the items of these row ids, in this order, by one statement for many."""
    items_by_row: dict[int, CutItem] = {}
    for start in range(0, len(rows), _AT_ONCE):
        records = connection.execute(
            "SELECT id, uid, role, author, text, text_codec, parts, trust, ordinal,"
            " CASE kind WHEN 'note' THEN json_extract(meta, '$.shelf', '$.topic', '$.tainted_by') END,"
            f" {string_at('meta', '$.works_for')}, {string_at('meta', '$.cwd')},"
            " thread, created_at, recorded_at, branch, commit_id, room FROM item"
            " WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(rows[start : start + _AT_ONCE]),),
        )
        for row, *columns in records:
            items_by_row[row] = _make_item(row, *columns)
    return [items_by_row[row] for row in rows]


def _make_item(
    row: int,
    uid: bytes,
    role: str,
    author: str,
    text: bytes,
    codec: int,
    parts: str,
    trust: Trust,
    ordinal: int,
    note_fields: str | None,
    works_for: bytes | None,
    directory: bytes | None,
    *whence: Any,
) -> CutItem:
    shelf, topic, tainted_by = json.loads(note_fields) if note_fields else ("", "", "")
    context = replace(
        ItemContext(*whence),
        shelf=str(shelf or ""),
        topic=str(topic or ""),
        is_tainted=bool(tainted_by),
        works_for=decode_string(works_for),
        directory=decode_string(directory),
    )
    plain_text = items.decode_text(text, codec)
    return CutItem(row, bytes(uid), role, author, plain_text, items.load_parts(parts), trust, ordinal, context=context)
