"""room rename: give a room another name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.features.places.contract import RoomRenameRequest, RoomRenameResult
from palazzo.features.places.place_results import begin_change, new_name
from palazzo.knowledge import place_names, reorganize
from palazzo.operations.taint_marks import marks_taint

if TYPE_CHECKING:
    from palazzo.operations.context import Context


@marks_taint
def room_rename(context: Context, request: RoomRenameRequest) -> RoomRenameResult:
    """Rename a room. Its old name leads to it until another room gets that name."""
    home = context.home
    name = new_name(context, request.name)
    with context.writing().database.transaction() as connection:
        room = place_names.room(connection, request.room, home)
        change = begin_change(context, connection, "room rename", f"{place_names.format_place(room.place)} → {name}")
        place = reorganize.rename_room(change, room, name)
        change.count(1)
    return RoomRenameResult(place.wing, place.room, room.place.room)
