"""session_page: list some sessions by day or week; session_digest: the digest of one, as far as it is made."""

from __future__ import annotations

import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import groupby, islice, takewhile
from typing import TYPE_CHECKING, Literal

from palazzo.archive import transcript_restore
from palazzo.derived import async_consumer
from palazzo.derived.digest_consumer import DIGEST_CONSUMER
from palazzo.errors import PalaceLocked, UsageError
from palazzo.features.service.background_process import start_deriving
from palazzo.features.sessions import session_rows
from palazzo.features.sessions.stats import count_by_day
from palazzo.features.sessions.timeline import decision_view, last_day, period_of
from palazzo.features.viewer.contract import (
    SessionDigestRequest,
    SessionDigestResult,
    SessionPageRequest,
    SessionPageResult,
    SessionPeriod,
)
from palazzo.features.viewer.session_index import SESSION_INDEX, list_order
from palazzo.features.wakeup.digest import read_digest
from palazzo.operations.caller_clock import zone
from palazzo.store import digest_rows
from palazzo.store.palace_opening import lock_deadline
from palazzo.store.session_overview import HOUR

if TYPE_CHECKING:
    from datetime import date, tzinfo

    from palazzo.features.sessions.contract import DecisionView
    from palazzo.features.sessions.session_rows import ListedSession
    from palazzo.operations.context import Context

MOST = 500
_PATIENCE = 0.03
"""Seconds of work to spend on digests: enough for those of the last minutes. The service makes the rest."""
_LOCK_WAIT = 0.2
"""Seconds to wait for other writers, which mostly take some 20 ms."""


def session_page(context: Context, request: SessionPageRequest) -> SessionPageResult:
    """List some sessions by day or week, newest first."""
    if not 1 <= request.limit <= MOST:
        raise UsageError(f"The limit is {request.limit}; it must be between 1 and {MOST:,}.")
    unit: Literal["day", "week"] = "week" if request.week else "day"
    palace = context.reading()
    note = _follow_digests(context)
    with palace.database.snapshot() as connection:
        listed_filter = session_rows.session_filter(
            context, connection, request.wing, request.since, request.until, request.branch
        )
        sessions = SESSION_INDEX.read(palace, connection).select(connection, listed_filter, request.host)
        first = 0 if not request.before else bisect_right(sessions, _read_cursor(request.before), key=list_order)
        page = session_rows.with_shown_titles(connection, sessions[first : first + request.limit])
        views = {view.id: view for view in session_rows.session_views(connection, page)}
        sources = [source for session in page for source in session.sources]
        decisions: dict[str, list[DecisionView]] = {}
        for line in digest_rows.of_sources(connection, sources, "decided"):
            decisions.setdefault(line.session, []).append(decision_view(line))
    timezone = zone(context)
    periods: list[SessionPeriod] = []
    end = first
    for day, group in groupby(page, key=lambda session: period_of(session, unit, timezone)):
        shown = [*group]
        start, end = end, end + len(shown)
        others = (reversed(sessions[:start]), islice(sessions, end, None))  # a period may go on before and after a page
        periods.append(
            SessionPeriod(
                first_day=day.isoformat(),
                last_day=last_day(day, unit).isoformat(),
                sessions=tuple(views[session.id] for session in shown),
                decided=_sort_decisions(shown, decisions),
                total=len(shown) + sum(_count_in_period(rest, day, unit, timezone) for rest in others),
            )
        )
    is_last = end >= len(sessions)
    by_day = {} if request.before else count_by_day(Counter(session.ended_at // HOUR for session in sessions), timezone)
    return SessionPageResult(tuple(periods), len(sessions), "" if is_last else _write_cursor(page[-1]), note, by_day)


def _follow_digests(context: Context) -> str:
    """Digest new sessions as far as that takes no time; return a note if some are left for the background process."""
    try:
        with lock_deadline(_LOCK_WAIT):
            note = session_rows.follow_digests(context, _PATIENCE, time.thread_time)
    except PalaceLocked:
        return "Another program is writing to the palace, so what came of new sessions is missing here."
    if note:
        start_deriving(context, (DIGEST_CONSUMER.name,))
    return note


def _sort_decisions(
    sessions: Iterable[ListedSession], decisions: Mapping[str, list[DecisionView]]
) -> tuple[DecisionView, ...]:
    """Return what sessions decided, the last decision first."""
    decided = (decision for session in sessions for decision in decisions.get(session.id, ()))
    return tuple(sorted(decided, key=lambda decision: decision.said_at, reverse=True))


def _count_in_period(
    sessions: Iterable[ListedSession], first_day: date, unit: Literal["day", "week"], timezone: tzinfo
) -> int:
    """Return how many sessions, from the first one on, ended in the period that begins with a day."""
    return sum(1 for _ in takewhile(lambda session: period_of(session, unit, timezone) == first_day, sessions))


def _write_cursor(session: ListedSession) -> str:
    return f"{session.ended_at}:{session.id}"


def _read_cursor(cursor: str) -> tuple[int, str]:
    at, _, session = cursor.partition(":")
    if not at.removeprefix("-").isdecimal() or not at.isascii() or len(at) > 20:
        raise UsageError("This address of a further page is not complete: begin with the first page.")
    return -int(at), session


def session_digest(context: Context, request: SessionDigestRequest) -> SessionDigestResult:
    """Return the digest of a session as far as it is made."""
    palace = context.reading()
    with palace.database.snapshot() as connection:
        name = transcript_restore.parse_session_name(connection, request.session)
        session = transcript_restore.find_session(connection, name)
    _follow_digests(context)
    with palace.database.snapshot() as connection:
        is_complete = not async_consumer.count_pending(connection, DIGEST_CONSUMER)
        return SessionDigestResult(read_digest(connection, session), is_complete)
