"""kg end: state that a fact no longer holds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from palazzo.features.facts.contract import KgEndRequest, KgEndResult
from palazzo.features.facts.fact_results import change, moment, now_in, triple, views
from palazzo.features.facts.fact_scope import scope_to_change, wing_of_fact_to_change
from palazzo.knowledge import assertions
from palazzo.knowledge.facts_as_of import Beliefs
from palazzo.operations.caller_taint import unless_tainted
from palazzo.text.times import parse_end, to_iso

if TYPE_CHECKING:
    from palazzo.operations.context import Context


def kg_end(context: Context, request: KgEndRequest) -> KgEndResult:
    """End a fact: from then on it no longer holds."""
    unless_tainted(context, "end facts", request.wing)
    now = now_in(context)
    at = moment("--at", request.at, parse_end, now) or now
    fact = triple(context, request.subject, request.predicate, request.object, request.wing)
    scope = scope_to_change(context, fact.wing, request.everywhere)
    with context.writing().database.transaction() as connection:
        fact = replace(fact, wing=wing_of_fact_to_change(connection, fact, at, scope))
        fact_change = change(context, connection, "kg end", about=fact)
        ended_facts = assertions.end(fact_change, fact, at)
        fact_change.count(len(ended_facts))
        return KgEndResult(to_iso(at), views(Beliefs(connection), ended_facts, now))
