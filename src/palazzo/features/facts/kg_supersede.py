"""kg supersede: state that one thing has replaced another."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

from palazzo.features.facts.fact_results import ACTOR, FactView
from palazzo.operations.operation import About, Operation

if TYPE_CHECKING:
    from palazzo.operations.context import Context


@dataclass(frozen=True, slots=True)
class KgSupersedeRequest:
    """The fact, its new object, and the time of the change."""

    subject: Annotated[str, About("The subject: who or what.", positional=True)]
    predicate: Annotated[str, About("The predicate.", positional=True)]
    old: Annotated[str, About("The old object.", positional=True)]
    new: Annotated[str, About("The new object.", positional=True)]
    at: Annotated[
        str | None, About("When it changed, if not now; for a day, month or year, its beginning.", metavar="WHEN")
    ] = None
    wing: Annotated[str | None, About("Change the fact of this wing.")] = None
    sources: Annotated[
        tuple[str, ...],
        About(
            "A drawer or item that supports the change; may be given several times.", option="--source", metavar="ID"
        ),
    ] = ()
    stated_by: Annotated[str, About("Who states the change.", option="--by", metavar="NAME")] = ACTOR
    everywhere: Annotated[bool, About("Change the fact that holds everywhere.")] = False


@dataclass(frozen=True, slots=True)
class KgSupersedeResult:
    """The facts that ended at that time, the fact that holds from then on, and its conflicts."""

    at: str
    closed: tuple[FactView, ...]
    opened: FactView
    new: bool
    conflicts: tuple[str, ...]


def kg_supersede(context: Context, request: KgSupersedeRequest) -> KgSupersedeResult:
    """End a fact and begin its successor at the same moment, both or neither.

    Without --wing this changes the fact of the project, else of the wing 'user', else the fact that holds everywhere.
    The new fact holds in the same wing.
    """
    from palazzo.features.facts.fact_results import change, moment, now_in, provenance, triple, views
    from palazzo.features.facts.fact_scope import scope_to_change, wing_of_fact_to_change
    from palazzo.knowledge import assertions
    from palazzo.knowledge.entity_names import entity_name
    from palazzo.knowledge.facts_as_of import Beliefs
    from palazzo.operations.caller_taint import unless_tainted, whom_to_believe
    from palazzo.text.times import parse_start, to_iso

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


OPERATION = Operation(
    "kg_supersede",
    KgSupersedeRequest,
    KgSupersedeResult,
    kg_supersede,
    scope="write",
    writes=True,
    examples=("palazzo kg supersede api 'listens on' 8443 9443",),
)
