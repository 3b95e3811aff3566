"""Detection of addresses that belong to this machine. Pure.

An address is read as the programs that connect to it read it: the part before `@` is a user, the part after `#` or `?`
is not part of the host, and a host may be a single number. An address that is not certain to be loopback does not count
as loopback.
"""

from __future__ import annotations

import re

from palazzo.text.lazy_patterns import make_regex

_SCHEME = make_regex(r"(?:https?|wss?|grpcs?|tcp|ftp)://", re.IGNORECASE)
_ANY_SCHEME = make_regex(r"[A-Za-z][A-Za-z0-9+.-]{1,20}://|(?:git|svn|docker|oci|s3|gs|ssh)(?:\+\w+)?:(?=[/\w])")
_HOST = make_regex(
    r"\[(?P<six>[0-9A-Fa-f:.]{2,45})\](?::(?P<sixport>\d{1,5}))?|(?P<host>[^:\s]*)(?::(?P<port>\d{1,5}))?"
)
_NUMBER = make_regex(r"0[xX][0-9A-Fa-f]{1,8}|0[0-7]{0,11}|[1-9]\d{0,9}")
_DATA_PORTS = frozenset(
    (
        *(
            "2375",
            "2376",
            "2379",
            "3100",
            "3306",
            "4566",
            "5432",
            "5601",
            "5672",
            "5984",
            "6379",
            "6443",
            "7474",
        ),
        *("8025", "8086", "8123", "8200", "8428", "8500", "8983", "9042", "9200", "9300", "10250", "11211", "11434"),
        *("15672", "16686", "1025", "1080", "1143", "1433", "1521", "27017", "28015", "33060", "50070"),
    )
)
"""Ports that usually belong to a database, a log store, a mailbox or a cluster, not to a server of the project."""
_IGNORED_SIGNS = str.maketrans({"\t": None, "\n": None, "\r": None})


def is_own_server(address: str) -> bool:
    """Whether an address, with or without a scheme, is a server on this machine that serves no stored data."""
    host, port = _host_and_port(address)
    return is_loopback(host) and port not in _DATA_PORTS


def host_of(address: str) -> str:
    """Return the host in an address; '' if it is uncertain."""
    return _host_and_port(address)[0]


def port_of(address: str) -> str:
    """Return the port in an address; '' if it has none."""
    return _host_and_port(address)[1]


def is_loopback(host: str) -> bool:
    """Whether a host's name or number is this machine's own."""
    host = host.lower().rstrip(".")
    if host in ("localhost", "ip6-localhost", "::1", "0:0:0:0:0:0:0:1", "::") or host.endswith(".localhost"):
        return True
    parts = host.split(".")
    if not 1 <= len(parts) <= 4 or not all(_NUMBER.fullmatch(part) for part in parts):
        return False
    numbers = [int(part, 8 if part[0] == "0" and part[1:2].isdigit() else 0) for part in parts]
    if any(number > 255 for number in numbers[:-1]):
        return False
    last = numbers[-1]
    if last >= 1 << (8 * (5 - len(numbers))):
        return False
    whole = sum(number << (8 * (3 - n)) for n, number in enumerate(numbers[:-1])) + last
    return whole >> 24 == 127 or whole == 0


def names_foreign_address(text: str) -> bool:
    """Whether a text holds an address with a scheme that is not this machine's own."""
    for match in _ANY_SCHEME.finditer(text):
        if match[0].lower().startswith("file:"):
            continue
        if match[0].lower() in ("sqlite://", "sqlite3://"):
            continue
        rest = text[match.end() : match.end() + 2_000]
        if not match[0].endswith("://") or not is_loopback(_host_and_port(re.split(r"[\s'\"`),;]", rest)[0])[0]):
            return True
    return False


def _host_and_port(address: str) -> tuple[str, str]:
    if re.search(r"[\\{}\[\]\s%\0]", address) and not re.match(r"(?:\w+://)?\[::1?\]", address):
        return "", ""
    scheme = _SCHEME.match(address)
    rest = address[scheme.end() if scheme else 0 :]
    authority = re.split(r"[/?#]", rest.translate(_IGNORED_SIGNS), maxsplit=1)[0].rpartition("@")[2]
    if authority.startswith(":") and authority[1:].isdigit():  # HTTPie's `:8000`
        return "localhost", authority[1:]
    match = _HOST.fullmatch(authority)
    if not match:
        return "", ""
    if match["six"]:
        return match["six"], match["sixport"] or ""
    return match["host"] or "", match["port"] or ""
