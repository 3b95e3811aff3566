"""taxonomy: show the wings, their rooms, and the kinds of things in the rooms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.features.places import place_results
from palazzo.features.places.contract import RoomTaxonomy, TaxonomyRequest, TaxonomyResult, WingTaxonomy
from palazzo.store import halls, place_rows, tunnel_rows

if TYPE_CHECKING:
    from palazzo.operations.context import Context


def taxonomy(context: Context, request: TaxonomyRequest) -> TaxonomyResult:
    """Show wings, rooms and halls, with counts."""
    rooms_by_wing: dict[str, dict[str, RoomTaxonomy]] = {}
    with context.reading().database.snapshot() as connection:
        wing = None if request.wing is None else place_results.wing(context, connection, request.wing)
        room_contents, kinds = halls.read_contents(connection), halls.halls(connection)
        left_wings, left_rooms = place_rows.left_by_imports(connection)
        names = [name for row, name in place_rows.wings(connection).items() if row not in left_wings]
        for name in names if wing is None else [wing.name]:
            rooms_by_wing[name] = {}
        rooms = place_rows.rooms(connection, wing.row if wing else None)
        for room in (room for room in rooms if room.row not in left_rooms):
            drawers = room_contents[room.row].drawers if room.row in room_contents else 0
            rooms_by_wing[room.place.wing][room.place.room] = RoomTaxonomy(drawers, kinds.get(room.row, {}))
        dug = len(tunnel_rows.live(connection, wing.row if wing else None))
    wings = {
        name: WingTaxonomy(sum(room.drawers for room in held_rooms.values()), held_rooms)
        for name, held_rooms in rooms_by_wing.items()
    }
    return TaxonomyResult(wings, sum(wing_view.drawers for wing_view in wings.values()), dug)
