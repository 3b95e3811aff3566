"""Drawers, their spans, tags and passages: all derived, all rebuilt by `derived/cutter`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import NamedTuple

from palazzo.frozen_class import frozen
from palazzo.model import DrawerKind, Trust
from palazzo.named_tuples import make_rows
from palazzo.store import tag_rows
from palazzo.store.database import Connection

REPLACED, LEFT_OUT, FORGOTTEN, RECUT = "replaced", "left out", "forgotten", "recut"
"""Reasons for retiring a drawer: a later version of its document is current; the rules exclude its document; it was
forgotten; or its text is now in other drawers, because a conversation has grown or the cutter has changed.
"""


@frozen
class DrawerRow:
    """A drawer as the cutter creates it. Spans are (item row id, start, end); `room` is a row id.

    `size` is its number of characters; `marks` describe the form of its text (`text.questions`).
    """

    uid: bytes
    kind: str
    source: int
    thread: str
    ordinal: int
    turn: int
    room: int
    role: str
    author: str
    title: str
    created_at: int
    recorded_at: int
    trust: str
    branch: str
    commit: str
    locator: str
    spans: tuple[tuple[int, int, int], ...]
    size: int
    marks: int
    tags: tuple[str, ...] = ()
    retired_at: int | None = None
    retired_why: str | None = None


@frozen
class StoredDrawer:
    """The fields of an existing drawer that a cutter may change."""

    row: int
    room: int
    title: str
    turn: int
    locator: str
    trust: str
    retired_at: int | None
    retired_why: str | None
    kind: str
    role: str
    author: str
    tags: tuple[str, ...]


@frozen
class PassageRow:
    """A part of a drawer that gets a vector; `hash` is that of its text."""

    item: int
    start: int
    end: int
    hash: bytes


def drawers_between(
    connection: Connection, source: int, thread: str, start: int, until: int | None
) -> dict[bytes, StoredDrawer]:
    """Return a thread's drawers whose first item is at `start` or later, but before `until`."""
    rows = connection.execute(
        "SELECT id FROM drawer WHERE source = ?1 AND thread = ?2 AND ordinal >= ?3 AND (?4 IS NULL OR ordinal < ?4)",
        (source, thread, start, until),
    )
    return known_drawers(connection, [int(row) for (row,) in rows])


def first_reaching(connection: Connection, source: int, thread: str, ordinal: int, most: int) -> int:
    """Return the start of the first live drawer with any of `most` items after `ordinal`; else `ordinal`."""
    rows = connection.execute(  # CROSS: by itself, SQLite reads all drawers of the thread first
        "SELECT min(d.ordinal) FROM (SELECT id FROM item WHERE source = ?1 AND thread = ?2 AND ordinal > ?3"
        " ORDER BY ordinal LIMIT ?4) AS behind CROSS JOIN drawer_span s ON s.item = behind.id"
        " CROSS JOIN drawer d ON d.id = s.drawer"
        " WHERE d.retired_at IS NULL AND d.source = ?1 AND d.thread = ?2",
        (source, thread, ordinal, most),
    )
    return next((int(first) for (first,) in rows if first is not None), ordinal)


def known_drawers(connection: Connection, rows: Iterable[int]) -> dict[bytes, StoredDrawer]:
    """Return the properties of those drawers, by id."""
    drawers_by_uid = {}
    for row in rows:
        columns = connection.execute(
            "SELECT uid, room, title, turn, locator, trust, retired_at, retired_why, kind, role, author FROM drawer"
            " WHERE id = ?",
            (row,),
        )
        for uid, room, title, turn, locator, trust, retired_at, why, kind, role, author in columns:
            drawers_by_uid[bytes(uid)] = StoredDrawer(
                row, int(room), title, int(turn), locator, trust, retired_at, why, kind, role, author,
                tag_rows.tags_of(connection, row),
            )  # fmt: skip
    return drawers_by_uid


def last_turn_before(connection: Connection, source: int, thread: str, ordinal: int) -> int:
    """Return the number of the last turn that began before `ordinal`, 0 if there is none.

    The last drawer has its own turn number; later turns without a drawer (a picture, forgotten text) are counted.
    """
    rows = connection.execute(
        "SELECT turn, ordinal FROM drawer WHERE source = ? AND thread = ? AND ordinal < ?"
        " AND retired_why IS NOT 'forgotten' ORDER BY ordinal DESC LIMIT 1",
        (source, thread, ordinal),
    )
    turn, at = next(rows, (0, -1))
    silent = connection.execute(
        "SELECT count(*) FROM item WHERE source = ? AND thread = ? AND ordinal > ? AND ordinal < ?"
        " AND kind = 'message' AND standing = 'said' AND role = 'user'",
        (source, thread, at, ordinal),
    )
    return int(turn) + int(next(silent)[0])


def insert_drawers(connection: Connection, new: Sequence[DrawerRow]) -> list[int]:
    """Add drawers with their spans and tags; return their row ids in order."""
    first = _next_row(connection)
    ids = list(range(first, first + len(new)))
    connection.executemany(
        "INSERT INTO drawer(id, uid, kind, source, thread, ordinal, turn, room, role, author, title, created_at,"
        " recorded_at, retired_at, retired_why, trust, branch, commit_id, locator, size, marks)"
        f" VALUES({','.join('?' * 21)})",
        ((own, *_columns(drawer)) for own, drawer in zip(ids, new, strict=True)),
    )
    connection.executemany(
        "INSERT INTO drawer_span(drawer, n, item, start, end) VALUES(?,?,?,?,?)",
        ((own, n, *span) for own, drawer in zip(ids, new, strict=True) for n, span in enumerate(drawer.spans)),
    )
    tag_rows.add_tags(connection, ((own, drawer.tags) for own, drawer in zip(ids, new, strict=True)))
    return ids


_columns = attrgetter(
    *("uid", "kind", "source", "thread", "ordinal", "turn", "room", "role", "author", "title", "created_at"),
    *("recorded_at", "retired_at", "retired_why", "trust", "branch", "commit", "locator", "size", "marks"),
)


def _next_row(connection: Connection) -> int:
    """Return a row id used by no drawer and by no remaining part of a lost drawer."""
    (row,) = next(
        connection.execute(
            "SELECT max(coalesce((SELECT max(id) FROM drawer), 0), coalesce((SELECT max(drawer) FROM drawer_span), 0),"
            " coalesce((SELECT max(drawer) FROM passage), 0), coalesce((SELECT max(drawer) FROM drawer_tag), 0)) + 1"
        )
    )
    return int(row)


def find_drawers_of(connection: Connection, uids: Sequence[bytes]) -> dict[bytes, StoredDrawer]:
    """Return the drawers with these ids that exist, live or retired."""
    rows: list[int] = []
    for start in range(0, len(uids), 500):
        part = uids[start : start + 500]
        id_rows = connection.execute(f"SELECT id FROM drawer WHERE uid IN ({','.join('?' * len(part))})", part)
        rows.extend(int(row) for (row,) in id_rows)
    return known_drawers(connection, rows)


def find_drawer(connection: Connection, uid: bytes) -> int | None:
    """Return the row id of the drawer with that id, live or retired."""
    for (row,) in connection.execute("SELECT id FROM drawer WHERE uid = ?", (uid,)):
        return int(row)
    return None


def set_spans(connection: Connection, row: int, spans: Sequence[tuple[int, int, int]]) -> None:
    """Replace a drawer's spans with these."""
    connection.execute("DELETE FROM drawer_span WHERE drawer = ?", (row,))
    connection.executemany(
        "INSERT INTO drawer_span(drawer, n, item, start, end) VALUES(?,?,?,?,?)",
        ((row, n, *span) for n, span in enumerate(spans)),
    )


def retire(connection: Connection, row: int, at: int, why: str) -> None:
    """Retire a drawer: it leaves search, but its id still resolves."""
    connection.execute("UPDATE drawer SET retired_at = ?, retired_why = ? WHERE id = ?", (at, why, row))


def tell_anew(connection: Connection, drawer: int, row: DrawerRow) -> None:
    """Update a drawer's values that come from its items: it was known only as forgotten, or another item is kept."""
    connection.execute(
        "UPDATE drawer SET kind = ?, thread = ?, ordinal = ?, role = ?, author = ?, created_at = ?, branch = ?,"
        " commit_id = ?, size = ?, marks = ? WHERE id = ?",
        (
            row.kind, row.thread, row.ordinal, row.role, row.author, row.created_at, row.branch, row.commit, row.size,
            row.marks, drawer,
        ),
    )  # fmt: skip


def revive(connection: Connection, row: int) -> None:
    """Undo a retirement."""
    connection.execute("UPDATE drawer SET retired_at = NULL, retired_why = NULL WHERE id = ?", (row,))


def refile(connection: Connection, row: int, room: int, title: str) -> None:
    """Move a drawer to another room, or change its title."""
    connection.execute("UPDATE drawer SET room = ?, title = ? WHERE id = ?", (room, title, row))


def renumber(connection: Connection, row: int, turn: int, locator: str) -> None:
    """Update a drawer's position in its source."""
    connection.execute("UPDATE drawer SET turn = ?, locator = ? WHERE id = ?", (turn, locator, row))


def set_trust(connection: Connection, row: int, trust: str) -> None:
    """Update the trust of a drawer's text."""
    connection.execute("UPDATE drawer SET trust = ? WHERE id = ?", (trust, row))


def insert_passages(connection: Connection, passages: Iterable[tuple[int, PassageRow]]) -> None:
    """Add passages, each with its drawer; their vectors are pending until an embedder has computed them."""
    connection.executemany(
        "INSERT INTO passage(drawer, item, start, end, hash) VALUES(?,?,?,?,?)",
        ((drawer, p.item, p.start, p.end, p.hash) for drawer, p in passages),
    )


def passages(connection: Connection, drawer: int) -> list[PassageRow]:
    """Return a drawer's passages in the order in which they were added."""
    rows = connection.execute("SELECT item, start, end, hash FROM passage WHERE drawer = ? ORDER BY id", (drawer,))
    return [PassageRow(int(item), int(start), int(end), bytes(digest)) for item, start, end, digest in rows]


def live_drawers_with(connection: Connection, passage: bytes) -> list[int]:
    """Return the live drawers that have a passage with that hash, in the order in which they were added."""
    rows = connection.execute(
        "SELECT DISTINCT d.id FROM passage p JOIN drawer d ON d.id = p.drawer WHERE p.hash = ?"
        " AND d.retired_at IS NULL ORDER BY d.recorded_at, d.id",
        (passage,),
    )
    return [int(row) for (row,) in rows]


def rehash_passages(connection: Connection, drawer: int, hashes: Sequence[bytes]) -> None:
    """Set new text hashes for a drawer's passages, in the order in which they were added."""
    rows = [int(row) for (row,) in connection.execute("SELECT id FROM passage WHERE drawer = ? ORDER BY id", (drawer,))]
    connection.executemany("UPDATE passage SET hash = ? WHERE id = ?", zip(hashes, rows, strict=True))


def delete_passages(connection: Connection, drawer: int) -> None:
    """Delete a drawer's passages."""
    connection.execute("DELETE FROM passage WHERE drawer = ?", (drawer,))


def drawer_spans(connection: Connection, row: int) -> list[tuple[int, int, int]]:
    """Return a drawer's spans as (item row id, start, end)."""
    rows = connection.execute("SELECT item, start, end FROM drawer_span WHERE drawer = ? ORDER BY n", (row,))
    return [(int(a), int(b), int(c)) for a, b, c in rows]


def spans_of(connection: Connection, rows: Iterable[int]) -> dict[int, list[tuple[int, int, int]]]:
    """Return the spans of each drawer as (item row id, start, end)."""
    spans_by_drawer: dict[int, list[tuple[int, int, int]]] = {}
    for row, item, start, end in connection.execute(
        "SELECT drawer, item, start, end FROM drawer_span WHERE drawer IN (SELECT value FROM json_each(?))"
        " ORDER BY drawer, n",
        (json.dumps([*rows]),),
    ):
        spans_by_drawer.setdefault(int(row), []).append((int(item), int(start), int(end)))
    return spans_by_drawer


class DrawerDetails(NamedTuple):
    """A drawer without its text; `source` is a row id."""

    row: int
    uid: bytes
    kind: DrawerKind
    role: str
    author: str
    title: str
    created_at: int
    recorded_at: int
    retired_at: int | None
    trust: Trust
    branch: str
    commit: str
    locator: str
    source: int
    wing: str
    room: str


def describe(connection: Connection, rows: Iterable[int]) -> list[DrawerDetails]:
    """Return those drawers' properties without their text, live or retired."""
    records = connection.execute(
        "SELECT d.id, d.uid, d.kind, d.role, d.author, d.title, d.created_at, d.recorded_at, d.retired_at, d.trust,"
        " d.branch, d.commit_id, d.locator, d.source, wing.name, room.name"
        " FROM drawer AS d JOIN room ON room.id = d.room JOIN wing ON wing.id = room.wing"
        " WHERE d.id IN (SELECT value FROM json_each(?))",
        (json.dumps([*rows]),),
    )
    return [DrawerDetails(*row) for row in records]


def find_drawers(connection: Connection, low: bytes, high: bytes, limit: int) -> list[tuple[int, bytes]]:
    """Return (row id, id) of drawers with ids in [low, high], at most `limit`."""
    rows = connection.execute("SELECT id, uid FROM drawer WHERE uid BETWEEN ? AND ? LIMIT ?", (low, high, limit))
    return [(int(row), bytes(uid)) for row, uid in rows]


def live_drawers_of_item(connection: Connection, item: int) -> list[int]:
    """Return the row ids of the live drawers that contain a part of an item, in order."""
    rows = connection.execute(
        "SELECT DISTINCT d.id, d.ordinal FROM drawer_span s JOIN drawer d ON d.id = s.drawer"
        " WHERE s.item = ? AND d.retired_at IS NULL ORDER BY d.ordinal, d.id",
        (item,),
    )
    return [int(row) for row, _ in rows]


def uids_of(connection: Connection, rows: Iterable[int]) -> list[bytes]:
    """Return the ids of drawers in order."""
    return [bytes(uid) for row in rows for (uid,) in connection.execute("SELECT uid FROM drawer WHERE id = ?", (row,))]


def drawers_of_items(connection: Connection, rows: Iterable[int]) -> list[int]:
    """Return all drawers, live and retired, that contain a part of any of the items, ascending."""
    drawer_rows: set[int] = set()
    for row in rows:
        drawer_rows.update(
            int(d) for (d,) in connection.execute("SELECT drawer FROM drawer_span WHERE item = ?", (row,))
        )
    return sorted(drawer_rows)


def drawers_of_sources(connection: Connection, sources: Iterable[int]) -> frozenset[int]:
    """Return all drawers, live and retired, that were cut from these sources."""
    rows = connection.execute(
        "SELECT id FROM drawer WHERE source IN (SELECT value FROM json_each(?))", (json.dumps([*sources]),)
    )
    return frozenset(int(row) for (row,) in rows)


def live_drawers_of_items(connection: Connection, rows: Iterable[int]) -> list[int]:
    """Return the live drawers that contain a part of any of the items."""
    return [row for row in drawers_of_items(connection, rows) if is_live(connection, row)]


def is_live(connection: Connection, row: int) -> bool:
    """Whether a drawer with that row id exists and is not retired."""
    rows = connection.execute("SELECT 1 FROM drawer WHERE id = ? AND retired_at IS NULL", (row,))
    return any(True for _ in rows)


def count_drawers(connection: Connection) -> int:
    """Return the number of live drawers."""
    return int(next(connection.execute("SELECT count(*) FROM drawer WHERE retired_at IS NULL"))[0])


class DrawerPlacement(NamedTuple):
    """A drawer's place, and the properties that are known without reading its text."""

    row: int
    source: int
    kind: str
    author: str
    size: int
    marks: int
    wing: str
    role: str = ""
    title: str = ""
    created_at: int = 0
    uid: bytes = b""
    branch: str = ""


def read_placements(connection: Connection, rows: Sequence[int]) -> dict[int, DrawerPlacement]:
    """Return the places of the live drawers among these."""
    records = connection.execute(
        "SELECT drawer.id, source, kind, author, size, marks, wing.name, role, title, created_at, drawer.uid, branch"
        " FROM drawer JOIN room ON room.id = drawer.room JOIN wing ON wing.id = room.wing"
        " WHERE drawer.id IN (SELECT value FROM json_each(?)) AND retired_at IS NULL",
        (json.dumps(list(rows)),),
    )
    return {placement.row: placement for placement in make_rows(DrawerPlacement, records)}


def read_neighbours(connection: Connection, rows: Sequence[int]) -> dict[int, tuple[tuple[int, ...], tuple[int, ...]]]:
    """Return, per drawer, up to `REACH` live ones of its kind and thread on each side, the nearest first."""
    records = connection.execute(_NEIGHBOURS_QUERY, (json.dumps(list(rows)),))
    return {int(row): (_rows(earlier_rows), _rows(later_rows)) for row, earlier_rows, later_rows in records}


def _rows(id_list: str | None) -> tuple[int, ...]:
    return tuple(map(int, id_list.split(","))) if id_list else ()


REACH = 3
"""Neighbours on each side that are reported."""
_SIDES = (("<", "DESC"), (">", "ASC"))
_NEIGHBOURS_QUERY = (
    "SELECT own.id, "
    + ", ".join(
        "(SELECT group_concat(id) FROM (SELECT other.id FROM drawer AS other WHERE other.source = own.source"
        " AND other.thread = own.thread AND other.kind = own.kind AND other.retired_at IS NULL"
        f" AND other.ordinal {sign}= own.ordinal AND (other.ordinal, other.id) {sign} (own.ordinal, own.id)"
        f" ORDER BY other.ordinal {order}, other.id {order} LIMIT {REACH}))"
        for sign, order in _SIDES
    )
    + " FROM json_each(?1) AS asked JOIN drawer AS own ON own.id = asked.value"
)


def authors(connection: Connection) -> list[str]:
    """Return every author of a drawer, each once, without reading the drawers."""
    rows = connection.execute(
        "WITH RECURSIVE name(author) AS (SELECT min(author) FROM drawer WHERE author <> '' UNION ALL"
        " SELECT (SELECT min(author) FROM drawer WHERE author <> '' AND author > name.author) FROM name"
        " WHERE name.author IS NOT NULL) SELECT author FROM name WHERE author IS NOT NULL"
    )
    return [author for (author,) in rows]
