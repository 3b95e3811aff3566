"""room merge: make two rooms one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from palazzo.operations.operation import About, Operation
from palazzo.operations.taint_marks import marks_taint

if TYPE_CHECKING:
    from palazzo.operations.context import Context


@dataclass(frozen=True, slots=True)
class RoomMergeRequest:
    """The room to merge, and the target room."""

    room: Annotated[
        str,
        About(
            "The room whose name is no longer used: wing/room, or only the room's name if it is unique.",
            positional=True,
        ),
    ]
    into: Annotated[str, About("The room to merge it into, in any wing.", positional=True)]


@dataclass(frozen=True, slots=True)
class RoomMergeResult:
    """The new place of the room, and its old place (`wing/room`)."""

    wing: str
    room: str
    was: str


@marks_taint
def room_merge(context: Context, request: RoomMergeRequest) -> RoomMergeResult:
    """Merge a room into another.

    Nothing is rewritten, and 'palazzo undo' separates the two again.
    """
    from palazzo.features.places.place_results import begin_change
    from palazzo.knowledge import place_names, reorganize

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


OPERATION = Operation(
    "room_merge",
    RoomMergeRequest,
    RoomMergeResult,
    room_merge,
    scope="admin",
    writes=True,
    examples=("palazzo room merge api/deploys api/deploy",),
)
