"""kg query: show what is known about a person or thing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated, Literal

from palazzo.errors import UsageError
from palazzo.features.facts.fact_results import FactView
from palazzo.features.search.hits import CitationView
from palazzo.knowledge import MatchKind
from palazzo.model import Freshness
from palazzo.operations.operation import PERSON_ONLY, About, Operation

if TYPE_CHECKING:
    from palazzo.features.search.hit_freshness import CitationSummary
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection
    from palazzo.store.fact_rows import Version

Direction = Literal["subject", "object", "both"]
MOST_FACTS = 1000
_ROOMS_SHOWN = 5


@dataclass(frozen=True, slots=True)
class KgQueryRequest:
    """The entity to query, and the times."""

    entity: Annotated[str, About("The name or an alias of an entity.", positional=True)]
    as_of: Annotated[
        str | None, About("Show what held at this time instead of now; for a past day, at its end.", metavar="WHEN")
    ] = None
    known_at: Annotated[
        str | None, About("Show what was recorded as true at this time instead of now.", metavar="WHEN")
    ] = None
    direction: Annotated[Direction, About("Show facts with the entity as subject, as object, or both.")] = "both"
    hops: Annotated[int, About("2 also shows the facts of its neighbours.")] = 1
    wing: Annotated[
        str | None, About("Facts of this wing and facts that hold everywhere. Default: the project's wing.")
    ] = None
    all: Annotated[bool, About("Also show facts that have ended or not begun yet.")] = False
    limit: Annotated[int, About("Maximum number of facts.")] = 100
    everywhere: Annotated[bool, About("Show facts of all wings.")] = False


@dataclass(frozen=True, slots=True)
class QueriedFact(FactView):
    """A fact, its distance from the entity in hops, and the side on which the entity (or its neighbour) is."""

    direction: Literal["subject", "object"]
    hop: int
    freshness: Freshness
    citations: tuple[CitationView, ...]
    """The project's files that its sources cite, worst state first; `freshness` summarizes them all."""
    label: str
    """The branch label of its sources, if none of them is known to be part of the current checkout."""
    cited: Annotated[str, PERSON_ONLY]
    """A note on the citations for the reader."""


@dataclass(frozen=True, slots=True)
class MentionedView:
    """How many drawers and rooms mention an entity under any of its names, and the rooms with most mentions."""

    drawers: int
    rooms: int
    most: dict[str, int]


@dataclass(frozen=True, slots=True)
class KgQueryResult:
    """What is known. `matched` says how the entity was found (null: not found); the times are the resolved ones.

    `mentioned` counts the present mentions: null if another time was requested, or if the setting `entities` is off.
    `count_elsewhere` counts the entity's facts in other wings, which are not in `facts`.
    """

    entity: str
    matched: MatchKind | None
    as_of: str | None
    known_at: str | None
    facts: tuple[QueriedFact, ...]
    count: int
    truncated: bool
    mentioned: MentionedView | None
    count_elsewhere: int


def kg_query(context: Context, request: KgQueryRequest) -> KgQueryResult:
    """Show what is known about an entity: facts that hold now, or held at a given time.

    Inside a project: facts of the project, of the wing 'user', and facts that hold everywhere. Outside: all facts. Two
    times may be given: --as-of is a time in the world, --known-at a time of the palace's knowledge. If a name may mean
    several entities, an error lists them.
    """
    from palazzo.features.branches.branch_labels import MERGED, Checkout
    from palazzo.features.facts.fact_results import iso, moment, name_to_find, now_in, views
    from palazzo.features.facts.fact_scope import scope_to_ask
    from palazzo.features.places.place_results import read_names
    from palazzo.features.search.hit_freshness import NOTHING, Files
    from palazzo.knowledge.facts_as_of import Beliefs
    from palazzo.store.entity_rows import LATEST
    from palazzo.text.times import parse_as_of

    if request.hops not in (1, 2):
        raise UsageError(f"--hops is {request.hops}; it must be 1 or 2.")
    check_limit(request.limit)
    if request.all and request.as_of is not None:
        raise UsageError("Give --as-of for one time, or --all for all times; not both.")
    now = now_in(context)
    as_of = moment("--as-of", request.as_of, parse_as_of, now)
    known_at = moment("--known-at", request.known_at, parse_as_of, now)
    at = as_of if as_of is not None else now
    as_of_time = None if request.all else iso(at)
    name = name_to_find(context, request.entity)
    read_names(context, tell=False)
    with context.reading().database.snapshot() as connection:
        scope = scope_to_ask(context, connection, request.wing, request.everywhere)
        beliefs = Beliefs(connection, LATEST if known_at is None else known_at)
        match = beliefs.find(name, nearby=True)
        mentions, mentioned_in = None, None if request.wing is None else scope.wings[0]
        if as_of is None and known_at is None and context.settings.flag("entities"):
            mentions = _count_mentions(
                connection, [name] if match is None else beliefs.list_names(match.entity), mentioned_in
            )
        if match is None:
            return KgQueryResult(name, None, as_of_time, iso(known_at), (), 0, False, mentions, 0)

        def is_of_that_time(version: Version) -> bool:
            return request.all or version.holds_at(at)

        hops, whole = beliefs.around(
            match.entity,
            request.direction,
            request.hops,
            lambda version: is_of_that_time(version) and scope.includes(version.wing),
            request.limit,
        )
        fact_views = views(beliefs, [hop.version for hop in hops], at)
        citations = Files(context).of_facts(connection, {view.id: view.scope for view in fact_views})
        standings = Checkout(context).of_ids(connection, facts=[view.id for view in fact_views])
        facts = tuple(
            _build_fact(view, hop.side, hop.hop, citations.get(view.id, NOTHING), standings.get(view.id, MERGED).label)
            for view, hop in zip(fact_views, hops, strict=True)
        )
        entity = beliefs.name(match.entity)
        versions = beliefs.about(match.entity, request.direction)
        count_elsewhere = sum(is_of_that_time(version) and not scope.includes(version.wing) for version in versions)
    return KgQueryResult(
        entity, match.kind, as_of_time, iso(known_at), facts, len(facts), not whole, mentions, count_elsewhere
    )


def _build_fact(
    view: FactView, side: Literal["subject", "object"], hop: int, summary: CitationSummary, label: str
) -> QueriedFact:
    field_values = {field.name: getattr(view, field.name) for field in fields(view)}
    return QueriedFact(
        **field_values,
        direction=side,
        hop=hop,
        freshness=summary.freshness,
        citations=summary.citations,
        label=label,
        cited=summary.remark,
    )


def _count_mentions(connection: Connection, names: Sequence[str], wing: str | None) -> MentionedView:
    from palazzo.store import mention_rows
    from palazzo.text.names import fold

    mention = mention_rows.count_mentions(connection, sorted({fold(name) for name in names}), wing)
    most = {f"{place.wing}/{place.room}": drawers for place, drawers in list(mention.rooms.items())[:_ROOMS_SHOWN]}
    return MentionedView(mention.drawers, len(mention.rooms), most)


def check_limit(limit: int) -> None:
    """Raise UsageError if the limit of facts is out of range."""
    if not 1 <= limit <= MOST_FACTS:
        raise UsageError(f"--limit is {limit:,}; it must be between 1 and {MOST_FACTS:,}.")


OPERATION = Operation(
    "kg_query",
    KgQueryRequest,
    KgQueryResult,
    kg_query,
    scope="read",
    examples=("palazzo kg query api", "palazzo kg query api --as-of 2026-01-01"),
)
