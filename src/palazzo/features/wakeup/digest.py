"""digest: show the main points of a session."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from palazzo.archive import transcript_restore
from palazzo.archive.session_titles import shown_title, shown_title_of_session
from palazzo.errors import UsageError
from palazzo.features.wakeup.contract import (
    DIGEST_KINDS,
    DigestLineView,
    DigestRequest,
    DigestResult,
    QuoteView,
    SubAgentView,
)
from palazzo.store import digest_rows, source_rows
from palazzo.text.times import to_iso

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection
    from palazzo.store.digest_rows import DigestLine, Quote, SubAgent


def digest(context: Context, request: DigestRequest) -> DigestResult:
    """Show the results of a session: asked, decided, changed, failed, fixed, left open."""
    wrong = [kind for kind in request.kind if kind not in DIGEST_KINDS]
    if wrong:
        raise UsageError(f"'{wrong[0]}' is not a kind of line; kinds: {', '.join(DIGEST_KINDS)}.")
    palace = context.reading()
    with palace.database.snapshot() as connection:
        session = transcript_restore.find_session(
            connection, transcript_restore.parse_session_name(connection, request.session)
        )
    palace.follow_digests(lambda done, total: context.report("digesting sessions", done, total))
    with palace.database.snapshot() as connection:
        return read_digest(connection, session, request.kind or DIGEST_KINDS)


def read_digest(connection: Connection, session: str, kinds: Collection[str] = DIGEST_KINDS) -> DigestResult:
    """Return a session's digest as far as it is made, with lines of these kinds only."""
    digest_lines = digest_rows.of_session(connection, session)
    lines = tuple(_view(connection, line) for line in digest_lines if line.kind in kinds)
    rows = source_rows.sources_of_session(connection, session)
    title = shown_title(connection, rows[0], source_rows.read_source(connection, rows[0]).title) if rows else ""
    sub_agents = tuple(_sub_agent(connection, sub_agent) for sub_agent in digest_rows.sub_agents(connection, session))
    return DigestResult(session, title, digest_lines[0].wing if digest_lines else None, lines, sub_agents)


def _sub_agent(connection: Connection, row: SubAgent) -> SubAgentView:
    return SubAgentView(row.session, shown_title_of_session(connection, row.session, row.title), row.lines)


def _view(connection: Connection, line: DigestLine) -> DigestLineView:
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
    drawer = digest_rows.drawer_with(connection, quote)
    return QuoteView(quote.text, drawer, quote.item, quote.start, quote.end)
