"""traverse: follow connections from a room, hop by hop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.errors import UsageError
from palazzo.features.places import place_results
from palazzo.features.places.contract import TraversedView, TraverseRequest, TraverseResult
from palazzo.features.places.place_results import read_names
from palazzo.knowledge import place_names
from palazzo.knowledge.tunnels import Rooms

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection

MOST_HOPS, MOST_ROOMS = 10, 1_000


def traverse(context: Context, request: TraverseRequest) -> TraverseResult:
    """Show the rooms that are connected with a room, step by step."""
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
    alike = [] if "/" in room_name else place_names.rooms_called(connection, room_name)
    if len(alike) < 2:
        return [place_results.room(context, connection, room_name).row]
    return [room.row for room in alike]
