"""What agents were told: the sessions that hooks gave something, and each injection in its exact bytes."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from palazzo.faces.web.page_answer import answer_page, calls_of
from palazzo.faces.web.page_calls import read_number
from palazzo.faces.web.plots import day_bars

_SESSIONS = 50
_MOST_OFFSET = 10_000_000


async def show(request: Request) -> Response:
    """Show the sessions that were given something, and the tokens of each day."""
    offset = read_number(request.query_params.get("offset"), "offset", 0, _MOST_OFFSET)
    listed = await calls_of(request).run("injection_list", limit=_SESSIONS, offset=offset or None)
    tokens = day_bars({day: figures.tokens for day, figures in listed.by_day.items()})
    return answer_page(request, "told.html", page="told", listed=listed, tokens=tokens, offset=offset, limit=_SESSIONS)


async def show_session(request: Request) -> Response:
    """Show everything that a session was given."""
    session = request.path_params["session"]
    told = await calls_of(request).run("why", session=session, host=request.query_params.get("host"))
    return answer_page(request, "told_session.html", page="told", told=told)
