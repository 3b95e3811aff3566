"""Wings, rooms and tunnels as faces show them, and shared code of their operations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from palazzo.archive import archive_reader
from palazzo.archive.ingest_guard import Guard
from palazzo.derived import async_consumer
from palazzo.derived.mention_consumer import MENTION_CONSUMER
from palazzo.features.places.contract import EndView, SharedName, SharingView, TogetherView, TunnelView
from palazzo.knowledge import place_names
from palazzo.knowledge.fact_change import Change
from palazzo.knowledge.tunnel_discovery import spell_names
from palazzo.operations.arguments import place_name
from palazzo.operations.caller_taint import change_actor

if TYPE_CHECKING:
    from palazzo.knowledge.place_names import Room, Wing
    from palazzo.knowledge.tunnel_discovery import RoomOverlap
    from palazzo.knowledge.tunnels import RoomGroup
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection
    from palazzo.store.tunnel_rows import End, Tunnel

BEGINNING = 200
"""The most characters shown of a drawer that a tunnel leads to."""
NAMES_SHOWN = 6
"""The most shared names of two rooms that are shown."""
AT_ONCE = 200
"""The most changed drawers that are scanned for names while a caller waits: about half a second."""


def tunnel_view(tunnel: Tunnel) -> TunnelView:
    """Return a tunnel as a view."""
    return TunnelView(
        tunnel.uid, tunnel.label, _end(tunnel.source), _end(tunnel.target), tunnel.recorded_at, tunnel.actor
    )


def _end(end: End) -> EndView:
    return EndView(end.place.wing, end.place.room, tuple(drawer.hex() for drawer in end.drawers))


def together_view(room_group: RoomGroup) -> TogetherView:
    """Return rooms of the same name as a view."""
    return TogetherView(room_group.room, room_group.wings, room_group.halls, room_group.drawers, room_group.newest)


def sharing_view(connection: Connection, room_pair: RoomOverlap) -> SharingView:
    """Return two rooms that share names as a view."""
    names = tuple(SharedName(*name_row) for name_row in spell_names(connection, room_pair, NAMES_SHOWN))
    rooms = (
        f"{room_pair.first.place.wing}/{room_pair.first.place.room}",
        f"{room_pair.second.place.wing}/{room_pair.second.place.room}",
    )
    return SharingView(rooms, names, len(room_pair.names))


def read_names(context: Context, tell: bool = True) -> None:
    """Scan recently filed text for names if that is quick; else `tell` the caller that some text is pending."""
    if not context.settings.flag("entities"):
        return
    palace = context.reading()
    with palace.database.snapshot() as connection:
        backlog = async_consumer.count_pending(connection, MENTION_CONSUMER)
    if backlog <= AT_ONCE:
        palace.follow_mentions()
    elif tell:
        context.notice("Not all drawers have been scanned for names yet; this continues in the background.")


def begin_change(context: Context, connection: Connection, verb: str, summary: str) -> Change:
    """Begin a change to wings, rooms or tunnels in an open transaction; `summary` describes it for people."""
    return Change(connection, change_actor(context), verb, context.now, summary=summary)


def new_name(context: Context, name: str) -> str:
    """Return a new name for a wing or a room in its stored form; UsageError for an unusable name."""
    return place_name("The new name", Guard.of(context.writing().database).words(name))


def wing(context: Context, connection: Connection, name: str) -> Wing:
    """Return the wing that a name means, with a notice if it is a former name."""
    resolved_wing = place_names.wing(connection, name)
    if resolved_wing.note:
        context.notice(resolved_wing.note)
    return resolved_wing


def room(context: Context, connection: Connection, room_name: str) -> Room:
    """Return the room that `wing/room` or `room` means, with a notice if it is a former name."""
    resolved_room = place_names.room(connection, room_name, context.home)
    if resolved_room.note:
        context.notice(resolved_room.note)
    return resolved_room


def drawers_named(connection: Connection, prefixes: Sequence[str]) -> list[bytes]:
    """Return the ids of the drawers with these ids or id prefixes."""
    rows = [archive_reader.resolve_drawer(connection, prefix) for prefix in prefixes]
    return [bytes.fromhex(archive_reader.read_drawer(connection, row).id) for row in dict.fromkeys(rows)]
