"""Health: the state of the palace, its checks on request, its remotes, and plots over time."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from palazzo.faces.web.page_answer import answer_page, calls_of
from palazzo.faces.web.plots import day_bars, level_bars

CHECKS: dict[str, dict[str, Any]] = {"verify": {}, "doctor": {"canaries": False}}
"""The checks that a person can ask for, with their values: programs of hosts are not started from a page."""


async def show(request: Request) -> Response:
    """Show the state and the plots; with `check`, also the result of a check."""
    calls = calls_of(request)
    status, figures, contents, remotes, injections = await asyncio.gather(
        calls.run("status"),
        calls.run("page_figures"),
        calls.run("content_figures"),
        calls.run("sync_status"),
        calls.run("injection_list", limit=1),
    )
    check = request.query_params.get("check", "")
    checked = await calls.run(check, **CHECKS[check]) if check in CHECKS else None
    plots = (
        ("Exchanges a day", day_bars(figures.by_day)),
        ("Injections a day", day_bars({day: own.injections for day, own in injections.by_day.items()})),
        ("Tokens injected a day", day_bars({day: own.tokens for day, own in injections.by_day.items()})),
        ("Average milliseconds of an injection", day_bars({d: own.average_ms for d, own in injections.by_day.items()})),
        ("Drawers", level_bars(contents.drawers)),
        ("Words", level_bars(contents.words)),
        ("Megabytes of archived text", level_bars(_in_megabytes(contents.archived))),
        ("Megabytes of the palace file", level_bars(_in_megabytes(contents.sizes))),
    )
    return answer_page(
        request,
        "health.html",
        page="health",
        state=status,
        figures=figures,
        contents=contents,
        words=max(contents.words.values(), default=0),
        remotes=remotes,
        plots=plots,
        check=check,
        checked=checked,
    )


def _in_megabytes(sizes: Mapping[str, int]) -> dict[str, float]:
    return {day: round(size / 1_000_000, 3) for day, size in sizes.items()}
