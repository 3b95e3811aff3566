"""Rooms of different wings that share distinctive names: tunnels that nobody made, found by what drawers mention.

A name counts by how rare it is among drawers, shared out among the rooms that mention it. One that many wings mention
joins none, nor does one that anybody may use for anything: an ordinary word, a module that a language brings, a
ticket's number, a file at the top of every project. Diaries and tasks join nothing: they are about other wings.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from itertools import combinations
from typing import NamedTuple

from palazzo.store import mention_rows
from palazzo.store.database import Connection
from palazzo.store.place_rows import RoomRow
from palazzo.text import known_names

_MOST_MENTIONS = 250_000
"""Mentions that are read, the newest: those of some 50,000 to 100,000 drawers; more would be waited for."""
_MOST_ROOMS = 6
"""Rooms that may mention a name for it to join them: pairs grow with the square."""
_WINGS = 4
"""A name joins if no more than one wing in so many mentions it, but two always may."""
_DRAWERS, _MOST_DRAWERS = 50, 10
"""Nor may it be in more than one drawer in so many; in ten it always may be."""
_FEWEST = 2
"""Names that two rooms share at least. One alone may be chance."""
_SHORTEST_WORD = 12
"""Letters from which on a name of one word is hardly an ordinary one: `jwtbearerrequest`."""
_KINDS = ("identifier", "package", "file", "person", "product")
_USED_ANYWHERE = ("package", "product")
"""Two projects that use the same have nothing to do with each other for that alone."""


class Shared(NamedTuple):
    """A name that two rooms share, as it is written at one place, and its kind."""

    name: str
    kind: str


class RoomOverlap(NamedTuple):
    """Two rooms that share names: these as (kind, folded name), the most telling first, and what they come to."""

    first: RoomRow
    second: RoomRow
    names: tuple[tuple[str, str], ...]
    weight: float


def find_overlaps(connection: Connection, rooms: Sequence[RoomRow], silent: Collection[str]) -> list[RoomOverlap]:
    """Return the pairs of rooms in different wings that share distinctive names, those that share most first.

    Rooms of a name in `silent` are left out.
    """
    by_row = {room.row: room for room in rooms if room.place.room not in silent}
    wings = len({room.wing for room in by_row.values()})
    spread = mention_rows.spread(connection, _KINDS, _MOST_MENTIONS)
    most_wings, most_drawers = max(2, wings // _WINGS), max(_MOST_DRAWERS, spread.drawers // _DRAWERS)
    name_weights: dict[tuple[str, str], float] = {}
    pairs: dict[tuple[int, int], list[tuple[str, str]]] = {}
    for key, counts in spread.rooms.items():
        if not 2 <= len(counts) <= _MOST_ROOMS or not _is_distinctive(*key):
            continue
        room_rows = sorted(row for row in counts if row in by_row)
        drawers = sum(counts.values())
        if drawers > most_drawers or not 2 <= len({by_row[row].wing for row in room_rows}) <= most_wings:
            continue
        name_weights[key] = math.log(1 + spread.drawers / drawers) / (len(room_rows) - 1)
        for room, peer in combinations(room_rows, 2):
            if by_row[room].wing != by_row[peer].wing:
                pairs.setdefault((room, peer), []).append(key)
    overlaps = []
    for rooms_of_pair, keys in pairs.items():
        if len(keys) >= _FEWEST and any(kind not in _USED_ANYWHERE for kind, _ in keys):
            first, second = sorted((by_row[row] for row in rooms_of_pair), key=_order)
            names = sorted(keys, key=lambda key: (-name_weights[key], key[1]))
            overlaps.append(RoomOverlap(first, second, tuple(names), sum(name_weights[key] for key in keys)))
    return sorted(overlaps, key=lambda one: (-one.weight, _order(one.first), _order(one.second)))


def spell_names(connection: Connection, overlap: RoomOverlap, limit: int) -> tuple[Shared, ...]:
    """Return the most telling names of two rooms, as they are written."""
    name_keys = overlap.names[:limit]
    texts = mention_rows.read_spellings(connection, name_keys)
    return tuple(Shared(texts.get(key, key[1]), key[0]) for key in name_keys)


def _is_distinctive(kind: str, name: str) -> bool:
    if kind == "file":
        return "/" in name.strip("./~")
    if kind == "identifier":
        plain = name.isalpha() and len(name) < _SHORTEST_WORD
        return not plain and name.partition(".")[0] not in known_names.STANDARD_LIBRARY
    return True


def _order(room: RoomRow) -> tuple[str, str]:
    return room.place.wing, room.place.room
