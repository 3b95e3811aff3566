"""kg suggest: facts that the record suggests."""

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
"""Places that are shown of a suggestion; how many there are is told."""


@dataclass(frozen=True, slots=True)
class KgSuggestRequest:
    """Of which session, and how many."""

    session: Annotated[str | None, About("Only what this session says.", positional=True)] = None
    wing: Annotated[str | None, About("Only what this wing says.")] = None
    limit: Annotated[int, About("How many to show.")] = DEFAULT_LIMIT


@dataclass(frozen=True, slots=True)
class CitationView:
    """Where it is said: drawer, item, the stretch of it, its exact words, and when."""

    drawer: str
    item: str
    start: int
    end: int
    text: str
    said_at: str


@dataclass(frozen=True, slots=True)
class SuggestionView:
    """A fact that may be accepted: how many say so, and where."""

    id: str
    subject: str
    predicate: str
    object: str
    wing: str
    support: int
    citations: tuple[CitationView, ...]


@dataclass(frozen=True, slots=True)
class KgSuggestResult:
    """The suggestions, the best supported first, and how many there are in all."""

    suggestions: tuple[SuggestionView, ...]
    total: int
    note: str = ""
    """Which texts were left out; empty if none."""


def kg_suggest(context: Context, request: KgSuggestRequest) -> KgSuggestResult:
    """Propose facts that the record states by its words: decisions, versions, ports, owners, renames, what is used.

    They are found by rules, with the words that say so; none is a fact before you accept it: 'palazzo kg accept ID'.
    'palazzo kg dismiss ID' says that one is not to be proposed again.
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
    """Bring claims up to date and report progress; return a sentence about texts that were left out."""
    from palazzo.errors import ConsumerStopped
    from palazzo.knowledge.claim_consumer import FACTS, ClaimConsumer
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
    return f"{count_noun(left_out, 'text')} could not be read for claims: 'palazzo verify' names them."


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
    """Return places with their exact words."""
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


OPERATION = Operation("kg_suggest", KgSuggestRequest, KgSuggestResult, kg_suggest)
