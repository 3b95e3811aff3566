"""tunnel follow: show where the tunnels of a room lead."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from palazzo.operations.operation import About, Operation

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection
    from palazzo.store.tunnel_rows import End


@dataclass(frozen=True, slots=True)
class TunnelFollowRequest:
    """The room to start from."""

    room: Annotated[str, About("The room: wing/room, or only the room's name if it is unique.", positional=True)]


@dataclass(frozen=True, slots=True)
class LedTo:
    """A drawer on the other side: the beginning of its text, and whether that is all of it."""

    id: str
    text: str
    truncated: bool


@dataclass(frozen=True, slots=True)
class FollowedView:
    """A tunnel as seen from the room: `outgoing` leads from it, `incoming` leads to it."""

    direction: Literal["outgoing", "incoming"]
    connected_wing: str
    connected_room: str
    label: str
    tunnel_id: str
    drawers: tuple[LedTo, ...]


@dataclass(frozen=True, slots=True)
class TunnelFollowResult:
    """The room, and the targets of its tunnels."""

    wing: str
    room: str
    tunnels: tuple[FollowedView, ...]


def tunnel_follow(context: Context, request: TunnelFollowRequest) -> TunnelFollowResult:
    """Show where the tunnels of a room lead, with the beginnings of the drawers at the other end."""
    from palazzo.features.places.place_results import room
    from palazzo.store import tunnel_rows

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
    from palazzo.archive import archive_reader
    from palazzo.features.places.place_results import BEGINNING
    from palazzo.store import drawers

    rows = (drawers.find_drawer(connection, drawer) for drawer in end.drawers)
    read = [archive_reader.read_drawer(connection, row) for row in rows if row is not None]
    previews = tuple(
        LedTo(target_drawer.id, target_drawer.text[:BEGINNING], len(target_drawer.text) > BEGINNING)
        for target_drawer in read
    )
    return FollowedView(direction, end.place.wing, end.place.room, label, uid, previews)


OPERATION = Operation(
    "tunnel_follow",
    TunnelFollowRequest,
    TunnelFollowResult,
    tunnel_follow,
    scope="read",
    examples=("palazzo tunnel follow api/auth",),
)
