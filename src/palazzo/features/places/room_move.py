"""room move: let a room stand in another wing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from palazzo.errors import UsageError
from palazzo.operations.operation import About, Operation
from palazzo.operations.taint_marks import marks_taint

if TYPE_CHECKING:
    from palazzo.knowledge.place_names import Wing
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection


@dataclass(frozen=True, slots=True)
class RoomMoveRequest:
    """Which room, and to which wing."""

    room: Annotated[str, About("The room: wing/room, or the room's name alone where that says which.", positional=True)]
    wing: Annotated[str, About("The wing that it is to stand in.", positional=True)]
    new: Annotated[bool, About("That wing is not there yet: make it.")] = False


@dataclass(frozen=True, slots=True)
class RoomMoveResult:
    """Where the room is, and where it was (`wing/room`)."""

    wing: str
    room: str
    was: str


@marks_taint
def room_move(context: Context, request: RoomMoveRequest) -> RoomMoveResult:
    """Let a room stand in another wing, with all that is in it.

    Nothing is rewritten: what is mined for the old room goes where it leads. 'palazzo undo' takes it back.
    """
    from palazzo.features.places.place_results import begin_change, new_name
    from palazzo.knowledge import place_names, reorganize

    home = context.home
    name = new_name(context, request.wing) if request.new else request.wing
    with context.writing().database.transaction() as connection:
        room = place_names.room(connection, request.room, home)
        wing = _make_wing(connection, name) if request.new else place_names.wing(connection, name)
        was = place_names.format_place(room.place)
        change = begin_change(context, connection, "room move", f"{was} to {wing.name}")
        place = reorganize.move_room(change, room, wing)
        change.count(1)
    return RoomMoveResult(place.wing, place.room, was)


def _make_wing(connection: Connection, name: str) -> Wing:
    from palazzo.knowledge import place_names
    from palazzo.store import place_rows

    wing = place_names.find_wing(connection, name)
    if wing is not None:
        message = wing.note or f"There is a wing '{name}' already."
        raise UsageError(f"{message} Leave out --new to move the room to it, or give a name that nothing has.")
    return place_names.Wing(place_rows.wing_id(connection, name), name)


OPERATION = Operation("room_move", RoomMoveRequest, RoomMoveResult, room_move, writes=True)
