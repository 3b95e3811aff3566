"""Halls: the kinds of things that a room contains (facts, events, decisions, …), by the kinds of its notes."""

from __future__ import annotations

from typing import NamedTuple

from palazzo.model import Micros
from palazzo.store.database import Connection
from palazzo.store.json_columns import decode_string, string_at

HALLS = {
    "fact": "facts",
    "event": "events",
    "milestone": "events",
    "error": "events",
    "decision": "decisions",
    "discovery": "discoveries",
    "learning": "discoveries",
    "observation": "discoveries",
    "preference": "preferences",
    "advice": "advice",
    "recommendation": "advice",
    "tip": "advice",
}
"""Halls by the kind of a note (`remember --kind`). A note of any other kind is in no hall."""


def halls(connection: Connection) -> dict[int, dict[str, int]]:
    """Return, by room, the number of live drawers in each of its halls; rooms without any are absent."""
    rows = connection.execute(
        f"SELECT coalesce(room.merged_into, room.id), {string_at('item.meta', '$.label')} AS label, count(*)"
        " FROM source CROSS JOIN drawer ON drawer.source = source.id AND drawer.retired_at IS NULL"
        " JOIN drawer_span s ON s.drawer = drawer.id AND s.n = 0 JOIN item ON item.id = s.item"
        " JOIN room ON room.id = drawer.room WHERE source.kind = 'note' AND label IS NOT NULL GROUP BY 1, 2"
    )
    counts_by_room: dict[int, dict[str, int]] = {}
    for room, label, count in rows:
        hall = HALLS.get(decode_string(label))
        if hall is not None:
            own = counts_by_room.setdefault(int(room), {})
            own[hall] = own.get(hall, 0) + int(count)
    return {room: dict(sorted(own.items())) for room, own in counts_by_room.items()}


class RoomContents(NamedTuple):
    """The number of a room's live drawers, and the time of the newest."""

    drawers: int
    newest: Micros


def read_contents(connection: Connection) -> dict[int, RoomContents]:
    """Return, by room, what it holds; rooms without live drawers are absent."""
    rows = connection.execute(
        "SELECT coalesce(merged_into, id), sum(n), max(newest) FROM (SELECT room AS own, count(*) AS n,"
        " max(created_at) AS newest FROM drawer WHERE retired_at IS NULL GROUP BY room)"
        " JOIN room ON room.id = own GROUP BY 1"
    )
    return {int(room): RoomContents(int(count), Micros(newest)) for room, count, newest in rows}
