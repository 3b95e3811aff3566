"""Targets that are servers: an MCP server on lines, the HTTP server of tools, and the viewer, each with a real palace.

In an input `{TOKEN}`, `{HOST}`, `{COOKIE}` and `{FORM}` stand for what only a running server knows.
"""

from __future__ import annotations

import contextlib
import json
import socket
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import anyio
from tests.faces.mcp.http_palace import OWNER, served_palace
from tests.faces.web.conftest import write_world
from tests.faces.web.served_viewer import served_viewer

from palazzo.faces.mcp.client_calls import Surroundings
from palazzo.faces.mcp.jsonrpc_lines import serve_lines
from palazzo.faces.mcp.stdio_server import in_a_thread
from palazzo.features.selftest.steps import run_operation

_FAILED = 500
_NOT_IMPLEMENTED = (501, 505)
"""Answers to a method or a version that no server needs to know."""
_PATIENCE = 10.0
"""Seconds for an answer to a request that ends."""
_INTERNAL_ERROR = -32603
_MOST_LINES = 12


@contextlib.contextmanager
def serve_frames() -> Iterator[Callable[[bytes], object]]:
    """Let an MCP server read an input, line by line, and check each of its answers."""
    with tempfile.TemporaryDirectory() as name:
        palace = Path(name) / "palace.db"
        variables = {"HOME": name, "PALAZZO_SERVICE": "off"}
        run_operation(palace, variables, "remember", text="The gateway listens on port 8443.", wing="shop")
        surroundings = Surroundings(Path(name), variables, palace)

        async def serve(lines: list[bytes]) -> list[bytes]:
            answers: list[bytes] = []

            async def each() -> AsyncIterator[bytes]:
                for line in lines:
                    yield line

            async def write(line: bytes) -> None:
                answers.append(line)

            await serve_lines(
                each(), write, profile="palazzo", toolset="core", surroundings=surroundings, call=in_a_thread
            )
            return answers

        def read(data: bytes) -> object:
            answers = anyio.run(serve, data.split(b"\n")[:_MOST_LINES])
            for line in answers:
                answer = json.loads(line)
                assert answer["jsonrpc"] == "2.0"
                assert answer.get("error", {}).get("code") not in (0, _INTERNAL_ERROR), answer
                assert "failed inside Palazzo" not in line.decode()
            return answers

        yield read


@contextlib.contextmanager
def serve_http() -> Iterator[Callable[[bytes], object]]:
    """Send inputs to the HTTP server of tools."""
    with tempfile.TemporaryDirectory() as name, served_palace(Path(name)) as served:
        values = {b"{TOKEN}": served.secrets[OWNER].encode(), b"{HOST}": served.address.name.encode()}
        yield lambda data: _exchange(served.address.port, data, values)


@contextlib.contextmanager
def serve_viewer() -> Iterator[Callable[[bytes], object]]:
    """Send inputs to the viewer, as a browser that was admitted."""
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        write_world(Path(name))
        viewer = stack.enter_context(served_viewer(Path(name)))
        client = viewer.enter()
        ((cookie, value),) = client.cookies.items()
        values = {
            b"{COOKIE}": f"{cookie}={value}".encode(),
            b"{HOST}": f"127.0.0.1:{viewer.server.port}".encode(),
            b"{FORM}": client.get("/review").form_token().encode(),
        }
        yield lambda data: _exchange(viewer.server.port, data, values)


def _exchange(port: int, data: bytes, values: dict[bytes, bytes]) -> int:
    """Send a request and end; return the status of the first answer, 0 if there is none."""
    for name, value in values.items():
        data = data.replace(name, value)
    with socket.create_connection(("127.0.0.1", port), _PATIENCE) as connection:
        answer = bytearray()
        with contextlib.suppress(ConnectionError):  # the server may refuse before it has read everything
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
        with contextlib.suppress(ConnectionError):
            while part := connection.recv(65_536):
                answer += part
    if not answer:
        return 0
    version, status, *_ = bytes(answer[:64]).split(b" ", 2)
    assert version.startswith(b"HTTP/1."), bytes(answer[:200])
    assert int(status) < _FAILED or int(status) in _NOT_IMPLEMENTED, bytes(answer[:2000])
    return int(status)
