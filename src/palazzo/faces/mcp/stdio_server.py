"""MCP server on standard input and output of this process: used when no service runs, or when none is wanted.

    python -m palazzo.faces.mcp.stdio_server [--profile NAME] [--toolset NAME] [--palace PATH] [--read-only]

Standard output is first redirected for all other code in the process: what it prints goes to standard error.
"""

from __future__ import annotations

import argparse
import os
import threading
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

import anyio
import anyio.from_thread
import anyio.lowlevel
import anyio.to_thread

from palazzo.client import launcher
from palazzo.faces.mcp.client_calls import OperationCall, Surroundings
from palazzo.faces.mcp.jsonrpc_lines import serve_lines

_EXIT_SECONDS = 0.9
"""Seconds after the end of standard input by which the process has ended, whatever is still in progress: work in an
uncommitted transaction was not acknowledged and is not kept.
"""


def main(arguments: list[str] | None = None) -> NoReturn:
    """Serve until standard input ends, and end the process."""
    parser = argparse.ArgumentParser(prog="palazzo mcp", add_help=False)
    parser.add_argument("--profile", default="palazzo")
    parser.add_argument("--toolset", default="core")
    parser.add_argument("--palace", type=Path)
    parser.add_argument("--read-only", action="store_true")
    options = parser.parse_args(arguments)
    serve_here(options.profile, options.toolset, options.palace, options.read_only)


def serve_here(profile: str, toolset: str, palace: Path | None, read_only: bool = False) -> NoReturn:
    """Serve standard input and output, and end the process with exit code 0. UsageError for an unknown profile.

    It ends at once: the cleanup that libraries do when Python ends (0.5 s with a model loaded) is of no use to a
    client.
    """
    from palazzo.faces.mcp.server import build

    build(profile, toolset)
    stdin, stdout = _taken_streams()
    surroundings = Surroundings(Path(launcher.directory(os.environ)), dict(os.environ), palace, read_only=read_only)
    anyio.run(partial(_serve, stdin, stdout, profile, toolset, surroundings))
    os._exit(0)


async def in_a_thread(operation_call: OperationCall) -> Any:
    """Execute an operation in a thread of this process: the `Call` of a server without a service."""
    return await anyio.to_thread.run_sync(_run, operation_call)


def _run(operation_call: OperationCall) -> Any:
    from palazzo.operations import idempotency, registry
    from palazzo.operations.context import Context

    around = operation_call.surroundings
    with Context(
        palace=around.palace,
        cwd=around.cwd,
        variables=around.variables,
        trust=around.trust,
        on_progress=operation_call.on_progress,
        on_notice=operation_call.on_notice,
    ) as context:
        return idempotency.call(
            context, registry.operation(operation_call.operation), operation_call.request, operation_call.key
        )


async def _serve(stdin: BinaryIO, stdout: int, profile: str, toolset: str, surroundings: Surroundings) -> None:
    async def write(line: bytes) -> None:
        await anyio.to_thread.run_sync(_write, stdout, line)

    await serve_lines(
        _lines(stdin), write, profile=profile, toolset=toolset, surroundings=surroundings, call=in_a_thread
    )


def _write(stdout: int, line: bytes) -> None:
    rest = memoryview(line)
    while rest:
        rest = rest[os.write(stdout, rest) :]


def _taken_streams() -> tuple[BinaryIO, int]:
    """Reserve standard input and output for the protocol; other code gets empty input, and standard error."""
    stdin, stdout = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return os.fdopen(stdin, "rb"), stdout


async def _lines(stdin: BinaryIO) -> AsyncIterator[bytes]:
    """Yield lines as they arrive, read by a thread that does not have to be joined."""
    send, receive = anyio.create_memory_object_stream[bytes](0)

    def read() -> None:
        for line in iter(stdin.readline, b""):
            anyio.from_thread.run(send.send, line, token=token)
        anyio.from_thread.run_sync(_close_in_time, token=token)
        anyio.from_thread.run_sync(send.close, token=token)

    token = anyio.lowlevel.current_token()
    threading.Thread(target=read, daemon=True).start()
    async with receive:
        async for line in receive:
            yield line


def _close_in_time() -> None:
    """End the process soon, even if an operation is still running."""
    timer = threading.Timer(_EXIT_SECONDS, os._exit, [0])
    timer.daemon = True
    timer.start()


if __name__ == "__main__":
    main()
