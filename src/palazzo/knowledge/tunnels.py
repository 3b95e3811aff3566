"""Tunnels between rooms: created tunnels, discovered tunnels, and where they lead.

A tunnel is discovered if two wings have a room of the same name, or if rooms of two wings share distinctive names
(`knowledge/tunnel_discovery`). The names of rooms that every wing has (`general`, `sessions`, …) do not count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from palazzo.archive.archive_reader import id_bounds
from palazzo.archive.diary_entries import ROOM as DIARY
from palazzo.archive.task_notes import ROOMS as TASKS
from palazzo.errors import AmbiguousId, NotFound, UsageError
from palazzo.frozen_class import frozen
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
"""Rooms that wings have by default."""
ABOUT_OTHERS = frozenset([DIARY, *TASKS.values()])
"""Rooms that mention the subjects of other wings, and have no content of their own to share."""
_NEAREST = 5
"""Maximum number of rooms to which one step leads, of those that share names with a room."""
_NAMES_TOLD = 3
"""Maximum number of names that are given as the reason for a step."""
_STEPS = ("tunnel", "names", "wing")
"""Kinds of steps that lead to a room, the most significant first: the beginning of `Destination.via`."""
_NOTHING = RoomContents(0, Micros(0))


# --- made --------------------------------------------------------------------------------------------------


def dig(
    change: Change, source: Room, target: Room, label: str, drawers: tuple[Sequence[bytes], Sequence[bytes]]
) -> tuple[Tunnel, bool]:
    """Create a tunnel between two rooms; return it, and whether it is new. `drawers` are those on each side."""
    if source.row == target.row:
        raise UsageError(f"A tunnel connects two different rooms, but both are '{format_place(source.place)}'.")
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
    """Remove the tunnel whose ID is or begins with `prefix`; return it."""
    matches = tunnel_rows.between(change.connection, *id_bounds(prefix), limit=9)
    if len(matches) > 1:
        raise AmbiguousId(prefix, [f"{match.uid} ({between(match)})" for match in matches])
    if not matches:
        raise NotFound(f"No tunnel has the id '{prefix}'. 'palazzo tunnel list' shows them.")
    (tunnel,) = matches
    if tunnel.retired_at is not None:
        raise NotFound(f"The tunnel {tunnel.uid} has already been removed.")
    tunnel_rows.retire(change.connection, tunnel.row, change.now)
    change.did("tunnel-", tunnel.row)
    return tunnel


def between(tunnel: Tunnel) -> str:
    """Return the two rooms of a tunnel: `api/auth → web/login`."""
    return f"{format_place(tunnel.source.place)} → {format_place(tunnel.target.place)}"


# --- found -------------------------------------------------------------------------------------------------


class RoomGroup(NamedTuple):
    """Rooms with the same name: the wings that have one, their halls, the number of drawers in them, and the newest."""

    room: str
    wings: tuple[str, ...]
    halls: tuple[str, ...]
    drawers: int
    newest: Micros


@frozen
class Destination:
    """Rooms of the same name, reached in `hop` steps, the last one through `via`: a tunnel, names, or a wing."""

    rooms: RoomGroup
    hop: int
    via: str


class Rooms:
    """All rooms of the palace, and their connections."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.all = place_rows.rooms(connection)
        self._by_row = {room.row: room for room in self.all}
        self._held, self._halls = halls.read_contents(connection), halls.halls(connection)

    def find_groups(self, first: Wing | None = None, second: Wing | None = None) -> list[RoomGroup]:
        """Return rooms that several wings share, those with most drawers first; for given wings, rooms of both."""
        wing_rows = {wing.row for wing in (first, second) if wing is not None}
        room_lists = [
            rooms
            for name, rooms in self._by_name.items()
            if name not in EVERYWHERE and len(rooms) > 1 and wing_rows <= {room.wing for room in rooms}
        ]
        groups = [self.describe_group(rooms) for rooms in room_lists]
        return sorted(groups, key=lambda one: (-one.drawers, one.room))

    def find_overlaps(self, first: Wing | None = None, second: Wing | None = None) -> list[RoomOverlap]:
        """Return room pairs that share distinctive names, by number and rarity; for given wings, only theirs."""
        wing_rows = {wing.row for wing in (first, second) if wing is not None}
        return [overlap for overlap in self._overlaps if wing_rows <= {overlap.first.wing, overlap.second.wing}]

    def describe_group(self, rooms: Sequence[RoomRow]) -> RoomGroup:
        """Return a summary of the rooms of one name."""
        own = [self._held.get(entry.row, _NOTHING) for entry in rooms]
        return RoomGroup(
            rooms[0].place.room,
            tuple(sorted(entry.place.wing for entry in rooms)),
            tuple(sorted({hall for entry in rooms for hall in self._halls.get(entry.row, {})})),
            sum(entry.drawers for entry in own),
            max(entry.newest for entry in own),
        )

    def reach(self, start: Iterable[int], hops: int) -> list[Destination]:
        """Return what rooms lead to: the rooms, then hop by hop what a tunnel, shared names or a wing connects.

        Within a hop tunnels come first, then shared names, then the same wing; within each, those with most drawers.
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
        """Return figures of how rooms are connected."""
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
    """Statistics of rooms and tunnels.

    They count all rooms, rooms with a tunnel, tunnels created and discovered, and rooms by wing, and list the
    discovered tunnels of both kinds.
    """

    rooms: int
    linked_rooms: int
    tunnels: int
    by_wing: dict[str, int]
    room_groups: tuple[RoomGroup, ...]
    overlaps: tuple[RoomOverlap, ...]
