"""graph_stats: how much of the palace hangs together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from palazzo.features.places.place_results import SharingView, TogetherView
from palazzo.operations.operation import Operation

if TYPE_CHECKING:
    from palazzo.operations.context import Context

TOP = 10


@dataclass(frozen=True, slots=True)
class GraphStatsRequest:
    """Nothing to say: the whole palace."""


@dataclass(frozen=True, slots=True)
class MentionedName:
    """A name that drawers mention, its kind, and in how many drawers and rooms."""

    name: str
    kind: str
    drawers: int
    rooms: int


@dataclass(frozen=True, slots=True)
class GraphStatsResult:
    """Rooms in all, those with a tunnel, tunnels made and found, rooms by wing, the largest found, and names.

    `top_names` are those that most drawers mention.
    """

    total_rooms: int
    tunnel_rooms: int
    total_edges: int
    rooms_per_wing: dict[str, int]
    top_tunnels: tuple[TogetherView, ...]
    top_sharing: tuple[SharingView, ...]
    top_names: tuple[MentionedName, ...]


def graph_stats(context: Context, request: GraphStatsRequest) -> GraphStatsResult:
    """Count rooms and the tunnels between them, and say which names are mentioned most."""
    from palazzo.features.places.place_results import read_names, sharing_view, together_view
    from palazzo.knowledge.tunnels import Rooms
    from palazzo.store import mention_rows

    read_names(context)
    with context.reading().database.snapshot() as connection:
        stats = Rooms(connection).stats()
        top = tuple(together_view(pair) for pair in stats.room_groups[:TOP])
        top_sharing = tuple(sharing_view(connection, pair) for pair in stats.overlaps[:TOP])
        names = []
        most = mention_rows.most_mentioned(connection, TOP)
        spellings = mention_rows.read_spellings(connection, most)
        for kind, name in most:
            mention = mention_rows.count_mentions(connection, [name])
            names.append(MentionedName(spellings[kind, name], kind, mention.drawers, len(mention.rooms)))
    return GraphStatsResult(
        stats.rooms, stats.linked_rooms, stats.tunnels, stats.by_wing, top, top_sharing, tuple(names)
    )


OPERATION = Operation("graph_stats", GraphStatsRequest, GraphStatsResult, graph_stats)
