"""kg accept: turn a suggestion into a fact."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.errors import AmbiguousId, NotFound
from palazzo.features.facts.contract import KgAcceptRequest, KgAcceptResult
from palazzo.features.facts.fact_results import change, triple, views
from palazzo.features.facts.fact_results import provenance as provenance_of
from palazzo.features.facts.kg_suggest import follow_claims
from palazzo.knowledge import assertions
from palazzo.knowledge.facts_as_of import Beliefs
from palazzo.knowledge.suggestions import suggestions
from palazzo.operations.caller_taint import whom_to_believe

if TYPE_CHECKING:
    from palazzo.knowledge.suggestions import Suggestion
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection
    from palazzo.store.fact_rows import Provenance


def kg_accept(context: Context, request: KgAcceptRequest) -> KgAcceptResult:
    """State suggestions as facts, citing the text that supports them."""
    database = context.writing().database
    follow_claims(context)  # what was forgotten since is no suggestion any more
    with database.snapshot() as connection:
        selection = choose(connection, request.ids)
    belief = whom_to_believe(context, *(suggestion.wing for suggestion in selection))
    (speaker,) = provenance_of(context, request.stated_by, (), belief)
    statements = [
        assertions.Statement(
            triple(context, entry.subject, entry.predicate, entry.object, None if request.everywhere else entry.wing),
            assertions.stated_everywhere(_speakers(speaker, entry))
            if request.everywhere
            else _speakers(speaker, entry),
            entry.citations[0].said_at,
        )
        for entry in selection
    ]
    with database.transaction() as connection:
        fact_change = change(context, connection, "kg accept")
        added = [assertions.add(fact_change, entry) for entry in statements]
        fact_change.count(sum(entry.new or bool(entry.changed) for entry in added))
        fact_views = views(Beliefs(connection), [entry.version for entry in added], context.now)
    return KgAcceptResult(fact_views, tuple(dict.fromkeys(uid for entry in added for uid in entry.conflicts)))


def _speakers(speaker: Provenance, suggestion: Suggestion) -> tuple[Provenance, ...]:
    """Return who states a suggestion, once for each place that it cites."""
    speakers = (
        speaker._replace(item=citation.item, start=citation.start, end=citation.end, branch="", commit="")
        for citation in suggestion.citations
    )
    return tuple(dict.fromkeys(speakers))


def choose(connection: Connection, prefixes: tuple[str, ...]) -> list[Suggestion]:
    """Return the suggestions with these ids or id prefixes. Raises NotFound or AmbiguousId."""
    suggestion_list = suggestions(connection)
    selection: dict[str, Suggestion] = {}
    for prefix in prefixes:
        matches = [
            suggestion
            for suggestion in suggestion_list
            if prefix.strip() and suggestion.id.startswith(prefix.strip().lower())
        ]
        if len(matches) > 1:
            raise AmbiguousId(
                prefix,
                [
                    f"{suggestion.id} ({suggestion.subject} {suggestion.predicate} {suggestion.object})"
                    for suggestion in matches
                ],
            )
        if not matches:
            raise NotFound(f"No suggestion has the id '{prefix}'. 'palazzo kg suggest' prints ids.")
        selection[matches[0].id] = matches[0]
    return list(selection.values())
