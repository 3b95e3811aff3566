"""room list: list the rooms and their former names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.features.places import place_results
from palazzo.features.places.contract import RoomListRequest, RoomListResult, RoomView
from palazzo.knowledge.place_names import format_place
from palazzo.model import Micros
from palazzo.store import halls, place_rows

if TYPE_CHECKING:
    from palazzo.operations.context import Context


def room_list(context: Context, request: RoomListRequest) -> RoomListResult:
    """List the rooms, with their former names."""
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
