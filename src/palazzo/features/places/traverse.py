"""traverse: follow connections from a room, hop by hop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from palazzo.errors import UsageError
from palazzo.operations.operation import About, Operation

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection

MOST_HOPS, MOST_ROOMS = 10, 1_000


@dataclass(frozen=True, slots=True)
class TraverseRequest:
    """The room to start from, and the maximum distance."""

    room: Annotated[str, About("The room to start from: wing/room, or a room name of any wing.", positional=True)]
    hops: Annotated[int, About("Number of steps.")] = 2
    limit: Annotated[int, About("Maximum number of rooms.")] = 50


@dataclass(frozen=True, slots=True)
class TraversedView:
    """Rooms of one name, their distance in steps, and the connection of the last step."""

    room: str
    wings: tuple[str, ...]
    halls: tuple[str, ...]
    count: int
    hop: int
    via: str


@dataclass(frozen=True, slots=True)
class TraverseResult:
    """The rooms reached, nearest first; `total` also counts rooms past the limit."""

    rooms: tuple[TraversedView, ...]
    total: int


def traverse(context: Context, request: TraverseRequest) -> TraverseResult:
    """Show the rooms that are connected with a room, step by step.

    A step leads through an explicit tunnel, to a room of the same name in another wing (these count as one), to a room
    of another wing that mentions the same rare names, or to another room of its wing. From rooms that every wing has by
    default, steps lead only through tunnels and names.
    """
    from palazzo.features.places.place_results import read_names
    from palazzo.knowledge.tunnels import Rooms

    if not 0 <= request.hops <= MOST_HOPS:
        raise UsageError(f"--hops is {request.hops}; it must be between 0 and {MOST_HOPS}.")
    if not 1 <= request.limit <= MOST_ROOMS:
        raise UsageError(f"--limit is {request.limit}; it must be between 1 and {MOST_ROOMS:,}.")
    read_names(context)
    with context.reading().database.snapshot() as connection:
        start = _start(context, connection, request.room)
        steps = Rooms(connection).reach(start, request.hops)
    rooms = tuple(
        TraversedView(step.rooms.room, step.rooms.wings, step.rooms.halls, step.rooms.drawers, step.hop, step.via)
        for step in steps[: request.limit]
    )
    return TraverseResult(rooms, len(steps))


def _start(context: Context, connection: Connection, room_name: str) -> list[int]:
    """Return the room, or all rooms of that name, which together are one step's start."""
    from palazzo.features.places import place_results
    from palazzo.knowledge import place_names

    alike = [] if "/" in room_name else place_names.rooms_called(connection, room_name)
    if len(alike) < 2:
        return [place_results.room(context, connection, room_name).row]
    return [room.row for room in alike]


OPERATION = Operation(
    "traverse",
    TraverseRequest,
    TraverseResult,
    traverse,
    scope="read",
    examples=("palazzo traverse api/auth --hops 3",),
)
