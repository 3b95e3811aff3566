"""kg add: state a fact."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.features.facts.contract import KgAddRequest, KgAddResult
from palazzo.features.facts.fact_results import change, statement, views
from palazzo.knowledge import assertions
from palazzo.knowledge.facts_as_of import Beliefs
from palazzo.operations.caller_taint import whom_to_believe

if TYPE_CHECKING:
    from palazzo.operations.context import Context

_LONGEST_TO_COMPARE = 60
"""The longest name, in characters, that is compared: a longer one is a sentence, not a misspelled name."""


def kg_add(context: Context, request: KgAddRequest) -> KgAddResult:
    """State a fact. Stating it again changes nothing, or strengthens it."""
    belief = whom_to_believe(context, request.wing)
    new_statement = statement(
        context,
        (request.subject, request.predicate, request.object),
        wing=request.wing,
        valid_from=request.valid_from,
        valid_to=request.valid_to,
        confidence=request.confidence,
        sources=request.sources,
        stated_by=request.stated_by,
        belief=belief,
        anchors=request.anchors,
        everywhere=request.everywhere,
    )
    with context.writing().database.transaction() as connection:
        fact_change = change(context, connection, "kg add", about=new_statement.triple)
        added = assertions.add(fact_change, new_statement)
        fact_change.count(int(added.new or bool(added.changed)))
        (fact,) = views(Beliefs(connection), [added.version], context.now)
    near = _near(context, fact_change.created)
    return KgAddResult(added.version.uid, added.new, added.changed, fact, added.conflicts, near)


def _near(context: Context, created: list[str]) -> dict[str, tuple[str, ...]]:
    """Return existing names similar to the new ones, so that a typing error is visible at once."""
    near_names = {}
    with context.reading().database.snapshot() as connection:
        beliefs = Beliefs(connection)
        for name in created:
            if len(name) <= _LONGEST_TO_COMPARE:
                near_names[name] = tuple(near_name for near_name in beliefs.near(name) if near_name not in created)
    return {name: names for name, names in near_names.items() if names}
