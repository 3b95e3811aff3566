"""memory_stats: show the composition of the memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.errors import UsageError
from palazzo.features.places.place_results import read_names
from palazzo.features.upkeep.contract import MemoryStatsRequest, MemoryStatsResult, NameCount
from palazzo.operations.arguments import check_place
from palazzo.store import drawer_counts, fact_rows, palace_overview, place_rows
from palazzo.store import mention_rows as mentions

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection

_MOST = 1_000


def memory_stats(context: Context, request: MemoryStatsRequest) -> MemoryStatsResult:
    """Count the memory's contents by kind, tag, age and trust, and list the most mentioned names."""
    if not 0 <= request.limit <= _MOST:
        raise UsageError(f"The limit is {request.limit}; it must be between 0 and {_MOST:,}.")
    read_names(context)
    with context.reading().database.snapshot() as connection:
        wing, _ = check_place(connection, request.wing, None, context.notice)
        rooms = place_rows.scope(connection, wing, None).rooms
        total = drawer_counts.total(connection, rooms)
        return MemoryStatsResult(
            wing=wing,
            items=drawer_counts.items(connection, rooms),
            drawers=total.live,
            retired=total.retired,
            facts=fact_rows.count(connection),
            by_kind=drawer_counts.by_kind(connection, rooms),
            filed_as=drawer_counts.by_label(connection, rooms),
            by_tag=dict(list(drawer_counts.by_tag(connection, rooms).items())[: request.limit]),
            by_age=drawer_counts.by_age(connection, rooms, context.now),
            by_trust=drawer_counts.by_trust(connection, rooms),
            entities=_names(connection, wing, request.limit),
            size_bytes=palace_overview.size_in_bytes(connection),
        )


def _names(connection: Connection, wing: str | None, limit: int) -> tuple[NameCount, ...]:
    mention_rows = mentions.names_in(connection, wing, limit)
    spellings = mentions.read_spellings(connection, [(mention.kind, mention.name) for mention in mention_rows])
    return tuple(
        NameCount(spellings[mention.kind, mention.name], mention.kind, mention.drawers) for mention in mention_rows
    )
