"""Counts of human messages that hooks keep for a session, and the last item counted.

The end of a turn counts only new messages: a session of weeks costs no more than one of an hour.
"""

from __future__ import annotations

from typing import NamedTuple

from palazzo.store.database import Connection


class HumanCount(NamedTuple):
    """A count, and the last item (a row) that is included."""

    humans: int
    item: int


def so_far(connection: Connection, session: int, source: int) -> HumanCount:
    """Return the counts of a source for a session (its row)."""
    rows = connection.execute(
        "SELECT humans, item FROM human_count WHERE session = ? AND source = ?", (session, source)
    )
    return next((HumanCount(int(humans), int(item)) for humans, item in rows), HumanCount(0, 0))


def note(connection: Connection, session: int, source: int, count: HumanCount) -> None:
    """Record the counts."""
    connection.execute(
        "INSERT INTO human_count(session, source, humans, item) VALUES(?1, ?2, ?3, ?4) ON CONFLICT(session, source)"
        " DO UPDATE SET humans = max(humans, ?3), item = max(item, ?4)",
        (session, source, *count),
    )
