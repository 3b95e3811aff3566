"""room rename: give a room another name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from palazzo.operations.operation import About, Operation
from palazzo.operations.taint_marks import marks_taint

if TYPE_CHECKING:
    from palazzo.operations.context import Context


@dataclass(frozen=True, slots=True)
class RoomRenameRequest:
    """The room to rename, and its new name."""

    room: Annotated[str, About("The room: wing/room, or only the room's name if it is unique.", positional=True)]
    name: Annotated[str, About("The new name, in its wing.", positional=True)]


@dataclass(frozen=True, slots=True)
class RoomRenameResult:
    """The new place of the room, and its old place."""

    wing: str
    room: str
    was: str


@marks_taint
def room_rename(context: Context, request: RoomRenameRequest) -> RoomRenameResult:
    """Rename a room. Its old name leads to it until another room gets that name.

    Nothing is rewritten: files mined for the old room go to the renamed one. 'palazzo undo' reverts this.
    """
    from palazzo.features.places.place_results import begin_change, new_name
    from palazzo.knowledge import place_names, reorganize

    home = context.home
    name = new_name(context, request.name)
    with context.writing().database.transaction() as connection:
        room = place_names.room(connection, request.room, home)
        change = begin_change(context, connection, "room rename", f"{place_names.format_place(room.place)} → {name}")
        place = reorganize.rename_room(change, room, name)
        change.count(1)
    return RoomRenameResult(place.wing, place.room, room.place.room)


OPERATION = Operation(
    "room_rename",
    RoomRenameRequest,
    RoomRenameResult,
    room_rename,
    scope="admin",
    writes=True,
    examples=("palazzo room rename api/misc deploy",),
)
