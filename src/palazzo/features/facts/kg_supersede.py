"""kg supersede: state that one thing has replaced another."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from palazzo.features.facts.contract import KgSupersedeRequest, KgSupersedeResult
from palazzo.features.facts.fact_results import change, moment, now_in, provenance, triple, views
from palazzo.features.facts.fact_scope import scope_to_change, wing_of_fact_to_change
from palazzo.knowledge import assertions
from palazzo.knowledge.entity_names import entity_name
from palazzo.knowledge.facts_as_of import Beliefs
from palazzo.operations.caller_taint import unless_tainted, whom_to_believe
from palazzo.text.times import parse_start, to_iso

if TYPE_CHECKING:
    from palazzo.operations.context import Context


def kg_supersede(context: Context, request: KgSupersedeRequest) -> KgSupersedeResult:
    """End a fact and begin its successor at the same moment, both or neither."""
    unless_tainted(context, "supersede facts", request.wing)
    belief = whom_to_believe(context, request.wing)
    now = now_in(context)
    at = moment("--at", request.at, parse_start, now) or now
    entity_name("new object", request.new)
    former_fact = triple(context, request.subject, request.predicate, request.old, request.wing)
    successor = triple(context, request.subject, request.predicate, request.new, request.wing)
    said_by = provenance(context, request.stated_by, request.sources, belief)
    scope = scope_to_change(context, former_fact.wing, request.everywhere)
    if request.everywhere:
        said_by = assertions.stated_everywhere(said_by)
    with context.writing().database.transaction() as connection:
        former_fact = replace(former_fact, wing=wing_of_fact_to_change(connection, former_fact, at, scope))
        fact_change = change(context, connection, "kg supersede", about=former_fact)
        supersession = assertions.supersede(fact_change, former_fact, successor.object, at, said_by)
        fact_change.count(len(supersession.predecessors) + int(supersession.successor.new))
        *former_views, successor_view = views(
            Beliefs(connection), [*supersession.predecessors, supersession.successor.version], now
        )
    return KgSupersedeResult(
        to_iso(at), tuple(former_views), successor_view, supersession.successor.new, supersession.successor.conflicts
    )
