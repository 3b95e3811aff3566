"""The SDK's own client lists and calls every tool of every profile, over stdio and HTTP, in both eras."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Literal

import anyio
import pytest
from mcp import Client, StdioServerParameters
from tests.client.conftest import relay_command
from tests.clients.served import http_without_token
from tests.clients.stock import Stock
from tests.daemon.conftest import User

from palazzo.faces.mcp.client_calls import Surroundings
from palazzo.faces.mcp.profile import MODULES
from palazzo.faces.mcp.profiles.shodh import unsupported_tools
from palazzo.faces.mcp.stdio_server import in_a_thread

Serving = Callable[[User, Stock, str], AbstractContextManager[str | StdioServerParameters]]


@contextmanager
def over_stdio(someone: User, stock: Stock, profile: str) -> Iterator[StdioServerParameters]:
    """The relay, as a command that a client starts."""
    command, *arguments = relay_command(someone.palace, "--profile", profile, "--toolset", "full")
    yield StdioServerParameters(command=command, args=arguments, env=someone.variables, cwd=stock.project)


@contextmanager
def over_http(someone: User, stock: Stock, profile: str) -> Iterator[str]:
    """A server on a port of this machine, as its address."""
    around = Surroundings(stock.project, {"HOME": str(someone.home), "PALAZZO_SERVICE": "off"}, someone.palace)
    with http_without_token(someone.palace, around, profile, in_a_thread) as address:
        yield address


NOT_HERE = {tool.name for tool in unsupported_tools.TOOLS}
"""Tools of shodh's that say what there is instead."""
WAYS = [
    pytest.param(over_stdio, "auto", id="stdio"),
    pytest.param(over_http, "legacy", id="http"),
    pytest.param(over_stdio, "legacy", id="stdio-older", marks=pytest.mark.slow),
    pytest.param(over_http, "auto", id="http-newer", marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("serving", "mode"), WAYS)
@pytest.mark.parametrize("profile", list(MODULES))
def test_every_tool_is_listed_and_called(
    someone: User,
    stock: Stock,
    profile: str,
    serving: Serving,
    mode: Literal["auto", "legacy"],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The client takes a server that does not answer its first question within ten seconds for an older one.
    monkeypatch.setattr("mcp.client.session.DISCOVER_TIMEOUT_SECONDS", 60.0)
    with serving(someone, stock, profile) as server:
        assert anyio.run(lists_and_calls, stock, server, profile, mode) == []


async def lists_and_calls(stock: Stock, server: str | StdioServerParameters, profile: str, mode: str) -> list[str]:
    """Ask for all that is listed, and call every tool, whose answer the client holds against its schema.

    Returns which calls failed.
    """
    wrong: list[str] = []
    async with Client(server, mode=mode, read_timeout_seconds=60) as client:
        assert (client.protocol_version >= "2026") == (mode == "auto")
        assert client.server_info is not None
        assert client.server_info.name == profile
        assert client.instructions
        tools = (await client.list_tools()).tools
        assert tools
        for tool in tools:
            arguments = stock.arguments(tool.name, tool.input_schema)
            result = await client.call_tool(tool.name, arguments)
            if tool.name in NOT_HERE:
                assert result.is_error
                continue
            if result.is_error or result.structured_content is None or not result.content:
                wrong.append(f"{tool.name} {arguments}: {result.content}")
        for resource in (await client.list_resources()).resources:
            assert (await client.read_resource(resource.uri)).contents
        assert (await client.list_resource_templates()).resource_templates
        for prompt in (await client.list_prompts()).prompts:
            given = {one.name: "cranes" for one in prompt.arguments or ()}
            assert (await client.get_prompt(prompt.name, given)).messages
    return wrong
