"""A viewer on a real port, over a real engine and palace, and a client that is as strict as a browser about cookies."""

from __future__ import annotations

import http.client
import re
import urllib.parse
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from palazzo.daemon.engine import Engine
from palazzo.daemon.mcp_connections import carried_out
from palazzo.faces.mcp.client_calls import Call, OperationCall
from palazzo.faces.web.web_server import WebServer, bind
from palazzo.faces.web.web_sessions import Visitor, WebSessions
from palazzo.operations import registry
from palazzo.operations.context import Context

FREE_PORT = 0


@dataclass(frozen=True)
class Answer:
    """What the server answered."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    def form_token(self) -> str:
        """The token that the page's forms send."""
        match = re.search(r'name="form_token" value="([0-9a-f]{64})"', self.text)
        assert match is not None
        return match[1]


@dataclass
class ServedViewer:
    """A viewer, and what a test asks it."""

    server: WebServer
    engine: Engine
    directory: Path
    variables: dict[str, str]
    sessions: WebSessions
    call: Call
    cookies: dict[str, str] = field(default_factory=dict)

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.server.port}"

    def link(self, read_only: bool = False, **variables: str) -> str:
        """A new link, as its path."""
        visitor = Visitor(self.directory, {**self.variables, **variables}, read_only)
        return urllib.parse.urlsplit(self.server.link_for(visitor)).path

    def enter(self, read_only: bool = False, **variables: str) -> ServedViewer:
        """Open a link, and keep its cookie; return another client of the same viewer."""
        client = ServedViewer(self.server, self.engine, self.directory, self.variables, self.sessions, self.call)
        answer = client.get(self.link(read_only, **variables))
        assert answer.status == 200
        name, _, value = answer.headers["set-cookie"].partition(";")[0].partition("=")
        client.cookies[name] = value
        return client

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> Answer:
        return self.request("GET", path, headers)

    def post(self, path: str, fields: Mapping[str, str], headers: Mapping[str, str] | None = None) -> Answer:
        """Send a form as the viewer's own page does, unless headers say otherwise."""
        own = {"Origin": self.origin, "Content-Type": "application/x-www-form-urlencoded"}
        return self.request("POST", path, {**own, **(headers or {})}, urllib.parse.urlencode(fields).encode())

    def request(
        self, method: str, path: str, headers: Mapping[str, str] | None = None, body: bytes | None = None
    ) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
        cookie = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        sent = {**({"Cookie": cookie} if cookie else {}), **(headers or {})}
        try:
            connection.request(method, path, body, sent)
            answer = connection.getresponse()
            return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def run(self, name: str, **values: Any) -> Any:
        """Run an operation as a person at a terminal."""
        operation = registry.operation(name)
        with Context(self.engine.palace, self.directory, self.variables) as context:
            return operation.run(context, operation.request(**values))


@contextmanager
def served_viewer(directory: Path) -> Iterator[ServedViewer]:
    """Serve the viewer of a palace in a directory, with a home of its own."""
    variables = {"HOME": str(directory), "PALAZZO_SERVICE": "off"}
    engine = Engine(directory / "palace.db")

    async def call(operation_call: OperationCall) -> Any:
        return await carried_out(engine, operation_call)

    sessions = WebSessions()
    server = WebServer(bind(FREE_PORT), sessions, call, engine.palace)
    server.begin()
    try:
        yield ServedViewer(server, engine, directory, variables, sessions, call)
    finally:
        server.stop()
        engine.close()
