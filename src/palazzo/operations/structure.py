"""Wings, rooms and tunnels as faces show them, and what the operations on them share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from palazzo.model import Micros

if TYPE_CHECKING:
    from palazzo.graph.changing import Change
    from palazzo.graph.tunnelling import Together
    from palazzo.graph.whereabouts import Room, Wing
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection
    from palazzo.store.tunnels import End, Tunnel

BEGINNING = 200
"""Characters of a drawer that are shown where a tunnel leads to it."""


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


def tunnel_view(tunnel: Tunnel) -> TunnelView:
    """Return a tunnel as it is shown."""
    return TunnelView(
        tunnel.uid, tunnel.label, _end(tunnel.source), _end(tunnel.target), tunnel.recorded_at, tunnel.actor
    )


def _end(end: End) -> EndView:
    return EndView(end.place.wing, end.place.room, tuple(drawer.hex() for drawer in end.drawers))


def together_view(found: Together) -> TogetherView:
    """Return rooms of one name as they are shown."""
    return TogetherView(found.room, found.wings, found.halls, found.drawers, found.newest)


def changing(context: Context, connection: Connection, verb: str, summary: str) -> Change:
    """Begin a change to wings, rooms or tunnels in an open transaction; `summary` says which, for people."""
    from palazzo.graph.changing import Change
    from palazzo.operations.facts import ACTOR

    return Change(connection, ACTOR, verb, context.now, summary=summary)


def new_name(context: Context, name: str) -> str:
    """Return a name that is given to a wing or a room, as it is kept; UsageError when nothing of it can be."""
    from palazzo.archive.guarding import Guard
    from palazzo.operations.remember import place_name

    return place_name("The new name", Guard.of(context.writing().database).words(name))


def wing(context: Context, connection: Connection, name: str) -> Wing:
    """Return the wing that a name means, telling whoever watches where a former name leads."""
    from palazzo.graph import whereabouts

    found = whereabouts.wing(connection, name)
    if found.note:
        context.notice(found.note)
    return found


def room(context: Context, connection: Connection, said: str) -> Room:
    """Return the room that `wing/room` or `room` means, telling whoever watches where a former name leads."""
    from palazzo.graph import whereabouts

    found = whereabouts.room(connection, said, context.home)
    if found.note:
        context.notice(found.note)
    return found


def drawers_named(connection: Connection, prefixes: Sequence[str]) -> list[bytes]:
    """Return the ids of the drawers that ids or their beginnings name."""
    from palazzo.archive import reading

    rows = [reading.resolve_drawer(connection, prefix) for prefix in prefixes]
    return [bytes.fromhex(reading.read_drawer(connection, row).id) for row in dict.fromkeys(rows)]
