"""How many messages of a human hooks have counted in a session, and up to which item.

A turn's end counts what is new: a session of weeks costs no more than one of an hour.
"""

from __future__ import annotations

from typing import NamedTuple

from palazzo.store.database import Connection


class HumanCount(NamedTuple):
    """A count, and the last item (a row) that is in it."""

    humans: int
    item: int


def so_far(connection: Connection, session: int, source: int) -> HumanCount:
    """Return what was counted of a source for a session (its row)."""
    rows = connection.execute(
        "SELECT humans, item FROM human_count WHERE session = ? AND source = ?", (session, source)
    )
    return next((HumanCount(int(humans), int(item)) for humans, item in rows), HumanCount(0, 0))


def note(connection: Connection, session: int, source: int, count: HumanCount) -> None:
    """Note what was counted."""
    connection.execute(
        "INSERT INTO human_count(session, source, humans, item) VALUES(?1, ?2, ?3, ?4) ON CONFLICT(session, source)"
        " DO UPDATE SET humans = max(humans, ?3), item = max(item, ?4)",
        (session, source, *count),
    )
