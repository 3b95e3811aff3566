"""Code: what sessions did to a file and decided about it, the files of a topic, what keeps failing, stale citations."""

from __future__ import annotations

import asyncio

from starlette.requests import Request
from starlette.responses import Response

from palazzo.faces.web.page_answer import answer_page, calls_of, run_soon
from palazzo.faces.web.page_calls import check_text

_LIMIT = 30


async def show(request: Request) -> Response:
    """Show a file's history, or the files of a topic; without either, what keeps failing, and what cites old lines."""
    calls = calls_of(request)
    path = check_text(request.query_params.get("path", "").strip(), "path")
    topic = check_text(request.query_params.get("topic", "").strip(), "topic")
    wing = request.query_params.get("wing", "").strip()
    scope = {"wing": wing} if wing else {"everywhere": True}
    limited = {**scope, "limit": _LIMIT}
    parts = {}
    if path:
        parts["history"] = run_soon(request, "history", "blame", ("anchor", "digest"), path=path, **limited)
    elif topic:
        parts["files"] = run_soon(request, "files", "files", ("anchor",), topic=topic, **limited)
    else:
        parts["friction"] = run_soon(request, "friction", "friction", ("mending",), **limited)
        parts["citations"] = run_soon(request, "citations", "changed_citations")
    figures, *results = await asyncio.gather(calls.run("page_figures"), *parts.values())
    return answer_page(
        request,
        "code.html",
        page="code",
        path=path,
        topic=topic,
        wing=wing,
        wings=figures.wings,
        is_complete=all(result.is_complete for result in results),
        **{part: result.result for part, result in zip(parts, results, strict=True)},
    )
