"""kg suggest: list facts that the record suggests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from palazzo.errors import UsageError
from palazzo.operations.operation import About, Operation
from palazzo.text.count_phrases import count_noun

if TYPE_CHECKING:
    from palazzo.knowledge.suggestions import Citation, Suggestion
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection

DEFAULT_LIMIT = 20
_MOST_PLACES = 3
"""The most citations shown for a suggestion; the total is also reported."""


@dataclass(frozen=True, slots=True)
class KgSuggestRequest:
    """The session, the wing, and how many."""

    session: Annotated[str | None, About("Only suggestions from this session.", positional=True)] = None
    wing: Annotated[str | None, About("Only suggestions from this wing.")] = None
    limit: Annotated[int, About("Maximum number of suggestions.")] = DEFAULT_LIMIT


@dataclass(frozen=True, slots=True)
class CitationView:
    """A place that states it: drawer, item, span, exact words, and time."""

    drawer: str
    item: str
    start: int
    end: int
    text: str
    said_at: str


@dataclass(frozen=True, slots=True)
class SuggestionView:
    """A suggested fact: how many places state it, and which."""

    id: str
    subject: str
    predicate: str
    object: str
    wing: str
    support: int
    citations: tuple[CitationView, ...]


@dataclass(frozen=True, slots=True)
class KgSuggestResult:
    """The suggestions, best supported first, and their total number."""

    suggestions: tuple[SuggestionView, ...]
    total: int
    note: str = ""
    """Which texts were not read; empty if none."""


def kg_suggest(context: Context, request: KgSuggestRequest) -> KgSuggestResult:
    """Propose facts that recorded text states: decisions, versions, ports, owners, renames, dependencies.

    Rules find them, and each is shown with the text that states it. None is a fact before you accept it: 'palazzo kg
    accept ID'. 'palazzo kg dismiss ID' rejects one, so that it is not proposed again.
    """
    from palazzo.knowledge.suggestions import suggestions

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
    from palazzo.derived.claim_consumer import FACTS, ClaimConsumer
    from palazzo.errors import ConsumerStopped
    from palazzo.store import dead_letters

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
    from palazzo.archive import transcript_restore

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


def cite(connection: Connection, citations: Sequence[Citation]) -> tuple[CitationView, ...]:
    """Return citations with their exact text."""
    from palazzo.store import drawers, items
    from palazzo.text.times import to_iso

    rows = items.known_items(connection, [bytes.fromhex(citation.item) for citation in citations])
    texts = items.read_texts(connection, rows.values())
    return tuple(
        CitationView(
            drawers.uids_of(connection, [citation.drawer])[0].hex(),
            citation.item,
            citation.start,
            citation.end,
            texts[rows[bytes.fromhex(citation.item)]][citation.start : citation.end],
            to_iso(citation.said_at),
        )
        for citation in citations
    )


OPERATION = Operation(
    "kg_suggest",
    KgSuggestRequest,
    KgSuggestResult,
    kg_suggest,
    scope="read",
    view="suggestion_view:kg_suggest",
    examples=("palazzo kg suggest", "palazzo kg suggest --wing api --limit 5"),
)
