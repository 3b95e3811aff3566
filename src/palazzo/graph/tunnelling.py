"""Tunnels between rooms: those that are made, those that are found, and where they lead.

A tunnel is found where two wings have a room of one name, and where rooms of two wings share distinctive names
(`graph/sharing`). Rooms that every wing has (`general`, `sessions`, …) say nothing by being called so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from palazzo.archive.diaries import ROOM as DIARY
from palazzo.archive.reading import id_bounds
from palazzo.archive.tasks import ROOMS as TASKS
from palazzo.errors import AmbiguousId, NotFound, UsageError
from palazzo.graph.changing import Change
from palazzo.graph.sharing import Sharing, sharing, spelled
from palazzo.graph.whereabouts import Room, Wing, spoken
from palazzo.model import Micros
from palazzo.scope.rooms import CONVERSATIONS, GENERAL
from palazzo.store import halls, places, tunnels
from palazzo.store.database import Connection
from palazzo.store.halls import Held
from palazzo.store.places import RoomRow
from palazzo.store.tunnels import Tunnel

EVERYWHERE = frozenset([GENERAL, CONVERSATIONS, "notes", DIARY, *TASKS.values()])
"""Rooms that wings have without anybody's thinking of it."""
ABOUT_OTHERS = frozenset([DIARY, *TASKS.values()])
"""Rooms that mention what other wings are about, and have nothing of their own to share."""
_NEAREST = 5
"""Rooms that a step leads to, of those that share names with a room."""
_NAMES_TOLD = 3
"""Names that say why a step leads there."""
_STEPS = ("tunnel", "names", "wing")
"""By what a step leads to a room, the most telling first: how `Reached.via` begins."""
_NOTHING = Held(0, Micros(0))


# --- made --------------------------------------------------------------------------------------------------


def dig(
    change: Change, source: Room, target: Room, label: str, drawers: tuple[Sequence[bytes], Sequence[bytes]]
) -> tuple[Tunnel, bool]:
    """Make a tunnel between two rooms; return it, and whether it is new. `drawers` are those on each side."""
    if source.row == target.row:
        raise UsageError(f"A tunnel leads from one room to another, and both are '{spoken(source.place)}'.")
    label = change.kept(label)
    for known in tunnels.of_room(change.connection, source.row):
        ends = known.source.room, known.target.room, known.label, known.source.drawers, known.target.drawers
        if ends == (source.row, target.row, label, tuple(drawers[0]), tuple(drawers[1])):
            return known, False
    row = tunnels.insert(
        change.connection,
        change.new_uid(),
        (source.row, drawers[0]),
        (target.row, drawers[1]),
        label,
        change.actor,
        change.now,
    )
    change.did("tunnel+", row)
    return tunnels.read(change.connection, row), True


def fill(change: Change, prefix: str) -> Tunnel:
    """Take away the tunnel whose id is or begins with `prefix`; return it."""
    found = tunnels.between(change.connection, *id_bounds(prefix), limit=9)
    if len(found) > 1:
        raise AmbiguousId(prefix, [f"{one.uid} ({between(one)})" for one in found])
    if not found:
        raise NotFound(f"No tunnel has the id '{prefix}'. 'palazzo tunnel list' shows them.")
    (tunnel,) = found
    if tunnel.retired_at is not None:
        raise NotFound(f"The tunnel {tunnel.uid} was removed already.")
    tunnels.retire(change.connection, tunnel.row, change.now)
    change.did("tunnel-", tunnel.row)
    return tunnel


def between(tunnel: Tunnel) -> str:
    """Return which rooms a tunnel is between: `api/auth → web/login`."""
    return f"{spoken(tunnel.source.place)} → {spoken(tunnel.target.place)}"


# --- found -------------------------------------------------------------------------------------------------


class Together(NamedTuple):
    """Rooms of one name: the wings that have one, their halls, how many drawers they hold, and the newest."""

    room: str
    wings: tuple[str, ...]
    halls: tuple[str, ...]
    drawers: int
    newest: Micros


@dataclass(frozen=True, slots=True)
class Reached:
    """Rooms of one name that are reached in `hop` steps, the last of them by `via`: a tunnel, names, or a wing."""

    rooms: Together
    hop: int
    via: str


class Rooms:
    """All rooms of the palace, and how they hang together."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.all = places.rooms(connection)
        self._by_row = {one.row: one for one in self.all}
        self._held, self._halls = halls.held(connection), halls.halls(connection)

    def found(self, first: Wing | None = None, second: Wing | None = None) -> list[Together]:
        """Return the rooms that several wings have, those with most drawers first; of given wings, those both have."""
        wanted = {wing.row for wing in (first, second) if wing is not None}
        joined = [
            rooms
            for name, rooms in self._by_name.items()
            if name not in EVERYWHERE and len(rooms) > 1 and wanted <= {one.wing for one in rooms}
        ]
        told = [self.together(rooms) for rooms in joined]
        return sorted(told, key=lambda one: (-one.drawers, one.room))

    def sharing(self, first: Wing | None = None, second: Wing | None = None) -> list[Sharing]:
        """Return the pairs of rooms that share distinctive names, by how many and how rare; of given wings, theirs."""
        wanted = {wing.row for wing in (first, second) if wing is not None}
        return [one for one in self._sharing if wanted <= {one.first.wing, one.second.wing}]

    def together(self, rooms: Sequence[RoomRow]) -> Together:
        """Return what is to be told of rooms of one name."""
        own = [self._held.get(one.row, _NOTHING) for one in rooms]
        return Together(
            rooms[0].place.room,
            tuple(sorted(one.place.wing for one in rooms)),
            tuple(sorted({hall for one in rooms for hall in self._halls.get(one.row, {})})),
            sum(one.drawers for one in own),
            max(one.newest for one in own),
        )

    def reach(self, start: Iterable[int], hops: int) -> list[Reached]:
        """Return what is reached from rooms: themselves, then hop by hop what has a tunnel, shares names or a wing.

        Within a hop tunnels come first, then what shares names, then what is in one wing; of these, what holds most.
        """
        begin = [self._by_row[row] for row in start]
        first = self._alike(begin[0]) if len(begin) == 1 else begin
        found = [Reached(self.together(first), 0, "")]
        seen = {one.row for one in first}
        frontier = [first]
        for hop in range(1, hops + 1):
            reached: list[Reached] = []
            further: list[list[RoomRow]] = []
            for via, rooms in self._next(frontier):
                if any(one.row in seen for one in rooms):
                    continue
                seen.update(one.row for one in rooms)
                further.append(rooms)
                reached.append(Reached(self.together(rooms), hop, via))
            reached.sort(key=lambda one: (_STEPS.index(one.via.split()[0]), -one.rooms.drawers, one.rooms.room))
            found += reached
            frontier = further
        return found

    def _next(self, frontier: Sequence[Sequence[RoomRow]]) -> Iterator[tuple[str, list[RoomRow]]]:
        for rooms in frontier:
            for row in rooms:
                for tunnel in self._tunnels.get(row.row, ()):
                    other = tunnel.target.room if tunnel.source.room == row.row else tunnel.source.room
                    yield f"tunnel {tunnel.label or tunnel.uid}", self._alike(self._by_row[other])
        for rooms in frontier:
            for row in rooms:
                for pair in self._shared.get(row.row, ())[:_NEAREST]:
                    names = ", ".join(one.name for one in spelled(self._connection, pair, _NAMES_TOLD))
                    yield f"names {names}", self._alike(pair.second if pair.first.row == row.row else pair.first)
        for wing in dict.fromkeys(row.wing for rooms in frontier for row in rooms):
            for beside in self._by_wing[wing]:
                if beside.place.room not in EVERYWHERE:
                    yield f"wing {beside.place.wing}", self._alike(beside)

    def stats(self) -> Stats:
        """Return how much hangs together."""
        found = self.found()
        ends = {end.room for tunnel in self._live for end in (tunnel.source, tunnel.target)}
        alike = {row.row for one in found for row in self._by_name[one.room]}
        sharing = {room.row for one in self._sharing for room in (one.first, one.second)}
        edges = sum(len(one.wings) * (len(one.wings) - 1) // 2 for one in found)
        wings = {rooms[0].place.wing: len(rooms) for rooms in self._by_wing.values()}
        return Stats(
            len(self.all),
            len(ends | alike | sharing),
            len(self._live) + edges + len(self._sharing),
            wings,
            tuple(found),
            tuple(self._sharing),
        )

    def _alike(self, room: RoomRow) -> list[RoomRow]:
        return [room] if room.place.room in EVERYWHERE else self._by_name[room.place.room]

    @cached_property
    def _by_name(self) -> dict[str, list[RoomRow]]:
        found: dict[str, list[RoomRow]] = {}
        for one in self.all:
            found.setdefault(one.place.room, []).append(one)
        return found

    @cached_property
    def _by_wing(self) -> dict[int, list[RoomRow]]:
        found: dict[int, list[RoomRow]] = {}
        for one in self.all:
            found.setdefault(one.wing, []).append(one)
        return found

    @cached_property
    def _sharing(self) -> list[Sharing]:
        return sharing(self._connection, self.all, ABOUT_OTHERS)

    @cached_property
    def _shared(self) -> dict[int, list[Sharing]]:
        found: dict[int, list[Sharing]] = {}
        for one in self._sharing:
            for room in (one.first, one.second):
                found.setdefault(room.row, []).append(one)
        return found

    @cached_property
    def _live(self) -> list[Tunnel]:
        return tunnels.live(self._connection)

    @cached_property
    def _tunnels(self) -> dict[int, list[Tunnel]]:
        found: dict[int, list[Tunnel]] = {}
        for one in self._live:
            for room in {one.source.room, one.target.room}:
                found.setdefault(room, []).append(one)
        return found


class Stats(NamedTuple):
    """Rooms in all, those with a tunnel, tunnels made and found, rooms by wing, and the found ones of both sorts."""

    rooms: int
    joined: int
    tunnels: int
    by_wing: dict[str, int]
    found: tuple[Together, ...]
    sharing: tuple[Sharing, ...]
