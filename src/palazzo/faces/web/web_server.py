"""The viewer's server: a loopback socket, uvicorn on a thread of its own, and the time since it was last used."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from palazzo.errors import PalazzoError, UsageError
from palazzo.faces.http import http_socket
from palazzo.faces.http.http_serving import make_server
from palazzo.faces.mcp.client_calls import Call
from palazzo.faces.web import page_templates, web_app
from palazzo.faces.web.live_events import LiveEvents
from palazzo.faces.web.web_guard import LARGEST_HEAD, LINK_PATH, App, Receive, Refusal, Scope, Send, WebGuard
from palazzo.faces.web.web_sessions import Visitor, WebSessions

DEFAULT_PORT = 8378
"""Beside 8377, the port of `palazzo mcp --http`."""
HOST = "127.0.0.1"
_GRACE = 1
"""Seconds that unfinished answers get when the server is stopped."""
_USED_LINK = "This link was used already or has expired: run 'palazzo view' again for a new one."


def bind(port: int | None) -> http_socket.Bound:
    """Listen on loopback at a port, or at the default one, or at a free one if that is taken.

    Raises PalazzoError if the port that was named is not free.
    """
    if port is not None:
        return http_socket.bound(f"{HOST}:{port}")
    try:
        return http_socket.bound(f"{HOST}:{DEFAULT_PORT}")
    except UsageError:
        raise
    except PalazzoError:
        return http_socket.bound(f"{HOST}:0")


class WebServer:
    """Serves the viewer until `stop`. `call` carries out operations; `sessions` knows who may see the pages."""

    def __init__(self, bound: http_socket.Bound, sessions: WebSessions, call: Call, palace: Path) -> None:
        self._bound, self._sessions = bound, sessions
        self.port = bound.port
        self.last_request = time.monotonic()
        """When a page was last requested, by the monotonic clock."""
        self._guard = WebGuard(self._answer, sessions, bound.port, web_app.answer_refusal, self._note_request)
        self._live = LiveEvents(call, palace)
        self._app = web_app.build(call, self._live)
        self._uvicorn = make_server(self._guard, largest_head=2 * LARGEST_HEAD, grace=_GRACE)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=self._run, name="palazzo-viewer", daemon=True)

    @property
    def is_watched(self) -> bool:
        """Return whether a page is open that gets events."""
        return self._live.stream_count > 0

    def begin(self) -> None:
        """Start to serve, on a thread of its own."""
        self._thread.start()

    def stop(self) -> None:
        """Stop listening, and wait until the last answer has ended."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._live.end)
        self._uvicorn.should_exit = True
        self._thread.join()

    def link_for(self, visitor: Visitor) -> str:
        """Return a new link that opens the viewer once."""
        return f"{self._bound.url}{LINK_PATH}{self._sessions.make_link(visitor)}"

    def _run(self) -> None:
        with contextlib.closing(self._bound):
            asyncio.run(self._serve())

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        try:
            await self._uvicorn.serve(sockets=self._bound.sockets)
        finally:
            self._loop = None

    def _note_request(self) -> None:
        self.last_request = time.monotonic()

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"].startswith(LINK_PATH):
            await self._open_link(Request(scope))(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _open_link(self, request: Request) -> App:
        """Exchange a link for a cookie, on a page that leads to the first page.

        A redirect would not do: a browser sends no SameSite=Strict cookie along a redirect that another site, or the
        file that `palazzo view` opens, has begun.
        """
        if "prefetch" in request.headers.get("sec-purpose", ""):  # a browser that looks ahead would use the link up
            return Response(status_code=204)
        cookie = self._sessions.redeem(request.url.path.removeprefix(LINK_PATH))
        if cookie is None:
            return web_app.answer_refusal(Refusal(403, _USED_LINK))
        response = Response(page_templates.fill("opened.html"), media_type="text/html")
        response.set_cookie(self._guard.cookie_name, cookie, path="/", httponly=True, samesite="strict")
        return response
