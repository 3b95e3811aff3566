"""Which names a server answers to."""

from __future__ import annotations

import pytest

from palazzo.faces.mcp.http_names import Authority, Names, authority

OURS = ["localhost", "localhost:8377", "LocalHost:8377", "localhost.", "localhost.:8377", "127.0.0.1", "127.0.0.1:1",
        "[::1]", "[::1]:8377", "[0:0:0:0:0:0:0:1]:8377"]  # fmt: skip
FOREIGN = ["", "evil.com", "evil.com:8377", "localhost.evil.com", "localhost:8377.evil.com",
           "evil.com#localhost",
           "localhost@evil.com", "user@localhost", "user:pw@localhost:8377", "127.1", "127.0.0.1.", "0x7f000001",
           "2130706433", "127.0.0.2", "::1", "[::1", "::1]:8377", "[::ffff:127.0.0.1]", "[::1%lo]:8377",
           "[fe80::1%25eth0]",
           "localhost:", "localhost:0", "localhost:65536", "localhost:8377:8377", "localhost:+8377", "localhost: 8377",
           "localhost\t", " localhost", "localhost,evil.com", "localhost/",
           "localhost..", "..", ".", "xn--lcalhost-60a",
           "loc\u0430lhost", "localhost\u3002", "192.168.1.5", "0.0.0.0", "[::]", "localhost\x00"]  # fmt: skip


@pytest.mark.parametrize("said", OURS)
def test_loopback_is_called_by_its_names_in_any_spelling_and_with_any_port(said: str) -> None:
    assert Names().allows_host(said, "127.0.0.1")


@pytest.mark.parametrize("said", [one for one in FOREIGN if one != "127.0.0.1."])
def test_a_name_of_somebody_else_is_not_answered_to(said: str) -> None:
    assert not Names().allows_host(said, "127.0.0.1")


def test_the_address_that_a_request_came_to_is_a_name_and_no_other() -> None:
    assert Names().allows_host("192.168.1.5:8377", "192.168.1.5")
    assert not Names().allows_host("192.168.1.6:8377", "192.168.1.5")
    assert Names().allows_host("[2001:DB8:0::7]", "2001:db8::7")
    assert Names().allows_host("192.168.1.5", "::ffff:192.168.1.5")  # by a socket that takes both
    assert not Names().allows_host("[fe80::1]", "")


def test_a_listed_name_is_meant_with_any_port_unless_it_has_one() -> None:
    names = Names(frozenset({Authority("memory.lan"), Authority("proxy.lan", 443)}))
    assert names.allows_host("Memory.LAN.:9000", "10.0.0.1")
    assert names.allows_host("proxy.lan:443", "10.0.0.1")
    assert not names.allows_host("proxy.lan", "10.0.0.1")
    assert not names.allows_host("proxy.lan:8377", "10.0.0.1")
    assert not names.allows_host("other.memory.lan", "10.0.0.1")


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        ("http://localhost:8377", "localhost:8377"),
        ("http://LOCALHOST.:8377", "localhost:8377"),
        ("http://127.0.0.1:8377", "127.0.0.1:8377"),
        ("http://[::1]:8377", "[0::1]:8377"),
        ("http://localhost", "localhost:80"),
        ("https://localhost", "localhost"),
    ],
)
def test_a_page_of_the_very_server_may_call(origin: str, host: str) -> None:
    assert Names().allows_origin(origin, host)


@pytest.mark.parametrize(
    "origin",
    ["null", "", "http://evil.com", "https://localhost:8377.evil.com", "http://localhost:3000", "http://localhost",
     "https://localhost", "http://127.0.0.1:8377", "ftp://localhost:8377", "file://", "chrome-extension://abcdef",
     "http://localhost:8377/", "http://user@localhost:8377", "HTTP//localhost:8377", "http://localhost:8377 http://evil.com",
     "http://localhost:8377, http://evil.com", "http://evil.com#localhost:8377", "vscode-webview://x", "http://[::1]:8377"],
)  # fmt: skip
def test_a_page_of_another_origin_may_not(origin: str) -> None:
    assert not Names().allows_origin(origin, "localhost:8377")


def test_a_listed_origin_may() -> None:
    names = Names(origins=frozenset({"https://chat.example.com", "chrome-extension://abcdef", "null"}))
    assert names.allows_origin("chrome-extension://abcdef", "localhost:8377")
    assert not names.allows_origin("null", "localhost:8377")
    assert names.allows_origin("https://chat.example.com", "localhost:8377")
    assert names.allows_origin("https://Chat.Example.com", "localhost:8377")
    assert not names.allows_origin("http://chat.example.com", "localhost:8377")
    assert not names.allows_origin("https://chat.example.com:444", "localhost:8377")


def test_a_name_has_one_spelling() -> None:
    assert authority("[0:0:0::1]:80") == Authority("::1", 80)
    assert authority("Example.COM.") == Authority("example.com")
    assert authority("a" * 300) is None
