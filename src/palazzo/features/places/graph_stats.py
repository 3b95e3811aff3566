"""graph_stats: count rooms and tunnels, and show how connected the palace is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.features.places.contract import (
    GraphStatsRequest,
    GraphStatsResult,
    MentionedName,
)
from palazzo.features.places.place_results import read_names, sharing_view, together_view
from palazzo.knowledge.tunnels import Rooms
from palazzo.store import mention_rows

if TYPE_CHECKING:
    from palazzo.operations.context import Context

TOP = 10


def graph_stats(context: Context, request: GraphStatsRequest) -> GraphStatsResult:
    """Count rooms and the tunnels between them, and list the most mentioned names."""
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
