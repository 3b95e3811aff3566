"""room move: move a room to another wing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.errors import UsageError
from palazzo.features.places.contract import RoomMoveRequest, RoomMoveResult
from palazzo.features.places.place_results import begin_change, new_name
from palazzo.knowledge import place_names, reorganize
from palazzo.operations.taint_marks import marks_taint
from palazzo.store import place_rows

if TYPE_CHECKING:
    from palazzo.knowledge.place_names import Wing
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection


@marks_taint
def room_move(context: Context, request: RoomMoveRequest) -> RoomMoveResult:
    """Move a room, with everything in it, to another wing."""
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
    wing = place_names.find_wing(connection, name)
    if wing is not None:
        message = wing.note or f"A wing '{name}' already exists."
        raise UsageError(f"{message} Leave out --new to move the room to it, or give an unused name.")
    return place_names.Wing(place_rows.wing_id(connection, name), name)
