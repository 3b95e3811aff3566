"""The MCP Inspector's command line lists and calls every tool of every profile, over stdio and HTTP."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.client.conftest import relay_command
from tests.clients.from_npm import INSPECTOR, Programs, programs
from tests.clients.served import http_server
from tests.clients.stock import Stock
from tests.daemon.conftest import User

from palazzo.faces.mcp.profile import MODULES
from palazzo.faces.mcp.profiles.shodh import unsupported_tools

pytestmark = pytest.mark.slow
AT_ONCE = 3
NOT_HERE = {tool.name for tool in unsupported_tools.TOOLS}
"""Tools of shodh's that say what there is instead."""
LAUNCHER = "clients/launcher/build/index.js"

Ask = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def inspector() -> Programs:
    return programs()


@contextmanager
def over_stdio(someone: User, stock: Stock, profile: str, scratch: Path) -> Iterator[list[str]]:
    """The relay, in a file of servers as hosts have them; a client of the newer era."""
    command, *arguments = relay_command(someone.palace, "--profile", profile, "--toolset", "full")
    told = {name: someone.variables[name] for name in ("HOME", "PATH", "XDG_RUNTIME_DIR", "PALAZZO_WATCH_BACKGROUND")}
    server = {"type": "stdio", "command": command, "args": arguments, "env": told}
    (scratch / "servers.json").write_text(json.dumps({"mcpServers": {"it": {**server, "cwd": str(stock.project)}}}))
    yield ["--config", str(scratch / "servers.json"), "--server", "it", "--protocol-era", "modern"]


@contextmanager
def over_http(someone: User, stock: Stock, profile: str, scratch: Path) -> Iterator[list[str]]:
    """A server on a port of this machine; a client of the handshake."""
    with http_server(someone, profile, stock.project) as (address, secret):
        token = ["--header", f"Authorization: Bearer {secret}"]
        yield ["--server-url", address, "--transport", "http", "--protocol-era", "legacy", *token]


@pytest.mark.parametrize(
    ("profile", "serving"),
    [
        *(pytest.param(profile, over_stdio, id=f"{profile}-stdio") for profile in MODULES),
        # What HTTP does does not depend on the profile; `test_sdk_client` calls each profile's tools over both.
        pytest.param("palazzo", over_http, id="palazzo-http"),
    ],
)
def test_all_that_is_listed_is_called_read_and_got(
    inspector: Programs, someone: User, stock: Stock, tmp_path: Path, profile: str, serving: Any
) -> None:
    with serving(someone, stock, profile, tmp_path) as target:

        def ask(method: str, *more: str) -> dict[str, Any]:
            command = inspector.command(INSPECTOR, LAUNCHER, "--cli", *target, "--method", method, *more)
            variables = {**someone.variables, "MCP_INSPECTOR_SECRET_STORE": "memory"}
            done = subprocess.run(
                [*command, "--quiet", "--format", "json"],
                env=variables, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False,
            )  # fmt: skip
            assert done.returncode == 0, (method, more, done.stdout, done.stderr)
            told: dict[str, Any] = json.loads(done.stdout)
            result: dict[str, Any] = told.get("result", told)
            return result

        tools = ask("tools/list", "--strict")["tools"]
        calls = [
            (tool["name"], stock.arguments(tool["name"], tool["inputSchema"]))
            for tool in tools
            if tool["name"] not in NOT_HERE
        ]
        with ThreadPoolExecutor(AT_ONCE) as pool:
            answers = list(
                pool.map(
                    lambda call: ask("tools/call", "--tool-name", call[0], "--tool-args-json", json.dumps(call[1])),
                    calls,
                )
            )
        assert [call for call, told in zip(calls, answers, strict=True) if "structuredContent" not in told] == []
        for resource in ask("resources/list")["resources"]:
            assert ask("resources/read", "--uri", resource["uri"])["contents"]
        assert ask("resources/templates/list")["resourceTemplates"]
        for prompt in ask("prompts/list")["prompts"]:
            given = [f"{one['name']}=cranes" for one in prompt.get("arguments", [])]
            assert ask("prompts/get", "--prompt-name", prompt["name"], *(["--prompt-args", *given] if given else []))
    assert len(calls) > 1
