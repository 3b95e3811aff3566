"""Discovery of tunnels: rooms of different wings whose drawers mention the same distinctive names.

The weight of a name depends on how rare it is among drawers, and is divided among the rooms that mention it. A name
that many wings mention links no rooms. Neither does a name that anyone may use for anything: an ordinary word, a module
of a language's standard library, a ticket number, a file at the top level of every project. Diaries and tasks link no
rooms, because they are about other wings.
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
"""Maximum number of mentions that are read, newest first: those of about 50,000 to 100,000 drawers; more would take too
long.
"""
_MOST_ROOMS = 6
"""Maximum number of rooms that may mention a name for it to connect them: the number of pairs grows quadratically."""
_WINGS = 4
"""A name connects rooms only if at most one wing in this many mentions it; two wings are always allowed."""
_DRAWERS, _MOST_DRAWERS = 50, 10
"""It must also be in at most one drawer in this many; ten drawers are always allowed."""
_FEWEST = 2
"""Minimum number of names that two rooms must share. A single shared name may be chance."""
_SHORTEST_WORD = 12
"""Minimum letters for a one-word name that is unlikely to be an ordinary word: `jwtbearerrequest`."""
_KINDS = ("identifier", "package", "file", "person", "product")
_USED_ANYWHERE = ("package", "product")
"""Kinds of names that do not connect two projects by themselves, because many projects use the same ones."""


class Shared(NamedTuple):
    """A name that two rooms share, as written in one place, and its kind."""

    name: str
    kind: str


class RoomOverlap(NamedTuple):
    """Two rooms that share names: these as (kind, folded name), the most significant first, and their weight."""

    first: RoomRow
    second: RoomRow
    names: tuple[tuple[str, str], ...]
    weight: float


def find_overlaps(connection: Connection, rooms: Sequence[RoomRow], silent: Collection[str]) -> list[RoomOverlap]:
    """Return the pairs of rooms in different wings that share distinctive names, those that share most first.

    Rooms whose names are in `silent` are left out.
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
    """Return the most distinctive shared names of two rooms, as they are spelled."""
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
