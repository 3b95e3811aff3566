"""memory_stats: show the composition of the memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from palazzo.errors import UsageError
from palazzo.operations.operation import About, Operation

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection

_MOST = 1_000


@dataclass(frozen=True, slots=True)
class MemoryStatsRequest:
    """The wing, and the maximum length of the lists of tags and names."""

    wing: Annotated[str | None, About("Only this wing.")] = None
    limit: Annotated[int, About("Maximum number of tags and of names.")] = 10


@dataclass(frozen=True, slots=True)
class NameCount:
    """A name that drawers mention, its kind, and the number of drawers."""

    name: str
    kind: str
    drawers: int


@dataclass(frozen=True, slots=True)
class MemoryStatsResult:
    """Counts of live drawers, except `items` (archived), `retired` (no longer found), `facts`, and the file's size."""

    wing: str | None
    items: int
    drawers: int
    retired: int
    facts: int
    by_kind: dict[str, int]
    filed_as: dict[str, int]
    by_tag: dict[str, int]
    by_age: dict[str, int]
    """Drawers by age: within the last day, week, month or year, or older."""
    by_trust: dict[str, int]
    entities: tuple[NameCount, ...]
    size_bytes: int


def memory_stats(context: Context, request: MemoryStatsRequest) -> MemoryStatsResult:
    """Count the memory's contents by kind, tag, age and trust, and list the most mentioned names."""
    from palazzo.features.places.place_results import read_names
    from palazzo.operations.arguments import check_place
    from palazzo.store import drawer_counts, fact_rows, palace_overview, place_rows

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
    from palazzo.store import mention_rows as mentions

    mention_rows = mentions.names_in(connection, wing, limit)
    spellings = mentions.read_spellings(connection, [(mention.kind, mention.name) for mention in mention_rows])
    return tuple(
        NameCount(spellings[mention.kind, mention.name], mention.kind, mention.drawers) for mention in mention_rows
    )


OPERATION = Operation(
    "memory_stats",
    MemoryStatsRequest,
    MemoryStatsResult,
    memory_stats,
    scope="read",
    examples=("palazzo memory-stats --wing api",),
)
