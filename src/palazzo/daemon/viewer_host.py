"""The viewer in the service: opened when a client asks for it, kept while a page is open, closed when unused.

A service may end while a page is open: it was killed, it made way for a newer one, or it used too much memory. A file
beside the service's socket then says at which port the viewer was, and which cookies it accepts (by their digests). The
next service opens it again, so that the page goes on. The file is removed when the viewer is closed for lack of use.
"""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from palazzo.client.rpc import Address
from palazzo.daemon.engine import Engine
from palazzo.errors import PalazzoError
from palazzo.faces.web.web_sessions import Visitor, WebSessions
from palazzo.security.call_origin import HOST, SESSION
from palazzo.security.note_taint import AGENTS_VARIABLES, is_agents

if TYPE_CHECKING:
    from palazzo.faces.mcp.client_calls import OperationCall
    from palazzo.faces.web.web_server import WebServer

_log = logging.getLogger("palazzo.service")
IDLE_SECONDS = 600.0
"""Seconds without a request after which the viewer is closed, unless a page is open."""
_STATE_SECONDS = 12 * 3600.0
"""Seconds for which the file of a service that was killed is heeded."""
_LOST_PORT = "Open pages of the viewer do not go on: another program listens at their port, {port}, now."
_OPEN_AGAIN = " 'palazzo view' opens the viewer at another port."
_REDIRECT = """<!doctype html><meta charset="utf-8"><title>Palazzo</title>
<meta http-equiv="refresh" content="0;url={link}"><p><a href="{link}">Open Palazzo</a></p>
"""


class ViewerHost:
    """Owns the viewer of one service."""

    def __init__(self, endpoint: Address, engine: Engine) -> None:
        self._engine = engine
        self._state_file = Path(endpoint.socket).with_suffix(".viewer")
        self._redirect_file = Path(endpoint.socket).with_suffix(".html")
        self._lock = threading.Lock()
        self._sessions = WebSessions()
        self._server: WebServer | None = None
        self._lost_port: int | None = None
        """The port of open pages that another program has now, until a link leads to another port."""

    @property
    def is_open(self) -> bool:
        """Whether the viewer is served: a service is then not idle."""
        return self._server is not None

    @property
    def trouble(self) -> str:
        """Return why pages that a former service left open do not go on; an empty text if they do."""
        return "" if self._lost_port is None else _LOST_PORT.format(port=self._lost_port) + _OPEN_AGAIN

    def answer(self, hello: Mapping[str, Any]) -> dict[str, Any]:
        """Open the viewer unless it is open; return a link for the client, or why it cannot be opened."""
        around = hello.get("surroundings")
        around = around if isinstance(around, dict) else {}
        variables = {str(name): str(value) for name, value in dict(around.get("variables") or {}).items()}
        cwd = Path(str(around.get("cwd") or self._engine.palace.parent))
        visitor = Visitor(cwd, variables, hello.get("read_only") is True)
        port = hello.get("port")
        export = hello.get("export")
        if isinstance(export, dict):
            return self._export(visitor, export)
        try:
            with self._lock:
                server = self._open(port if isinstance(port, int) else None)
                link = server.link_for(visitor)
                _write_private(self._redirect_file, _REDIRECT.format(link=link))
        except PalazzoError as error:
            return {"refused": str(error)}
        notice = "" if self._lost_port is None else _LOST_PORT.format(port=self._lost_port)
        self._lost_port = None
        return {"link": link, "port": server.port, "file": self._redirect_file.as_uri(), "notice": notice}

    def _export(self, visitor: Visitor, export: dict[str, Any]) -> dict[str, Any]:
        """Write pages into a directory, and return the files; or why that is not possible."""
        import asyncio

        from palazzo.faces.web.page_export import export_pages, read_selection

        out = Path(str(export.get("out")))
        try:
            exported = asyncio.run(export_pages(self._call, visitor, self._engine.palace, out, *read_selection(export)))
        except PalazzoError as error:
            return {"refused": str(error)}
        except OSError as error:
            return {"refused": f"{out} cannot be written ({error.strerror})."}
        return {"files": [str(file) for file in exported.files], "redacted": exported.redacted}

    def reopen(self) -> None:
        """Open the viewer again for pages that a former service has left open."""
        state = _read_state(self._state_file)
        if state is None:
            self._state_file.unlink(missing_ok=True)
            return
        with self._lock:
            try:
                self._open(state["port"])
            except PalazzoError:
                self._lost_port = state["port"]
                _log.warning("%s", self.trouble)
                return
            for key, visitor in state["visitors"].items():
                self._sessions.admit(key, visitor)

    def close_if_idle(self) -> None:
        """Close the viewer if no page was requested for a while; note who may look, for the next service."""
        with self._lock:
            if self._server is None:
                return
            if self._server.is_watched or time.monotonic() - self._server.last_request < IDLE_SECONDS:
                self._write_state()
                return
        self.close()

    def close(self) -> None:
        """Close the viewer for good: the next service does not open it again."""
        with self._lock:
            if self._server is not None:
                self._server.stop()
                self._server = None
            for file in (self._state_file, self._redirect_file):
                file.unlink(missing_ok=True)

    def end(self) -> None:
        """Stop serving; the next service serves the pages that are open."""
        with self._lock:
            if self._server is not None:
                self._write_state()
                self._server.stop()
                self._server = None
            self._redirect_file.unlink(missing_ok=True)

    def _open(self, port: int | None) -> WebServer:
        from palazzo.faces.mcp import http_log
        from palazzo.faces.web.web_server import WebServer, bind

        if self._server is not None and port in (None, self._server.port):
            return self._server
        bound = bind(port)
        if self._server is not None:
            self._server.stop()
        http_log.discreet()
        self._server = WebServer(bound, self._sessions, self._call, self._engine.palace)
        self._server.begin()
        return self._server

    async def _call(self, operation_call: OperationCall) -> Any:
        from palazzo.daemon.mcp_connections import carried_out

        return await carried_out(self._engine, operation_call)

    def _write_state(self) -> None:
        """Note the port and the cookies, without variables: they may contain keys, and the next service has its own."""
        if self._server is None:
            return
        visitors = {
            key: {"cwd": str(visitor.cwd), "read_only": visitor.read_only}
            for key, visitor in self._sessions.visitors.items()
            if not is_agents(visitor.variables)
        }
        document = json.dumps({"port": self._server.port, "at": time.time(), "visitors": visitors})
        _write_private(self._state_file, document)


def _read_state(file: Path) -> dict[str, Any] | None:
    """Return what a former service noted, with visitors; None if there is nothing, or if it is old."""
    try:
        document = json.loads(file.read_text("utf-8"))
        age = time.time() - float(document["at"])
        visitors = {
            str(key): Visitor(Path(entry["cwd"]), _persons_variables(), entry["read_only"] is True)
            for key, entry in document["visitors"].items()
        }
        port = int(document["port"])
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
    return {"port": port, "visitors": visitors} if 0 <= age < _STATE_SECONDS and visitors else None


def _persons_variables() -> dict[str, str]:
    """Return this process' variables without those of an agent that may have started it: a person looks."""
    return {name: value for name, value in os.environ.items() if name not in (*AGENTS_VARIABLES, HOST, SESSION)}


def _write_private(file: Path, text: str) -> None:
    """Write a file that only this user can read."""
    own = file.with_suffix(f"{file.suffix}.new")
    own.unlink(missing_ok=True)
    descriptor = os.open(own, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        stream.write(text)
    own.replace(file)
