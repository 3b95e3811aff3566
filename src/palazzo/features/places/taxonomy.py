"""taxonomy: show the wings, their rooms, and the kinds of things in the rooms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from palazzo.operations.operation import About, Operation

if TYPE_CHECKING:
    from palazzo.operations.context import Context


@dataclass(frozen=True, slots=True)
class TaxonomyRequest:
    """The wing to list."""

    wing: Annotated[str | None, About("Only rooms of this wing.")] = None


@dataclass(frozen=True, slots=True)
class RoomTaxonomy:
    """The number of a room's live drawers, and of its notes by hall."""

    drawers: int
    halls: dict[str, int]


@dataclass(frozen=True, slots=True)
class WingTaxonomy:
    """The number of a wing's live drawers, and its rooms by name."""

    drawers: int
    rooms: dict[str, RoomTaxonomy]


@dataclass(frozen=True, slots=True)
class TaxonomyResult:
    """The wings by name, and the number of tunnels created between their rooms."""

    taxonomy: dict[str, WingTaxonomy]
    drawers: int
    tunnels: int


def taxonomy(context: Context, request: TaxonomyRequest) -> TaxonomyResult:
    """Show wings, rooms and halls, with counts.

    A hall is one kind of content in a room: facts, events, decisions, discoveries, preferences, advice. A note's hall
    is the kind that it was filed as ('palazzo remember --kind decision').
    """
    from palazzo.features.places import place_results
    from palazzo.store import halls, place_rows, tunnel_rows

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


OPERATION = Operation(
    "taxonomy",
    TaxonomyRequest,
    TaxonomyResult,
    taxonomy,
    scope="read",
    examples=("palazzo taxonomy --wing api",),
)
