"""tunnel find: find what wings have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.errors import UsageError
from palazzo.features.places.contract import TunnelFindRequest, TunnelFindResult
from palazzo.features.places.place_results import read_names, sharing_view, together_view, wing
from palazzo.knowledge.tunnels import Rooms

if TYPE_CHECKING:
    from palazzo.operations.context import Context


def tunnel_find(context: Context, request: TunnelFindRequest) -> TunnelFindResult:
    """Find rooms with the same name in several wings, and rooms of different wings that mention the same names."""
    if request.limit < 1:
        raise UsageError(f"The limit is {request.limit}; it must be at least 1.")
    read_names(context)
    with context.reading().database.snapshot() as connection:
        wings = [None if name is None else wing(context, connection, name) for name in (request.wing_a, request.wing_b)]
        rooms = Rooms(connection)
        name_groups, room_pairs = rooms.find_groups(*wings), rooms.find_overlaps(*wings)
        return TunnelFindResult(
            tuple(together_view(match) for match in name_groups[: request.limit]),
            len(name_groups),
            tuple(sharing_view(connection, match) for match in room_pairs[: request.limit]),
            len(room_pairs),
        )
