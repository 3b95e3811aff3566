"""room move: move a room to another wing."""

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
    """The room to move, and the target wing."""

    room: Annotated[str, About("The room: wing/room, or only the room's name if it is unique.", positional=True)]
    wing: Annotated[str, About("The wing to move it to.", positional=True)]
    new: Annotated[bool, About("Create that wing, which must not exist yet.")] = False


@dataclass(frozen=True, slots=True)
class RoomMoveResult:
    """The new place of the room, and its old place (`wing/room`)."""

    wing: str
    room: str
    was: str


@marks_taint
def room_move(context: Context, request: RoomMoveRequest) -> RoomMoveResult:
    """Move a room, with everything in it, to another wing.

    Nothing is rewritten: files mined for the old room go to its new place. 'palazzo undo' reverts this.
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
        message = wing.note or f"A wing '{name}' already exists."
        raise UsageError(f"{message} Leave out --new to move the room to it, or give an unused name.")
    return place_names.Wing(place_rows.wing_id(connection, name), name)


OPERATION = Operation(
    "room_move",
    RoomMoveRequest,
    RoomMoveResult,
    room_move,
    scope="admin",
    writes=True,
    examples=("palazzo room move api/billing payments --new",),
)
