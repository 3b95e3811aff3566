"""Where a server listens: an address as it is typed, and the sockets that are bound to it."""

from __future__ import annotations

import contextlib
import errno
import ipaddress
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
"""Connections that the system keeps until they are accepted."""


@dataclass(frozen=True)
class Bound:
    """Sockets that listen, all at one port; `host` is as it was typed."""

    host: str
    port: int
    sockets: list[socket.socket]
    is_loopback: bool

    def close(self) -> None:
        """Listen no more."""
        for listener in self.sockets:
            listener.close()

    @property
    def url(self) -> str:
        """The address for a browser's line."""
        return url_of(self.host, self.port)


def url_of(host: str, port: int) -> str:
    """Return the address of a server for a browser's line."""
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def host_and_port(address: str) -> tuple[str, int]:
    """Read `HOST:PORT`, `HOST`, `PORT` or `[IPv6]:PORT`; UsageError for anything else."""
    parts = _ADDRESS.fullmatch(address.strip())
    if parts is None:
        raise UsageError(f"'{address}' is no address to serve at; write HOST:PORT, such as {DEFAULT}.")
    port = int(parts["port"] or parts["alone"] or _PORT)
    if port > 65_535:
        raise UsageError(f"There is no port {port}; the highest is 65535.")
    return parts["v6"] or parts["name"] or "127.0.0.1", port


def bound(address: str) -> Bound:
    """Listen at `HOST:PORT`, `HOST`, `PORT` or `[IPv6]:PORT`; UsageError for what is none, or is not to be had.

    Port 0 takes one that is free. A name is listened at wherever it leads.
    """
    host, port = host_and_port(address)
    try:
        leads_to = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        raise UsageError(f"'{host}' leads to no address of this machine ({error}).") from None
    with contextlib.ExitStack() as stack:
        sockets: list[socket.socket] = []
        missing: OSError | None = None
        for family, *_, name in dict.fromkeys(leads_to):
            try:
                listener = socket.create_server((str(name[0]), port), family=family, backlog=_BACKLOG)
            except OSError as error:
                if error.errno not in _ABSENT:
                    raise PalazzoError(
                        f"{address} cannot be listened at ({error.strerror}); choose another port."
                    ) from None
                missing = error  # `localhost` often leads to ::1 also where there is no IPv6
                continue
            sockets.append(stack.enter_context(listener))
            port = int(listener.getsockname()[1])
        if not sockets:
            raise PalazzoError(f"'{host}' is no address of this machine ({missing}); serve at 127.0.0.1 or 0.0.0.0.")
        stack.pop_all()
    return Bound(host, port, sockets, all(_is_loopback(listener) for listener in sockets))


def _is_loopback(listener: socket.socket) -> bool:
    return ipaddress.ip_address(listener.getsockname()[0].partition("%")[0]).is_loopback
