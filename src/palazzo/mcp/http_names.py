"""By which names a server may be called: the `Host` and `Origin` of requests, as allow-lists. Pure.

What a web page can make a browser send is the danger: a page whose own name it lets lead to this machine (DNS
rebinding) names itself in `Host`, and a page of another origin names that in `Origin`. Ports of `Host` prove nothing,
since a browser sends there whatever it was told to call, and tunnels change them.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})

_AUTHORITY = re.compile(r"(?:\[([0-9A-Fa-f:.]{2,45})\]|([A-Za-z0-9](?:[A-Za-z0-9_.-]{0,252})))(?::([0-9]{1,5}))?")
_ORIGIN = re.compile(r"(https?)://([^/?#@\s]+)")
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Authority:
    """A name or an address in its one spelling (`::1` for `[0:0::1]`), and the port where one is given."""

    name: str
    port: int | None = None


@dataclass(frozen=True, slots=True)
class Names:
    """What may stand in `Host` besides this machine's loopback names and the address that a request came to.

    A host without a port is meant with any. An origin is allowed that is listed, or is that of the request's own host.
    """

    hosts: frozenset[Authority] = frozenset()
    origins: frozenset[str] = frozenset()

    def allows_host(self, said: str, came_to: str) -> bool:
        """Whether `said`, the value of a `Host`, is a name of this server; `came_to` is its own end's address."""
        named = authority(said)
        if named is None:
            return False
        known = LOOPBACK | {_address(came_to)}
        return named.name in known or named in self.hosts or Authority(named.name) in self.hosts

    def allows_origin(self, said: str, host: str) -> bool:
        """Whether a page of this origin may call; `host` is the request's own, which is allowed."""
        if "://" in said and said.lower() in self.origins:
            return True  # an extension's, too; never `null`, which is every page without a name
        origin = _ORIGIN.fullmatch(said)
        if origin is None:
            return False
        page, own = authority(origin[2]), authority(host)
        port = _PORTS[origin[1]]
        return page is not None and own is not None and (page.name, page.port or port) == (own.name, own.port or port)


def authority(said: str) -> Authority | None:
    """Return the host and port of `name[:port]`; None for what is none, a user's name or a zone among it."""
    found = _AUTHORITY.fullmatch(said)
    if found is None:
        return None
    bracketed, name, port = found.groups()
    number = None if port is None else int(port)
    if number is not None and not 0 < number < 65_536:
        return None
    if bracketed is not None:
        try:
            return Authority(str(ipaddress.IPv6Address(bracketed)), number)
        except ValueError:
            return None
    plain = name.lower().removesuffix(".")  # `localhost.` is `localhost`, as resolvers have it
    return Authority(plain, number) if plain and ".." not in plain else None


def _address(told: str) -> str:
    """An address as `authority` spells it; an IPv4 one that came through an IPv6 socket as what it is."""
    try:
        found = ipaddress.ip_address(told.partition("%")[0])
    except ValueError:
        return told
    mapped = getattr(found, "ipv4_mapped", None)
    return str(mapped or found)
