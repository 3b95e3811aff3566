"""Serves the tools of a profile on a pair of streams: lists, calls, errors, progress, cancellation.

On the SDK's low-level server, which speaks both eras of the protocol. A call that fails because of what it asks is an
`isError` result of one sentence; one that is no call of a tool at all (an unknown tool, an unknown, missing or mistyped
argument) is the protocol's error -32602, which names it.
"""

from __future__ import annotations

import logging
import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

import anyio.lowlevel
import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.runner import serve_dual_era_loop
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage

from palazzo import __version__
from palazzo.errors import PalazzoError
from palazzo.mcp.calls import Asked, Call, Stopped, Surroundings
from palazzo.mcp.clients import host_of
from palazzo.mcp.profile import Profile, profile_called
from palazzo.mcp.reporting import Reports, reporting
from palazzo.mcp.tools import Answer, Given, Tool, request_of

KEY = "palazzo/key"
"""In a call's `_meta`: what names the call, so that it can be repeated and is carried out once."""
PAGE = 100
"""Members of one page of a list. Some clients read only the first."""

_log = logging.getLogger(__name__)
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
_HALF_PAIR = re.compile("[\ud800-\udfff]")
_FRESH_FOR = CacheHint(ttl_ms=300_000, scope="private")
_Member = TypeVar("_Member")


@dataclass(frozen=True, slots=True, eq=False)
class Connected:
    """One client's connection: where the client is, and who carries its calls out.

    `permit`, if there is one, is asked before each call with the tool and the HTTP request; what it returns is why not.
    """

    surroundings: Surroundings
    call: Call
    permit: Callable[[Tool, Any], str] | None = None


_Context = ServerRequestContext[Connected, Any]


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
        lifespan_state=Connected(surroundings, call),
        init_options=server.create_initialization_options(),
    )


@cache
def build(profile: str = "palazzo", toolset: str = "core", connected: Connected | None = None) -> Server[Connected]:
    """Return the server of a profile's toolset; UsageError for one that there is not.

    It keeps nothing of any connection. `connected` is for whoever runs it by itself (the SDK's HTTP manager, a test).
    """
    chosen = profile_called(profile)
    handlers = _Handlers(chosen, {tool.name: tool for tool in chosen.tools(toolset)})

    @asynccontextmanager
    async def lifespan(_: Server[Connected]) -> AsyncIterator[Connected]:
        if connected is None:
            raise RuntimeError("this server is run by `serve`, which says for whom")
        yield connected

    return Server[Connected](
        chosen.name,
        version=__version__,
        title=chosen.title,
        instructions=chosen.instructions,
        lifespan=lifespan,
        cache_hints={"tools/list": _FRESH_FOR},
        get_tool_input_schema=handlers.input_of,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
    )


class _Handlers:
    """What the server does with each request of the protocol."""

    def __init__(self, profile: Profile, tools: dict[str, Tool]) -> None:
        self._profile, self._tools = profile, tools
        self._listed = [_listed(tool) for tool in tools.values()]

    def input_of(self, name: str) -> dict[str, Any] | None:
        tool = self._tools.get(name)
        return None if tool is None else tool.input

    async def list_tools(self, context: _Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        shown, cursor = page(self._listed, params)
        return types.ListToolsResult(tools=list(shown), next_cursor=cursor)

    async def call_tool(self, context: _Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = self._tools.get(params.name)
        if tool is None:
            there = ", ".join(self._tools)
            raise MCPError(types.INVALID_PARAMS, f"There is no tool '{params.name[:60]}'; there are: {there}.")
        permit = context.lifespan_context.permit
        if permit is not None and (refused := permit(tool, context.request)):
            return _failure(refused)
        try:
            given = tool.given(params.arguments or {}, host_of(context), context.lifespan_context.surroundings.cwd)
        except ValueError as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from None
        async with reporting(context) as reports:
            return await _answered(context, tool, given, reports)


async def _answered(context: _Context, tool: Tool, given: Given, reports: Reports) -> types.CallToolResult:
    """Carry a call out. Nothing but a cancellation gets out of here: around it is a task group."""
    try:
        return _result(await _carried_out(context, tool, given, reports), reports.notices)
    except PalazzoError as error:
        return _failure(in_arguments(tool, str(error)))
    except Stopped:
        await anyio.lowlevel.cancel_shielded_checkpoint()
        return _failure(f"{tool.name} was cancelled; what was done by then is kept.")
    except Exception as error:  # noqa: BLE001 - the boundary: whatever else is raised is a bug, told of and logged as one
        _log.exception("the tool %s failed", tool.name)
        return _failure(f"{tool.name} failed inside Palazzo ({type(error).__name__}): the write it was in is undone.")


async def _carried_out(context: _Context, tool: Tool, given: Given, reports: Reports) -> Answer:
    connected = context.lifespan_context
    steps = tool.wanted(given)
    results = []
    for n, step in enumerate(steps):
        key = (context.meta or {}).get(KEY)
        asked = Asked(
            step.operation,
            request_of(step),
            connected.surroundings,
            None if key is None else f"{key}:{n}" if n else str(key),
            reports.progress,
            reports.notice,
        )
        results.append(await connected.call(asked))
    return tool.answer(results if tool.steps is not None else results[0], given)


def page(
    members: Sequence[_Member], params: types.PaginatedRequestParams | None
) -> tuple[Sequence[_Member], str | None]:
    """Return a page of a list, and the cursor of the next one if there is one. A cursor is the number to go on from."""
    cursor = params.cursor if params is not None else None
    start = 0 if cursor is None else int(cursor) if re.fullmatch(r"[0-9]{1,9}", cursor) else -1
    if not 0 <= start <= len(members):
        raise MCPError(types.INVALID_PARAMS, f"'{(cursor or '')[:60]}' is no cursor of this list; begin without one.")
    end = start + PAGE
    return members[start:end], str(end) if end < len(members) else None


def in_arguments(tool: Tool, sentence: str) -> str:
    """Return an error's sentence with the tool's arguments in place of the command line's options."""
    return _OPTION.sub(lambda found: tool.names_of_options.get(found[0], found[0]), sentence)


def _listed(tool: Tool) -> types.Tool:
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


def _result(answer: Answer, notices: Sequence[str]) -> types.CallToolResult:
    """An answer on the wire. What the operation remarked by the way stands behind what it answered."""
    told = {**answer.structured, "remarks": list(notices)} if notices else dict(answer.structured)
    text = "\n".join((answer.readable, *notices))
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=_whole(text))],
        structured_content=_whole(told),
        is_error=answer.failed,
    )


def _failure(sentence: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=_whole(sentence))], is_error=True)


def _whole(value: Any) -> Any:
    """`value` as JSON can carry it: half a surrogate pair, which old transcripts hold, is shown as U+FFFD."""
    if isinstance(value, str):
        return _HALF_PAIR.sub("\ufffd", value) if not value.isascii() else value
    if isinstance(value, dict):
        return {_whole(name): _whole(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_whole(one) for one in value]
    return value
