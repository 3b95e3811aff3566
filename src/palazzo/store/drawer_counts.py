"""Counts of live drawers: by kind, tag, age and trust."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

from palazzo.model import Micros
from palazzo.store.database import Connection
from palazzo.store.json_columns import decode_string, string_at

DAY = 86_400_000_000


class Total(NamedTuple):
    """The numbers of live and of retired drawers."""

    live: int
    retired: int


def total(connection: Connection, rooms: Sequence[int] | None) -> Total:
    """Return the number of drawers in rooms (None: everywhere)."""
    live, drawer_count = next(
        connection.execute(
            f"SELECT count(*) FILTER (WHERE {_LIVE}), count(*) FROM drawer d WHERE {_IN_ROOMS}", (_encode_rooms(rooms),)
        )
    )
    return Total(int(live), int(drawer_count) - int(live))


def by_kind(connection: Connection, rooms: Sequence[int] | None) -> dict[str, int]:
    """Return the number of live drawers of each kind."""
    return _count_by_name(connection, "SELECT d.kind, count(*) FROM drawer d WHERE {where} GROUP BY 1", rooms)


def by_trust(connection: Connection, rooms: Sequence[int] | None) -> dict[str, int]:
    """Return the number of live drawers at each trust level."""
    return _count_by_name(connection, "SELECT d.trust, count(*) FROM drawer d WHERE {where} GROUP BY 1", rooms)


def by_label(connection: Connection, rooms: Sequence[int] | None) -> dict[str, int]:
    """Return the number of live drawers of notes by the label they were filed as; unlabelled ones are excluded."""
    return _count_by_name(
        connection,
        f"SELECT {string_at('item.meta', '$.label')} AS label, count(*) FROM source CROSS JOIN drawer d"
        " ON d.source = source.id JOIN drawer_span s ON s.drawer = d.id AND s.n = 0 JOIN item ON item.id = s.item"
        " WHERE source.kind = 'note' AND label IS NOT NULL AND {where} GROUP BY 1",
        rooms,
    )


def by_tag(connection: Connection, rooms: Sequence[int] | None) -> dict[str, int]:
    """Return the number of live drawers with each tag."""
    return _count_by_name(
        connection,
        "SELECT tag.name, count(*) FROM drawer d JOIN drawer_tag ON drawer_tag.drawer = d.id"
        " JOIN tag ON tag.id = drawer_tag.tag WHERE {where} GROUP BY 1",
        rooms,
    )


AGES = {"day": 1, "week": 7, "month": 30, "year": 365}
"""The most days of each age group; anything older is `older`."""


def by_age(connection: Connection, rooms: Sequence[int] | None, now: Micros) -> dict[str, int]:
    """Return the number of live drawers from the last day, else the last week, …, in that order."""
    cases = " ".join(f"WHEN d.created_at > {now - days * DAY} THEN '{name}'" for name, days in AGES.items())
    counts = _count_by_name(
        connection, f"SELECT CASE {cases} ELSE 'older' END, count(*) FROM drawer d WHERE {{where}} GROUP BY 1", rooms
    )
    return {name: counts.get(name, 0) for name in (*AGES, "older")}


def items(connection: Connection, rooms: Sequence[int] | None) -> int:
    """Return the number of archived items in rooms, without noise."""
    rows = connection.execute(
        "SELECT count(*) FROM item WHERE kind <> 'noise' AND (?1 IS NULL OR room IN (SELECT value FROM json_each(?1)))",
        (_encode_rooms(rooms),),
    )
    return int(next(rows)[0])


_LIVE = "d.retired_at IS NULL"
_IN_ROOMS = "(?1 IS NULL OR d.room IN (SELECT value FROM json_each(?1)))"


def _count_by_name(connection: Connection, sql: str, rooms: Sequence[int] | None) -> dict[str, int]:
    """Return names with their counts, most frequent first."""
    rows = connection.execute(sql.format(where=f"{_LIVE} AND {_IN_ROOMS}"), (_encode_rooms(rooms),))
    counts = [(decode_string(name) if isinstance(name, bytes) else str(name), int(count)) for name, count in rows]
    return dict(sorted(counts, key=lambda one: (-one[1], one[0])))


def _encode_rooms(rooms: Sequence[int] | None) -> str | None:
    return None if rooms is None else json.dumps(list(rooms))
