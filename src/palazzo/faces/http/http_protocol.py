"""HTTP/1.1 on a socket, by uvicorn and h11, with limits that uvicorn lacks for connections without a request.

Without these limits, a client that connects and sends nothing, or one byte a minute, holds a connection for as long as
it likes. A few hundred such clients would lock out every token holder.
"""

from __future__ import annotations

import asyncio
import socket

from uvicorn.protocols.http.h11_impl import H11Protocol

LONGEST_HEAD = 10.0
"""Maximum seconds from the first byte of a request, or from the connection, until its headers must be complete."""
MOST_CONNECTIONS = 256
"""Maximum concurrent connections. An agent holds one or two. Further connections get 503 immediately."""
MOST_WAITING = 48
"""Maximum concurrent connections without a request in progress. Beyond these, the one that has waited longest is
closed.
"""


class DeadlineProtocol(H11Protocol):
    """Closes a connection whose request does not arrive in time."""

    longest_head = LONGEST_HEAD
    most_waiting = MOST_WAITING
    _head_timer: asyncio.TimerHandle | None = None
    _waits_since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the wait for a request, and disable delayed sending.

        asyncio does that itself only for sockets that it bound. Otherwise an answer's second part waits for the client
        to acknowledge the first: 40 ms.
        """
        super().connection_made(transport)
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._waits_since = self.loop.time()
        self._wait()
        self._close_longest_waiting()

    def data_received(self, data: bytes) -> None:
        """Receive bytes; during an answer the application handles them, those of a head must end in time."""
        super().data_received(data)
        if self._is_answering:
            self._wait_no_more()
        elif self._head_timer is None:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._wait_no_more()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """Wait for the next request. Meanwhile the connection may be closed to make room for others."""
        self._waits_since = self.loop.time()
        super().on_response_complete()

    @property
    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _close_longest_waiting(self) -> None:
        idle_connections = [
            connection
            for connection in self.connections
            if isinstance(connection, DeadlineProtocol)
            and not connection._is_answering
            and not connection.transport.is_closing()
        ]
        for connection in sorted(idle_connections, key=lambda connection: connection._waits_since)[
            : max(0, len(idle_connections) - self.most_waiting)
        ]:
            connection.timeout_keep_alive_handler()

    def _wait(self) -> None:
        self._head_timer = self.loop.call_later(self.longest_head, self.timeout_keep_alive_handler)

    def _wait_no_more(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None
