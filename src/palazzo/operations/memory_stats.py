"""memory_stats: what the memory is made of."""

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
    """Of which wing, and how long the lists of tags and names may be."""

    wing: Annotated[str | None, About("Only this wing.")] = None
    limit: Annotated[int, About("How many tags and names at most.")] = 10


@dataclass(frozen=True, slots=True)
class NameCount:
    """A name that drawers mention, its kind, and how many do."""

    name: str
    kind: str
    drawers: int


@dataclass(frozen=True, slots=True)
class MemoryStatsResult:
    """Counts of live drawers, but for `items` (archived), `retired` (found no more), `facts`, and the file's size."""

    wing: str | None
    items: int
    drawers: int
    retired: int
    facts: int
    by_kind: dict[str, int]
    filed_as: dict[str, int]
    by_tag: dict[str, int]
    by_age: dict[str, int]
    """Said within the last day, else the last week, month, year, or older."""
    by_trust: dict[str, int]
    entities: tuple[NameCount, ...]
    size_bytes: int


def memory_stats(context: Context, request: MemoryStatsRequest) -> MemoryStatsResult:
    """Count what the memory is made of: kinds, tags, ages, whom to believe, and the names that are mentioned most."""
    from palazzo.operations.search import check_place
    from palazzo.operations.structure import read_names
    from palazzo.store import facts, overview, places, tally

    if not 0 <= request.limit <= _MOST:
        raise UsageError(f"The limit is {request.limit}; it must be between 0 and {_MOST:,}.")
    read_names(context)
    with context.reading().database.snapshot() as connection:
        wing, _ = check_place(connection, request.wing, None, context.notice)
        rooms = places.scope(connection, wing, None).rooms
        total = tally.total(connection, rooms)
        return MemoryStatsResult(
            wing=wing,
            items=tally.items(connection, rooms),
            drawers=total.live,
            retired=total.retired,
            facts=facts.count(connection),
            by_kind=tally.by_kind(connection, rooms),
            filed_as=tally.by_label(connection, rooms),
            by_tag=dict(list(tally.by_tag(connection, rooms).items())[: request.limit]),
            by_age=tally.by_age(connection, rooms, context.now),
            by_trust=tally.by_trust(connection, rooms),
            entities=_names(connection, wing, request.limit),
            size_bytes=overview.size_in_bytes(connection),
        )


def _names(connection: Connection, wing: str | None, limit: int) -> tuple[NameCount, ...]:
    from palazzo.store import mentions

    mention_rows = mentions.names_in(connection, wing, limit)
    spellings = mentions.read_spellings(connection, [(mention.kind, mention.name) for mention in mention_rows])
    return tuple(
        NameCount(spellings[mention.kind, mention.name], mention.kind, mention.drawers) for mention in mention_rows
    )


OPERATION = Operation("memory_stats", MemoryStatsRequest, MemoryStatsResult, memory_stats)
