"""sessions: list past sessions, newest first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from palazzo.errors import UsageError
from palazzo.features.sessions.session_rows import ListedSession, SessionView
from palazzo.model import Micros
from palazzo.operations.filters import InWing, Since, Until
from palazzo.operations.operation import PERSON_ONLY, About, Operation

if TYPE_CHECKING:
    from palazzo.operations.context import Context

MOST = 1_000
"""The most sessions in one list."""

OfHost = Annotated[str | None, About("Only sessions of this host, such as claude-code or codex.")]
OfBranch = Annotated[str | None, About("Only sessions with messages on this git branch.")]


@dataclass(frozen=True, slots=True)
class SessionsRequest:
    """The filters, and how many sessions to list."""

    text: Annotated[
        tuple[str, ...],
        About("Words that the title, project, host or id must contain.", positional=True),
    ] = ()
    wing: InWing = None
    since: Since = None
    until: Until = None
    branch: OfBranch = None
    host: OfHost = None
    limit: Annotated[int, About("Maximum number of sessions.")] = 20
    pick: Annotated[bool, About("Choose a session with the keyboard, also if filters are given.")] = False


@dataclass(frozen=True, slots=True)
class SessionsResult:
    """The sessions, the last active one first, and how many there are altogether."""

    sessions: tuple[SessionView, ...]
    total: int
    note: str = ""
    now: Annotated[Micros, PERSON_ONLY] = Micros(0)


def list_sessions(context: Context, request: SessionsRequest) -> SessionsResult:
    """List past sessions, newest first: host, project, title, time, turns, and what came of each.

    On a terminal, 'palazzo sessions' without options lets you choose one: type to filter, Enter shows the session, r
    resumes it in its host.
    """
    from palazzo.features.sessions import session_rows

    if not 1 <= request.limit <= MOST:
        raise UsageError(f"The limit is {request.limit}; it must be between 1 and {MOST:,}.")
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


OPERATION = Operation(
    "sessions",
    SessionsRequest,
    SessionsResult,
    list_sessions,
    scope="read",
    examples=("palazzo sessions --since monday", "palazzo sessions retries --host codex"),
)
