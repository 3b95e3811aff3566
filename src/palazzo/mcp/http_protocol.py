"""HTTP/1.1 on a socket, by uvicorn and h11, with what uvicorn leaves out: a limit to how long a request's head takes.

Without it a client that connects and says nothing, or a letter a minute, holds a connection for as long as it likes.
"""

from __future__ import annotations

import asyncio
import socket

from uvicorn.protocols.http.h11_impl import H11Protocol

LONGEST_HEAD = 10.0
"""Seconds from the first byte of a request, or from the connection, until its headers must be there."""


class HastyProtocol(H11Protocol):
    """Closes a connection whose request is not there in time."""

    longest_head = LONGEST_HEAD
    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait, and send what is written at once.

        asyncio sees to that by itself only for sockets that it bound. Else an answer's second part waits for the
        client to acknowledge its first: 40 ms.
        """
        super().connection_made(transport)
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Take bytes; those of an answer's request are the application's matter, those of a head must end in time."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._wait_no_more()
        elif self._waiting is None:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._wait_no_more()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._waiting = self.loop.call_later(self.longest_head, self.timeout_keep_alive_handler)

    def _wait_no_more(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
