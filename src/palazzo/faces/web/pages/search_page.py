"""Search: the same hits as the command line, with the filters of its options."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from palazzo.faces.web.page_answer import FRAGMENT, answer_page, calls_of
from palazzo.faces.web.page_calls import read_filters, read_number, request_values

FILTERS = ("wing", "room", "kind", "host", "branch", "tags", "source", "since", "until", "as_of", "external")
_HITS, _MOST_HITS = 10, 50
_RECENT = 8
"""The newest sessions that the first page shows."""
_TOKENS_PER_HIT = 400
"""The tokens that a hit may have on average: a page is scanned, and the drawer's own page shows all of it."""


async def show(request: Request) -> Response:
    """Show the hits of a query; without one, the newest sessions."""
    calls = calls_of(request)
    query = request.query_params.get("q", "").strip()
    filters = read_filters(request.query_params, FILTERS)
    limit = read_number(request.query_params.get("limit"), "limit", _HITS, _MOST_HITS) or _HITS
    result = None
    if query:
        values = request_values("search", filters)
        result = await calls.run(
            "search", query=query, limit=limit, budget=limit * _TOKENS_PER_HIT, explain=True, **values
        )
    if request.query_params.get(FRAGMENT) == "hits":
        return answer_page(
            request, "hits.html", page="search", query=query, filters=filters, result=result, limit=limit
        )
    figures = await calls.run("page_figures")
    recent = await calls.run("session_page", limit=_RECENT) if result is None else None
    return answer_page(
        request,
        "search.html",
        page="search",
        query=query,
        filters=filters,
        result=result,
        limit=limit,
        wings=figures.wings,
        hosts=list(figures.hosts),
        drawers=figures.drawers,
        recent=recent,
    )
