"""Mentions in drawers: derived (`derived/mention_consumer`), one row for each name and kind in a drawer, at its first
position.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from palazzo.model import Micros, Place
from palazzo.store import items
from palazzo.store.database import Connection


class MentionRow(NamedTuple):
    """A case-folded name, its kind, and the first place where the drawer mentions it."""

    drawer: int
    kind: str
    name: str
    item: int
    start: int
    end: int


_COLUMNS = "drawer, kind, name, item, start, end"


def insert(connection: Connection, rows: Iterable[MentionRow]) -> None:
    """Add mentions."""
    connection.executemany(f"INSERT INTO mention({_COLUMNS}) VALUES(?,?,?,?,?,?)", rows)


def drop(connection: Connection, drawers: Iterable[int]) -> None:
    """Delete the mentions of drawers."""
    connection.executemany("DELETE FROM mention WHERE drawer = ?", ((drawer,) for drawer in drawers))


def clear(connection: Connection) -> None:
    """Delete all mentions."""
    connection.execute("DELETE FROM mention")


def of_drawers(connection: Connection, drawers: Iterable[int]) -> list[MentionRow]:
    """Return the mentions of drawers, in order."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM mention WHERE drawer IN (SELECT value FROM json_each(?)) ORDER BY drawer, kind, name",
        (json.dumps(list(drawers)),),
    )
    return [MentionRow(*row) for row in rows]


def find_mentions(connection: Connection, name: str, kind: str | None = None) -> list[MentionRow]:
    """Return where live drawers mention a folded name, newest drawer first."""
    rows = connection.execute(
        "SELECT m.drawer, m.kind, m.name, m.item, m.start, m.end FROM mention m JOIN drawer d ON d.id = m.drawer"
        " WHERE m.name = ?1 AND (?2 IS NULL OR m.kind = ?2) AND d.retired_at IS NULL"
        " ORDER BY d.created_at DESC, d.id DESC",
        (name, kind),
    )
    return [MentionRow(*row) for row in rows]


class NameFrequency(NamedTuple):
    """A name that live drawers mention, and the number of drawers."""

    name: str
    kind: str
    drawers: int


def names_in(connection: Connection, wing: str | None, limit: int, kinds: Sequence[str] = ()) -> list[NameFrequency]:
    """Return the names mentioned by the most live drawers of a wing (None: of all wings)."""
    rows = connection.execute(
        "SELECT m.name, m.kind, count(*) AS n FROM mention m JOIN drawer d ON d.id = m.drawer"
        " JOIN room ON room.id = d.room JOIN wing ON wing.id = room.wing"
        " WHERE (?1 IS NULL OR wing.name = ?1) AND d.retired_at IS NULL"
        " AND (?2 = '[]' OR m.kind IN (SELECT value FROM json_each(?2)))"
        " GROUP BY m.name, m.kind ORDER BY n DESC, m.name LIMIT ?3",
        (wing, json.dumps(list(kinds)), limit),
    )
    return [NameFrequency(str(name), str(kind), int(n)) for name, kind, n in rows]


class Spread(NamedTuple):
    """The number of live drawers per room that mention a name, by (kind, name), and the number of drawers read."""

    rooms: dict[tuple[str, str], dict[int, int]]
    drawers: int


def spread(connection: Connection, kinds: Sequence[str], most: int) -> Spread:
    """Return the rooms in which names of these kinds are mentioned, from the newest `most` mentions.

    It uses two scans and a dictionary: a grouped join takes twice as long.
    """
    rooms = dict(connection.execute("SELECT id, coalesce(merged_into, id) FROM room"))
    homes = dict(connection.execute("SELECT id, room FROM drawer WHERE retired_at IS NULL"))
    counts_by_name: dict[tuple[str, str], dict[int, int]] = {}
    drawers: set[int] = set()
    newest = connection.execute("SELECT drawer, kind, name FROM mention ORDER BY id DESC LIMIT ?", (most,))
    for drawer, kind, name in newest:
        home = homes.get(drawer)
        if home is None or kind not in kinds:
            continue
        drawers.add(drawer)
        room = rooms[home]
        counts = counts_by_name.get((kind, name))
        if counts is None:
            counts_by_name[kind, name] = {room: 1}
        else:
            counts[room] = counts.get(room, 0) + 1
    return Spread(counts_by_name, len(drawers))


class DrawerNames(NamedTuple):
    """A live drawer's place and time, and the names in it as (kind, folded name), in their order in the text."""

    place: Place
    created_at: Micros
    names: tuple[tuple[str, str], ...]


def names_by_drawer(connection: Connection, wing: str | None, kinds: Sequence[str], most: int) -> Iterator[DrawerNames]:
    """Yield live drawers of a wing (None: of all wings) that mention names, from the newest `most` mentions.

    It uses scans and dictionaries, as `spread` does.
    """
    rooms = {
        row: Place(wing_name, room)
        for row, wing_name, room in connection.execute(
            "SELECT r.id, wing.name, home.name FROM room r JOIN room home ON home.id = coalesce(r.merged_into, r.id)"
            " JOIN wing ON wing.id = home.wing"
        )
        if wing in (None, wing_name)
    }
    homes = {
        row: (rooms[room], Micros(at))
        for row, room, at in connection.execute("SELECT id, room, created_at FROM drawer WHERE retired_at IS NULL")
        if room in rooms
    }
    names_of_drawers: dict[int, list[tuple[int, str, str]]] = {}
    newest = connection.execute("SELECT drawer, kind, name, start FROM mention ORDER BY id DESC LIMIT ?", (most,))
    for drawer, kind, name, start in newest:
        if drawer in homes and kind in kinds:
            names_of_drawers.setdefault(drawer, []).append((start, kind, name))
    for drawer, names in names_of_drawers.items():
        yield DrawerNames(*homes[drawer], tuple((kind, name) for _, kind, name in sorted(names)))


def read_spellings(connection: Connection, names: Sequence[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Return names, given as (kind, folded name), in the spelling of their first mention."""
    places = {}
    for kind, name in names:
        for item, start, end in connection.execute(
            "SELECT item, start, end FROM mention WHERE name = ?2 AND kind = ?1 ORDER BY id LIMIT 1", (kind, name)
        ):
            places[kind, name] = int(item), int(start), int(end)
    texts = items.read_texts(connection, sorted({item for item, _, _ in places.values()}))
    return {key: texts[item][start:end] for key, (item, start, end) in places.items()}


class MentionCount(NamedTuple):
    """The number of live drawers that mention an entity, in total and per room, largest first."""

    drawers: int
    rooms: dict[Place, int]


def count_mentions(connection: Connection, name_keys: Sequence[str], wing: str | None = None) -> MentionCount:
    """Return where any of these folded names is mentioned, as any kind; in one wing."""
    rows = connection.execute(
        "SELECT wing.name, room.name, count(DISTINCT d.id) AS n FROM mention m"
        " JOIN drawer d ON d.id = m.drawer JOIN room ON room.id = d.room JOIN wing ON wing.id = room.wing"
        " WHERE m.name IN (SELECT value FROM json_each(?1)) AND d.retired_at IS NULL"
        " AND (?2 IS NULL OR wing.name = ?2) GROUP BY wing.name, room.name ORDER BY n DESC, 1, 2",
        (json.dumps(list(name_keys)), wing),
    )
    rooms = {Place(wing_name, room): int(n) for wing_name, room, n in rows}
    return MentionCount(sum(rooms.values()), rooms)


def most_mentioned(connection: Connection, limit: int) -> list[tuple[str, str]]:
    """Return the names, as (kind, folded name), that the most drawers mention."""
    rows = connection.execute(
        "SELECT kind, name FROM mention GROUP BY name, kind ORDER BY count(*) DESC, name LIMIT ?", (limit,)
    )
    return [(str(kind), str(name)) for kind, name in rows]


def count(connection: Connection) -> int:
    """Return the number of stored mentions."""
    return int(next(connection.execute("SELECT count(*) FROM mention"))[0])


def strays(connection: Connection) -> int:
    """Return the number of mentions that belong to no live drawer."""
    rows = connection.execute(
        "SELECT count(*) FROM mention WHERE drawer NOT IN (SELECT id FROM drawer WHERE retired_at IS NULL)"
    )
    return int(next(rows)[0])
