"""The names under which a server may be called: allow-lists for the `Host` and `Origin` of requests. Pure.

The danger is what a web page can make a browser send. A page that points its own name at this machine (DNS rebinding)
names itself in `Host`, and a page of another origin names that origin in `Origin`. The port in `Host` proves nothing,
since a browser sends the port that it was told to call, and tunnels change ports.
"""

from __future__ import annotations

import ipaddress
import re

from palazzo.frozen_class import frozen

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})

_AUTHORITY = re.compile(r"(?:\[([0-9A-Fa-f:.]{2,45})\]|([A-Za-z0-9](?:[A-Za-z0-9_.-]{0,252})))(?::([0-9]{1,5}))?")
_ORIGIN = re.compile(r"(https?)://([^/?#@\s]+)")
_PORTS = {"http": 80, "https": 443}


@frozen
class Authority:
    """A name or an address in its canonical spelling (`::1` for `[0:0::1]`), and the port if one is given."""

    name: str
    port: int | None = None


@frozen
class Names:
    """Allowed values of `Host` in addition to this machine's loopback names and the address at which a request arrived.

    A host without a port matches any port. An origin is allowed if it is listed, or if it is that of the request's own
    host.
    """

    hosts: frozenset[Authority] = frozenset()
    origins: frozenset[str] = frozenset()

    def allows_host(self, host_header: str, came_to: str) -> bool:
        """Return whether `host_header`, a `Host` header, names this server; `came_to` is the local address."""
        host = authority(host_header)
        if host is None:
            return False
        local_names = LOOPBACK | {_address(came_to)}
        return host.name in local_names or host in self.hosts or Authority(host.name) in self.hosts

    def allows_origin(self, origin_header: str, host: str) -> bool:
        """Return whether a page of this origin may call; `host` is the request's own, which is allowed."""
        if "://" in origin_header and origin_header.lower() in self.origins:
            return True  # an extension's, too; never `null`, which is every page without a name
        origin = _ORIGIN.fullmatch(origin_header)
        if origin is None:
            return False
        page, own = authority(origin[2]), authority(host)
        port = _PORTS[origin[1]]
        return page is not None and own is not None and (page.name, page.port or port) == (own.name, own.port or port)


def authority(text: str) -> Authority | None:
    """Return the host and port of `name[:port]`; None if it is invalid or has a user name or a zone."""
    match = _AUTHORITY.fullmatch(text)
    if match is None:
        return None
    ipv6, name, port = match.groups()
    number = None if port is None else int(port)
    if number is not None and not 0 < number < 65_536:
        return None
    if ipv6 is not None:
        try:
            return Authority(str(ipaddress.IPv6Address(ipv6)), number)
        except ValueError:
            return None
    plain = name.lower().removesuffix(".")  # `localhost.` is `localhost`, as resolvers have it
    return Authority(plain, number) if plain and ".." not in plain else None


def _address(text: str) -> str:
    """Return an address as `authority` spells it; an IPv4-mapped IPv6 address becomes IPv4."""
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return text
    ipv4_address = getattr(address, "ipv4_mapped", None)
    return str(ipv4_address or address)
