"""kg add: state a fact."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from palazzo.features.facts.fact_results import ACTOR, FactView
from palazzo.operations.operation import About, Operation

if TYPE_CHECKING:
    from palazzo.operations.context import Context

_LONGEST_TO_COMPARE = 60
"""The longest name, in characters, that is compared: a longer one is a sentence, not a misspelled name."""


@dataclass(frozen=True, slots=True)
class KgAddRequest:
    """A fact and its attributes."""

    subject: Annotated[str, About("The subject: who or what.", positional=True)]
    predicate: Annotated[str, About("The predicate, such as uses, listens on, is owned by.", positional=True)]
    object: Annotated[str, About("The object: what or whom.", positional=True)]
    valid_from: Annotated[
        str | None, About("When it began: a date, or words such as 'since March'.", option="--from", metavar="WHEN")
    ] = None
    valid_to: Annotated[
        str | None, About("When it ended; a stated day, month or year is included.", option="--to", metavar="WHEN")
    ] = None
    wing: Annotated[str | None, About("The wing in which it holds. Default: the project's.")] = None
    confidence: Annotated[float | None, About("The confidence, from 0 to 1.")] = None
    sources: Annotated[
        tuple[str, ...],
        About("A drawer or item that supports the fact; may be given several times.", option="--source", metavar="ID"),
    ] = ()
    stated_by: Annotated[str, About("Who states the fact.", option="--by", metavar="NAME")] = ACTOR
    anchors: Annotated[
        tuple[str, ...],
        About(
            "A file that supports the fact, with line numbers; may be given several times.",
            option="--anchor",
            metavar="PATH[:L1-L2]",
        ),
    ] = ()
    everywhere: Annotated[bool, About("State that the fact holds in every project.")] = False


@dataclass(frozen=True, slots=True)
class KgAddResult:
    """The fact, whether it is new, what changed if it is not, and its conflicts."""

    id: str
    new: bool
    changed: tuple[str, ...]
    fact: FactView
    conflicts: tuple[str, ...]
    near: dict[str, tuple[str, ...]]
    """For each name that is new, existing names that are similar."""


def kg_add(context: Context, request: KgAddRequest) -> KgAddResult:
    """State a fact. Stating it again changes nothing, or strengthens it.

    A fact is strengthened by an earlier start, a higher confidence or a further source. Without --to the fact holds
    until it is ended; without --from its start is unknown. A fact holds in the current project; outside any project, in
    the wing 'user'.
    """
    from palazzo.features.facts.fact_results import change, statement, views
    from palazzo.knowledge import assertions
    from palazzo.knowledge.facts_as_of import Beliefs
    from palazzo.operations.caller_taint import whom_to_believe

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
    from palazzo.knowledge.facts_as_of import Beliefs

    near_names = {}
    with context.reading().database.snapshot() as connection:
        beliefs = Beliefs(connection)
        for name in created:
            if len(name) <= _LONGEST_TO_COMPARE:
                near_names[name] = tuple(near_name for near_name in beliefs.near(name) if near_name not in created)
    return {name: names for name, names in near_names.items() if names}


OPERATION = Operation(
    "kg_add",
    KgAddRequest,
    KgAddResult,
    kg_add,
    scope="write",
    writes=True,
    examples=(
        "palazzo kg add api 'listens on' 8443 --from 2026-03-01",
        "palazzo kg add billing 'is owned by' Ada --everywhere",
    ),
)
