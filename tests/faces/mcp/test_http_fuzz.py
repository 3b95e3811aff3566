"""Requests that nobody would write, by Hypothesis: whatever comes, no 500 and no bug, and the next is answered.

`PALAZZO_HTTP=100 pytest tests/faces/mcp/test_http_fuzz.py` tries a hundred times as many.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.faces.mcp.http_palace import HELLO, JSON, VERSION, Served, served_palace
from tests.faces.mcp.http_served import Reply, reply

from palazzo.faces.mcp.profile import profile_called

FACTOR = int(os.environ.get("PALAZZO_HTTP", "1"))
TOOLS = profile_called("palazzo").tools("full")
NAMES = [
    tool.name
    for tool in TOOLS
    if tool.operation not in ("verify", "settings", "mine", "feed", "sync_sources", "event_wait")
]
METHODS = ["initialize", "ping", "tools/list", "tools/call", "resources/list", "resources/read", "prompts/list",
           "prompts/get", "completion/complete", "logging/setLevel", "server/discover", "subscriptions/listen",
           "notifications/initialized", "notifications/cancelled", "tasks/get", "", "x"]  # fmt: skip
few = settings(max_examples=60 * FACTOR, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served_palace(tmp_path_factory.mktemp("fuzzed")) as found:
        found.token("admin", "admin")
        yield found


texts = st.text(max_size=20) | st.sampled_from(["", "shop", "\x00", "\ud800", "../..", "a" * 3_000, "%s{}", "\u202e"])
numbers = st.integers(-(2**70), 2**70) | st.floats() | st.sampled_from([0, -1, 1e308, 2**63])
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
names = st.sampled_from([*NAMES, "recall", "save_session", "what_do_we_know_about"]) | texts
kinds = st.sampled_from(["drawer", "wing", "diary", "x", ""])
addresses = st.builds("palazzo://{}/{}".format, kinds, texts)


@st.composite
def arguments(draw: st.DrawFn) -> Any:
    """Arguments of a tool, some of them right."""
    tool = draw(st.sampled_from([tool for tool in TOOLS if tool.name in NAMES]))
    known = list(tool.input["properties"])
    chosen = draw(st.lists(st.sampled_from(known) | texts, max_size=4)) if known else []
    return {"name": tool.name, "arguments": {name: draw(values) for name in chosen}}


@st.composite
def messages(draw: st.DrawFn) -> Any:
    """Messages of JSON-RPC, nearly."""
    of_a_call = st.fixed_dictionaries({"name": names | values, "arguments": values})
    params = st.just(HELLO) | arguments() | of_a_call | st.fixed_dictionaries({"uri": addresses | values}) | values
    message = {
        "jsonrpc": draw(st.just("2.0") | values),
        "id": draw(st.integers(0, 9) | values),
        "method": draw(st.sampled_from(METHODS) | values),
        "params": draw(params),
    }
    return {key: one for key, one in message.items() if draw(st.integers(0, 9)) or key == "params"}


no_messages = st.sampled_from([b"", b"[]", b"[" * 50_000, b"{" * 9_000, b"\xff\xfe", b"NaN", b'"'])
told = messages() | st.lists(messages(), max_size=2) | values
bodies = st.binary(max_size=40) | no_messages | told.map(lambda one: json.dumps(one).encode())
eras = st.sampled_from([None, VERSION, "2025-03-26", "2026-07-28", "2026-07-28", "1999-01-01", "", "\xe9"])
odd = st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=12)


def check(told: Reply) -> None:
    """It is no failure of the server's."""
    assert told.status < 500, told
    if (
        told.body.strip()
        and told.status == 200
        and told.headers["content-type"].startswith(("application", "text/event"))
    ):
        answer = told.json
        assert answer.get("error", {}).get("code") not in (0, -32603), answer  # what the SDK makes of an exception
        assert "failed inside Palazzo" not in json.dumps(answer), answer


@few
@given(st.data())
def test_no_message_makes_it_fail(served: Served, data: st.DataObject) -> None:
    session = _session(served)
    headers = {**JSON, **served.bearer("admin"), "Mcp-Session-Id": data.draw(st.sampled_from([session, session, None]))}
    headers["MCP-Protocol-Version"] = data.draw(eras)
    if data.draw(st.booleans()):
        headers |= {"Mcp-Method": data.draw(st.sampled_from(["tools/call", "tools/list"])), "Mcp-Name": data.draw(odd)}
    check(served.address.request("POST", headers=headers, body=data.draw(bodies)))


@few
@given(told=arguments(), era=st.booleans())
def test_no_argument_makes_it_fail(served: Served, told: Any, era: bool) -> None:
    headers = {**JSON, **served.bearer("admin"), "MCP-Protocol-Version": VERSION, "Mcp-Session-Id": _session(served)}
    if era:
        told = {**told, "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {},
        }}  # fmt: skip
        headers = {**JSON, **served.bearer("admin"), "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call",
                   "Mcp-Name": told["name"]}  # fmt: skip
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": told}).encode()
    check(served.address.request("POST", headers=headers, body=body))


@few
@given(
    method=st.sampled_from(["GET", "POST", "DELETE", "PUT", "HEAD", "OPTIONS"]) | odd,
    path=st.just("/mcp") | odd.map("/".__add__) | odd,
    headers=st.dictionaries(
        st.sampled_from(["Host", "Origin", "Authorization", "Content-Type", "Content-Length", "Transfer-Encoding",
                         "Accept", "Expect", "Connection", "Upgrade", "Mcp-Session-Id", "Last-Event-ID", "Range",
                         "Content-Encoding", "Cookie", "X-Forwarded-For", "Forwarded", "TE", "Trailer"]) | odd,
        st.text(st.characters(max_codepoint=255), max_size=12)
        | st.sampled_from(["chunked", "close", "keep-alive", "100-continue", "h2c", "websocket", "7",
                           "text/event-stream", "application/json", "*/*", "gzip"]),
        max_size=5,
    ),
    body=st.none() | st.binary(max_size=40),
)  # fmt: skip
def test_no_request_makes_it_fail(
    served: Served, method: str, path: str, headers: dict[str, str], body: bytes | None
) -> None:
    own = {"Host": served.address.name, **served.bearer("admin"), **headers, "Connection": "close"}
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {said}" for name, said in own.items()), "", ""]
    raw = served.address.exchange("\r\n".join(lines).encode("latin-1") + (body or b""), then_end=True)
    if raw.startswith(b"HTTP/1.1 1"):
        raw = raw.partition(b"\r\n\r\n")[2]
    if raw:  # nothing, where what came was no HTTP, or ended before its end
        assert reply(raw).status < 500, raw


@few
@given(raw=st.binary(max_size=200))
def test_no_bytes_make_it_fail(served: Served, raw: bytes) -> None:
    told = served.address.exchange(raw, then_end=True)
    assert told == b"" or reply(told).status < 500, told
    assert _session(served)  # somebody else is answered as ever


_begun: dict[int, str] = {}


def _session(served: Served) -> str:
    """The id of a session, begun anew where one of the requests has ended it."""
    known = _begun.get(served.address.port)
    if known is not None:
        headers = {**JSON, **served.bearer("admin"), "Mcp-Session-Id": known}
        body = b'{"jsonrpc":"2.0","id":"p","method":"ping"}'
        if served.address.request("POST", headers=headers, body=body).status == 200:
            return known
    _begun[served.address.port] = served.session("admin").headers["Mcp-Session-Id"]
    return _begun[served.address.port]
