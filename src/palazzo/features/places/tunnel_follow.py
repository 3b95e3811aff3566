"""tunnel follow: show where the tunnels of a room lead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from palazzo.archive import archive_reader
from palazzo.features.places.contract import FollowedView, LedTo, TunnelFollowRequest, TunnelFollowResult
from palazzo.features.places.place_results import BEGINNING, room
from palazzo.store import drawers, tunnel_rows

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection
    from palazzo.store.tunnel_rows import End


def tunnel_follow(context: Context, request: TunnelFollowRequest) -> TunnelFollowResult:
    """Show where the tunnels of a room lead, with the beginnings of the drawers at the other end."""
    views: list[FollowedView] = []
    with context.reading().database.snapshot() as connection:
        start_room = room(context, connection, request.room)
        for tunnel in tunnel_rows.of_room(connection, start_room.row):
            if tunnel.source.room == start_room.row:
                views.append(_view_tunnel(connection, "outgoing", tunnel.target, tunnel.label, tunnel.uid))
            if tunnel.target.room == start_room.row:
                views.append(_view_tunnel(connection, "incoming", tunnel.source, tunnel.label, tunnel.uid))
    return TunnelFollowResult(start_room.place.wing, start_room.place.room, tuple(views))


def _view_tunnel(
    connection: Connection, direction: Literal["outgoing", "incoming"], end: End, label: str, uid: str
) -> FollowedView:
    rows = (drawers.find_drawer(connection, drawer) for drawer in end.drawers)
    read = [archive_reader.read_drawer(connection, row) for row in rows if row is not None]
    previews = tuple(
        LedTo(target_drawer.id, target_drawer.text[:BEGINNING], len(target_drawer.text) > BEGINNING)
        for target_drawer in read
    )
    return FollowedView(direction, end.place.wing, end.place.room, label, uid, previews)
