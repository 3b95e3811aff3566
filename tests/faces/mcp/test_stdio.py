"""The server in a process of its own, on real pipes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import palazzo
from palazzo.palace import Palace

HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "codex-mcp-client", "version": "0.169.0"},
}


class Client:
    """Writes lines to the server and reads what it answers."""

    def __init__(self, palace: Path, cwd: Path, *options: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "palazzo.faces.mcp.stdio_server", "--palace", str(palace), *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env={**os.environ, "HOME": str(cwd), "PYTHONPATH": str(Path(palazzo.__file__).parents[1])},
        )

    def write(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        told: dict[str, Any] = json.loads(self.process.stdout.readline())
        return told

    def ask(self, method: str, params: dict[str, Any] | None = None, number: int | str = 0) -> dict[str, Any]:
        request = {"jsonrpc": "2.0", "id": number, "method": method}
        self.write(json.dumps(request if params is None else {**request, "params": params}).encode())
        answer = self.read()
        assert answer["id"] == number
        return answer

    def close(self) -> tuple[int, bytes]:
        """Close its standard input; return the exit code and what else it wrote."""
        rest, _ = self.process.communicate(timeout=60)
        return self.process.returncode, rest


@pytest.fixture
def client(palace: Palace, palace_path: Path, tmp_path: Path) -> Iterator[Client]:
    found = Client(palace_path, tmp_path)
    yield found
    found.process.kill()
    found.process.communicate()


def test_a_client_greets_lists_calls_and_leaves(client: Client) -> None:
    greeted = client.ask("initialize", HELLO)["result"]
    assert greeted["serverInfo"]["name"] == "palazzo"
    assert greeted["protocolVersion"] == "2025-11-25"
    client.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
    names = {tool["name"] for tool in client.ask("tools/list", number="list")["result"]["tools"]}
    assert {"search", "read"} <= names
    found = client.ask("tools/call", {"name": "search", "arguments": {"query": "anything"}}, 2)["result"]
    assert found["structuredContent"]["hits"] == []
    assert client.close() == (0, b"")


def test_what_is_no_message_is_answered_and_the_next_one_served(client: Client) -> None:
    client.write(b"{nonsense")
    assert client.read()["error"]["code"] == -32700
    client.write(b"[]")
    assert client.read()["error"]["code"] == -32600
    client.write(b'{"jsonrpc":"2.0","id":7,"method":"tools/list","params":["a"]}')
    assert client.read() == {
        "jsonrpc": "2.0",
        "id": 7,
        "error": {"code": -32600, "message": "'params' must be a JSON object."},
    }
    client.write(b'{"jsonrpc":"2.0","id":null,"method":"ping"}')
    assert client.read()["id"] is None
    assert client.ask("ping") == {"jsonrpc": "2.0", "id": 0, "result": {}}


def test_requests_that_were_piped_in_are_answered_before_the_end(client: Client) -> None:
    assert client.process.stdin is not None
    client.process.stdin.write(
        b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":%s}\n{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n'
        % json.dumps(HELLO).encode()
    )
    code, rest = client.close()
    assert (code, [json.loads(line)["id"] for line in rest.splitlines()]) == (0, [0, 1])
