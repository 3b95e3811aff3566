"""Material for generated questions: headings, first turns, any drawer. For benchmarks."""

from __future__ import annotations

from collections.abc import Iterable

from palazzo.store.database import Connection


def section_titles(connection: Connection) -> list[tuple[str, int]]:
    """Return the titles of live sections, sorted, and how many sources have each."""
    rows = connection.execute(
        "SELECT title, count(DISTINCT source) FROM drawer WHERE kind = 'section' AND retired_at IS NULL AND title <> ''"
        " GROUP BY title ORDER BY title"
    )
    return [(str(title), int(number)) for title, number in rows]


def drawers_titled(connection: Connection, title: str) -> frozenset[str]:
    """Return the ids of the live sections with that title."""
    rows = connection.execute(
        "SELECT uid FROM drawer WHERE kind = 'section' AND retired_at IS NULL AND title = ?", (title,)
    )
    return frozenset(bytes(uid).hex() for (uid,) in rows)


def first_turns(connection: Connection) -> list[int]:
    """Return the row ids of the first user message in each session, by the items' ids."""
    rows = connection.execute(
        "SELECT id, uid, min(ordinal) FROM item WHERE kind = 'message' AND standing = 'said' AND role = 'user'"
        " GROUP BY source ORDER BY uid"
    )
    return [int(row) for row, _, _ in rows]


def drawers_of(connection: Connection, item: int) -> frozenset[str]:
    """Return the ids of the live drawers that contain a part of an item."""
    rows = connection.execute(
        "SELECT uid FROM drawer WHERE retired_at IS NULL AND id IN (SELECT drawer FROM drawer_span WHERE item = ?)",
        (item,),
    )
    return frozenset(bytes(uid).hex() for (uid,) in rows)


def live_drawers(connection: Connection) -> list[int]:
    """Return the row ids of all live drawers but reasoning, sorted by drawer id."""
    rows = connection.execute("SELECT id FROM drawer WHERE retired_at IS NULL AND kind <> 'reasoning' ORDER BY uid")
    return [int(row) for (row,) in rows]


def ids_of(connection: Connection, rows: Iterable[int]) -> frozenset[str]:
    """Return the ids of these drawers that are live."""
    uids = set()
    for row in rows:
        for (uid,) in connection.execute("SELECT uid FROM drawer WHERE retired_at IS NULL AND id = ?", (row,)):
            uids.add(bytes(uid).hex())
    return frozenset(uids)
