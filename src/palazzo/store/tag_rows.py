"""Tags: short names on drawers, stated by someone or given by a rule. `index/` derives them from acts and items.

A name has one row, so that a drawer's tags are small numbers, and tokens of the keyword index.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from palazzo.store.database import Connection


def tag_id(connection: Connection, name: str) -> int:
    """Return the row id of a tag, creating it if it is new."""
    for (row,) in connection.execute("SELECT id FROM tag WHERE name = ?", (name,)):
        return int(row)
    (created,) = next(connection.execute("INSERT INTO tag(name) VALUES(?) RETURNING id", (name,)))
    return int(created)


def known_tags(connection: Connection, names: Iterable[str]) -> dict[str, int]:
    """Return the row ids of those tags that any drawer has or had."""
    return {
        name: int(row) for name in names for (row,) in connection.execute("SELECT id FROM tag WHERE name = ?", (name,))
    }


def tags_of(connection: Connection, drawer: int) -> tuple[str, ...]:
    """Return a drawer's tags, sorted."""
    rows = connection.execute(
        "SELECT name FROM drawer_tag JOIN tag ON tag.id = drawer_tag.tag WHERE drawer = ? ORDER BY name", (drawer,)
    )
    return tuple(str(name) for (name,) in rows)


def tags_of_each(connection: Connection, drawers: Iterable[int]) -> dict[int, tuple[str, ...]]:
    """Return the sorted tags of those drawers that have any."""
    rows = connection.execute(
        "SELECT drawer, name FROM drawer_tag JOIN tag ON tag.id = drawer_tag.tag"
        " WHERE drawer IN (SELECT value FROM json_each(?)) ORDER BY drawer, name",
        (json.dumps([*drawers]),),
    )
    tags_by_drawer: dict[int, tuple[str, ...]] = {}
    for drawer, name in rows:
        tags_by_drawer[int(drawer)] = (*tags_by_drawer.get(int(drawer), ()), str(name))
    return tags_by_drawer


def tag_ids_of(connection: Connection, drawer: int) -> tuple[int, ...]:
    """Return the row ids of a drawer's tags, ascending."""
    rows = connection.execute("SELECT tag FROM drawer_tag WHERE drawer = ? ORDER BY tag", (drawer,))
    return tuple(int(tag) for (tag,) in rows)


def set_tags(connection: Connection, drawer: int, names: Sequence[str]) -> None:
    """Set a drawer's tags to exactly these."""
    connection.execute("DELETE FROM drawer_tag WHERE drawer = ?", (drawer,))
    add_tags(connection, [(drawer, names)])


def add_tags(connection: Connection, drawers: Iterable[tuple[int, Sequence[str]]]) -> None:
    """Add tags to drawers' existing tags."""
    ids: dict[str, int] = {}
    rows = []
    for drawer, names in drawers:
        for name in names:
            if name not in ids:
                ids[name] = tag_id(connection, name)
            rows.append((drawer, ids[name]))
    connection.executemany("INSERT OR IGNORE INTO drawer_tag(drawer, tag) VALUES(?,?)", rows)


def live_tags(connection: Connection) -> list[tuple[str, int]]:
    """Return (name, number of live drawers) of every tag in use, sorted by name."""
    rows = connection.execute(
        "SELECT tag.name, count(*) FROM drawer_tag JOIN drawer ON drawer.id = drawer_tag.drawer"
        " JOIN tag ON tag.id = drawer_tag.tag WHERE drawer.retired_at IS NULL GROUP BY tag.id ORDER BY tag.name"
    )
    return [(str(name), int(count)) for name, count in rows]
