"""Listening addresses of the server: parsing of a typed address, and the sockets that are bound to it."""

from __future__ import annotations

import contextlib
import errno
import ipaddress
import os
import re
import socket
from dataclasses import dataclass

from palazzo.errors import PalazzoError, UsageError

DEFAULT = "127.0.0.1:8377"
_PORT = 8377
_ADDRESS = re.compile(
    r":?(?P<alone>\d{1,5})|(?:\[(?P<v6>[0-9A-Fa-f:.]+)\]|(?P<name>[^\[\]:\s/@]+))(?::(?P<port>\d{1,5}))?"
)
_ABSENT = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)
_BACKLOG = 128
"""Connections that the system holds until they are accepted."""


@dataclass(frozen=True)
class Bound:
    """Listening sockets, all at one port; `host` is as it was typed."""

    host: str
    port: int
    sockets: list[socket.socket]
    is_loopback: bool

    def close(self) -> None:
        """Stop listening."""
        for listener in self.sockets:
            listener.close()

    @property
    def url(self) -> str:
        """Return the address as a URL for a browser."""
        return url_of(self.host, self.port)


def url_of(host: str, port: int) -> str:
    """Return the address of a server as a URL for a browser."""
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def host_and_port(address: str) -> tuple[str, int]:
    """Read `HOST:PORT`, `HOST`, `PORT` or `[IPv6]:PORT`; raises UsageError for anything else."""
    parts = _ADDRESS.fullmatch(address.strip())
    if parts is None:
        raise UsageError(f"'{address}' is not an address to serve at; write HOST:PORT, such as {DEFAULT}.")
    port = int(parts["port"] or parts["alone"] or _PORT)
    if port > 65_535:
        raise UsageError(f"Port {port} does not exist; the highest is 65535.")
    return parts["v6"] or parts["name"] or "127.0.0.1", port


def bound(address: str) -> Bound:
    """Listen at `HOST:PORT`, `HOST`, `PORT` or `[IPv6]:PORT`; raises UsageError if it is invalid or unavailable.

    Port 0 takes a free one. For a name, listens at all addresses that it resolves to.
    """
    host, port = host_and_port(address)
    try:
        leads_to = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        raise UsageError(f"'{host}' does not resolve to an address of this machine ({error}).") from None
    with contextlib.ExitStack() as stack:
        sockets: list[socket.socket] = []
        missing: OSError | None = None
        for family, *_, name in dict.fromkeys(leads_to):
            try:
                listener = socket.create_server((str(name[0]), port), family=family, backlog=_BACKLOG)
            except OSError as error:
                if error.errno not in _ABSENT:
                    # `create_server` adds the address to its own text
                    reason = os.strerror(error.errno) if error.errno else error.strerror
                    raise PalazzoError(f"Cannot listen at {address} ({reason}); choose another port.") from None
                missing = error  # `localhost` often leads to ::1 also where there is no IPv6
                continue
            sockets.append(stack.enter_context(listener))
            port = int(listener.getsockname()[1])
        if not sockets:
            raise PalazzoError(
                f"'{host}' is not an address of this machine ({missing}); serve at 127.0.0.1 or 0.0.0.0."
            )
        stack.pop_all()
    return Bound(host, port, sockets, all(_is_loopback(listener) for listener in sockets))


def _is_loopback(listener: socket.socket) -> bool:
    return ipaddress.ip_address(listener.getsockname()[0].partition("%")[0]).is_loopback
