"""kg stats: show how much is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.features.facts.contract import KgStatsRequest, KgStatsResult
from palazzo.features.facts.fact_results import now_in
from palazzo.features.facts.kg_predicate import predicate_views
from palazzo.knowledge import conflict_detection
from palazzo.store import entity_rows, fact_rows
from palazzo.store.entity_rows import LATEST

if TYPE_CHECKING:
    from palazzo.operations.context import Context


def kg_stats(context: Context, request: KgStatsRequest) -> KgStatsResult:
    """Count entities, facts, predicates and conflicts."""
    now = now_in(context)
    with context.reading().database.snapshot() as connection:
        versions = fact_rows.versions(connection, LATEST)
        current = sum(version.holds_at(now) for version in versions)
        past_count = sum(version.valid_to is not None and version.valid_to <= now for version in versions)
        return KgStatsResult(
            entities=entity_rows.count_known(connection, LATEST),
            facts=len(versions),
            current=current,
            ended=past_count,
            planned=len(versions) - current - past_count,
            aliases=len(entity_rows.links(connection, "alias", LATEST)),
            merges=len(entity_rows.links(connection, "merge", LATEST)),
            conflicts=sum(stands for _, stands in conflict_detection.list_conflicts(connection)),
            predicates=predicate_views(connection),
        )
