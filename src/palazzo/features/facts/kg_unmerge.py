"""kg unmerge: split two entities that were merged by mistake."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.features.facts.contract import KgUnmergeRequest, KgUnmergeResult
from palazzo.features.facts.fact_results import change, name_to_find
from palazzo.knowledge import entity_links
from palazzo.operations.taint_marks import marks_taint

if TYPE_CHECKING:
    from palazzo.operations.context import Context


@marks_taint
def kg_unmerge(context: Context, request: KgUnmergeRequest) -> KgUnmergeResult:
    """Separate two merged entities: each has the facts again that were stated about it."""
    name = name_to_find(context, request.name, writing=True)
    with context.writing().database.transaction() as connection:
        fact_change = change(context, connection, "kg unmerge")
        entity, was, conflicts = entity_links.unmerge(fact_change, name)
        fact_change.count(1)
    return KgUnmergeResult(entity, was, tuple(conflicts))
