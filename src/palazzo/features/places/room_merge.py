"""room merge: make two rooms one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.features.places.contract import RoomMergeRequest, RoomMergeResult
from palazzo.features.places.place_results import begin_change
from palazzo.knowledge import place_names, reorganize
from palazzo.operations.taint_marks import marks_taint

if TYPE_CHECKING:
    from palazzo.operations.context import Context


@marks_taint
def room_merge(context: Context, request: RoomMergeRequest) -> RoomMergeResult:
    """Merge a room into another."""
    home = context.home
    with context.writing().database.transaction() as connection:
        room = place_names.room(connection, request.room, home)
        target_name = request.into if "/" in request.into else f"{room.place.wing}/{request.into}"
        into = place_names.room(connection, target_name)
        was = place_names.format_place(room.place)
        change = begin_change(context, connection, "room merge", f"{was} into {place_names.format_place(into.place)}")
        place = reorganize.merge_rooms(change, room, into)
        change.count(1)
    return RoomMergeResult(place.wing, place.room, was)
