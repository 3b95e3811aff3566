"""kg end: state that a fact no longer holds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

from palazzo.features.facts.fact_results import FactView
from palazzo.operations.operation import About, Operation

if TYPE_CHECKING:
    from palazzo.operations.context import Context


@dataclass(frozen=True, slots=True)
class KgEndRequest:
    """The fact, and its end."""

    subject: Annotated[str, About("The subject: who or what.", positional=True)]
    predicate: Annotated[str, About("The predicate.", positional=True)]
    object: Annotated[str, About("The object: what or whom.", positional=True)]
    at: Annotated[
        str | None, About("When it ended, if not now; a stated day, month or year is included.", metavar="WHEN")
    ] = None
    wing: Annotated[str | None, About("End the fact of this wing.")] = None
    everywhere: Annotated[bool, About("End the fact that holds everywhere.")] = False


@dataclass(frozen=True, slots=True)
class KgEndResult:
    """The facts that ended, and the first moment at which they no longer held."""

    at: str
    ended: tuple[FactView, ...]


def kg_end(context: Context, request: KgEndRequest) -> KgEndResult:
    """End a fact: from then on it no longer holds.

    Without --wing this ends the fact of the project, else of the wing 'user', else the fact that holds everywhere. A
    fact that does not hold cannot be ended; the error then names similar facts.
    """
    from palazzo.features.facts.fact_results import change, moment, now_in, triple, views
    from palazzo.features.facts.fact_scope import scope_to_change, wing_of_fact_to_change
    from palazzo.knowledge import assertions
    from palazzo.knowledge.facts_as_of import Beliefs
    from palazzo.operations.caller_taint import unless_tainted
    from palazzo.text.times import parse_end, to_iso

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


OPERATION = Operation(
    "kg_end",
    KgEndRequest,
    KgEndResult,
    kg_end,
    scope="write",
    writes=True,
    examples=("palazzo kg end api 'listens on' 8443 --at yesterday",),
)
