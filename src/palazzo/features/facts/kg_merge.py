"""kg merge: merge two entities that are the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.errors import UsageError
from palazzo.features.facts.contract import KgMergeRequest, KgMergeResult, MergeView
from palazzo.features.facts.fact_results import change, name_to_find
from palazzo.knowledge import entity_links
from palazzo.knowledge.facts_as_of import Beliefs
from palazzo.operations.caller_taint import unless_tainted
from palazzo.store import entity_rows

if TYPE_CHECKING:
    from palazzo.operations.context import Context


def kg_merge(context: Context, request: KgMergeRequest) -> KgMergeResult:
    """Merge one entity into another; without arguments, list merged entities."""
    if request.name is None:
        return KgMergeResult(None, (), _merges(context))
    if request.into is None:
        raise UsageError("Give two names: the entity to merge, and the entity to merge it into.")
    unless_tainted(context, "merge names")
    name, into = (name_to_find(context, raw_name, writing=True) for raw_name in (request.name, request.into))
    with context.writing().database.transaction() as connection:
        fact_change = change(context, connection, "kg merge")
        first, second, conflicts = entity_links.merge(fact_change, name, into)
        fact_change.count(1)
    return KgMergeResult(MergeView(first, second), tuple(conflicts), _merges(context))


def _merges(context: Context) -> tuple[MergeView, ...]:
    with context.reading().database.snapshot() as connection:
        beliefs = Beliefs(connection)
        links = entity_rows.links(connection, "merge", beliefs.known_at)
        names = entity_rows.names_of(connection, [row for link in links for row in (link.entity, link.other or 0)])
        return tuple(MergeView(names[link.other or 0], names[link.entity]) for link in links)
