"""What clients leave out when they open a connection, and add to calls: the same by relay, alone and over HTTP."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from tests.clients.conftest import Start
from tests.clients.stock import Stock
from tests.daemon.conftest import User
from tests.faces.cli.command import environment
from tests.faces.mcp.http_palace import JSON
from tests.faces.mcp.http_served import Address

from palazzo.model import Micros
from palazzo.palace import Palace
from palazzo.store import token_rows

Ask = Callable[[str, Any], dict[str, Any]]
METHOD_NOT_FOUND, INVALID_PARAMS = -32601, -32602
LATEST = "2025-11-25"
OPENINGS: list[tuple[Any, str]] = [
    (None, "2025-03-26"),
    ({}, "2025-03-26"),
    ({"protocolVersion": "2025-06-18"}, "2025-06-18"),
    ({"protocolVersion": "2025-06-18", "capabilities": None, "clientInfo": None}, "2025-06-18"),
    ({"protocolVersion": "2025-06-18", "capabilities": {"roots": True}, "clientInfo": {"name": "x"}}, "2025-06-18"),
    ({"protocolVersion": "2025-06-18", "capabilities": [], "clientInfo": {"name": "x", "version": 1}}, "2025-06-18"),
    ({"protocolVersion": "1.0", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}, LATEST),
    ({"protocolVersion": 20250618}, "2025-03-26"),
]
SEARCHES = {"palazzo": "search", "mempalace": "mempalace_search", "shodh": "recall"}


@contextmanager
def over_lines(start: Start, profile: str, without_service: bool) -> Iterator[Ask]:
    host = start("--profile", profile, alone=without_service)

    def ask(method: str, params: Any) -> dict[str, Any]:
        if method.startswith("notifications/"):
            host.send(method, params)
            return {}
        return host.ask(method, params)

    yield ask
    assert host.close() == 0
    assert host.complaints() == ""


@contextmanager
def over_http(someone: User, stock: Stock, profile: str) -> Iterator[Ask]:
    with Palace.open(someone.palace) as palace, palace.database.transaction() as connection:
        secret = token_rows.issue(connection, profile.encode(), profile, "write", Micros(1))
    variables = {**someone.variables, "PALAZZO_PALACE": str(someone.palace), "PALAZZO_SERVICE": "off"}
    with subprocess.Popen(
        [sys.executable, "-m", "palazzo.faces.cli", "mcp", "--profile", profile, "--http", "127.0.0.1:0"],
        stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment(variables), text=True, cwd=stock.project,
    ) as process:  # fmt: skip
        assert process.stderr is not None
        try:
            port = re.search(r"127\.0\.0\.1:(\d+)/mcp", process.stderr.readline())
            assert port
            server, headers = Address(int(port[1])), {**JSON, "Authorization": f"Bearer {secret}"}

            def ask(method: str, params: Any) -> dict[str, Any]:
                message = {"jsonrpc": "2.0", "method": method, **({} if params is None else {"params": params})}
                if not method.startswith("notifications/"):
                    message["id"] = 1
                if method == "initialize":
                    headers.pop("Mcp-Session-Id", None)
                response = server.request("POST", "/mcp", headers, json.dumps(message).encode())
                if "mcp-session-id" in response.headers:
                    headers["Mcp-Session-Id"] = response.headers["mcp-session-id"]
                return response.json if response.body else {}

            yield ask
        finally:
            process.kill()


@contextmanager
def connect_client(transport: str, start: Start, someone: User, stock: Stock, profile: str) -> Iterator[Ask]:
    connection = (
        over_http(someone, stock, profile) if transport == "http" else over_lines(start, profile, transport == "alone")
    )
    with connection as ask:
        yield ask


QUICK = [("service", "palazzo"), ("service", "mempalace"), ("http", "mempalace")]
SLOW = [
    ("service", "shodh"),
    *(("alone", profile) for profile in SEARCHES),
    ("http", "palazzo"),
    ("http", "shodh"),
]


@pytest.mark.parametrize(
    ("transport", "profile"), [*QUICK, *(pytest.param(*case, marks=pytest.mark.slow) for case in SLOW)]
)
def test_a_client_that_says_little_of_itself_is_served(
    start: Start, someone: User, stock: Stock, profile: str, transport: str
) -> None:
    with connect_client(transport, start, someone, stock, profile) as ask:
        for params, version in OPENINGS:
            greeting_answer = ask("initialize", params)
            assert greeting_answer.get("result", greeting_answer).get("protocolVersion") == version, (
                params,
                greeting_answer,
            )
        ask("notifications/initialized", None)
        search_answer = ask(
            "tools/call",
            {
                "name": SEARCHES[profile],
                "arguments": {"query": "deploy port", "wait_for_previous": True, "since": None},
            },
        )
        assert "8443" in search_answer["result"]["content"][0]["text"]
        assert "remarks" not in search_answer["result"]["structuredContent"]
        unknown_tool_answer = ask("tools/call", {"name": "nothing", "arguments": {}})
        assert unknown_tool_answer["error"]["code"] == (INVALID_PARAMS if profile == "palazzo" else METHOD_NOT_FOUND)
        many = ask(
            "tools/call", {"name": SEARCHES[profile], "arguments": {"query": "deploy port", "limit": "1", "n": 1}}
        )
        if profile == "palazzo":
            assert many["error"]["code"] == INVALID_PARAMS
        else:
            assert "has no argument 'n'" in many["result"]["structuredContent"]["remarks"][0]
