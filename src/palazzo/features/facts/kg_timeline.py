"""kg timeline: list facts in the order in which they began to hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.errors import UsageError
from palazzo.features.facts.contract import KgTimelineRequest, KgTimelineResult
from palazzo.features.facts.fact_results import iso, moment, name_to_find, now_in, views
from palazzo.features.facts.fact_scope import scope_to_ask
from palazzo.features.facts.kg_query import check_limit
from palazzo.knowledge.facts_as_of import Beliefs
from palazzo.store import fact_rows
from palazzo.store.entity_rows import LATEST
from palazzo.text.times import parse_as_of

if TYPE_CHECKING:
    from palazzo.operations.context import Context


def kg_timeline(context: Context, request: KgTimelineRequest) -> KgTimelineResult:
    """Show facts in the order in which they began, including ended facts."""
    check_limit(request.limit)
    if request.offset < 0:
        raise UsageError(f"--offset is {request.offset}; it must not be negative.")
    now = now_in(context)
    known_at = moment("--known-at", request.known_at, parse_as_of, now)
    name = None if request.entity is None else name_to_find(context, request.entity)
    with context.reading().database.snapshot() as connection:
        scope = scope_to_ask(context, connection, request.wing, request.everywhere)
        beliefs = Beliefs(connection, LATEST if known_at is None else known_at)
        match = None if name is None else beliefs.find(name, nearby=True)
        if name is not None and match is None:
            return KgTimelineResult(name, None, iso(known_at), (), 0)
        versions = fact_rows.versions(connection, beliefs.known_at) if match is None else beliefs.about(match.entity)
        in_scope = [version for version in versions if scope.includes(version.wing)]
        in_scope.sort(key=lambda version: (version.valid_from is not None, version.valid_from or 0, version.fact))
        page = in_scope[request.offset : request.offset + request.limit]
        return KgTimelineResult(
            beliefs.name(match.entity) if match else None,
            match.kind if match else None,
            iso(known_at),
            views(beliefs, page, now),
            len(in_scope),
        )
