"""The table of addresses, and the answers when something goes wrong: always a page with one clear sentence."""

from __future__ import annotations

import logging
import mimetypes
import traceback
from collections.abc import Awaitable, Callable
from functools import cache
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from palazzo.errors import NotFound, PalazzoError, UsageError
from palazzo.faces.mcp.client_calls import Call
from palazzo.faces.web import page_templates
from palazzo.faces.web.live_events import MOST_STREAMS, LiveEvents
from palazzo.faces.web.page_answer import CALL_KEY, FRAGMENT, answer_page
from palazzo.faces.web.pages import (
    code_page,
    health_page,
    knowledge_page,
    palace_page,
    review_page,
    search_page,
    session_page,
    sessions_page,
    text_page,
    told_page,
)
from palazzo.faces.web.slow_calls import SlowCalls
from palazzo.faces.web.web_guard import SESSION_KEY, App, Receive, Refusal, Scope, Send

_log = logging.getLogger("palazzo.service")
STATIC = Path(__file__).parent / "static"
"""The files that a browser gets as they are."""
_STATIC_SECONDS = 3_600
Page = Callable[[Request], Awaitable[Response]]

PAGES: tuple[tuple[str, Page], ...] = (
    ("/", search_page.show),
    ("/sessions", sessions_page.show),
    ("/session/{session:path}", session_page.show),
    ("/palace", palace_page.show),
    ("/room", palace_page.show_room),
    ("/knowledge", knowledge_page.show),
    ("/told", told_page.show),
    ("/told/{session:path}", told_page.show_session),
    ("/review", review_page.show),
    ("/code", code_page.show),
    ("/health", health_page.show),
    ("/text/{id}", text_page.show_text),
    ("/drawer/{id}", text_page.show_drawer),
)
"""The addresses of the pages."""
FORMS: tuple[tuple[str, Page], ...] = (("/review", review_page.act),)
"""The addresses of the forms that change something. The guard has checked a form's token before."""


def build(call: Call, live: LiveEvents) -> Starlette:
    """Return the application; `call` carries out operations, `live` tells open pages of changes."""

    async def show_events(request: Request) -> Response:
        if live.stream_count >= MOST_STREAMS:
            return Response("Too many pages are open.", 503, media_type="text/plain")
        return StreamingResponse(live.stream(), media_type="text/event-stream")

    routes = [Route(path, _guarded(page), methods=["GET"]) for path, page in PAGES]
    routes.append(Route("/events", show_events, methods=["GET"]))
    routes += [Route(path, _guarded(form), methods=["POST"]) for path, form in FORMS]
    routes.append(Route("/static/{name}", _serve_static, methods=["GET"]))
    app = Starlette(routes=routes, exception_handlers={404: _answer_unknown, 405: _answer_unknown})
    app.state.call = call
    app.state.slow_calls = SlowCalls()
    return app


def answer_refusal(refusal: Refusal) -> App:
    """Return an application that answers with the page of a refusal; it needs no session."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        response = Response(
            page_templates.fill("refused.html", sentence=refusal.sentence),
            refusal.status,
            media_type="text/html",
        )
        response.headers["connection"] = "close"
        await response(scope, receive, send)

    return answer


def _guarded(page: Page) -> Page:
    """Answer with the sentence of an error, whatever a page raises."""

    async def show(request: Request) -> Response:
        request.scope[CALL_KEY] = request.app.state.call
        try:
            return await page(request)
        except PalazzoError as error:
            return _answer_error(request, _status_of(error), str(error))
        except Exception as error:  # noqa: BLE001 - a bug, of which the person reads a sentence
            at = traceback.extract_tb(error.__traceback__)[-1]
            _log.info("a page failed: %s at %s:%d", type(error).__name__, Path(at.filename).name, at.lineno or 0)
            sentence = (
                f"This page cannot be shown because of a bug in Palazzo ({type(error).__name__}); "
                "'palazzo doctor' says where its log is."
            )
            return _answer_error(request, 500, sentence)

    return show


def _status_of(error: PalazzoError) -> int:
    if isinstance(error, NotFound):
        return 404
    return 400 if isinstance(error, UsageError) else 503


def _answer_error(request: Request, status: int, sentence: str) -> Response:
    template = "sentence.html" if FRAGMENT in request.query_params else "error.html"
    return answer_page(request, template, page="", status=status, sentence=sentence)


async def _answer_unknown(request: Request, error: Exception) -> Response:
    if request.scope.get(SESSION_KEY) is None:
        return Response("Nothing is served at this address.", 404, media_type="text/plain")
    return _answer_error(request, 404, "The viewer has no page at this address.")


async def _serve_static(request: Request) -> Response:
    """Serve one of the viewer's own files by its exact name."""
    contents = _static_files().get(request.path_params["name"])
    if contents is None:
        return Response("No such file.", 404, media_type="text/plain")
    body, media_type = contents
    return Response(body, media_type=media_type, headers={"cache-control": f"private, max-age={_STATIC_SECONDS}"})


@cache
def _static_files() -> dict[str, tuple[bytes, str]]:
    """Return the files by name: a request never becomes a path."""
    return {
        path.name: (path.read_bytes(), mimetypes.types_map.get(path.suffix, "application/octet-stream"))
        for path in STATIC.iterdir()
        if path.is_file()
    }
