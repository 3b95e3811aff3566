"""A drawer or an item in full, however long it is."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from palazzo.faces.web.page_answer import answer_page, calls_of
from palazzo.faces.web.page_calls import read_number

_MOST_START = 1_000_000_000


async def show_text(request: Request) -> Response:
    """Show a stretch of an item's text."""
    start = read_number(request.query_params.get("start"), "start", 0, _MOST_START)
    stretch = await calls_of(request).run("item_text", id=request.path_params["id"], start=start)
    return answer_page(request, "text.html", page="search", stretch=stretch)


async def show_drawer(request: Request) -> Response:
    """Show a drawer, an item or a fact with everything that is known about it, and a drawer's neighbours."""
    as_of = request.query_params.get("as_of")
    shown = await calls_of(request).run("show", id=request.path_params["id"], context=2, as_of=as_of)
    return answer_page(request, "drawer.html", page="search", shown=shown, as_of=as_of, longest=100_000)
