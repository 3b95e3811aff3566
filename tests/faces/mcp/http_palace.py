"""A palace that is served over HTTP in a thread of the test, and clients with tokens of each scope."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.faces.mcp.http_served import Address, Reply, running

from palazzo.archive import identity
from palazzo.faces.http.http_socket import bound
from palazzo.faces.mcp.client_calls import Surroundings
from palazzo.faces.mcp.http_endpoint import HttpServer
from palazzo.faces.mcp.stdio_server import in_a_thread
from palazzo.model import Place
from palazzo.palace import Palace
from palazzo.store import token_rows
from palazzo.store.token_rows import TokenScope

JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
VERSION = "2025-11-25"
OWNER = "owner"
"""The admin's token that every served palace has: without one nothing is served."""
HELLO = {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


@dataclass
class Served:
    """A palace, and where it is served."""

    palace: Path
    home: Path
    address: Address = field(init=False)
    secrets: dict[str, str] = field(default_factory=dict)

    def token(self, name: str, scope: TokenScope) -> str:
        """Make a token and return its secret."""
        with Palace.open(self.palace) as palace, palace.database.transaction() as connection:
            uid = bytes.fromhex(identity.new_id(palace.clock()))
            secret = self.secrets[name] = token_rows.issue(connection, uid, name, scope, palace.clock())
        return secret

    def revoke(self, name: str) -> None:
        """Take a token back."""
        with Palace.open(self.palace) as palace, palace.database.transaction() as connection:
            (one,) = [one for one in token_rows.tokens(connection) if one.name == name]
            token_rows.revoke(connection, one.uid, palace.clock())

    def bearer(self, name: str) -> dict[str, str]:
        """What a request with the token of that name says."""
        return {"Authorization": f"Bearer {self.secrets[name]}"} if name else {}

    def session(self, name: str = OWNER) -> Session:
        """Begin a session with the token of that name."""
        return Session(self, name)


class Session:
    """A client of the handshake's era."""

    def __init__(self, served: Served, name: str) -> None:
        self._served, self.name, self._id = served, name, ""
        begun = self.post("initialize", HELLO)
        assert begun.status == 200, begun
        self._id = begun.headers["mcp-session-id"]
        assert self.post("notifications/initialized", number=None).status == 202

    @property
    def headers(self) -> dict[str, str]:
        """What each of its requests says."""
        own = {"Mcp-Session-Id": self._id, "MCP-Protocol-Version": VERSION} if self._id else {}
        return {**JSON, **self._served.bearer(self.name), **own}

    def post(self, method: str, params: Mapping[str, Any] | None = None, number: int | str | None = 1) -> Reply:
        """Send one message."""
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
        if number is not None:
            message["id"] = number
        if params is not None:
            message["params"] = params
        return self._served.address.request("POST", headers=self.headers, body=json.dumps(message).encode())

    def call(self, tool: str, **arguments: object) -> dict[str, Any]:
        """Call a tool; return the whole answer."""
        told = self.post("tools/call", {"name": tool, "arguments": arguments})
        assert told.status == 200, told
        answer: dict[str, Any] = told.json
        return answer

    def tools(self) -> set[str]:
        """Return the names of the tools that it is shown."""
        return {tool["name"] for tool in self.post("tools/list").json["result"]["tools"]}


@contextmanager
def served_palace(directory: Path, toolset: str = "full", address: str = "127.0.0.1:0") -> Iterator[Served]:
    """Serve a palace with a few notes."""
    home, path = directory / "home", directory / "palace.db"
    home.mkdir(parents=True)
    with Palace.open(path) as palace:
        for said in ("The deploy service listens on port 8443.", "Retries double after each failure."):
            palace.remember(said, Place("shop", "notes"))
    served_palace = Served(path, home)
    served_palace.token(OWNER, "admin")
    around = Surroundings(home, {"HOME": str(home), "PALAZZO_SERVICE": "off"}, path)
    with closing(bound(address)) as listening:
        server = HttpServer(listening, "palazzo", toolset, around, in_a_thread)
        with running(server.run, server.stop):
            served_palace.address = Address(listening.port)
            yield served_palace
