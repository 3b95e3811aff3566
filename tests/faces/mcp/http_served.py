"""A server in a thread of the test, on a real socket; and requests to it, written byte by byte where that matters."""

from __future__ import annotations

import asyncio
import json
import re
import socket
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import uvicorn

from palazzo.faces.http.http_protocol import DeadlineProtocol
from palazzo.faces.mcp.http_guard import LARGEST_HEAD
from palazzo.faces.mcp.http_quotas import App

PATIENCE = 20.0
"""Seconds after which a test gives up; none waits that long unless something is wrong."""


@dataclass(frozen=True)
class Reply:
    """What a server said."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body, which must be JSON, or the last message of its events."""
        if self.headers.get("content-type", "").startswith("text/event-stream"):
            told = [line[5:] for line in re.split("\r\n|\n|\r", self.body.decode()) if line.startswith("data:")]
            return json.loads(told[-1])
        return json.loads(self.body)

    @property
    def sentence(self) -> str:
        """Why it was refused."""
        said: str = self.json["error"]["message"]
        return said


class Address:
    """Where a server listens."""

    def __init__(self, port: int) -> None:
        self.port = port

    @property
    def name(self) -> str:
        """What stands in `Host`."""
        return f"127.0.0.1:{self.port}"

    def connect(self) -> socket.socket:
        """Open a connection."""
        return socket.create_connection(("127.0.0.1", self.port), PATIENCE)

    def exchange(self, raw: bytes, *, then_end: bool = False) -> bytes:
        """Send bytes and return all that comes until the server closes, or has answered what was asked to end so."""
        with self.connect() as connection:
            try:
                connection.sendall(raw)
                if then_end:
                    connection.shutdown(socket.SHUT_WR)
            except OSError:
                pass  # the server has said enough, and closed
            return everything(connection)

    def request(
        self,
        method: str,
        path: str = "/mcp",
        headers: Mapping[str, str | None] | None = None,
        body: bytes | None = None,
    ) -> Reply:
        """Send a request as a client would; a header that is None is left out."""
        own: dict[str, str | None] = {"Host": self.name, "Connection": "close"}
        if body is not None:
            own["Content-Length"] = str(len(body))
        told = {**own, **(headers or {})}
        lines = [
            f"{method} {path} HTTP/1.1",
            *(f"{name}: {value}" for name, value in told.items() if value is not None),
        ]
        return reply(self.exchange("\r\n".join([*lines, "", ""]).encode("latin-1") + (body or b"")))


def everything(connection: socket.socket) -> bytes:
    """Read until the other side closes."""
    told = bytearray()
    try:
        while part := connection.recv(65_536):
            told += part
    except ConnectionResetError:
        pass
    return bytes(told)


def reply(raw: bytes) -> Reply:
    """Read one answer."""
    head, _, body = raw.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    if headers.get("transfer-encoding") == "chunked":
        body = b"".join(_chunks(body))
    return Reply(int(first.split(" ")[1]), headers, body)


def _chunks(raw: bytes) -> Iterator[bytes]:
    while raw:
        size, _, rest = raw.partition(b"\r\n")
        if int(size, 16) == 0:
            return
        yield rest[: int(size, 16)]
        raw = rest[int(size, 16) + 2 :]


@contextmanager
def served(app: App, protocol: type[DeadlineProtocol] = DeadlineProtocol) -> Iterator[Address]:
    """Serve an ASGI application as the HTTP server does."""
    config = uvicorn.Config(
        app, http=protocol, ws="none", lifespan="off", log_config=None, access_log=False, proxy_headers=False,
        server_header=False, limit_concurrency=64, h11_max_incomplete_event_size=LARGEST_HEAD,
        timeout_graceful_shutdown=1,
    )  # fmt: skip
    server = uvicorn.Server(config)
    listening = socket.create_server(("127.0.0.1", 0))

    def stop() -> None:
        server.should_exit = True

    with running(lambda: server.serve([listening]), stop):
        yield Address(listening.getsockname()[1])


@contextmanager
def running(serve: Callable[[], Any], stop: Callable[[], None]) -> Iterator[None]:
    """Run a server in a thread with a loop of its own; what it raises is raised here."""
    with ThreadPoolExecutor(1) as pool:
        ended = pool.submit(lambda: asyncio.run(serve()))
        try:
            yield
        finally:
            stop()
            ended.result(PATIENCE)
