"""room rename: call a room otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from palazzo.operations.operation import About, Operation
from palazzo.operations.taint_marks import marks_taint

if TYPE_CHECKING:
    from palazzo.operations.context import Context


@dataclass(frozen=True, slots=True)
class RoomRenameRequest:
    """Which room, and its new name."""

    room: Annotated[str, About("The room: wing/room, or the room's name alone where that says which.", positional=True)]
    name: Annotated[str, About("What to call it from now on, in its wing.", positional=True)]


@dataclass(frozen=True, slots=True)
class RoomRenameResult:
    """Where the room is, and where it was."""

    wing: str
    room: str
    was: str


@marks_taint
def room_rename(context: Context, request: RoomRenameRequest) -> RoomRenameResult:
    """Give a room another name. Its old name leads to it until another room is called so.

    Nothing is rewritten: what is mined for the old room goes where it leads. 'palazzo undo' takes it back.
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


OPERATION = Operation("room_rename", RoomRenameRequest, RoomRenameResult, room_rename, writes=True)
