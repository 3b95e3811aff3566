"""MCP over HTTP: the SDK's streamable HTTP under uvicorn, behind Palazzo's own guard.

The guard (`http_guard`) admits a request after it asks the palace what the request's token allows (`http_tokens`). The
requested actions are limited to that (`http_scopes`). The caller that serves provides the `Call` that runs operations.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from collections.abc import Iterator
from types import FrameType

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from palazzo.errors import UsageError
from palazzo.faces.http import http_socket
from palazzo.faces.http.http_serving import make_server
from palazzo.faces.mcp import http_log
from palazzo.faces.mcp.client_calls import Call, Surroundings
from palazzo.faces.mcp.handshake import CompleteHandshakes
from palazzo.faces.mcp.http_guard import LARGEST_BODY, LARGEST_HEAD, PATH, Guard
from palazzo.faces.mcp.http_names import Authority, Names, authority
from palazzo.faces.mcp.http_quotas import SESSIONS, SessionQuota
from palazzo.faces.mcp.http_scopes import Scopes, checked_by_scope
from palazzo.faces.mcp.http_tokens import PalaceTokens
from palazzo.faces.mcp.profile import check_toolset, profile_called
from palazzo.faces.mcp.server import ClientConnection, build
from palazzo.operations.context import Context

SESSION_IDLE = 30 * 60.0
"""Seconds after which an unused session ends; its client starts another when it next receives 404."""
_GRACE = 2
"""Seconds that unfinished answers get when the server is stopped."""
_SIGINT_EXIT_CODE = 130


def serve(address: str, profile: str, toolset: str, surroundings: Surroundings, call: Call) -> int:
    """Serve at `address` until a signal ends it, in the main thread; return the exit code.

    Raises the exceptions of `HttpServer` and `http_socket.bound`.
    """
    ended_by: list[int] = []
    with contextlib.closing(http_socket.bound(address)) as bound:
        server = HttpServer(bound, profile, toolset, surroundings, call)

        def end(number: int, frame: FrameType | None) -> None:
            ended_by.append(number)
            server.stop()

        http_log.discreet()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, end)  # uvicorn puts its own in place while it serves, and then tells these
        for sentence in (f"Serving {server.palace} at {server.url}. Press ^C to stop.", *server.warnings()):
            print(sentence, file=sys.stderr, flush=True)
        asyncio.run(server.run())
    return _SIGINT_EXIT_CODE if signal.SIGINT in ended_by else 0


class HttpServer:
    """A server, from its listening sockets to the tools of a profile.

    Raises UsageError for an unknown profile, for a setting that names no host, and if there is no valid token: every
    program of every user of the machine can reach even its loopback address.
    """

    def __init__(
        self, bound: http_socket.Bound, profile: str, toolset: str, surroundings: Surroundings, call: Call
    ) -> None:
        check_toolset(toolset)
        self.url = bound.url + PATH.decode()
        with Context(surroundings.palace, surroundings.cwd, surroundings.variables) as context:
            self.palace = context.palace_path
            names = Names(_hosts(context, bound.host), frozenset(context.settings.texts("http.origins")))
        self._bound = bound
        self._tokens = PalaceTokens(self.palace)
        server = build(profile, toolset, ClientConnection(surroundings, checked_by_scope(call)))
        if not self._tokens.has_good_token():
            self.close()
            raise UsageError(
                f"Not serving at {self.url}: {self.palace} has no token for clients; create one with 'palazzo token "
                "add NAME --scope write'."
            )
        server.middleware.append(Scopes({tool.name: tool for tool in profile_called(profile).tools(toolset)}))
        self._manager = StreamableHTTPSessionManager(
            server,
            max_request_body_size=LARGEST_BODY,
            session_idle_timeout=SESSION_IDLE,
            max_sessions=SESSIONS,
        )
        self._uvicorn = make_server(
            Guard(SessionQuota(CompleteHandshakes(self._manager.handle_request), SESSION_IDLE), names, self._tokens),
            largest_head=LARGEST_HEAD,
            grace=_GRACE,
        )

    def warnings(self) -> Iterator[str]:
        """Yield warnings for the person who starts the server."""
        if not self._bound.is_loopback:
            yield (
                "HTTP is not encrypted: give others access only through TLS or a tunnel, so that tokens cannot be "
                "intercepted."
            )

    async def run(self) -> None:
        """Serve until a signal or `stop` ends it."""
        try:
            async with self._manager.run():
                await self._uvicorn.serve(sockets=self._bound.sockets)
        finally:
            self.close()

    def close(self) -> None:
        """Close the palace; `run` does so itself."""
        self._tokens.close()

    def stop(self) -> None:
        """Make `run` end, from any thread."""
        self._uvicorn.should_exit = True


def _hosts(context: Context, host: str) -> frozenset[Authority]:
    """Return the host names that the settings allow, and the one that was bound."""
    authorities = set()
    for name in (*context.settings.texts("http.hosts"), *([] if ":" in host else [host])):
        allowed_host = authority(name)
        if allowed_host is None:
            raise UsageError(
                f"The setting 'http.hosts' contains '{name}', which is not a host: write 'name' or 'name:port'."
            )
        authorities.add(allowed_host)
    return frozenset(authorities)
