"""kg query: show what is known about a person or thing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Literal

from palazzo.errors import UsageError
from palazzo.features.branches.branch_labels import MERGED, Checkout
from palazzo.features.facts.contract import KgQueryRequest, KgQueryResult, MentionedView, QueriedFact
from palazzo.features.facts.fact_results import iso, moment, name_to_find, now_in, views
from palazzo.features.facts.fact_scope import scope_to_ask
from palazzo.features.places.place_results import read_names
from palazzo.features.search.hit_freshness import NOTHING, Files
from palazzo.knowledge.facts_as_of import Beliefs
from palazzo.operations.shared_views import FactView
from palazzo.store import mention_rows
from palazzo.store.entity_rows import LATEST
from palazzo.text.names import fold
from palazzo.text.times import parse_as_of

if TYPE_CHECKING:
    from palazzo.features.search.hit_freshness import CitationSummary
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection
    from palazzo.store.fact_rows import Version

MOST_FACTS = 1000
_ROOMS_SHOWN = 5


def kg_query(context: Context, request: KgQueryRequest) -> KgQueryResult:
    """Show what is known about an entity: facts that hold now, or held at a given time."""
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
    mention = mention_rows.count_mentions(connection, sorted({fold(name) for name in names}), wing)
    most = {f"{place.wing}/{place.room}": drawers for place, drawers in list(mention.rooms.items())[:_ROOMS_SHOWN]}
    return MentionedView(mention.drawers, len(mention.rooms), most)


def check_limit(limit: int) -> None:
    """Raise UsageError if the limit of facts is out of range."""
    if not 1 <= limit <= MOST_FACTS:
        raise UsageError(f"--limit is {limit:,}; it must be between 1 and {MOST_FACTS:,}.")
