"""kg add: state a fact."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from palazzo.features.facts.fact_results import ACTOR, FactView
from palazzo.operations.operation import About, Operation

if TYPE_CHECKING:
    from palazzo.operations.context import Context

_LONGEST_TO_COMPARE = 60
"""Characters: a longer name is a sentence, and not another's with a slip in it."""


@dataclass(frozen=True, slots=True)
class KgAddRequest:
    """A fact, and what is known of it."""

    subject: Annotated[str, About("Who or what.", positional=True)]
    predicate: Annotated[str, About("How: uses, listens on, is owned by.", positional=True)]
    object: Annotated[str, About("What or whom.", positional=True)]
    valid_from: Annotated[
        str | None, About("When it began: a date, or words such as 'since March'.", option="--from", metavar="WHEN")
    ] = None
    valid_to: Annotated[
        str | None, About("When it ended; a day, month or year is included.", option="--to", metavar="WHEN")
    ] = None
    wing: Annotated[str | None, About("The wing in which it holds, instead of the project's.")] = None
    confidence: Annotated[float | None, About("How sure it is, from 0 to 1.")] = None
    sources: Annotated[
        tuple[str, ...],
        About("A drawer or item that says so; may be given several times.", option="--source", metavar="ID"),
    ] = ()
    stated_by: Annotated[str, About("Who says so.", option="--by", metavar="NAME")] = ACTOR
    anchors: Annotated[
        tuple[str, ...],
        About(
            "A file that shows it, and its lines; may be given several times.",
            option="--anchor",
            metavar="PATH[:L1-L2]",
        ),
    ] = ()
    everywhere: Annotated[bool, About("It holds in every project.")] = False


@dataclass(frozen=True, slots=True)
class KgAddResult:
    """The fact as it stands, whether it is new, what of it changed if not, what it conflicts with."""

    id: str
    new: bool
    changed: tuple[str, ...]
    fact: FactView
    conflicts: tuple[str, ...]
    near: dict[str, tuple[str, ...]]
    """For each name that nothing was known by before, names that are like it."""


def kg_add(context: Context, request: KgAddRequest) -> KgAddResult:
    """State a fact; stating it again changes nothing, or makes it better.

    Better is an earlier start, more confidence, or one more who says so. Without --to the fact holds until it is ended;
    without --from its start is unknown. A fact holds in the current project; outside of any project, in the wing
    'user'.
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
    """Names like those that are new, so that a slip shows at once."""
    from palazzo.knowledge.facts_as_of import Beliefs

    near_names = {}
    with context.reading().database.snapshot() as connection:
        beliefs = Beliefs(connection)
        for name in created:
            if len(name) <= _LONGEST_TO_COMPARE:
                near_names[name] = tuple(near_name for near_name in beliefs.near(name) if near_name not in created)
    return {name: names for name, names in near_names.items() if names}


OPERATION = Operation("kg_add", KgAddRequest, KgAddResult, kg_add, writes=True)
