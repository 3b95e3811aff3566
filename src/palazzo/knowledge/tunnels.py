"""Tunnels between rooms: those that are made, those that are found, and where they lead.

A tunnel is found where two wings have a room of one name, and where rooms of two wings share distinctive names
(`knowledge/tunnel_discovery`). Rooms that every wing has (`general`, `sessions`, …) say nothing by being called so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from palazzo.archive.archive_reader import id_bounds
from palazzo.archive.diary_entries import ROOM as DIARY
from palazzo.archive.task_notes import ROOMS as TASKS
from palazzo.errors import AmbiguousId, NotFound, UsageError
from palazzo.git.project_rooms import CONVERSATIONS, GENERAL
from palazzo.knowledge.fact_change import Change
from palazzo.knowledge.place_names import Room, Wing, format_place
from palazzo.knowledge.tunnel_discovery import RoomOverlap, find_overlaps, spell_names
from palazzo.model import Micros
from palazzo.store import halls, place_rows, tunnel_rows
from palazzo.store.database import Connection
from palazzo.store.halls import RoomContents
from palazzo.store.place_rows import RoomRow
from palazzo.store.tunnel_rows import Tunnel

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
_NOTHING = RoomContents(0, Micros(0))


# --- made --------------------------------------------------------------------------------------------------


def dig(
    change: Change, source: Room, target: Room, label: str, drawers: tuple[Sequence[bytes], Sequence[bytes]]
) -> tuple[Tunnel, bool]:
    """Make a tunnel between two rooms; return it, and whether it is new. `drawers` are those on each side."""
    if source.row == target.row:
        raise UsageError(f"A tunnel leads from one room to another, and both are '{format_place(source.place)}'.")
    label = change.redact_erased(label)
    for tunnel in tunnel_rows.of_room(change.connection, source.row):
        ends = tunnel.source.room, tunnel.target.room, tunnel.label, tunnel.source.drawers, tunnel.target.drawers
        if ends == (source.row, target.row, label, tuple(drawers[0]), tuple(drawers[1])):
            return tunnel, False
    row = tunnel_rows.insert(
        change.connection,
        change.new_uid(),
        (source.row, drawers[0]),
        (target.row, drawers[1]),
        label,
        change.actor,
        change.now,
    )
    change.did("tunnel+", row)
    return tunnel_rows.read(change.connection, row), True


def fill(change: Change, prefix: str) -> Tunnel:
    """Take away the tunnel whose id is or begins with `prefix`; return it."""
    matches = tunnel_rows.between(change.connection, *id_bounds(prefix), limit=9)
    if len(matches) > 1:
        raise AmbiguousId(prefix, [f"{match.uid} ({between(match)})" for match in matches])
    if not matches:
        raise NotFound(f"No tunnel has the id '{prefix}'. 'palazzo tunnel list' shows them.")
    (tunnel,) = matches
    if tunnel.retired_at is not None:
        raise NotFound(f"The tunnel {tunnel.uid} was removed already.")
    tunnel_rows.retire(change.connection, tunnel.row, change.now)
    change.did("tunnel-", tunnel.row)
    return tunnel


def between(tunnel: Tunnel) -> str:
    """Return which rooms a tunnel is between: `api/auth → web/login`."""
    return f"{format_place(tunnel.source.place)} → {format_place(tunnel.target.place)}"


# --- found -------------------------------------------------------------------------------------------------


class RoomGroup(NamedTuple):
    """Rooms of one name: the wings that have one, their halls, how many drawers they hold, and the newest."""

    room: str
    wings: tuple[str, ...]
    halls: tuple[str, ...]
    drawers: int
    newest: Micros


@dataclass(frozen=True, slots=True)
class Destination:
    """Rooms of one name that are reached in `hop` steps, the last of them by `via`: a tunnel, names, or a wing."""

    rooms: RoomGroup
    hop: int
    via: str


class Rooms:
    """All rooms of the palace, and how they hang together."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.all = place_rows.rooms(connection)
        self._by_row = {room.row: room for room in self.all}
        self._held, self._halls = halls.read_contents(connection), halls.halls(connection)

    def find_groups(self, first: Wing | None = None, second: Wing | None = None) -> list[RoomGroup]:
        """Return the rooms that several wings have, those with most drawers first; of given wings, those both have."""
        wing_rows = {wing.row for wing in (first, second) if wing is not None}
        room_lists = [
            rooms
            for name, rooms in self._by_name.items()
            if name not in EVERYWHERE and len(rooms) > 1 and wing_rows <= {room.wing for room in rooms}
        ]
        groups = [self.describe_group(rooms) for rooms in room_lists]
        return sorted(groups, key=lambda one: (-one.drawers, one.room))

    def find_overlaps(self, first: Wing | None = None, second: Wing | None = None) -> list[RoomOverlap]:
        """Return the pairs of rooms that share distinctive names, by how many and how rare; of given wings, theirs."""
        wing_rows = {wing.row for wing in (first, second) if wing is not None}
        return [overlap for overlap in self._overlaps if wing_rows <= {overlap.first.wing, overlap.second.wing}]

    def describe_group(self, rooms: Sequence[RoomRow]) -> RoomGroup:
        """Return what is to be told of rooms of one name."""
        own = [self._held.get(entry.row, _NOTHING) for entry in rooms]
        return RoomGroup(
            rooms[0].place.room,
            tuple(sorted(entry.place.wing for entry in rooms)),
            tuple(sorted({hall for entry in rooms for hall in self._halls.get(entry.row, {})})),
            sum(entry.drawers for entry in own),
            max(entry.newest for entry in own),
        )

    def reach(self, start: Iterable[int], hops: int) -> list[Destination]:
        """Return what is reached from rooms: themselves, then hop by hop what has a tunnel, shares names or a wing.

        Within a hop tunnels come first, then what shares names, then what is in one wing; of these, what holds most.
        """
        begin = [self._by_row[row] for row in start]
        first = self._alike(begin[0]) if len(begin) == 1 else begin
        destinations = [Destination(self.describe_group(first), 0, "")]
        visited_rows = {room.row for room in first}
        frontier = [first]
        for hop in range(1, hops + 1):
            hop_destinations: list[Destination] = []
            further: list[list[RoomRow]] = []
            for via, rooms in self._next(frontier):
                if any(room.row in visited_rows for room in rooms):
                    continue
                visited_rows.update(room.row for room in rooms)
                further.append(rooms)
                hop_destinations.append(Destination(self.describe_group(rooms), hop, via))
            hop_destinations.sort(
                key=lambda one: (_STEPS.index(one.via.split()[0]), -one.rooms.drawers, one.rooms.room)
            )
            destinations += hop_destinations
            frontier = further
        return destinations

    def _next(self, frontier: Sequence[Sequence[RoomRow]]) -> Iterator[tuple[str, list[RoomRow]]]:
        for rooms in frontier:
            for row in rooms:
                for tunnel in self._tunnels.get(row.row, ()):
                    target_row = tunnel.target.room if tunnel.source.room == row.row else tunnel.source.room
                    yield f"tunnel {tunnel.label or tunnel.uid}", self._alike(self._by_row[target_row])
        for rooms in frontier:
            for row in rooms:
                for pair in self._shared.get(row.row, ())[:_NEAREST]:
                    names = ", ".join(
                        shared_name.name for shared_name in spell_names(self._connection, pair, _NAMES_TOLD)
                    )
                    yield f"names {names}", self._alike(pair.second if pair.first.row == row.row else pair.first)
        for wing in dict.fromkeys(row.wing for rooms in frontier for row in rooms):
            for neighbour in self._by_wing[wing]:
                if neighbour.place.room not in EVERYWHERE:
                    yield f"wing {neighbour.place.wing}", self._alike(neighbour)

    def stats(self) -> Stats:
        """Return how much hangs together."""
        groups = self.find_groups()
        ends = {end.room for tunnel in self._live for end in (tunnel.source, tunnel.target)}
        alike = {row.row for entry in groups for row in self._by_name[entry.room]}
        overlap_rows = {room.row for entry in self._overlaps for room in (entry.first, entry.second)}
        edges = sum(len(entry.wings) * (len(entry.wings) - 1) // 2 for entry in groups)
        wings = {rooms[0].place.wing: len(rooms) for rooms in self._by_wing.values()}
        return Stats(
            len(self.all),
            len(ends | alike | overlap_rows),
            len(self._live) + edges + len(self._overlaps),
            wings,
            tuple(groups),
            tuple(self._overlaps),
        )

    def _alike(self, room: RoomRow) -> list[RoomRow]:
        return [room] if room.place.room in EVERYWHERE else self._by_name[room.place.room]

    @cached_property
    def _by_name(self) -> dict[str, list[RoomRow]]:
        rooms_by_name: dict[str, list[RoomRow]] = {}
        for room in self.all:
            rooms_by_name.setdefault(room.place.room, []).append(room)
        return rooms_by_name

    @cached_property
    def _by_wing(self) -> dict[int, list[RoomRow]]:
        rooms_by_wing: dict[int, list[RoomRow]] = {}
        for room in self.all:
            rooms_by_wing.setdefault(room.wing, []).append(room)
        return rooms_by_wing

    @cached_property
    def _overlaps(self) -> list[RoomOverlap]:
        return find_overlaps(self._connection, self.all, ABOUT_OTHERS)

    @cached_property
    def _shared(self) -> dict[int, list[RoomOverlap]]:
        overlaps_by_room: dict[int, list[RoomOverlap]] = {}
        for overlap in self._overlaps:
            for room in (overlap.first, overlap.second):
                overlaps_by_room.setdefault(room.row, []).append(overlap)
        return overlaps_by_room

    @cached_property
    def _live(self) -> list[Tunnel]:
        return tunnel_rows.live(self._connection)

    @cached_property
    def _tunnels(self) -> dict[int, list[Tunnel]]:
        tunnels_by_room: dict[int, list[Tunnel]] = {}
        for tunnel in self._live:
            for room in {tunnel.source.room, tunnel.target.room}:
                tunnels_by_room.setdefault(room, []).append(tunnel)
        return tunnels_by_room


class Stats(NamedTuple):
    """Rooms in all, those with a tunnel, tunnels made and found, rooms by wing, and the found ones of both sorts."""

    rooms: int
    linked_rooms: int
    tunnels: int
    by_wing: dict[str, int]
    room_groups: tuple[RoomGroup, ...]
    overlaps: tuple[RoomOverlap, ...]
