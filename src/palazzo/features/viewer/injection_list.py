"""injection_list: list the sessions that hooks gave something, and what was given by day."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from palazzo.archive.session_titles import shown_title_of_session
from palazzo.errors import UsageError
from palazzo.features.viewer.contract import (
    InjectedSessionView,
    InjectionDay,
    InjectionListRequest,
    InjectionListResult,
)
from palazzo.model import Micros
from palazzo.operations.caller_clock import day, zone
from palazzo.store import injection_overview, source_rows

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection

MOST = 1_000


def injection_list(context: Context, request: InjectionListRequest) -> InjectionListResult:
    """List the sessions that hooks gave something, and what was given by day."""
    if not 1 <= request.limit <= MOST or request.offset < 0:
        raise UsageError(f"The limit must be between 1 and {MOST:,}, and the offset 0 or more.")
    timezone = zone(context)
    with context.reading().database.snapshot() as connection:
        sessions = injection_overview.list_sessions(connection, request.limit, request.offset)
        titles = _read_titles(connection, [session.session for session in sessions])
        total = injection_overview.count_sessions(connection)
        hours = injection_overview.by_hour(connection)
    sums: dict[str, list[int]] = {}
    for hour in hours:
        own = sums.setdefault(day(Micros(hour.hour * injection_overview.HOUR), timezone), [0, 0, 0])
        for position, count in enumerate((hour.injections, hour.tokens, hour.took)):
            own[position] += count
    by_day = {
        date: InjectionDay(count, tokens, round(took / 1_000 / count, 1))
        for date, (count, tokens, took) in sums.items()
    }
    views = tuple(InjectedSessionView(*session, title=titles[session.session]) for session in sessions)
    return InjectionListResult(views, total, by_day)


def _read_titles(connection: Connection, sessions: Sequence[str]) -> dict[str, str]:
    """Return the shown titles of sessions by their ids; that of a session which is not in the palace is empty."""
    titles = source_rows.titles_of_sessions(connection, sessions)
    return {session: shown_title_of_session(connection, session, titles.get(session, "")) for session in sessions}
