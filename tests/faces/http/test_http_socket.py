"""Where a server listens, as it is typed."""

from __future__ import annotations

import socket

import pytest

from palazzo.errors import PalazzoError, UsageError
from palazzo.faces.http.http_socket import bound


@pytest.mark.parametrize(
    ("typed", "host", "is_loopback"),
    [
        ("127.0.0.1:0", "127.0.0.1", True),
        ("127.7.7.7:0", "127.7.7.7", True),
        ("localhost:0", "localhost", True),
        (":0", "127.0.0.1", True),
        ("0", "127.0.0.1", True),
        ("0.0.0.0:0", "0.0.0.0", False),
    ],
)
def test_an_address_is_a_host_and_a_port(typed: str, host: str, is_loopback: bool) -> None:
    found = bound(typed)
    found.close()
    assert (found.host, found.is_loopback) == (host, is_loopback)
    assert found.port > 0
    assert found.url == f"http://{host}:{found.port}"


@pytest.mark.skipif(not socket.has_ipv6, reason="this machine has no IPv6")
def test_an_ipv6_address_stands_in_brackets() -> None:
    found = bound("[::1]:0")
    found.close()
    assert (found.host, found.is_loopback, found.url) == ("::1", True, f"http://[::1]:{found.port}")


@pytest.mark.parametrize(
    "typed",
    ["", "a b:1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536", "::1:8377", "[::1", "-1", "http://localhost:8377",
     "user@localhost:1", "no-such-host.invalid:1"],
)  # fmt: skip
def test_what_is_no_address_is_said(typed: str) -> None:
    with pytest.raises(UsageError):
        bound(typed)


def test_a_port_that_is_taken_and_an_address_of_another_machine_are_said() -> None:
    first = bound("127.0.0.1:0")
    try:
        with pytest.raises(PalazzoError, match="choose another port") as taken:
            bound(f"127.0.0.1:{first.port}")
        assert str(taken.value).count(str(first.port)) == 1
    finally:
        first.close()
    with pytest.raises(PalazzoError, match="not an address of this machine"):
        bound("203.0.113.7:0")
