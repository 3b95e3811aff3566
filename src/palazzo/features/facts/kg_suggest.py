"""kg suggest: list facts that the record suggests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from palazzo.archive import transcript_restore
from palazzo.derived.claim_consumer import FACTS, ClaimConsumer
from palazzo.errors import ConsumerStopped, UsageError
from palazzo.features.facts.contract import KgSuggestRequest, KgSuggestResult, SuggestionCitation, SuggestionView
from palazzo.knowledge.suggestions import suggestions
from palazzo.store import dead_letters, drawers, items
from palazzo.text.count_phrases import count_noun
from palazzo.text.times import to_iso

if TYPE_CHECKING:
    from palazzo.knowledge.suggestions import Citation, Suggestion
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection

_MOST_PLACES = 3
"""The most citations shown for a suggestion; the total is also reported."""


def kg_suggest(context: Context, request: KgSuggestRequest) -> KgSuggestResult:
    """Propose facts that recorded text states: decisions, versions, ports, owners, renames, dependencies."""
    if request.limit < 1:
        raise UsageError(f"The limit is {request.limit}; it must be at least 1.")
    note = follow_claims(context)
    with context.reading().database.snapshot() as connection:
        session = None if request.session is None else _session(connection, request.session)
        matches = [match for match in suggestions(connection, session) if request.wing in (None, match.wing)]
        views = tuple(_view(connection, match) for match in matches[: request.limit])
        return KgSuggestResult(views, len(matches), note)


def follow_claims(context: Context) -> str:
    """Update the claims and report progress; return a sentence about texts that were left out."""
    palace = context.reading()
    try:
        palace.follow_claims(lambda done, total: context.report("reading claims", done, total))
    except ConsumerStopped as error:
        return str(error)
    with palace.database.snapshot() as connection:
        left_out = dead_letters.count(connection, ClaimConsumer.name, FACTS)
    if not left_out:
        return ""
    return (
        f"Claims could not be extracted from {count_noun(left_out, 'text')}; 'palazzo verify' names the affected texts."
    )


def _session(connection: Connection, prefix: str) -> str:
    return transcript_restore.find_session(connection, transcript_restore.parse_session_name(connection, prefix))


def _view(connection: Connection, suggestion: Suggestion) -> SuggestionView:
    citations = cite(connection, suggestion.citations[::-1][:_MOST_PLACES])
    return SuggestionView(
        suggestion.id,
        suggestion.subject,
        suggestion.predicate,
        suggestion.object,
        suggestion.wing,
        suggestion.support,
        citations,
    )


def cite(connection: Connection, citations: Sequence[Citation]) -> tuple[SuggestionCitation, ...]:
    """Return citations with their exact text."""
    rows = items.known_items(connection, [bytes.fromhex(citation.item) for citation in citations])
    texts = items.read_texts(connection, rows.values())
    return tuple(
        SuggestionCitation(
            drawers.uids_of(connection, [citation.drawer])[0].hex(),
            citation.item,
            citation.start,
            citation.end,
            texts[rows[bytes.fromhex(citation.item)]][citation.start : citation.end],
            to_iso(citation.said_at),
        )
        for citation in citations
    )
