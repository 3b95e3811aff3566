"""JSON-RPC as lines of JSON, as on stdio and on the service's socket: from bytes to messages, and back.

A line that is not a valid message is answered here with an error for the client, because the SDK would leave it
unanswered.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from palazzo.faces.mcp import handshake, server
from palazzo.faces.mcp.client_calls import Call, Surroundings

GRACE = 0.7
"""Seconds to wait for requests in progress after the client has stopped sending."""
_DISCOVER = "server/discover"
_ReadStream = MemoryObjectReceiveStream[SessionMessage | Exception]
_WriteStream = MemoryObjectSendStream[SessionMessage]
_HALF_PAIR = re.compile("[\ud800-\udfff]")


async def serve_lines(
    lines: AsyncIterator[bytes],
    write: Callable[[bytes], Awaitable[None]],
    *,
    profile: str,
    toolset: str,
    surroundings: Surroundings,
    call: Call,
) -> None:
    """Serve one client until `lines` end and its requests are answered, or GRACE is over.

    `write` receives whole lines, one after the other. If it raises OSError, the client has gone, and serving ends.
    """

    async def serve(read_stream: _ReadStream, write_stream: _WriteStream) -> None:
        await server.serve(
            read_stream, write_stream, profile=profile, toolset=toolset, surroundings=surroundings, call=call
        )

    await _Connection(lines, write, serve).run()


class _Connection:
    """A client's lines, and the server loop that processes them.

    A client that has only queried the server (`server/discover`) may still begin with the handshake. The SDK's loop is
    fixed to one protocol era by its first request, so such a client then gets another loop.
    """

    def __init__(
        self,
        lines: AsyncIterator[bytes],
        write: Callable[[bytes], Awaitable[None]],
        serve: Callable[[_ReadStream, _WriteStream], Awaitable[None]],
    ) -> None:
        self._lines, self._write, self._serve = lines, write, serve
        self._open: set[str | int] = set()
        self._asked: set[str] = set()
        self._settled = anyio.Event()
        self._writing = anyio.Lock()
        self._group = anyio.create_task_group()

    async def run(self) -> None:
        """Serve until the client sends no more, or has gone."""
        async with self._group:
            self._begin()
            try:
                async for line in self._lines:
                    if line.strip():
                        await self._take(line)
                await self._end()
                self._group.cancel_scope.cancel()
            finally:
                self._to_server.close()

    def _begin(self) -> None:
        self._to_server, read_stream = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        write_stream, from_server = anyio.create_memory_object_stream[SessionMessage](0)
        self._ended = anyio.Event()
        self._group.start_soon(self._loop, read_stream, write_stream, self._ended)
        self._group.start_soon(self._answer, from_server)

    async def _loop(self, read_stream: _ReadStream, write_stream: _WriteStream, done_event: anyio.Event) -> None:
        await self._serve(read_stream, write_stream)
        done_event.set()

    async def _end(self) -> None:
        """Wait a limited time for running requests, and end the loop."""
        with anyio.move_on_after(GRACE):
            while self._open:
                self._settled = anyio.Event()
                await self._settled.wait()
        await self._to_server.aclose()
        await self._ended.wait()

    async def _answer(self, from_server: MemoryObjectReceiveStream[SessionMessage]) -> None:
        """Pass on the server's messages."""
        async with from_server:
            async for message in from_server:
                payload = message.message.model_dump(by_alias=True, exclude_unset=True)
                await self._send(payload)
                if "method" not in payload:
                    self._is_answered(payload.get("id"))

    async def _take(self, line: bytes) -> None:
        message = _message(line)
        if isinstance(message, types.JSONRPCError):
            await self._send(message.model_dump(by_alias=True, exclude_unset=True))
            return
        if isinstance(message, types.JSONRPCRequest):
            if message.method == "initialize" and self._asked == {_DISCOVER}:
                await self._end()
                self._begin()
            self._asked.add(message.method)
            self._open.add(message.id)
        elif isinstance(message, types.JSONRPCNotification) and message.method == "notifications/cancelled":
            self._is_answered((message.params or {}).get("requestId"))  # what is cancelled is answered no more
        await self._to_server.send(SessionMessage(message))

    def _is_answered(self, request: Any) -> None:
        if isinstance(request, str | int):
            self._open.discard(request)
            self._settled.set()

    async def _send(self, payload: dict[str, Any]) -> None:
        try:
            async with self._writing:
                await self._write(json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
        except OSError:  # nobody reads any more
            self._group.cancel_scope.cancel()


def _message(line: bytes) -> types.JSONRPCMessage:
    """Return the message of a line; if it is not one, the error to answer with."""
    try:
        payload = json.loads(line)
    except (ValueError, RecursionError) as error:
        return _error(None, types.PARSE_ERROR, f"This line is not valid JSON: {error}."[:300])
    if not isinstance(payload, dict):
        return _error(None, types.INVALID_REQUEST, "A message must be one JSON object; MCP has no batches.")
    number = payload.get("id")
    request_id = number if isinstance(number, str | int) and not isinstance(number, bool) else None
    if _HALF_PAIR.search(line.decode(errors="replace")) or _has_half_pair(payload):
        return _error(
            request_id, types.INVALID_REQUEST, "The message contains half of a surrogate pair, which is not valid text."
        )
    params = payload.get("params")
    if params is not None and not isinstance(params, dict):
        return _error(request_id, types.INVALID_REQUEST, "'params' must be a JSON object.")
    if "method" in payload and "id" in payload and request_id is None:
        return _error(None, types.INVALID_REQUEST, "The 'id' of a request must be a string or an integer.")
    try:
        return types.jsonrpc_message_adapter.validate_python(handshake.complete(payload), by_name=False)
    except ValidationError:
        return _error(
            request_id, types.INVALID_REQUEST, "This is not a JSON-RPC 2.0 request, notification or response."
        )


def _has_half_pair(value: Any) -> bool:
    if isinstance(value, str):
        return not value.isascii() and _HALF_PAIR.search(value) is not None
    if isinstance(value, dict):
        return any(_has_half_pair(name) or _has_half_pair(member) for name, member in value.items())
    return isinstance(value, list) and any(map(_has_half_pair, value))


def _error(number: str | int | None, code: int, sentence: str) -> types.JSONRPCError:
    return types.JSONRPCError(jsonrpc="2.0", id=number, error=types.ErrorData(code=code, message=sentence))
