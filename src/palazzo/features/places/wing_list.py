"""wing list: list the wings and their former names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from palazzo.operations.operation import Operation

if TYPE_CHECKING:
    from palazzo.operations.context import Context


@dataclass(frozen=True, slots=True)
class WingListRequest:
    """No arguments: all wings."""


@dataclass(frozen=True, slots=True)
class WingView:
    """A wing: its rooms, its live drawers, and its former names."""

    wing: str
    rooms: int
    drawers: int
    former: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WingListResult:
    """The wings, sorted by name."""

    wings: tuple[WingView, ...]


def wing_list(context: Context, request: WingListRequest) -> WingListResult:
    """List the wings, with their former names."""
    from palazzo.store import halls, place_rows

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


OPERATION = Operation(
    "wing_list",
    WingListRequest,
    WingListResult,
    wing_list,
    scope="read",
    examples=("palazzo wing list",),
)
