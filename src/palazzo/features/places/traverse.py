"""traverse: what hangs together with a room, hop by hop."""

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
    """From where, and how far."""

    room: Annotated[str, About("The room to begin at: wing/room, or a name that any wing has.", positional=True)]
    hops: Annotated[int, About("How many steps to go.")] = 2
    limit: Annotated[int, About("How many rooms to show.")] = 50


@dataclass(frozen=True, slots=True)
class TraversedView:
    """Rooms of one name, in how many steps they are reached, and by what the last of these leads there."""

    room: str
    wings: tuple[str, ...]
    halls: tuple[str, ...]
    count: int
    hop: int
    via: str


@dataclass(frozen=True, slots=True)
class TraverseResult:
    """What was reached, nearest first; `total` counts what is past the limit too."""

    rooms: tuple[TraversedView, ...]
    total: int


def traverse(context: Context, request: TraverseRequest) -> TraverseResult:
    """Go from a room to those that hang together with it, hop by hop.

    A step leads through a tunnel that was made, to a room of the same name in another wing (these count as one), to one
    of another wing that mentions the same rare names, or to a room beside it in its wing. Rooms that every wing has by
    itself lead nowhere but through tunnels and names.
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
    """The room, or all of its name: these are one step's end."""
    from palazzo.features.places import place_results
    from palazzo.knowledge import place_names

    alike = [] if "/" in room_name else place_names.rooms_called(connection, room_name)
    if len(alike) < 2:
        return [place_results.room(context, connection, room_name).row]
    return [room.row for room in alike]


OPERATION = Operation("traverse", TraverseRequest, TraverseResult, traverse)
