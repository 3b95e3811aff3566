"""Wings, rooms and tunnels as faces show them, and what the operations on them share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from palazzo.model import Micros

if TYPE_CHECKING:
    from palazzo.knowledge.fact_change import Change
    from palazzo.knowledge.place_names import Room, Wing
    from palazzo.knowledge.tunnel_discovery import RoomOverlap
    from palazzo.knowledge.tunnels import RoomGroup
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection
    from palazzo.store.tunnel_rows import End, Tunnel

BEGINNING = 200
"""Characters of a drawer that are shown where a tunnel leads to it."""
NAMES_SHOWN = 6
"""Names that are shown of those that two rooms share."""
AT_ONCE = 200
"""Changed drawers that somebody who asks waits for to be read for names: some half a second."""


@dataclass(frozen=True, slots=True)
class EndView:
    """Where a tunnel ends; `drawers` are ids, none where it leads to the room as such."""

    wing: str
    room: str
    drawers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TunnelView:
    """A tunnel that was made."""

    id: str
    label: str
    source: EndView
    target: EndView
    created_at: Micros
    by: str


@dataclass(frozen=True, slots=True)
class TogetherView:
    """Rooms of one name: the wings that have one, their halls, how many drawers, and when the newest was said."""

    room: str
    wings: tuple[str, ...]
    halls: tuple[str, ...]
    count: int
    recent: Micros


@dataclass(frozen=True, slots=True)
class SharedName:
    """A name that two rooms share, as it is written at one place, and its kind."""

    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class SharingView:
    """Two rooms of different wings (`wing/room`) that share rare names: the most telling, and how many in all."""

    rooms: tuple[str, str]
    names: tuple[SharedName, ...]
    shared: int


def tunnel_view(tunnel: Tunnel) -> TunnelView:
    """Return a tunnel as it is shown."""
    return TunnelView(
        tunnel.uid, tunnel.label, _end(tunnel.source), _end(tunnel.target), tunnel.recorded_at, tunnel.actor
    )


def _end(end: End) -> EndView:
    return EndView(end.place.wing, end.place.room, tuple(drawer.hex() for drawer in end.drawers))


def together_view(room_group: RoomGroup) -> TogetherView:
    """Return rooms of one name as they are shown."""
    return TogetherView(room_group.room, room_group.wings, room_group.halls, room_group.drawers, room_group.newest)


def sharing_view(connection: Connection, room_pair: RoomOverlap) -> SharingView:
    """Return two rooms that share names as they are shown."""
    from palazzo.knowledge.tunnel_discovery import spell_names

    names = tuple(SharedName(*name_row) for name_row in spell_names(connection, room_pair, NAMES_SHOWN))
    rooms = (
        f"{room_pair.first.place.wing}/{room_pair.first.place.room}",
        f"{room_pair.second.place.wing}/{room_pair.second.place.room}",
    )
    return SharingView(rooms, names, len(room_pair.names))


def read_names(context: Context, tell: bool = True) -> None:
    """Let what was filed lately be read for names where that is quickly done; else `tell` that some waits for it."""
    from palazzo.index import async_consumer
    from palazzo.knowledge.mention_consumer import MENTION_CONSUMER

    if not context.settings.flag("entities"):
        return
    palace = context.reading()
    with palace.database.snapshot() as connection:
        backlog = async_consumer.count_pending(connection, MENTION_CONSUMER)
    if backlog <= AT_ONCE:
        palace.follow_mentions()
    elif tell:
        context.notice("Not all drawers have been read for names yet; that goes on in the background.")


def begin_change(context: Context, connection: Connection, verb: str, summary: str) -> Change:
    """Begin a change to wings, rooms or tunnels in an open transaction; `summary` says which, for people."""
    from palazzo.features.facts.fact_results import ACTOR
    from palazzo.knowledge.fact_change import Change

    return Change(connection, ACTOR, verb, context.now, summary=summary)


def new_name(context: Context, name: str) -> str:
    """Return a name that is given to a wing or a room, as it is kept; UsageError when nothing of it can be."""
    from palazzo.archive.ingest_guard import Guard
    from palazzo.features.notes.remember import place_name

    return place_name("The new name", Guard.of(context.writing().database).words(name))


def wing(context: Context, connection: Connection, name: str) -> Wing:
    """Return the wing that a name means, telling whoever watches where a former name leads."""
    from palazzo.knowledge import place_names

    resolved_wing = place_names.wing(connection, name)
    if resolved_wing.note:
        context.notice(resolved_wing.note)
    return resolved_wing


def room(context: Context, connection: Connection, room_name: str) -> Room:
    """Return the room that `wing/room` or `room` means, telling whoever watches where a former name leads."""
    from palazzo.knowledge import place_names

    resolved_room = place_names.room(connection, room_name, context.home)
    if resolved_room.note:
        context.notice(resolved_room.note)
    return resolved_room


def drawers_named(connection: Connection, prefixes: Sequence[str]) -> list[bytes]:
    """Return the ids of the drawers that ids or their beginnings name."""
    from palazzo.archive import archive_reader

    rows = [archive_reader.resolve_drawer(connection, prefix) for prefix in prefixes]
    return [bytes.fromhex(archive_reader.read_drawer(connection, row).id) for row in dict.fromkeys(rows)]
