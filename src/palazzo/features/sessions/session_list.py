"""sessions: list past sessions, newest first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.errors import UsageError
from palazzo.features.sessions import session_rows
from palazzo.features.sessions.contract import MOST_SESSIONS, SessionsRequest, SessionsResult
from palazzo.features.sessions.session_rows import ListedSession

if TYPE_CHECKING:
    from palazzo.operations.context import Context


def list_sessions(context: Context, request: SessionsRequest) -> SessionsResult:
    """List past sessions, newest first: host, project, title, time, turns, and what came of each."""
    if not 1 <= request.limit <= MOST_SESSIONS:
        raise UsageError(f"The limit is {request.limit}; it must be between 1 and {MOST_SESSIONS:,}.")
    palace = context.reading()
    note = session_rows.follow_digests(context)
    words = [word.casefold() for text in request.text for word in text.split()]
    with palace.database.snapshot() as connection:
        listed_filter = session_rows.session_filter(
            context, connection, request.wing, request.since, request.until, request.branch
        )
        sessions = session_rows.list_sessions(connection, listed_filter, request.host)
        if words:
            sessions = session_rows.with_shown_titles(connection, sessions)
            sessions = [session for session in sessions if _matches(session, words)]
        page = sessions[: request.limit]
        if not words:
            page = session_rows.with_shown_titles(connection, page)
        return SessionsResult(session_rows.session_views(connection, page), len(sessions), note, context.now)


def _matches(session: ListedSession, words: list[str]) -> bool:
    text = f"{session.title}\n{session.project}\n{session.host}\n{session.id}".casefold()
    return all(word in text for word in words)
