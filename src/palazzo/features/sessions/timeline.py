"""timeline: what happened day by day or week by week."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from typing import TYPE_CHECKING, Literal

from palazzo.errors import UsageError
from palazzo.features.sessions import session_rows
from palazzo.features.sessions.contract import (
    DecisionView,
    PeriodView,
    SessionView,
    TimelineRequest,
    TimelineResult,
)
from palazzo.features.sessions.session_rows import ListedSession
from palazzo.operations.caller_clock import day, zone
from palazzo.store import digest_rows

if TYPE_CHECKING:
    from datetime import tzinfo

    from palazzo.operations.context import Context
    from palazzo.store.digest_rows import DigestLine

MOST = 400
"""The most periods in one timeline."""
_TRUSTS = {"user": "user", "assistant": "agent"}


def timeline(context: Context, request: TimelineRequest) -> TimelineResult:
    """Show past days or weeks, newest first: their sessions, counts per project, and what was decided."""
    if request.day and request.week:
        raise UsageError("--day and --week exclude each other: give one of them.")
    if not 1 <= request.limit <= MOST:
        raise UsageError(f"The limit is {request.limit}; it must be between 1 and {MOST:,}.")
    unit: Literal["day", "week"] = "week" if request.week else "day"
    palace = context.reading()
    note = session_rows.follow_digests(context)
    with palace.database.snapshot() as connection:
        listed_filter = session_rows.session_filter(
            context, connection, request.wing, request.since, request.until, request.branch
        )
        sessions = session_rows.list_sessions(connection, listed_filter, request.host)
        by_period = group_by_period(sessions, unit, zone(context))
        first_days = sorted(by_period, reverse=True)[: request.limit]
        listed = session_rows.with_shown_titles(
            connection, [session for first in first_days for session in by_period[first]]
        )
        views = {view.id: view for view in session_rows.session_views(connection, listed)}
        sources = [source for session in listed for source in session.sources]
        decisions: dict[str, list[DecisionView]] = {}
        for line in digest_rows.of_sources(connection, sources, "decided"):
            decisions.setdefault(line.session, []).append(decision_view(line))
    periods = tuple(
        _period(first, unit, [views[session.id] for session in by_period[first]], decisions) for first in first_days
    )
    return TimelineResult(unit, periods, len(sessions), note)


def group_by_period(
    sessions: Iterable[ListedSession], unit: Literal["day", "week"], timezone: tzinfo
) -> dict[date, list[ListedSession]]:
    """Return sessions by the first local day of the period in which they ended, in their order."""
    periods: dict[date, list[ListedSession]] = {}
    for session in sessions:
        periods.setdefault(period_of(session, unit, timezone), []).append(session)
    return periods


def period_of(session: ListedSession, unit: Literal["day", "week"], timezone: tzinfo) -> date:
    """Return the first local day of the period in which a session ended."""
    first = date.fromisoformat(day(session.ended_at, timezone))
    return first - timedelta(days=first.weekday()) if unit == "week" else first


def last_day(first: date, unit: Literal["day", "week"]) -> date:
    """Return the last day of the period that begins with `first`."""
    return first + timedelta(days=6 if unit == "week" else 0)


def decision_view(line: DigestLine) -> DecisionView:
    """Return a digest's line as what decided something."""
    trust = "external" if line.is_untrusted else _TRUSTS.get(line.role, "tool")
    return DecisionView(line.quote.text, line.role, trust, line.said_at, line.session, line.quote.item)


def _period(
    first: date, unit: Literal["day", "week"], views: list[SessionView], decisions: Mapping[str, list[DecisionView]]
) -> PeriodView:
    decided = (decision for view in views for decision in decisions.get(view.id, ()))
    return PeriodView(
        first_day=first.isoformat(),
        last_day=last_day(first, unit).isoformat(),
        sessions=tuple(views),
        projects=dict(Counter(view.project for view in views).most_common()),
        hosts=dict(Counter(view.host for view in views).most_common()),
        decided=tuple(sorted(decided, key=lambda decision: decision.said_at, reverse=True)),
    )
