"""tunnel remove: remove a tunnel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.features.facts.fact_results import change
from palazzo.features.places.contract import TunnelRemoveRequest, TunnelRemoveResult
from palazzo.features.places.place_results import tunnel_view
from palazzo.knowledge import tunnels
from palazzo.operations.taint_marks import marks_taint

if TYPE_CHECKING:
    from palazzo.operations.context import Context


@marks_taint
def tunnel_remove(context: Context, request: TunnelRemoveRequest) -> TunnelRemoveResult:
    """Remove an explicit tunnel. 'palazzo undo' restores it."""
    context.reading()  # a palace that is missing is not made
    with context.writing().database.transaction() as connection:
        tunnel_change = change(context, connection, "tunnel remove")
        tunnel = tunnels.fill(tunnel_change, request.id)
        tunnel_change.count(1)
    return TunnelRemoveResult(tunnel_view(tunnel))
