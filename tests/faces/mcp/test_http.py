"""MCP over HTTP: a palace, real sockets, real tokens; who may do what."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from tests.faces.mcp.http_palace import HELLO, JSON, OWNER, Served, served_palace
from tests.faces.mcp.http_served import everything

import palazzo
from palazzo.errors import UsageError
from palazzo.faces.http.http_socket import bound
from palazzo.faces.mcp import http_endpoint, token_scopes
from palazzo.faces.mcp.client_calls import Surroundings
from palazzo.faces.mcp.http_endpoint import HttpServer
from palazzo.faces.mcp.http_quotas import SessionQuota
from palazzo.faces.mcp.profile import MODULES, TOOLSETS, profile_called
from palazzo.faces.mcp.stdio_server import in_a_thread
from palazzo.features.notes.contract import ForgetRequest, RememberRequest
from palazzo.features.tasks.contract import RemindersRequest
from palazzo.operations import registry
from palazzo.operations.operation import Operation, describe_fields
from palazzo.palace import Palace
from palazzo.store.token_rows import SCOPES, TokenScope

FULL = profile_called("palazzo").tools("full")
WRITING = sorted(tool.name for tool in FULL if not tool.hints.reads)
SOURCES = Path(palazzo.__file__).parents[1]
PROFILES = [name for name, module in MODULES.items() if any(SOURCES.glob(f"{module.replace('.', '/')}*"))]
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A palace with a token of each scope."""
    with served_palace(tmp_path_factory.mktemp("served")) as found:
        for scope in ("read", "write", "admin"):
            found.token(scope, scope)
        yield found


def text_of(answer: dict[str, Any]) -> str:
    """What a model is told."""
    return str(answer["result"]["content"][0]["text"])


def drawers(served: Served) -> int:
    with Palace.open(served.palace, "read") as palace, palace.database.snapshot() as connection:
        return int(next(connection.execute("SELECT count(*) FROM drawer WHERE retired_at IS NULL"))[0])


# --- S1: every route × who must not come in ----------------------------------------------------------------

ROUTES = {
    "call": ("POST", {**JSON}, json.dumps(PING).encode()),
    "begin": ("POST", {**JSON}, json.dumps({**PING, "method": "initialize", "params": HELLO}).encode()),
    "call of the new era": ("POST", {**JSON, "MCP-Protocol-Version": "2026-07-28"}, json.dumps(PING).encode()),
    "stream": ("GET", {"Accept": "text/event-stream"}, None),
    "end": ("DELETE", {}, None),
    "preflight": ("OPTIONS", {"Access-Control-Request-Method": "POST"}, None),
    "head": ("HEAD", {}, None),
}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("path", ["/mcp", "/", "/sse", "/messages", "/.well-known/oauth-protected-resource", "/health"])
@pytest.mark.parametrize("session", [True, False])
def test_s1_every_route_refuses_who_must_not_come_in(served: Served, route: str, path: str, session: bool) -> None:
    method, headers, body = ROUTES[route]
    own = {"Mcp-Session-Id": served_session(served)} if session else {}
    good = served.bearer("admin")
    for what, said, status in [
        ("no token", {}, 401),
        ("a bad token", {"Authorization": f"Bearer palazzo_{'A' * 43}"}, 401),
        ("a foreign Host", {**good, "Host": "evil.com"}, 421),
        ("a rebound Host", {**good, "Host": f"127.0.0.1.evil.com:{served.address.port}"}, 421),
        ("a foreign Origin", {**good, "Origin": "https://evil.com"}, 403),
        ("a nameless Origin", {**good, "Origin": "null"}, 403),
        ("another port's page", {**good, "Origin": "http://127.0.0.1:3000"}, 403),
    ]:
        told = served.address.request(method, path, {**headers, **own, **said}, body)
        assert told.status == status, what
        assert not any(name.startswith("access-control-") for name in told.headers), what
        assert "mcp-session-id" not in told.headers, what
    form = served.address.request("POST", path, {**own, **good, **FORM}, b"method=ping&jsonrpc=2.0")
    assert form.status == (415 if path == "/mcp" else 404)
    assert served.address.request("POST", path, {**own, **FORM}, b"method=ping").status == 401


_sessions: dict[int, str] = {}


def served_session(served: Served) -> str:
    """The id of a session of the admin's, the same for all tests."""
    if served.address.port not in _sessions:
        _sessions[served.address.port] = served.session("admin").headers["Mcp-Session-Id"]
    return _sessions[served.address.port]


# --- clients -----------------------------------------------------------------------------------------------


def test_the_sdks_client_lists_and_calls(served: Served) -> None:
    async def use() -> None:
        http_client = create_mcp_http_client(headers=served.bearer("write"))
        transport = streamable_http_client(f"http://{served.address.name}/mcp", http_client=http_client)
        async with http_client, Client(transport) as client:
            listed = await client.list_tools()
            assert {"search", "remember"} <= {tool.name for tool in listed.tools}
            filed = await client.call_tool("remember", {"text": "The gate is green.", "wing": "shop"})
            assert not filed.is_error
            found = await client.call_tool("search", {"query": "colour of the gate", "wing": "shop"})
            assert "The gate is green." in json.dumps(found.structured_content)

    anyio.run(use)


def test_both_eras_are_served_and_the_new_one_needs_no_session(served: Served) -> None:
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": HELLO["clientInfo"],
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    asked = {"name": "search", "arguments": {"query": "deploy port"}, "_meta": meta}
    headers = {
        **JSON, **served.bearer("read"), "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call",
        "Mcp-Name": "search",
    }  # fmt: skip
    body = json.dumps({"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": asked}).encode()
    told = served.address.request("POST", headers=headers, body=body)
    assert told.status == 200, told
    assert "8443" in text_of(told.json)
    refused = {"jsonrpc": "2.0", "id": "b", "method": "tools/call", "params": {**asked, "name": "remember",
               "arguments": {"text": "no"}}}  # fmt: skip
    told = served.address.request(
        "POST", headers={**headers, "Mcp-Name": "remember"}, body=json.dumps(refused).encode()
    )
    assert "scope 'write'" in told.sentence


def test_a_call_that_is_wrong_is_the_protocols_error(served: Served) -> None:
    session = served.session("read")
    assert "Unknown tool 'serach'" in session.call("serach")["error"]["message"]
    assert "'querry'" in session.call("search", querry="x")["error"]["message"]
    assert "'query'" in session.call("search")["error"]["message"]
    assert session.call("search", query=7)["error"]["code"] == -32602
    assert session.post("tools/nonsense").json["error"]["code"] == -32601
    wrong: list[Any] = [
        None, {}, {"name": []}, {"name": {}}, {"name": None}, {"name": "search", "arguments": ["query"]},
        {"name": "search", "arguments": "query"}, {"name": "search", "arguments": 0},
    ]  # fmt: skip
    for params in wrong:
        assert session.post("tools/call", params).json["error"]["code"] == -32602, params


def test_a_stream_of_what_the_server_says_is_open_until_the_session_ends(served: Served) -> None:
    session = served.session("read")
    with served.address.connect() as connection:
        told = {**session.headers, "Accept": "text/event-stream", "Host": served.address.name,
                "Connection": "close", "Last-Event-ID": "7"}  # fmt: skip
        lines = [f"{name}: {value}" for name, value in told.items() if name != "Content-Type"]
        connection.sendall("\r\n".join(["GET /mcp HTTP/1.1", *lines, "", ""]).encode())
        begun = connection.recv(65_536)
        assert begun.startswith(
            b"HTTP/1.1 200"
        )  # the SDK gives a GET with Last-Event-ID no answer, so it never sees it
        assert served.address.request("DELETE", headers=session.headers).status == 200
        everything(connection)
    assert session.post("ping").status == 404


def test_resources_and_prompts_are_open_to_a_token_that_reads(served: Served) -> None:
    session = served.session("read")
    listed = session.post("resources/list").json["result"]["resources"]
    assert "palazzo://wing/shop" in {one["uri"] for one in listed}
    told = session.post("resources/read", {"uri": "palazzo://wing/shop"}).json["result"]["contents"]
    assert "8443" in json.dumps(told)
    assert session.post("prompts/list").json["result"]["prompts"]


# --- scopes ------------------------------------------------------------------------------------------------


def test_a_tool_is_shown_to_those_who_may_call_it(served: Served) -> None:
    shown = {name: served.session(name).tools() for name in ("read", "write", "admin")}
    assert shown["read"] < shown["write"] <= shown["admin"]
    assert {"search", "read", "wake_up", "kg_query", "status"} <= shown["read"]
    assert not {"remember", "forget", "kg_add", "diary_write", "checkpoint"} & shown["read"]


@pytest.mark.parametrize("name", WRITING)
def test_no_tool_that_writes_is_reached_with_a_token_that_reads(served: Served, name: str) -> None:
    """Whatever arguments are given: none, wrong ones, right ones."""
    tool = next(tool for tool in FULL if tool.name == name)
    before, session = drawers(served), served.session("read")
    examples = {"string": "x", "integer": 1, "number": 0.5, "boolean": False, "array": ["x"], "object": {}}
    filled = {key: examples[one["type"]] for key, one in tool.input["properties"].items() if "type" in one}
    for arguments in ({}, filled, {"dry_run": False}, {"unknown": 1}):
        error = session.call(name, **arguments)["error"]
        assert error["code"] == -32600
        assert error["data"]["granted"] == "read"
        assert f"'{error['data']['needed']}'" in error["message"]
    assert drawers(served) == before


def test_forgetting_at_large_is_the_admins() -> None:
    forget = registry.operation("forget")
    assert token_scopes.scope_for(forget, ForgetRequest(ids=("a",))) == "write"
    for request in (
        ForgetRequest(wing="shop"), ForgetRequest(source="x"), ForgetRequest(session="x"), ForgetRequest(tags=("x",)),
    ):  # fmt: skip
        assert token_scopes.scope_for(forget, request) == "admin"


def test_a_file_of_the_servers_machine_is_cited_by_the_admin_alone() -> None:
    remember = registry.operation("remember")
    assert token_scopes.scope_for(remember, RememberRequest("A note.")) == "write"
    assert token_scopes.scope_for(remember, RememberRequest("A note.", anchors=("src/a.py",))) == "admin"


def test_a_write_that_is_allowed_is_done(served: Served) -> None:
    before = drawers(served)
    answer = served.session("write").call("remember", text="Written by a token that may.", wing="shop")
    assert not answer["result"].get("isError")
    assert drawers(served) == before + 1


def test_what_lists_reads_and_what_closes_writes() -> None:
    reminders = registry.operation("reminders")
    assert token_scopes.scope_for(reminders, RemindersRequest("open")) == "read"
    assert token_scopes.scope_for(reminders, RemindersRequest("done", ("a",))) == "write"


@pytest.mark.parametrize("name", list(registry.FEATURES))
def test_every_operation_has_a_scope_and_none_that_writes_only_needs_to_read(name: str) -> None:
    operation = registry.operation(name)
    assert operation.scope in SCOPES
    if operation.writes:
        assert operation.scope != "read"
    if any(field.type is Path or field.type == tuple[Path, ...] for field in describe_fields(operation.request)):
        assert operation.scope == "admin", "it is given paths of the server's machine"


@pytest.mark.parametrize("profile", PROFILES)
def test_every_tool_of_every_profile_says_truly_whether_it_reads(profile: str) -> None:
    """A tool that says it only reads is open to a token that reads, or to an admin's alone; no other."""
    for toolset in TOOLSETS:
        for tool in profile_called(profile).tools(toolset):
            least = token_scopes.least(registry.operation(tool.operation))
            if tool.hints.reads:
                assert least != "write", tool.name


def test_an_operation_must_state_its_scope() -> None:
    with pytest.raises(TypeError, match="scope"):
        Operation("unnamed", RememberRequest, RememberRequest)  # type: ignore[call-arg]


def test_an_operation_is_held_to_the_scope_whichever_way_it_is_asked_for(served: Served) -> None:
    """What a resource or a prompt asks for does not pass the check of tools."""
    from palazzo.faces.mcp import http_scopes
    from palazzo.faces.mcp.client_calls import OperationCall, Surroundings
    from palazzo.features.notes.contract import RememberRequest

    done: list[OperationCall] = []

    async def call(asked: OperationCall) -> None:
        done.append(asked)

    async def ask(held: TokenScope) -> None:
        http_scopes._token_scope.set(held)
        around = Surroundings(served.home, {}, served.palace)
        asked = OperationCall(
            "remember", RememberRequest("x"), around, None, lambda progress: None, lambda sentence: None
        )
        await http_scopes.checked_by_scope(call)(asked)

    with pytest.raises(UsageError, match="scope 'write'"):
        anyio.run(ask, "read")
    assert done == []
    anyio.run(ask, "write")
    assert len(done) == 1


# --- sessions and tokens -----------------------------------------------------------------------------------


def test_a_session_is_its_tokens_own(served: Served) -> None:
    served.token("other", "admin")
    session = served.session("read")
    session.name = "other"
    assert session.post("ping").status == 404
    assert served.address.request("DELETE", headers=session.headers).status == 404
    session.name = "read"
    assert session.post("ping").status == 200


def test_a_revoked_token_is_refused_within_its_session_and_its_stream_ends(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    served.token("leaver", "write")
    session = served.session("leaver")
    served.revoke("leaver")
    assert session.post("ping").status == 401
    assert session.post("tools/call", {"name": "remember", "arguments": {"text": "too late"}}).status == 401


def test_a_session_that_there_is_not_is_said(served: Served) -> None:
    for said in ("0" * 32, "../../etc/passwd", "x" * 5_000, "\xe9", "a b"):
        told = served.address.request("POST", headers={**JSON, **served.bearer("read"), "Mcp-Session-Id": said},
                                      body=json.dumps(PING).encode())  # fmt: skip
        assert told.status == 404, said


def test_a_token_that_reads_cannot_hold_all_sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_endpoint, "SessionQuota", partial(SessionQuota, of_token=5, most=8, for_admins=2))
    with served_palace(tmp_path, "core") as served:
        greedy, second = served.token("greedy", "read"), served.token("other", "read")
        owners = served.session()
        sessions = [served.session("greedy") for _ in range(20)]
        assert owners.post("ping").status == 200
        assert [session.post("ping").status for session in sessions] == [404] * 15 + [
            200
        ] * 5  # idle ones are ended first
        assert served.session("other").post("ping").status == 200  # takes the place of one of the greedy token's
        assert [session.post("ping").status for session in sessions[-5:]] == [404, *[200] * 4]
        with contextlib.ExitStack() as streams:
            for session in sessions[-4:]:
                stream = streams.enter_context(served.address.connect())
                headers = {**session.headers, "Host": served.address.name, "Accept": "text/event-stream"}
                stream.sendall("\r\n".join(["GET /mcp HTTP/1.1", *map(": ".join, headers.items()), "", ""]).encode())
                assert stream.recv(65_536).startswith(b"HTTP/1.1 200")
            last = served.session("greedy")
            assert served.session("greedy").post("ping").status == 200
            assert last.post("ping").status == 404
            assert served.session().post("ping").status == 200  # the reserve of admins
        assert greedy != second


# --- with and without tokens -------------------------------------------------------------------------------


def test_nothing_is_served_without_a_good_token_and_nobody_comes_in_without_one(tmp_path: Path) -> None:
    with served_palace(tmp_path, "core") as served:
        begin = json.dumps({**PING, "method": "initialize", "params": HELLO}).encode()
        assert served.address.request("POST", headers=JSON, body=begin).status == 401
        served.revoke(OWNER)
        assert served.address.request("POST", headers=JSON, body=begin).status == 401
    around = Surroundings(tmp_path, {"HOME": str(tmp_path)}, served.palace)
    for palace in (served.palace, tmp_path / "none.db"):
        for address in ("127.0.0.1:0", "[::1]:0", "0.0.0.0:0", "[::]:0", "localhost:0"):
            with contextlib.closing(bound(address)) as listener, pytest.raises(UsageError, match="palazzo token add"):
                HttpServer(listener, "palazzo", "core", replace(around, palace=palace), in_a_thread)


def test_tokens_are_those_of_the_file_that_is_there_now(tmp_path: Path) -> None:
    with served_palace(tmp_path, "core") as served:
        served.token("old", "admin")
        session = served.session("old")
        served.palace.rename(tmp_path / "moved.db")  # restored from a backup, say
        for suffix in ("-wal", "-shm"):
            served.palace.with_name(served.palace.name + suffix).unlink(missing_ok=True)
        served.token("new", "read")
        assert session.post("ping").status == 401
        served.session("new")


def test_a_palace_that_cannot_be_read_lets_nobody_in_and_says_so(tmp_path: Path) -> None:
    with served_palace(tmp_path, "core") as served:
        served.token("any", "admin")
        served.session("any")
        served.palace.rename(tmp_path / "moved.db")
        served.palace.write_bytes(b"no palace" * 1_000)
        for name, status in (("any", 503), ("", 401)):
            told = served.address.request(
                "POST", headers={**JSON, **served.bearer(name)}, body=json.dumps(PING).encode()
            )
            assert (told.status, "palazzo doctor" in told.sentence) == (status, status == 503)
            assert str(tmp_path) not in told.sentence
