"""Sessions: what happened by day and project, newest first, and how busy each day was."""

from __future__ import annotations

import asyncio
from datetime import date, timedelta

from starlette.requests import Request
from starlette.responses import Response

from palazzo.faces.web.page_answer import answer_page, calls_of
from palazzo.faces.web.page_calls import check_text, read_filters
from palazzo.faces.web.plots import day_bars

FILTERS = ("wing", "since", "until", "branch", "host")
_SESSIONS = 30
"""Sessions on one page; further ones are on the next page."""


async def show(request: Request) -> Response:
    """Show some sessions by day or week; `before` is where the page before ended."""
    calls = calls_of(request)
    filters = read_filters(request.query_params, FILTERS)
    unit = "week" if request.query_params.get("unit") == "week" else "day"
    before = check_text(request.query_params.get("before", ""), "before")
    listed, figures = await asyncio.gather(
        calls.run("session_page", limit=_SESSIONS, week=unit == "week", before=before, **filters),
        calls.run("page_figures"),
    )
    is_part = any(filters.get(name) for name in ("wing", "branch", "host"))  # a plot of all would tell of others
    return answer_page(
        request,
        "sessions.html",
        page="sessions",
        listed=listed,
        filters=filters,
        unit=unit,
        before=before,
        wings=figures.wings,
        hosts=list(figures.hosts),
        density=day_bars(listed.by_day if is_part else figures.by_day),
        density_title="Sessions a day" if is_part else "Exchanges a day",
        times=list_times(date.today()),
    )


def list_times(today: date) -> tuple[tuple[str, str, str], ...]:
    """Return spans of time that people ask for: a name, the first day, and the day after the last one, if it is past.

    Weeks begin on Monday.
    """
    this_week = today - timedelta(days=today.weekday())
    this_month = today.replace(day=1)
    last_month = (this_month - timedelta(days=1)).replace(day=1)
    spans = (
        ("Today", today, None),
        ("This week", this_week, None),
        ("Last week", this_week - timedelta(days=7), this_week),
        ("This month", this_month, None),
        ("Last month", last_month, this_month),
    )
    return tuple((name, f"{since}", "" if until is None else f"{until}") for name, since, until in spans)
