"""The gate before the server, over real sockets: what is let in, and what is told to what is not."""

from __future__ import annotations

import contextlib
import gzip
import socket
import time
from collections.abc import Callable, Iterator, Mapping

import pytest
from tests.faces.mcp.http_served import PATIENCE, Address, everything, reply, served

from palazzo.faces.http.http_protocol import DeadlineProtocol
from palazzo.faces.mcp.http_guard import LARGEST_HEAD, Guard
from palazzo.faces.mcp.http_names import Names
from palazzo.faces.mcp.http_quotas import GRANT_KEY, Grant, Receive, RequestQuota, Scope, Send

LARGEST = 100_000
GOOD = {"Authorization": "Bearer good", "Content-Type": "application/json"}
WORDS = b"these words reached the application"


class Inside:
    """An application that answers with the body it got, and remembers its requests."""

    def __init__(self) -> None:
        self.seen: list[Scope] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.seen.append(scope)
        told = bytearray()
        while True:
            message = await receive()
            told += message.get("body", b"")
            if not message.get("more_body", False):
                break
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]})
        await send({"type": "http.response.body", "body": WORDS + told, "more_body": True})
        while scope["method"] == "GET" or (b"x-hold", b"yes") in scope["headers"]:
            if (await receive())["type"] == "http.disconnect":
                return
        await send({"type": "http.response.body", "body": b"", "more_body": False})


class Known:
    """Tokens of a test: `good` is one until it is revoked."""

    def __init__(self) -> None:
        self.is_good = True

    async def grant_of(self, secret: str) -> Grant | None:
        if secret.startswith("admin"):
            return Grant("admin", secret, "owner")
        return Grant("read", "7f", "laptop") if secret == "good" and self.is_good else None


REQUESTS, STREAMS = 6, 4


class Hastier(DeadlineProtocol):
    longest_head = 0.3
    most_waiting = 8


@pytest.fixture(scope="module")
def inside() -> Inside:
    return Inside()


@pytest.fixture(scope="module")
def every() -> Known:
    return Known()


@pytest.fixture(scope="module")
def running(inside: Inside, every: Known) -> Iterator[Address]:
    guard = Guard(
        inside, Names(), every, largest_body=LARGEST, longest_body=0.5, recheck_seconds=0.05, linger=0.3,
        quota=RequestQuota(REQUESTS, STREAMS),
    )  # fmt: skip
    with served(guard, Hastier) as address:
        yield address


@pytest.fixture
def server(running: Address, inside: Inside, every: Known) -> Address:
    inside.seen.clear()
    every.is_good = True
    return running


def post(server: Address, body: bytes = b"{}", **headers: str | None) -> tuple[int, str]:
    told = server.request("POST", headers={**GOOD, **{name.replace("_", "-"): said for name, said in headers.items()}},
                          body=body)  # fmt: skip
    return told.status, told.body.decode() if told.status == 200 else told.sentence


def test_what_may_come_in_reaches_the_application_without_its_secret(server: Address, inside: Inside) -> None:
    assert post(server, b'{"a": 1}') == (200, WORDS.decode() + '{"a": 1}')
    (scope,) = inside.seen
    assert scope[GRANT_KEY] == Grant("read", "7f", "laptop")
    assert scope["user"].access_token.client_id == "7f"
    assert b"authorization" not in {name for name, _ in scope["headers"]}
    assert "good" not in repr({name: value for name, value in scope.items() if name != GRANT_KEY})


def test_what_is_refused_is_told_why_and_is_not_told_to_the_application(server: Address, inside: Inside) -> None:
    told = server.request("POST", headers={**GOOD, "Authorization": None}, body=b"{}")
    assert told.status == 401
    assert told.headers["www-authenticate"] == 'Bearer realm="palazzo"'
    assert (told.headers["cache-control"], told.headers["connection"]) == ("no-store", "close")
    assert "palazzo token add" in told.sentence
    wrong = server.request("POST", headers={**GOOD, "Authorization": "Bearer wrong"}, body=b"{}")
    assert 'error="invalid_token"' in wrong.headers["www-authenticate"]
    assert inside.seen == []


@pytest.mark.parametrize(
    "said",
    ["good", "Basic good", "Bearer", "Bearer ", "Bearergood", "bearer wrong", "Bearer good2", "Bearer good good",
     "Bearer good,", "Token good", "\xff\xfe", "Bearer \xe9"],
)  # fmt: skip
def test_only_a_bearers_whole_token_is_one(server: Address, said: str) -> None:
    assert post(server, Authorization=said)[0] == 401


def test_the_scheme_is_read_in_any_case_and_a_token_in_the_address_is_none(server: Address) -> None:
    assert post(server, Authorization="bEARER   good ")[0] == 200
    assert server.request("POST", "/mcp?access_token=good", {**GOOD, "Authorization": None}, b"{}").status == 401


def test_hosts_and_origins_of_others_are_refused_before_their_token_is_looked_at(server: Address) -> None:
    for token in ("Bearer good", "Bearer wrong", None):
        assert post(server, Host="evil.com", Authorization=token)[0] == 421
        assert post(server, Origin="http://evil.com", Authorization=token)[0] == 403
    assert post(server, Origin="null")[0] == 403
    assert post(server, Host="localhost:1")[0] == 200
    assert post(server, Origin=f"http://{server.name}")[0] == 200
    assert post(server, Origin=f"http://localhost:{server.port}")[0] == 403  # another origin than that of the Host
    assert post(server, Sec_Fetch_Site="cross-site")[0] == 403  # an <img> names no origin
    assert post(server, Sec_Fetch_Site="same-origin")[0] == 200


def test_a_request_that_names_two_of_something_is_refused(server: Address, inside: Inside) -> None:
    for name, first, second in [
        ("Host", server.name, "evil.com"),
        ("Origin", f"http://{server.name}", "http://evil.com"),
        ("Authorization", "Bearer wrong", "Bearer good"),
        ("Content-Type", "application/json", "text/plain"),
        ("Content-Length", "2", "3"),
        ("Transfer-Encoding", "chunked", "identity"),
    ]:
        headers = {"Host": server.name, **GOOD, "Content-Length": "2"}
        lines = [f"{key}: {value}" for key, value in headers.items() if key != name]
        raw = "\r\n".join(["POST /mcp HTTP/1.1", *lines, f"{name}: {first}", f"{name}: {second}", "", "{}"])
        assert 400 <= reply(server.exchange(raw.encode(), then_end=True)).status <= 431, name
    assert inside.seen == []


def test_there_is_one_path_and_it_has_one_spelling(server: Address) -> None:
    for path in (
        "/", "/mcp/", "//mcp", "/MCP", "/mcp/..", "/x/../mcp", "/./mcp", "/%6dcp", "/mcp%2f", "/mcp%00", "/mcp;a", "*",
        "/mcp/../../etc/passwd", "http://evil.com/mcp", f"http://{server.name}/mcp", "/sse", "/.well-known/x", "/mcp\\",
    ):  # fmt: skip
        assert server.request("POST", path, GOOD, b"{}").status in (400, 404), path
    assert server.request("POST", "/mcp?a=b", GOOD, b"{}").status == 200


@pytest.mark.parametrize("method", ["HEAD", "OPTIONS", "PUT", "PATCH", "TRACE", "CONNECT", "PROPFIND", "get", "X"])
def test_other_methods_are_refused_and_nothing_is_allowed_to_other_origins(server: Address, method: str) -> None:
    told = server.request(method, headers=GOOD)
    assert told.status == 405
    assert told.headers["allow"] == "POST, GET, DELETE"
    assert not any(name.startswith("access-control-") for name in told.headers)
    assert server.request(method).status == 401


def test_a_preflight_is_not_answered(server: Address) -> None:
    asked = {"Origin": f"http://{server.name}", "Access-Control-Request-Method": "POST",
             "Access-Control-Request-Headers": "authorization"}  # fmt: skip
    told = server.request("OPTIONS", headers=asked)
    assert told.status == 401
    assert not any(name.startswith("access-control-") for name in told.headers)


@pytest.mark.parametrize(
    "kind",
    [None, "", "text/plain", "application/x-www-form-urlencoded", "application/jsonx", "text/json",
     "multipart/form-data; boundary=x", "application/json, text/plain"],
)  # fmt: skip
def test_a_form_and_whatever_a_page_may_send_unasked_is_refused(server: Address, kind: str | None) -> None:
    assert post(server, Content_Type=kind)[0] == 415


def test_json_may_name_its_letters(server: Address) -> None:
    assert post(server, Content_Type="Application/JSON; charset=utf-8")[0] == 200


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd", "gzip, identity", "x"])
def test_a_compressed_body_is_refused(server: Address, coding: str) -> None:
    assert post(server, gzip.compress(b"{}"), Content_Encoding=coding)[0] == 415


# --- sizes and times ---------------------------------------------------------------------------------------


def chunked(*parts: bytes) -> bytes:
    return b"".join(f"{len(part):x}\r\n".encode() + part + b"\r\n" for part in parts) + b"0\r\n\r\n"


def head(server: Address, headers: Mapping[str, str], method: str = "POST", version: str = "1.1") -> bytes:
    told = {"Host": server.name, "Connection": "close", **headers}
    return "\r\n".join(
        [f"{method} /mcp HTTP/{version}", *(f"{key}: {said}" for key, said in told.items()), "", ""]
    ).encode()


def test_a_body_up_to_the_limit_comes_in_whole_and_a_larger_one_not_at_all(server: Address, inside: Inside) -> None:
    assert post(server, b"x" * LARGEST) == (200, WORDS.decode() + "x" * LARGEST)
    status, sentence = post(server, b"x" * (LARGEST + 1))
    assert (status, f"{LARGEST:,}" in sentence) == (413, True)
    assert len(inside.seen) == 1


def test_a_body_in_chunks_is_counted_as_it_comes(server: Address, inside: Inside) -> None:
    sent = head(server, {**GOOD, "Transfer-Encoding": "chunked"})
    assert reply(server.exchange(sent + chunked(b"ab", b"cd"))).body == WORDS + b"abcd"
    assert reply(server.exchange(sent + chunked(*[b"x" * 9_999] * 11))).status == 413
    assert len(inside.seen) == 1


def test_twenty_megabytes_are_refused_and_their_sender_gets_to_read_why(server: Address) -> None:
    large = b"x" * 20_000_000
    for told in (
        server.request("POST", headers=GOOD, body=large),
        reply(server.exchange(head(server, {**GOOD, "Transfer-Encoding": "chunked"}) + chunked(large))),
    ):
        assert (told.status, "send a part of it" in told.sentence) == (413, True)
    assert post(server)[0] == 200


def test_a_body_that_does_not_come_is_waited_for_only_so_long(server: Address, inside: Inside) -> None:
    with server.connect() as connection:
        connection.sendall(head(server, {**GOOD, "Content-Length": "9"}) + b"{")
        assert reply(everything(connection)).status == 408
    with server.connect() as connection:  # a letter now and then is no more
        connection.sendall(head(server, {**GOOD, "Content-Length": "999"}))
        connection.settimeout(0.05)
        told = b""
        for _ in range(int(PATIENCE / 0.05)):
            try:
                connection.sendall(b" ")
                if not (part := connection.recv(65_536)):
                    break
                told += part
            except TimeoutError:
                continue
            except OSError:
                break
        assert reply(told).status == 408
    assert inside.seen == []


def test_a_head_that_does_not_come_is_waited_for_only_so_long(server: Address) -> None:
    for begun in (b"", b"P", b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX: "):
        with server.connect() as connection:
            connection.sendall(begun)
            assert everything(connection) == b"", begun
    with server.connect() as connection:  # a second request's head on a connection that stays, too
        connection.sendall(head(server, {**GOOD, "Content-Length": "2", "Connection": "keep-alive"}) + b"{}")
        time.sleep(0.1)
        connection.sendall(b"POST /mcp")
        assert everything(connection).count(b"HTTP/1.1 200") == 1


def test_a_large_head_is_refused(server: Address) -> None:
    assert server.request("POST", headers={**GOOD, "X": "x" * (LARGEST_HEAD + 100)}, body=b"{}").status == 431
    assert server.request("POST", "/" + "x" * LARGEST_HEAD, GOOD, b"{}").status == 431
    endless = b"POST /mcp HTTP/1.1\r\nX: " + b"x" * 10 * LARGEST_HEAD
    assert reply(server.exchange(endless)).status == 400
    assert server.request("POST", headers={**GOOD, **{f"X-{n}": "x" for n in range(101)}}, body=b"{}").status == 431


def test_a_client_that_goes_away_in_its_body_leaves_nothing_behind(server: Address, inside: Inside) -> None:
    for _ in range(5):
        with server.connect() as connection:
            connection.sendall(head(server, {**GOOD, "Content-Length": "9"}) + b"{}")
    with server.connect() as connection:
        connection.sendall(head(server, {**GOOD, "Transfer-Encoding": "chunked"}) + b"2\r\n{}\r\n")
        connection.shutdown(socket.SHUT_WR)
        everything(connection)
    assert post(server)[0] == 200
    assert len(inside.seen) == 1  # half a body is none, though it might look like a whole one


# --- shapes that smuggle -----------------------------------------------------------------------------------


def test_a_body_whose_length_is_said_twice_is_refused(server: Address, inside: Inside) -> None:
    both = head(server, {**GOOD, "Content-Length": "2", "Transfer-Encoding": "chunked"})
    assert reply(server.exchange(both + chunked(b"{}"), then_end=True)).status == 400
    old = head(server, {**GOOD, "Transfer-Encoding": "chunked"}, version="1.0")
    assert reply(server.exchange(old + chunked(b"{}"), then_end=True)).status == 400
    assert inside.seen == []


@pytest.mark.parametrize("said", ["-1", "+2", "0x2", "2 ", "2, 3", "two", "9" * 5_000, "", "2.0", "1e3", "\xb2"])
def test_a_length_that_is_no_number_is_refused(server: Address, inside: Inside, said: str) -> None:
    raw = head(server, GOOD)[:-2] + b"Content-Length: " + said.encode("latin-1") + b"\r\n\r\n{}"
    told = server.exchange(raw, then_end=True)
    if said == "2 ":  # spaces around a value are none of it
        assert reply(told).status == 200
    else:
        assert reply(told).status == 400
        assert inside.seen == []


@pytest.mark.parametrize(
    "raw",
    [
        b"POST /mcp HTTP/1.1\r\nHost : 127.0.0.1\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n X: folded\r\n\r\n",
        b"POST  /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\n\r\n",
        b"POST /mcp\r\n\r\n",
        b"POST /mcp HTTP/2.0\r\nHost: 127.0.0.1\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer good\r\nContent-Type: application/json\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n-1\r\n{}\r\n0\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer good\r\nContent-Type: application/json\r\n"
        b"Transfer-Encoding: chunked\r\n\r\nfffffffffffffffffffffff\r\n{}\r\n0\r\n\r\n",
        b"GET /mcp\x00 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX: a\x00b\r\n\r\n",
        b"\r\n" * 3_000,
    ],
)
def test_what_is_no_http_is_refused_or_left_alone(server: Address, inside: Inside, raw: bytes) -> None:
    told = server.exchange(raw, then_end=True)
    assert told == b"" or 400 <= reply(told).status < 500, told
    assert inside.seen == []


def test_a_refused_requests_body_is_no_request(server: Address, inside: Inside) -> None:
    hidden = head(server, {**GOOD, "Content-Length": "2"}) + b"{}"
    outer = {"Content-Type": "application/json", "Content-Length": str(len(hidden)), "Connection": "keep-alive"}
    assert server.exchange(head(server, outer) + hidden).count(b"HTTP/1.1") == 1
    for method in ("GET", "DELETE"):  # the application does not read bodies of these
        told = {**GOOD, "Content-Length": str(len(hidden)), "Connection": "keep-alive"}
        assert server.exchange(head(server, told, method) + hidden).count(b"HTTP/1.1") == 1
    assert inside.seen == []


def test_requests_one_behind_the_other_are_each_looked_at(server: Address, inside: Inside) -> None:
    first = head(server, {**GOOD, "Content-Length": "2", "Connection": "keep-alive"}) + b"{}"
    second = head(server, {"Content-Type": "application/json", "Content-Length": "2"}) + b"{}"
    told = server.exchange(first + second)
    assert (told.count(b"HTTP/1.1 200"), told.count(b"HTTP/1.1 401")) == (1, 1)
    assert len(inside.seen) == 1


def test_http_of_1996_is_answered_if_it_names_its_host(server: Address) -> None:
    sent = head(server, {**GOOD, "Content-Length": "2"}, version="1.0")
    assert reply(server.exchange(sent + b"{}")).status == 200
    assert reply(server.exchange(b"POST /mcp HTTP/1.0\r\nAuthorization: Bearer good\r\n\r\n")).status == 421


def test_who_asks_first_whether_to_send_is_told_at_once(server: Address) -> None:
    asked = {**GOOD, "Expect": "100-continue", "Content-Length": "2"}
    with server.connect() as connection:
        connection.sendall(head(server, asked))
        assert connection.recv(65_536).startswith(b"HTTP/1.1 100 ")
        connection.sendall(b"{}")
        assert reply(everything(connection)).status == 200
    for refused in ({"Authorization": "Bearer wrong"}, {"Content-Length": str(LARGEST + 1)}):
        with server.connect() as connection:
            connection.sendall(head(server, {**asked, **refused}))
            assert reply(everything(connection)).status in (401, 413)


def test_a_websocket_is_not_opened(server: Address) -> None:
    asked = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
             "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}  # fmt: skip
    with server.connect() as connection:
        connection.sendall(head(server, asked, "GET"))
        assert reply(everything(connection)).status == 401


# --- tokens that are revoked -------------------------------------------------------------------------------


def test_an_open_stream_ends_when_its_token_is_revoked(server: Address, every: Known) -> None:
    with server.connect() as connection:
        connection.sendall(head(server, GOOD, "GET"))
        while not (told := connection.recv(65_536)).endswith(WORDS + b"\r\n"):
            assert told
        every.is_good = False
        assert everything(connection) == b"0\r\n\r\n"  # its end as it should be
    assert post(server)[0] == 401


# --- quotas ------------------------------------------------------------------------------------------------


def test_a_token_has_a_quota_of_requests_and_an_admin_comes_in_all_the_same(server: Address) -> None:
    with contextlib.ExitStack() as sockets:
        for _ in range(STREAMS):
            stream = sockets.enter_context(server.connect())
            stream.sendall(head(server, GOOD, "GET"))
            assert stream.recv(65_536).startswith(b"HTTP/1.1 200")
        more = server.request("GET", headers=GOOD)
        assert (more.status, f"has {STREAMS} open streams" in more.sentence, "retry-after" in more.headers) == (
            429,
            True,
            True,
        )
        assert post(server)[0] == 200  # streams leave room for calls
        for _ in range(REQUESTS - STREAMS):
            call = sockets.enter_context(server.connect())
            call.sendall(head(server, {**GOOD, "X-Hold": "yes", "Content-Length": "2"}) + b"{}")
            assert call.recv(65_536).startswith(b"HTTP/1.1 200")
        assert post(server)[0] == 429
        assert post(server, Authorization="Bearer admin")[0] == 200
    wait_until(lambda: post(server)[0] == 200)


def test_connections_without_a_request_make_room_for_those_that_have_a_token(server: Address) -> None:
    with contextlib.ExitStack() as sockets:
        stream = sockets.enter_context(server.connect())
        stream.sendall(head(server, GOOD, "GET"))
        while not (content := stream.recv(65_536)).endswith(WORDS + b"\r\n"):
            assert content
        idle = [sockets.enter_context(server.connect()) for _ in range(3 * Hastier.most_waiting)]
        assert post(server, Authorization="Bearer admin")[0] == 200
        assert idle[0].recv(1) == b""  # the one that waited longest is closed
        stream.settimeout(0.05)
        with pytest.raises(TimeoutError):  # and not the one that is being answered
            stream.recv(1)


def test_more_connections_than_there_may_be_are_told_so(server: Address) -> None:
    with contextlib.ExitStack() as sockets:
        for n in range(70):
            stream = sockets.enter_context(server.connect())
            stream.sendall(head(server, {**GOOD, "Authorization": f"Bearer admin {n // STREAMS}"}, "GET"))
            assert stream.recv(65_536)
        assert server.request("POST", headers=GOOD, body=b"{}").status == 503


def wait_until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.01)
