"""wing list: list the wings and their former names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.features.places.contract import WingListRequest, WingListResult, WingView
from palazzo.store import halls, place_rows

if TYPE_CHECKING:
    from palazzo.operations.context import Context


def wing_list(context: Context, request: WingListRequest) -> WingListResult:
    """List the wings, with their former names."""
    with context.reading().database.snapshot() as connection:
        room_contents, former = halls.read_contents(connection), place_rows.former_wing_names(connection)
        rooms: dict[int, int] = {}
        drawers: dict[int, int] = {}
        for room in place_rows.rooms(connection):
            rooms[room.wing] = rooms.get(room.wing, 0) + 1
            drawers[room.wing] = drawers.get(room.wing, 0) + (
                room_contents[room.row].drawers if room.row in room_contents else 0
            )
        wings = place_rows.wings(connection)
        hidden_wings, _ = place_rows.left_by_imports(connection)
    return WingListResult(
        tuple(
            WingView(name, rooms.get(row, 0), drawers.get(row, 0), tuple(former.get(row, ())))
            for row, name in wings.items()
            if row not in hidden_wings
        )
    )
