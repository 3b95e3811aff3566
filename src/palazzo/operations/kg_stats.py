"""kg stats: how much is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from palazzo.operations.kg_predicate import PredicateView
from palazzo.operations.operation import Operation

if TYPE_CHECKING:
    from palazzo.operations.context import Context


@dataclass(frozen=True, slots=True)
class KgStatsRequest:
    """Nothing needs to be said."""


@dataclass(frozen=True, slots=True)
class KgStatsResult:
    """Counts of what is believed now: facts that hold, have ended, or have not begun; names; conflicts that stand."""

    entities: int
    facts: int
    current: int
    ended: int
    planned: int
    aliases: int
    merges: int
    conflicts: int
    predicates: tuple[PredicateView, ...]


def kg_stats(context: Context, request: KgStatsRequest) -> KgStatsResult:
    """Count entities, facts, predicates and conflicts."""
    from palazzo.graph import conflicting
    from palazzo.operations.facts import now_in
    from palazzo.operations.kg_predicate import predicate_views
    from palazzo.store import entities, facts
    from palazzo.store.entities import LATEST

    now = now_in(context)
    with context.reading().database.snapshot() as connection:
        versions = facts.versions(connection, LATEST)
        current = sum(version.holds_at(now) for version in versions)
        past_count = sum(version.valid_to is not None and version.valid_to <= now for version in versions)
        return KgStatsResult(
            entities=entities.count_known(connection, LATEST),
            facts=len(versions),
            current=current,
            ended=past_count,
            planned=len(versions) - current - past_count,
            aliases=len(entities.links(connection, "alias", LATEST)),
            merges=len(entities.links(connection, "merge", LATEST)),
            conflicts=sum(stands for _, stands in conflicting.list_conflicts(connection)),
            predicates=predicate_views(connection),
        )


OPERATION = Operation("kg_stats", KgStatsRequest, KgStatsResult, kg_stats)
