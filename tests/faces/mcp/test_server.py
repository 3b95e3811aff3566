"""The server as a client meets it: both eras of the protocol, lists, errors, keys, progress, cancelling, size."""

from __future__ import annotations

import json
import threading
from collections.abc import AsyncIterator
from typing import Any

import anyio
import jsonschema  # type: ignore[import-untyped]
import pytest
from tests.faces.mcp.talking import MODERN, Talk

from palazzo.errors import UsageError
from palazzo.faces.mcp import profile, progress_reports, tool_call
from palazzo.faces.mcp.client_calls import OperationCall, OperationCancelled, Surroundings
from palazzo.faces.mcp.jsonrpc_lines import serve_lines
from palazzo.faces.mcp.profiles.own_profile import tools_of
from palazzo.faces.mcp.server import build, describe_tool
from palazzo.features.upkeep.contract import CheckView, VerifyResult
from palazzo.operations.agent_tools.tool import LARGEST_ARGUMENT
from palazzo.operations.context import Progress
from palazzo.text.token_counts import estimate_tokens

INVALID_PARAMS = -32602


def on_the_wire(tool: Any) -> dict[str, Any]:
    told: dict[str, Any] = describe_tool(tool).model_dump(by_alias=True, exclude_none=True, mode="json")
    return told


# --- what a client is told ---------------------------------------------------------------------------------


def test_the_core_toolset_costs_little(talk: Talk) -> None:
    """Under 10,000 characters with output schemas, however the JSON is spaced."""
    talk.toolset = "core"
    (answer,) = talk.ask(("tools/list", {}))
    assert len(json.dumps(answer["result"])) < 10_000
    assert {tool["name"] for tool in answer["result"]["tools"]} == {
        *("search", "read", "remember", "forget", "checkpoint", "wake_up", "proactive_context"),
        *("diary_write", "diary_read", "feedback", "kg_query", "kg_add", "kg_end", "status"),
    }


def test_the_full_toolset_has_the_core_with_at_least_its_arguments() -> None:
    full = {tool.name: tool for tool in tools_of("full")}
    assert len(full) == len(tools_of("full"))
    for tool in tools_of("core"):
        assert set(tool.input["properties"]) <= set(full[tool.name].input["properties"])


def test_instructions_are_short_and_name_tools_that_there_are(talk: Talk) -> None:
    told = talk.send(
        json.dumps({"jsonrpc": "2.0", "id": 0, "method": "server/discover", "params": {"_meta": MODERN}}).encode()
    )[0]["result"]["instructions"]
    assert estimate_tokens(told) < 300
    named = {word.strip("`") for word in told.split() if word.startswith("`")}
    assert {word.strip("`,.;:") for word in named} <= {tool.name for tool in tools_of("core")}


@pytest.mark.parametrize("tool", tools_of("full"), ids=lambda tool: tool.name)
def test_a_tool_states_all_hints_and_says_when_to_use_it(tool: Any) -> None:
    told = on_the_wire(tool)
    assert set(told["annotations"]) == {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
    assert told["annotations"]["openWorldHint"] is (tool.name in ("sync_push", "sync_pull"))
    assert 15 < len(told["description"]) < 200
    assert told["inputSchema"]["type"] == told["outputSchema"]["type"] == "object"
    jsonschema.Draft202012Validator.check_schema(told["inputSchema"])
    jsonschema.Draft202012Validator.check_schema(told["outputSchema"])


def test_three_core_tools_are_to_be_loaded_at_once() -> None:
    always = [
        tool.name for tool in tools_of("core") if on_the_wire(tool).get("_meta") == {"anthropic/alwaysLoad": True}
    ]
    assert always == ["search", "read", "remember"]


def test_a_profile_or_toolset_that_there_is_not_is_named() -> None:
    with pytest.raises(UsageError, match="Unknown profile 'x'; profiles: palazzo"):
        build("x", "core")
    with pytest.raises(UsageError, match="Unknown toolset 'huge'; toolsets: core, full"):
        build("palazzo", "huge")
    assert set(profile.MODULES) == {"palazzo", "mempalace", "shodh"}


# --- both eras ---------------------------------------------------------------------------------------------


def test_a_client_that_discovers_never_has_to_initialise(talk: Talk) -> None:
    discovered, tools, found = talk.ask(
        ("server/discover", {}), ("tools/list", {}), ("tools/call", {"name": "status", "arguments": {}}), modern=True
    )
    assert "2026-07-28" in discovered["result"]["supportedVersions"]
    assert discovered["result"]["capabilities"].keys() == {"tools", "resources", "prompts"}
    assert tools["result"]["ttlMs"] > 0
    assert tools["result"]["cacheScope"] == "private"
    for answer in (discovered, tools, found):
        assert answer["result"]["resultType"] == "complete"
        assert answer["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "palazzo"


def test_a_client_of_the_handshake_sees_nothing_of_the_newer_protocol(talk: Talk) -> None:
    tools, found = talk.ask(("tools/list", {}), ("tools/call", {"name": "status", "arguments": {}}))
    assert tools["result"].keys() == {"tools"}
    assert found["result"].keys() == {"content", "structuredContent", "isError"}


def test_a_client_that_discovers_may_still_begin_with_the_handshake(talk: Talk) -> None:
    """As Claude Code and Copilot do where they know no version that the server speaks."""
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "copilot-cli", "version": "1"}}
    requests: list[dict[str, Any]] = [
        {"id": "probe", "method": "server/discover", "params": {"_meta": MODERN}},
        {"id": 0, "method": "initialize", "params": hello},
        {"id": 1, "method": "tools/list"},
        {"id": 2, "method": "tools/call", "params": {"name": "diary_write", "arguments": {"entry": "x"}}},
    ]
    answers = talk.send(*(json.dumps({"jsonrpc": "2.0", **one}).encode() for one in requests))
    assert [answer["id"] for answer in answers] == ["probe", 0, 1, 2]
    assert not [answer for answer in answers if "error" in answer]
    assert answers[1]["result"]["protocolVersion"] == "2025-11-25"
    assert answers[2]["result"].keys() == {"tools"}
    assert answers[3]["result"]["structuredContent"]["agent"] == "copilot"


def test_a_client_that_has_gone_ends_the_connection(talk: Talk) -> None:
    async def lines() -> AsyncIterator[bytes]:
        for number in range(3):
            yield b'{"jsonrpc":"2.0","id":%d,"method":"ping"}' % number
            await anyio.sleep(0.05)

    async def write(line: bytes) -> None:
        raise BrokenPipeError

    async def served() -> None:
        around = Surroundings(talk.cwd, {})
        await serve_lines(lines(), write, profile="palazzo", toolset="core", surroundings=around, call=talk.carry_out)

    anyio.run(served)


def test_who_calls_is_known_in_both_eras(talk: Talk) -> None:
    talk.told("diary_write", entry="by the handshake")
    talk.ask(("tools/call", {"name": "diary_write", "arguments": {"entry": "by discovery"}}), modern=True)
    agents = {one["name"] for one in talk.told("list_agents")["agents"]}
    assert agents == {"codex", "claude-code"}


def test_cancelling_what_has_ended_or_never_was_is_ignored(talk: Talk) -> None:
    answers = talk.ask(
        ("tools/call", {"name": "status", "arguments": {}}),
        ("ping", {}),
    )
    gone = json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 0}})
    never = json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "x"}})
    ping = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"})
    assert len(answers) == 2
    assert talk.send(gone.encode(), never.encode(), ping.encode()) == [{"jsonrpc": "2.0", "id": 1, "result": {}}]


# --- bad input ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("nope", {}, "Unknown tool 'nope'; tools: search, read"),
        ("search", {}, "search needs the argument 'query'."),
        ("search", {"query": None}, "search needs the argument 'query'."),
        ("search", {"query": "x", "quarry": 1}, "search has no argument 'quarry'; there are: query, wing"),
        ("status", {"x": 1}, "status has no argument 'x'; it has no arguments."),
        ("search", {"query": 7}, "'query' must be a string, not 7."),
        ("search", {"query": "x", "limit": "5"}, "'limit' must be an integer, not \"5\"."),
        ("search", {"query": "x", "limit": 5.5}, "'limit' must be an integer, not 5.5."),
        ("search", {"query": "x", "limit": True}, "'limit' must be an integer, not true."),
        ("search", {"query": "x", "limit": 0}, "'limit' is 0; it must be at least 1."),
        ("search", {"query": "x", "limit": 31}, "'limit' is 31; it must be at most 30."),
        ("search", {"query": "x", "kind": "poem"}, "'kind' is \"poem\"; it must be one of exchange"),
        ("search", {"query": "x", "include_external": "no"}, "'include_external' must be true or false"),
        ("forget", {"ids": "abcd"}, "'ids' must be a list, not \"abcd\"."),
        ("forget", {"ids": ["abcd", 3]}, "'ids[1]' must be a string, not 3."),
        ("forget", {"ids": []}, "'ids' is empty."),
        ("checkpoint", {"items": [{"text": "x"}]}, "'items[0].content' is missing."),
        ("checkpoint", {"facts": ["x"]}, "'facts[0]' must be an object"),
        ("remember", {"text": "x" * (LARGEST_ARGUMENT + 1)}, "'text' has 1,000,001 characters; the limit is 1,000,000"),
    ],
)
def test_what_is_no_call_of_a_tool_is_the_protocols_error(
    talk: Talk, name: str, arguments: dict[str, Any], says: str
) -> None:
    code, message = talk.error(name, **arguments)
    assert code == INVALID_PARAMS
    assert says in message
    assert not talk.asked


def test_whole_numbers_may_be_written_as_json_writes_numbers(talk: Talk) -> None:
    assert len(talk.told("search", query="zebra", limit=1.0)["hits"]) == 1


def test_twenty_megabytes_are_refused_and_the_next_call_served(talk: Talk) -> None:
    large = {"name": "remember", "arguments": {"text": "x" * 20_000_000}}
    refused, served = talk.ask(("tools/call", large), ("tools/call", {"name": "status", "arguments": {}}))
    assert "'text' has 20,000,000 characters" in refused["error"]["message"]
    assert served["result"]["isError"] is False


@pytest.mark.parametrize(
    ("line", "code", "number"),
    [
        (b"{", -32700, None),
        (b"\xff\xfe", -32700, None),
        (b"[" * 100_000, -32700, None),
        (b"[]", -32600, None),
        (b'"text"', -32600, None),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', -32600, 1),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":"x"}', -32600, 1),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600, None),
        (b'{"id":3,"method":"ping"}', -32600, 3),
        (b'{"jsonrpc":"2.0","id":4}', -32600, 4),
        (b'{"jsonrpc":"2.0","id":5,"method":"ping","params":{"a":"\\ud83d"}}', -32600, 5),
        (b'{"jsonrpc":"2.0","id":"s","method":"no/such"}', -32601, "s"),
        (b'{"jsonrpc":"2.0","id":0,"method":"tools/list"}', -32602, 0),
    ],
)
def test_what_is_no_message_is_answered(talk: Talk, line: bytes, code: int, number: object) -> None:
    first, second = talk.send(line, b'{"jsonrpc":"2.0","id":"next","method":"ping"}')
    assert (first["error"]["code"], first["id"]) == (code, number)
    assert first["error"]["message"]
    assert second == {"jsonrpc": "2.0", "id": "next", "result": {}}


# --- what goes wrong inside --------------------------------------------------------------------------------


def test_a_failed_call_is_one_sentence_in_the_tools_own_words(talk: Talk) -> None:
    assert talk.refusal("search", query="x", since="someday").startswith("since: 'someday' is not a time")
    assert talk.refusal("search", query="x", wing="../../etc").startswith("There is no wing '../../etc'. There are: ")
    assert talk.refusal("remind", text="x") == "Set at least one of at (a time), file (a path) and topic (some words)."
    assert "is not an id" in talk.refusal("read", id="zz")


def test_a_bug_is_told_of_as_one_and_the_next_call_served(
    talk: Talk, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(operation_call: OperationCall) -> Any:
        raise KeyError("inside")

    with monkeypatch.context() as patched:
        patched.setattr(talk, "carry_out", broken)
        assert talk.refusal("status") == "status failed inside Palazzo (KeyError): its write was rolled back."
    assert "the tool status failed" in caplog.text
    assert talk.told("status")["index"]


# --- keys, progress, cancelling ----------------------------------------------------------------------------


def test_a_call_that_is_repeated_with_its_key_is_carried_out_once(talk: Talk) -> None:
    call = {"name": "kg_add", "arguments": {"subject": "zebra", "predicate": "is", "object": "striped"}}
    keyed = {**call, "_meta": {"palazzo/key": "relay:1"}}
    first, again, other = talk.ask(("tools/call", keyed), ("tools/call", keyed), ("tools/call", call))
    assert first["result"]["structuredContent"]["new"] is True
    assert again["result"] == first["result"]
    assert other["result"]["structuredContent"]["new"] is False
    assert [asked.key for asked in talk.asked] == ["relay:1", "relay:1", None]


def test_progress_is_told_to_those_who_ask_and_only_grows(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_reports, "REPORT_INTERVAL", 0.0)

    async def slow(operation_call: OperationCall) -> Any:
        for what, done in (("reading", 1), ("reading", 3), ("embedding", 1), ("embedding", 2)):
            await anyio.to_thread.run_sync(operation_call.on_progress, Progress(what, done, 4))
            await anyio.sleep(0.01)
        return VerifyResult(True, (CheckView("chain", True, "sound"),))

    monkeypatch.setattr(talk, "carry_out", slow)
    call = {"name": "verify", "arguments": {}}
    asking = {**call, "_meta": {"progressToken": "t"}}
    lines = [{"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": one} for n, one in enumerate((call, asking))]
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    greeting = {"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": hello}
    answers = talk.send(*(json.dumps(one).encode() for one in (greeting, *lines)))
    told = [one["params"] for one in answers if one.get("method") == "notifications/progress"]
    assert {one["progressToken"] for one in told} == {"t"}
    assert [one["progress"] for one in told] == [1, 3, 4, 5]
    assert all(one["total"] >= one["progress"] for one in told)
    assert told[0]["message"] == "reading 1 of 4"


def test_an_operation_that_is_cancelled_ends_at_its_next_report_and_is_not_answered(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, stopped = threading.Event(), threading.Event()

    def endless(operation_call: OperationCall) -> Any:
        try:
            for n in range(1, 100_000):
                begun.set()
                stopped.wait(0.01)
                operation_call.on_progress(Progress("reading", n, 100_000))
        except OperationCancelled:
            stopped.set()
            raise
        return VerifyResult(True, ())

    async def carry_out(operation_call: OperationCall) -> Any:
        return await anyio.to_thread.run_sync(endless, operation_call)

    monkeypatch.setattr(talk, "carry_out", carry_out)
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    messages: list[dict[str, Any]] = [
        {"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "verify", "arguments": {}}},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}},
        {"jsonrpc": "2.0", "id": 2, "method": "ping"},
    ]

    async def without_waiting() -> list[dict[str, Any]]:
        answers: list[dict[str, Any]] = []

        async def write(line: bytes) -> None:
            answers.append(json.loads(line))

        async def lines() -> AsyncIterator[bytes]:
            for message in messages:
                if message.get("method") == "notifications/cancelled":
                    await anyio.to_thread.run_sync(begun.wait)
                yield json.dumps(message).encode()

        await serve_lines(
            lines(),
            write,
            profile="palazzo",
            toolset="full",
            surroundings=Surroundings(talk.cwd, {}),
            call=talk.carry_out,
        )
        return answers

    answers = anyio.run(without_waiting)
    assert stopped.is_set()
    assert [answer["id"] for answer in answers] == ["hello", 2]


def test_a_list_goes_on_where_its_cursor_says(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool_call, "PAGE", 7)
    names: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        (answer,) = talk.ask(("tools/list", cursor))
        assert len(answer["result"]["tools"]) <= 7
        names += [tool["name"] for tool in answer["result"]["tools"]]
        if "nextCursor" not in answer["result"]:
            break
        cursor = {"cursor": answer["result"]["nextCursor"]}
    assert names == [tool.name for tool in tools_of("full")]
    (answer,) = talk.ask(("tools/list", {"cursor": "yesterday"}))
    assert answer["error"]["message"] == "'yesterday' is not a cursor of this list; start without one."
