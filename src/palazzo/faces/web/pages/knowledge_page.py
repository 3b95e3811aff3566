"""Knowledge: facts about everything or about one thing, on two axes of time and as a graph."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import Response

from palazzo.faces.web import fact_plot, graph_picture
from palazzo.faces.web.page_answer import FRAGMENT, answer_page, calls_of
from palazzo.faces.web.page_calls import check_text, read_filters, read_number

FILTERS = ("wing", "known_at")
GRAPH, DRAWN = "graph", "drawn"
"""The parameter with which the server draws the graph, for files and for browsers without scripts."""
_FACTS, _MOST_OFFSET = 200, 10_000_000
_AT_ONCE, _MOST_EDGES = 1_000, 10_000


async def show(request: Request) -> Response:
    """Show facts in the order in which they began to hold."""
    calls = calls_of(request)
    entity = check_text(request.query_params.get("entity", "").strip(), "entity")
    filters = read_filters(request.query_params, FILTERS)
    scope: dict[str, object] = {**filters} if "wing" in filters else {**filters, "everywhere": True}
    if request.query_params.get(FRAGMENT) == "graph":
        return await _answer_graph(request, scope)
    edges, _ = await _read_edges(request, scope) if request.query_params.get(GRAPH) == DRAWN else ((), True)
    offset = read_number(request.query_params.get("offset"), "offset", 0, _MOST_OFFSET)
    timeline, figures = await asyncio.gather(
        calls.run("kg_timeline", entity=entity, limit=_FACTS, offset=offset or None, **scope),
        calls.run("page_figures"),
    )
    return answer_page(
        request,
        "knowledge.html",
        page="knowledge",
        entity=entity,
        filters=filters,
        timeline=timeline,
        wings=figures.wings,
        plot=fact_plot.plot_facts(timeline.timeline, datetime.now(UTC)),
        plot_width=fact_plot.WIDTH,
        graph=await asyncio.to_thread(graph_picture.draw_graph, edges) if edges else None,
        graph_size=(graph_picture.WIDTH, graph_picture.HEIGHT),
        offset=offset,
        limit=_FACTS,
    )


async def _answer_graph(request: Request, scope: dict[str, object]) -> Response:
    """Answer with the facts that hold as edges (subject, predicate, object), for the script that draws them."""
    edges, is_complete = await _read_edges(request, scope)
    body = json.dumps({"edges": edges, "complete": is_complete})
    return Response(body, media_type="application/json")


async def _read_edges(request: Request, scope: dict[str, object]) -> tuple[list[tuple[str, str, str]], bool]:
    """Return the facts that hold, up to a number, and whether these are all."""
    calls = calls_of(request)
    edges: list[tuple[str, str, str]] = []
    offset = 0
    while len(edges) < _MOST_EDGES:
        page = await calls.run("kg_timeline", limit=_AT_ONCE, offset=offset or None, **scope)
        edges += [(fact.subject, fact.predicate, fact.object) for fact in page.timeline if fact.current]
        offset += _AT_ONCE
        if offset >= page.count:
            return edges[:_MOST_EDGES], len(edges) <= _MOST_EDGES
    return edges[:_MOST_EDGES], False
