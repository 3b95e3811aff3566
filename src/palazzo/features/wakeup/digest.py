"""digest: show the main points of a session."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from palazzo.errors import UsageError
from palazzo.operations.operation import About, Operation

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection
    from palazzo.store.digest_rows import DigestLine, Quote, SubAgent

KINDS = ("asked", "decided", "changed", "failed", "fixed", "open")


@dataclass(frozen=True, slots=True)
class DigestRequest:
    """The session, and which kinds of lines."""

    session: Annotated[str, About("Session id, or the beginning of one.", positional=True)]
    kind: Annotated[tuple[str, ...], About(f"Only lines of this kind: {', '.join(KINDS)}. Repeatable.")] = ()


@dataclass(frozen=True, slots=True)
class QuoteView:
    """Quoted words and their place: drawer (null if no drawer holds them), item, and the span in it."""

    text: str
    drawer: str | None
    item: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class DigestLineView:
    """A digest line: its kind, the words, who said them and when, and the words that they answer, if any.

    `trust` is the trust level of the words, `about_trust` that of the words they answer: `external` for an agent's
    words after its session read untrusted content.
    """

    kind: str
    by: str
    said_at: str
    words: QuoteView
    about: QuoteView | None
    trust: str = "user"
    about_trust: str = ""


@dataclass(frozen=True, slots=True)
class SubAgentView:
    """A sub-agent's session, its purpose, and the number of lines in its digest; `palazzo digest` shows it."""

    session: str
    title: str
    lines: int


@dataclass(frozen=True, slots=True)
class DigestResult:
    """The lines in chronological order, and the session's sub-agents, which have digests of their own."""

    session: str
    title: str
    wing: str | None
    lines: tuple[DigestLineView, ...]
    sub_agents: tuple[SubAgentView, ...]


def digest(context: Context, request: DigestRequest) -> DigestResult:
    """Show the results of a session: asked, decided, changed, failed, fixed, left open.

    Each line quotes someone's words and cites their place. Rules select them, so some are missed and a few are wrong. A
    sub-agent has its own digest.
    """
    from palazzo.archive import transcript_restore

    wrong = [kind for kind in request.kind if kind not in KINDS]
    if wrong:
        raise UsageError(f"'{wrong[0]}' is not a kind of line; kinds: {', '.join(KINDS)}.")
    palace = context.reading()
    with palace.database.snapshot() as connection:
        session = transcript_restore.find_session(
            connection, transcript_restore.parse_session_name(connection, request.session)
        )
    palace.follow_digests(lambda done, total: context.report("digesting sessions", done, total))
    with palace.database.snapshot() as connection:
        return read_digest(connection, session, request.kind or KINDS)


def read_digest(connection: Connection, session: str, kinds: Collection[str] = KINDS) -> DigestResult:
    """Return a session's digest as far as it is made, with lines of these kinds only."""
    from palazzo.archive.session_titles import shown_title
    from palazzo.store import digest_rows, source_rows

    digest_lines = digest_rows.of_session(connection, session)
    lines = tuple(_view(connection, line) for line in digest_lines if line.kind in kinds)
    rows = source_rows.sources_of_session(connection, session)
    title = shown_title(connection, rows[0], source_rows.read_source(connection, rows[0]).title) if rows else ""
    sub_agents = tuple(_sub_agent(connection, sub_agent) for sub_agent in digest_rows.sub_agents(connection, session))
    return DigestResult(session, title, digest_lines[0].wing if digest_lines else None, lines, sub_agents)


def _sub_agent(connection: Connection, row: SubAgent) -> SubAgentView:
    from palazzo.archive.session_titles import shown_title_of_session

    return SubAgentView(row.session, shown_title_of_session(connection, row.session, row.title), row.lines)


def _view(connection: Connection, line: DigestLine) -> DigestLineView:
    from palazzo.text.times import to_iso

    return DigestLineView(
        line.kind,
        line.role,
        to_iso(line.said_at),
        _quote(connection, line.quote),
        None if line.about is None else _quote(connection, line.about),
        _trust(line.role, line.is_untrusted),
        "" if line.about is None else _trust("assistant", line.about_is_untrusted),
    )


def _trust(role: str, is_untrusted: bool) -> str:
    return "external" if is_untrusted else _TRUSTS.get(role, "tool")


_TRUSTS = {"user": "user", "assistant": "agent"}


def _quote(connection: Connection, quote: Quote) -> QuoteView:
    from palazzo.store import digest_rows

    drawer = digest_rows.drawer_with(connection, quote)
    return QuoteView(quote.text, drawer, quote.item, quote.start, quote.end)


OPERATION = Operation(
    "digest",
    DigestRequest,
    DigestResult,
    digest,
    scope="read",
    view="digest_view:digest",
    examples=("palazzo digest 3f2a91", "palazzo digest 3f2a91 --kind decided --kind open"),
)
