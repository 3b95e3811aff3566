"""Connection of a client, from its first line to its last: the client says who it is and what it wants, and is
served.
"""

from __future__ import annotations

import hmac
import logging
import os
import socket
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from palazzo import __version__
from palazzo.client import rpc
from palazzo.client.jsonl import Stream
from palazzo.daemon.engine import place_of
from palazzo.daemon.rpc_connection import Calls

if TYPE_CHECKING:
    from palazzo.daemon.service import Service

_log = logging.getLogger("palazzo.service")
_HANDSHAKE_TIMEOUT = 5.0
"""Seconds within which a client must identify itself."""


class Guest:
    """One connection. `serve` runs on its own thread, and returns when the connection has ended."""

    def __init__(self, service: Service, connection: socket.socket) -> None:
        self._service, self.stream = service, Stream(connection)
        self._calls: Calls | None = None
        self._is_mcp = False

    def serve(self) -> None:
        """Answer the hello, and serve the request."""
        try:
            self.stream.socket.settimeout(_HANDSHAKE_TIMEOUT)
            hello = self.stream.read()
            if hello is not None:
                self._greet(hello)
        except (OSError, ValueError):
            return  # it left, or is no client of ours
        except Exception as error:  # noqa: BLE001 - what one client brings out must not end the others
            _log.info("a connection was ended by a bug: %s at %s", type(error).__name__, place_of(error))
        finally:
            self._service.remove_connection(self)

    def finish(self) -> None:
        """Answer open requests, and end. MCP connections are stopped by their own loop."""
        if self._calls is not None:
            self._calls.finish()

    def _greet(self, hello: Mapping[str, Any]) -> None:
        refusal = self._refusal(hello)
        want = hello.get("want")
        if refusal:
            self._say(False, reason=refusal)
        elif want == "state":
            self._say(True, state=self._service.state())
        elif want == "stop":
            self._say(True)
            self._service.hold(self.stream)
            self._service.close_viewer()
            self._service.end(long_ones_too=True)
        elif self._is_newer(hello):
            self._service.give_way()
            self._say(False, reason=rpc.GIVING_WAY)
        elif want == "hook":
            self._say(True)
            self._service.hooks.serve(self.stream, hello)
        elif want == "viewer":
            self._say(True, **self._service.viewer.answer(hello))
        elif want == "mcp":
            self._is_mcp = True
            self._say(True)
            self.stream.socket.settimeout(None)
            self._service.mcp.serve(self.stream, hello)
        else:
            self._calls = Calls(self.stream, self._service.engine)
            self._say(True)
            self.stream.socket.settimeout(None)
            self._calls.serve()

    def _refusal(self, hello: Mapping[str, Any]) -> str:
        token = self._service.listener.token
        if token and not hmac.compare_digest(token, str(hello.get("token", ""))):
            return "the token is invalid"
        if hello.get("palazzo") != rpc.PROTOCOL:
            return f"it uses protocol {rpc.PROTOCOL}, but the client uses {hello.get('palazzo')!r}"
        if hello.get("want") not in ("calls", "mcp", "hook", "viewer", "state", "stop"):
            return f"it does not offer {hello.get('want')!r}"
        return ""

    def _is_newer(self, hello: Mapping[str, Any]) -> bool:
        """Return whether the client needs another service: it is newer than this one, or this one is ending."""
        if self._service.ending.is_set():
            return True
        version, build = str(hello.get("version", "")), str(hello.get("build", ""))
        return hello.get("any") is not True and rpc.is_newer(version, build, __version__, self._service.build)

    def _say(self, ok: bool, **more: object) -> None:
        self.stream.send({"palazzo": rpc.PROTOCOL, "ok": ok, "version": __version__, "pid": os.getpid(), **more})
