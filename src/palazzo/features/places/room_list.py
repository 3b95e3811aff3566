"""room list: list the rooms and their former names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from palazzo.model import Micros
from palazzo.operations.operation import About, Operation

if TYPE_CHECKING:
    from palazzo.operations.context import Context


@dataclass(frozen=True, slots=True)
class RoomListRequest:
    """The wing to list."""

    wing: Annotated[str | None, About("Only the rooms of this wing.")] = None


@dataclass(frozen=True, slots=True)
class RoomView:
    """A room: its live drawers, the time of the newest, its halls, and former places (`wing/room`) that lead to it."""

    wing: str
    room: str
    drawers: int
    recent: Micros
    halls: dict[str, int]
    former: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RoomListResult:
    """The rooms, sorted by wing and name."""

    rooms: tuple[RoomView, ...]


def room_list(context: Context, request: RoomListRequest) -> RoomListResult:
    """List the rooms, with their former names."""
    from palazzo.features.places import place_results
    from palazzo.knowledge.place_names import format_place
    from palazzo.store import halls, place_rows

    with context.reading().database.snapshot() as connection:
        wing = None if request.wing is None else place_results.wing(context, connection, request.wing).row
        contents_by_room, kinds = halls.read_contents(connection), halls.halls(connection)
        former = place_rows.former_room_places(connection)
        rooms = place_rows.rooms(connection, wing)
        _, hidden_rooms = place_rows.left_by_imports(connection)
    return RoomListResult(
        tuple(
            RoomView(
                room.place.wing,
                room.place.room,
                contents_by_room[room.row].drawers if room.row in contents_by_room else 0,
                contents_by_room[room.row].newest if room.row in contents_by_room else Micros(0),
                kinds.get(room.row, {}),
                tuple(format_place(place) for place in former.get(room.row, ())),
            )
            for room in rooms
            if room.row not in hidden_rooms
        )
    )


OPERATION = Operation(
    "room_list",
    RoomListRequest,
    RoomListResult,
    room_list,
    scope="read",
    examples=("palazzo room list --wing api",),
)
