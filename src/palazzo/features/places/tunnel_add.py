"""tunnel add: link two rooms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.archive.ingest_guard import Guard
from palazzo.errors import UsageError
from palazzo.features.places.contract import TunnelAddRequest, TunnelAddResult
from palazzo.features.places.place_results import begin_change, drawers_named, room, tunnel_view
from palazzo.knowledge import place_names, tunnels
from palazzo.operations.caller_taint import unless_tainted
from palazzo.text.names import tidy

if TYPE_CHECKING:
    from palazzo.operations.context import Context

LONGEST_LABEL = 200


def tunnel_add(context: Context, request: TunnelAddRequest) -> TunnelAddResult:
    """Make a tunnel between two rooms, of one wing or of two."""
    unless_tainted(context, "make tunnels")
    label = tidy(request.label)
    if len(label) > LONGEST_LABEL or not label.isprintable():
        raise UsageError(f"The label must be at most {LONGEST_LABEL} characters on one line.")
    database = context.reading().database
    with database.snapshot() as connection:
        source, target = (room(context, connection, room_name) for room_name in (request.source, request.target))
        drawers = drawers_named(connection, request.source_drawers), drawers_named(connection, request.target_drawers)
    database = context.writing().database
    label = Guard.of(database).words(label)
    with database.transaction() as connection:
        summary = f"{place_names.format_place(source.place)} → {place_names.format_place(target.place)}"
        change = begin_change(context, connection, "tunnel add", summary)
        tunnel, new = tunnels.dig(change, source, target, label, drawers)
        change.count(1)
    return TunnelAddResult(tunnel_view(tunnel), new)
