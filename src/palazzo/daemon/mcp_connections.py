"""Connections that carry MCP: one event loop on a thread of its own, started for the first of them.

The SDK is imported then, or earlier when the service is idle (`warm_up`). A service that no agent connects to never
pays for it.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any

from palazzo.client.jsonl import LONGEST_LINE, Stream
from palazzo.daemon.engine import Engine, Job, operation_called

if TYPE_CHECKING:
    from palazzo.faces.mcp.client_calls import OperationCall

_INVALID_REQUEST = -32600


class McpConnections:
    """Serves MCP on streams after their handshake.

    `serve` blocks the calling thread; the work runs on the event loop's thread.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock = threading.Lock()
        self._importing = threading.Lock()
        self._open: set[_Connection] = set()

    def warm_up(self) -> None:
        """Import the SDK and build the server that most clients use."""
        self._import_sdk()

    def _import_sdk(self) -> None:
        """Import the SDK in one thread at a time: its modules import each other, so a second thread could fail."""
        with self._importing:
            from palazzo.faces.mcp.server import build

            build("palazzo", "core")

    def serve(self, stream: Stream, hello: Mapping[str, Any]) -> None:
        """Serve one client until it is gone; after `finish`, until it waits for no answer."""
        self._import_sdk()
        around = hello.get("surroundings")
        around = around if isinstance(around, dict) else {}
        raw_variables = around.get("variables")
        variables = {
            str(name): str(value) for name, value in (raw_variables if isinstance(raw_variables, dict) else {}).items()
        }
        cwd = Path(str(around.get("cwd") or self._engine.palace.parent))
        connection = _Connection(stream, self._engine, cwd, variables, hello.get("read_only") is True)
        self._open.add(connection)
        try:
            coroutine = connection.serve(str(hello.get("profile") or "palazzo"), str(hello.get("toolset") or "core"))
            asyncio.run_coroutine_threadsafe(coroutine, self._running()).result()
        finally:
            self._open.discard(connection)

    def finish(self) -> None:
        """Let every connection end as soon as its client waits for no answer."""
        for connection in list(self._open):
            self._running().call_soon_threadsafe(connection.finish)

    def close(self) -> None:
        """End the loop."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="palazzo-mcp", daemon=True).start()
            return self._loop


class _Connection:
    def __init__(
        self,
        stream: Stream,
        engine: Engine,
        cwd: Path,
        variables: Mapping[str, str],
        read_only: bool,
    ) -> None:
        self._stream, self._engine, self._cwd, self._variables = stream, engine, cwd, variables
        self._read_only = read_only
        self._calls = 0
        self._is_finishing = False
        self._end_of_input: Callable[[], None] | None = None

    def finish(self) -> None:
        """Stop reading once no call is being carried out; call this on the loop."""
        self._is_finishing = True
        self._end_if_done()

    def _end_if_done(self) -> None:
        if self._is_finishing and not self._calls and self._end_of_input is not None:
            self._end_of_input()

    async def serve(self, profile: str, toolset: str) -> None:
        from palazzo.faces.mcp.client_calls import Surroundings
        from palazzo.faces.mcp.jsonrpc_lines import serve_lines

        initial_bytes = self._stream.drain_buffer()
        reader, writer = await asyncio.open_connection(sock=self._stream.socket, limit=LONGEST_LINE)

        async def write(line: bytes) -> None:
            writer.write(line)
            await writer.drain()

        def end() -> None:
            writer.transport.pause_reading()  # type: ignore[attr-defined]
            reader.feed_eof()

        self._end_of_input = end
        self._end_if_done()
        try:
            await serve_lines(
                self._lines(reader, writer, initial_bytes),
                write,
                profile=profile,
                toolset=toolset,
                surroundings=Surroundings(self._cwd, self._variables, self._engine.palace, read_only=self._read_only),
                call=self._call,
            )
        finally:
            self._end_of_input = None
            writer.close()

    async def _call(self, call: OperationCall) -> Any:
        """Carry out an operation in a worker pool of the engine: the `Call` of a server that a service runs."""
        self._calls += 1
        try:
            return await carried_out(self._engine, call)
        finally:
            self._calls -= 1
            self._end_if_done()

    async def _lines(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, initial_bytes: bytes
    ) -> AsyncIterator[bytes]:
        """Yield the client's input, line by line; `initial_bytes` is what it sent after its hello."""
        *whole, rest = initial_bytes.split(b"\n")
        for line in whole:
            yield line
        while True:
            try:
                line = await reader.readuntil(b"\n")
            except asyncio.IncompleteReadError:
                return
            except OSError:
                return
            except asyncio.LimitOverrunError:
                if not await _passed_over(reader):
                    return
                writer.write(_encode_refusal(f"A line can have at most {LONGEST_LINE:,} bytes. Send less."))
                rest = b""
                continue
            yield rest + line[:-1]
            rest = b""


async def carried_out(engine: Engine, call: OperationCall) -> Any:
    """Carry out a connection's call in a worker pool of the engine; if cancelled, return once the call has ended."""
    import anyio

    around = call.surroundings
    job = Job(
        operation_called(call.operation),
        call.request,
        call.key,
        around.cwd,
        around.variables,
        around.trust,
        call.on_progress,
        call.on_notice,
        lock_wait=around.lock_wait,
        derive_seconds=around.derive_seconds,
    )
    future: Future[Any] = engine.submit(job)
    async_future = asyncio.wrap_future(future)
    try:
        return await asyncio.shield(async_future)
    except asyncio.CancelledError:
        if not future.cancel():
            with anyio.CancelScope(shield=True):
                await asyncio.wait([async_future])
        raise


async def _passed_over(reader: asyncio.StreamReader) -> bool:
    """Skip to the end of a line that is too long; return False if the client ends before it."""
    while True:
        try:
            await reader.readuntil(b"\n")
            return True
        except asyncio.LimitOverrunError as error:
            await reader.readexactly(error.consumed)
        except asyncio.IncompleteReadError:
            return False


def _encode_refusal(sentence: str) -> bytes:
    error = {"code": _INVALID_REQUEST, "message": sentence}
    return json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode() + b"\n"
