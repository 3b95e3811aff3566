"""tunnel list: list the created tunnels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.features.places import place_results
from palazzo.features.places.contract import TunnelListRequest, TunnelListResult
from palazzo.store import tunnel_rows

if TYPE_CHECKING:
    from palazzo.operations.context import Context


def tunnel_list(context: Context, request: TunnelListRequest) -> TunnelListResult:
    """List the explicit tunnels between rooms."""
    with context.reading().database.snapshot() as connection:
        wing = None if request.wing is None else place_results.wing(context, connection, request.wing).row
        return TunnelListResult(
            tuple(place_results.tunnel_view(tunnel) for tunnel in tunnel_rows.live(connection, wing))
        )
