"""What the cutter reads: items with what was done to them, and where the segments of a thread begin."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from palazzo.derive import cutting
from palazzo.derive.acting import ActsOnItems
from palazzo.derive.cutting import CutItem, Filed
from palazzo.store import acts, items
from palazzo.store.database import Connection

_NO_END = (1 << 63) - 1

ThreadRow = tuple[int, str, int]
"""An item's row id, role and ordinal."""


def load(connection: Connection, rows: Sequence[int]) -> tuple[list[CutItem], ActsOnItems]:
    """Return the items of these row ids, with holes where words were forgotten, and the acts on them."""
    loaded = [_load_one(connection, row) for row in rows]
    on = ActsOnItems(acts.acts_on(connection, [item.uid for item in loaded]))
    if on:
        loaded = [replace(item, holes=on.holes(item.uid)) for item in loaded]
    return loaded, on


def thread_rows(
    connection: Connection, source: int, thread: str, start: int, until: int | None = None
) -> list[ThreadRow]:
    """Return what was said in a thread from the ordinal `start` on, and before `until`."""
    rows = connection.execute(
        "SELECT id, role, ordinal FROM item WHERE source = ? AND thread = ? AND ordinal >= ? AND kind = 'message'"
        " AND standing = 'said' AND ordinal < ? ORDER BY ordinal, id",
        (source, thread, start, _NO_END if until is None else until),
    )
    return [(int(a), str(b), int(c)) for a, b, c in rows]


def from_segment(connection: Connection, source: int, thread: str, ordinal: int) -> list[ThreadRow]:
    """Return what was said in a thread from the beginning of the segment that holds `ordinal`."""
    rows = thread_rows(connection, source, thread, _human_before(connection, source, thread, ordinal))
    starts = _segment_starts([role for _, role, _ in rows])
    first = next((start for start in reversed(starts) if rows[start][2] <= ordinal), 0)
    return rows[first:]


def segment(connection: Connection, source: int, thread: str, ordinal: int) -> tuple[list[ThreadRow], int | None]:
    """Return the segment that holds `ordinal`, and where the next one begins, None where it is the last."""
    rows = from_segment(connection, source, thread, ordinal)
    starts = _segment_starts([role for _, role, _ in rows])
    return (rows[: starts[1]], rows[starts[1]][2]) if len(starts) > 1 else (rows, None)


def segment_ordinals(connection: Connection, source: int, thread: str) -> list[int]:
    """Return the ordinals at which the segments of a thread begin."""
    rows = thread_rows(connection, source, thread, -1)
    return [rows[start][2] for start in _segment_starts([role for _, role, _ in rows])]


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
    """Return where `cutting.segments` begins a segment, from the roles alone."""
    starts: list[int] = []
    for n, role in enumerate(roles):
        if not starts or role == "user" or n - starts[-1] >= cutting.SEGMENT_ITEMS:
            starts.append(n)
    return starts


def _load_one(connection: Connection, row: int) -> CutItem:
    uid, role, author, text, codec, parts, trust, ordinal, described, *whence = next(
        connection.execute(
            "SELECT uid, role, author, text, text_codec, parts, trust, ordinal,"
            " CASE kind WHEN 'note' THEN json_extract(meta, '$.shelf', '$.topic', '$.tainted_by') END,"
            " thread, created_at, recorded_at, branch, commit_id, room FROM item WHERE id = ?",
            (row,),
        )
    )
    decoded = items.decode_text(text, codec)
    filed = Filed(*whence)
    if described:
        shelf, topic, tainted_by = json.loads(described)
        filed = replace(filed, shelf=str(shelf or ""), topic=str(topic or ""), is_tainted=bool(tainted_by))
    return CutItem(row, bytes(uid), role, author, decoded, items.load_parts(parts), trust, ordinal, filed=filed)
