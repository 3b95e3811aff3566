"""The server of a profile's tools on a pair of streams: lists, calls, errors, progress, cancellation.

Built on the SDK's low-level server, which speaks both eras of the protocol. A valid call that fails because of its
request is an `isError` result of one sentence. An invalid call (an unknown tool, an unknown, missing or mistyped
argument) is the protocol's error -32602, which names the cause. In a profile that emulates another server, an unknown
tool is -32601, as in that server.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from typing import Any

import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.lowlevel import Server
from mcp.server.runner import serve_dual_era_loop
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage

from palazzo import __version__
from palazzo.faces.mcp import resources
from palazzo.faces.mcp.client_calls import Call, Surroundings
from palazzo.faces.mcp.profile import Profile, check_toolset, profile_called
from palazzo.faces.mcp.prompts import Prompts
from palazzo.faces.mcp.tool_call import ClientConnection, Context, ToolCallError, answer, page, whole
from palazzo.operations.agent_tools.tool import Answer, Tool

__all__ = ["ClientConnection", "build", "serve"]

READ_ONLY = -32003
"""The error code for a writing call from a read-only client, as in MemPalace's server."""
_FRESH_FOR = CacheHint(ttl_ms=300_000, scope="private")
"""Time for which a client of the newer protocol may cache a list of tools and prompts: they change only with the
version.
"""


async def serve(
    read_stream: ReadStream[SessionMessage | Exception],
    write_stream: WriteStream[SessionMessage],
    *,
    profile: str,
    toolset: str,
    surroundings: Surroundings,
    call: Call,
) -> None:
    """Serve one client until its stream ends. Closes both streams."""
    server = build(profile, toolset)
    await serve_dual_era_loop(
        server,
        read_stream,
        write_stream,
        lifespan_state=ClientConnection(surroundings, call),
        init_options=server.create_initialization_options(),
    )


def build(
    profile: str = "palazzo", toolset: str = "core", connection: ClientConnection | None = None
) -> Server[ClientConnection]:
    """Return the server of a profile's toolset; raises UsageError if it does not exist.

    It keeps no state of any connection. `connection` is for a caller that runs it by itself (the SDK's HTTP manager, a
    test).
    """
    return _shared(profile, toolset) if connection is None else _built(profile, toolset, connection)


@cache
def _shared(profile: str, toolset: str) -> Server[ClientConnection]:
    return _built(profile, toolset, None)


def _built(profile: str, toolset: str, connection: ClientConnection | None) -> Server[ClientConnection]:
    tool_profile = profile_called(profile)
    check_toolset(toolset)
    tools = _Tools(tool_profile, toolset)
    prompts = Prompts({verb: name for verb, name in tool_profile.names.items() if tools.input_of(name) is not None})

    @asynccontextmanager
    async def lifespan(_: Server[ClientConnection]) -> AsyncIterator[ClientConnection]:
        if connection is None:
            raise RuntimeError("this server is run by `serve`, which says for whom")
        yield connection

    return Server[ClientConnection](
        tool_profile.name,
        version=__version__,
        title=tool_profile.title,
        instructions=tool_profile.instructions,
        lifespan=lifespan,
        cache_hints={
            "tools/list": _FRESH_FOR,
            "prompts/list": _FRESH_FOR,
            "resources/templates/list": _FRESH_FOR,
            "server/discover": _FRESH_FOR,
        },
        get_tool_input_schema=tools.input_of,
        on_list_tools=tools.show,
        on_call_tool=tools.call,
        on_list_resources=resources.show,
        on_list_resource_templates=resources.templates,
        on_read_resource=resources.read,
        on_list_prompts=prompts.show,
        on_get_prompt=prompts.get,
    )


class _Tools:
    """The tools of a toolset, as the protocol lists and calls them."""

    def __init__(self, profile: Profile, toolset: str) -> None:
        self._tools = {tool.name: tool for tool in profile.tools(toolset)}
        self._unknown_tool_code = types.METHOD_NOT_FOUND if profile.stands_in else types.INVALID_PARAMS
        self._listed = [describe_tool(tool) for tool in self._tools.values()]
        self._listed_read_only = [describe_tool(tool) for tool in self._tools.values() if tool.hints.reads]

    def input_of(self, name: str) -> dict[str, Any] | None:
        tool = self._tools.get(name)
        return None if tool is None else tool.input

    async def show(self, context: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        is_read_only = context.lifespan_context.surroundings.read_only
        tools, cursor = page(self._listed_read_only if is_read_only else self._listed, params)
        return types.ListToolsResult(tools=list(tools), next_cursor=cursor)

    async def call(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = self._tools.get(params.name)
        if tool is None:
            names = ", ".join(self._tools)
            raise MCPError(self._unknown_tool_code, f"Unknown tool '{params.name[:60]}'; tools: {names}.")
        if context.lifespan_context.surroundings.read_only and not tool.hints.reads:
            raise MCPError(READ_ONLY, "Server is in read-only mode; this tool is disabled", {"tool": tool.name})
        try:
            tool_answer = await answer(context, tool, params.arguments or {})
        except ToolCallError as why:
            if tool.failure is not None:
                return _result(tool.failure(str(why), why.error))
            return types.CallToolResult(content=[_text(str(why))], is_error=True)
        return _result(tool_answer)


def describe_tool(tool: Tool) -> types.Tool:
    """Return a tool in the form of `tools/list`."""
    hints = tool.hints
    return types.Tool(
        name=tool.name,
        title=tool.title or None,
        description=tool.description,
        input_schema=tool.input,
        output_schema=dict(tool.output),
        annotations=types.ToolAnnotations(
            read_only_hint=hints.reads,
            destructive_hint=hints.destroys,
            idempotent_hint=hints.idempotent,
            open_world_hint=hints.open_world,
        ),
        _meta={"anthropic/alwaysLoad": True} if tool.always else None,
    )


def _result(tool_answer: Answer) -> types.CallToolResult:
    return types.CallToolResult(
        content=[_text(tool_answer.readable)],
        # Clients hold what is structured against the output schema, also of a call that failed, and tell the model of
        # nothing else if it does not fit.
        structured_content=None if tool_answer.failed else whole(tool_answer.structured),
        is_error=tool_answer.failed,
    )


def _text(text: str) -> types.TextContent:
    return types.TextContent(type="text", text=whole(text))
