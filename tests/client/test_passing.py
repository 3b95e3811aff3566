"""What a client says reaches the service, and what the service says reaches the client, and nothing else does."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from tests.client.conftest import MAIN, Host, Services, Start, relay_command


def test_each_request_is_answered_by_its_own_name_which_may_be_nought_or_text(host: Host) -> None:
    host.begin()
    for name in (0, "0", "server-discover-probe-1", 7, "", -1):
        assert host.ask("tools/list", name=name) == {"jsonrpc": "2.0", "id": name, "result": {"method": "tools/list"}}


def test_a_client_may_ask_before_it_initialises_and_never_do_so(host: Host) -> None:
    assert host.ask("server/discover", {"_meta": {}}, "probe")["result"] == {"method": "server/discover"}
    assert host.ask("tools/list", name=0)["result"] == {"method": "tools/list"}


def test_the_service_is_told_where_the_client_is_and_what_it_wants(
    start: Start, services: Services, variables: dict[str, str]
) -> None:
    start("--profile=mempalace", "--toolset", "full", PALAZZO_WING="shop", SECRET="kept at home").begin()
    (hello,) = services.hellos()
    assert (hello["want"], hello["profile"], hello["toolset"]) == ("mcp", "mempalace", "full")
    assert hello["surroundings"]["cwd"] == variables["HOME"]
    assert hello["surroundings"]["variables"]["PALAZZO_WING"] == "shop"
    assert "SECRET" not in hello["surroundings"]["variables"]


def test_each_call_of_a_tool_has_a_key_of_its_own_and_the_rest_passes_to_the_byte(
    host: Host, services: Services
) -> None:
    host.begin()
    host.ask("tools/call", {"name": "echo", "arguments": {"text": "ÄÖ\ud800 1"}, "_meta": {"progressToken": 3}}, 1)
    host.call("echo", 2)
    host.ask("tools/list", {"cursor": "x"}, 3)
    first, second, third = services.heard()[-3:]
    assert first["params"]["arguments"] == {"text": "ÄÖ\ud800 1"}
    assert first["params"]["_meta"]["progressToken"] == 3
    assert first["params"]["_meta"]["palazzo/key"] != second["params"]["_meta"]["palazzo/key"]
    assert third["params"] == {"cursor": "x"}


def test_a_call_that_brings_a_key_keeps_it(host: Host, services: Services) -> None:
    host.begin()
    host.ask("tools/call", {"name": "echo", "arguments": {}, "_meta": {"palazzo/key": "mine"}}, 1)
    assert services.heard()[-1]["params"]["_meta"] == {"palazzo/key": "mine"}


@pytest.mark.parametrize("params", [None, [], "x", {"name": "echo", "_meta": 5}, {"name": "echo", "x": float("inf")}])
def test_a_call_that_is_none_passes_to_the_byte(host: Host, services: Services, params: object) -> None:
    sent = [
        json.dumps({"id": name, "method": "tools/call", "params": params, "jsonrpc": "2.0"}).encode() + b"\n"
        for name in (None, [1], 5)
    ]
    for line in sent:
        host.write(line)
    assert host.hear()["id"] == 5
    assert services.lines() == sent


def test_what_is_no_message_reaches_the_service_which_says_so(host: Host) -> None:
    host.begin()
    for line in (b"{", b"not json", b"[]", b"\xff\xfe", b"[" * 100_000, b"3"):
        host.write(line + b"\n")
        assert host.hear()["error"]["code"] == -32700
    host.write(b"\n \r\n")
    assert host.ask("ping", name=9)["result"] == {"method": "ping"}


def test_twenty_megabytes_pass_in_both_directions(host: Host) -> None:
    host.begin()
    text = "ü" * 10_000_000
    host.write(
        json.dumps(
            {
                "jsonrpc": "2.0",
                "id": 5,
                "method": "tools/call",
                "params": {"name": "echo", "arguments": {"text": text}},
            },
            ensure_ascii=False,
        ).encode()
        + b"\n"
    )
    assert host.hear()["result"] == {"length": 10_000_000}
    assert len(host.call("half", 6, size=20_000_000)["text"]) == 20_000_000


def test_a_line_beyond_all_bounds_is_refused_and_the_next_one_taken(host: Host) -> None:
    host.begin()
    host.write(b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"text": "')
    for _ in range(40):
        host.write(b"x" * 1_000_000)
    host.write(b'"}}\n')
    refused = host.hear()
    assert refused["id"] is None
    assert "33,554,432 bytes" in refused["error"]["message"]
    assert host.ask("ping", name=2)["result"] == {"method": "ping"}


def test_a_last_line_without_its_newline_counts(host: Host) -> None:
    host.begin()
    host.write(b'{"jsonrpc": "2.0", "id": 3, "method": "ping"}')
    assert host.close() == 0
    assert json.loads(host.raw[-1])["id"] == 3


def test_cancelling_what_has_ended_changes_nothing(host: Host) -> None:
    host.begin()
    host.call("echo", 0)
    host.send("notifications/cancelled", {"requestId": 0, "reason": "done"})
    host.send("notifications/cancelled", {"requestId": [0]})
    host.send("notifications/cancelled")
    assert host.call("echo", 0) == {"length": 0}


def test_the_end_of_input_ends_it_at_once_where_nothing_is_asked(host: Host) -> None:
    host.begin()
    host.ask("ping")
    assert host.close() == 0
    assert host.complaints() == ""
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in host.raw)


def test_the_end_of_input_does_not_wait_for_a_call_that_takes_long(host: Host) -> None:
    host.begin()
    host.send("tools/call", {"name": "wait", "arguments": {"seconds": 3600}}, 4)
    assert host.close() == 0


def test_whoever_writes_everything_at_once_gets_all_answers(services: Services, variables: dict[str, str]) -> None:
    services.kill()
    asked = [{"jsonrpc": "2.0", "id": n, "method": "ping"} for n in range(5)]
    asked.append(
        {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "wait", "arguments": {"seconds": 2}}}
    )
    lines = b"".join(json.dumps(one).encode() + b"\n" for one in asked)
    relay = subprocess.Popen(
        relay_command(services.palace), env=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd="/"
    )
    assert relay.stdin is not None
    relay.stdin.write(lines)
    relay.stdin.close()
    services.start()
    assert relay.stdout is not None
    answers = relay.stdout.read().splitlines()
    relay.stdout.close()
    assert relay.wait(60) == 0
    assert [json.loads(line)["id"] for line in answers[-1:]] == [5]
    assert sorted(json.loads(line)["id"] for line in answers) == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_the_signals_by_which_hosts_end_a_server_end_it_in_order(host: Host, sent: signal.Signals) -> None:
    host.begin()
    host.send("tools/call", {"name": "wait", "arguments": {"seconds": 3600}}, 4)
    host.process.send_signal(sent)
    assert host.ended() == 0
    assert host.complaints() == ""


def test_a_signal_ends_it_also_while_a_service_is_sought(host: Host, services: Services) -> None:
    host.begin()
    services.kill()
    host.send("ping", name=1)
    host.process.send_signal(signal.SIGTERM)
    assert host.ended() == 0


def test_a_client_that_reads_no_more_ends_it_in_order(services: Services, variables: dict[str, str]) -> None:
    relay = subprocess.Popen(
        relay_command(services.palace), env=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd="/"
    )
    assert relay.stdin is not None
    assert relay.stdout is not None
    relay.stdout.close()
    relay.stdin.write(b'{"jsonrpc": "2.0", "id": 3, "method": "ping"}\n')
    relay.stdin.flush()
    assert relay.wait(60) == 0
    relay.stdin.close()


def test_pipes_that_were_told_not_to_wait_are_waited_for(services: Services, variables: dict[str, str]) -> None:
    ours, theirs = os.pipe()
    os.set_blocking(theirs, False)
    relay = subprocess.Popen(
        relay_command(services.palace), env=variables, stdin=subprocess.PIPE, stdout=theirs, cwd="/"
    )
    os.close(theirs)
    asked = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "half", "arguments": {"size": 900_000}},
    }
    assert relay.stdin is not None
    relay.stdin.write(json.dumps(asked).encode() + b"\n")
    relay.stdin.flush()
    time.sleep(0.3)
    with os.fdopen(ours, "rb") as answers:
        assert len(json.loads(answers.readline())["result"]["text"]) == 900_000
    relay.stdin.close()
    assert relay.wait(60) == 0


def test_it_loads_nothing_but_the_standard_library_and_few_modules_of_ours(
    services: Services, variables: dict[str, str]
) -> None:
    command = [sys.executable, "-I", "-S", "-E", "-X", "importtime", str(MAIN), "mcp", "--palace", str(services.palace)]
    asked = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "echo", "arguments": {}}}\n'
    done = subprocess.run(command, env=variables, input=asked, capture_output=True, cwd="/", check=True, timeout=60)
    assert json.loads(done.stdout)["id"] == 1
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.decode().splitlines() if "|" in line}
    loaded -= {"imported package"}
    ours = {name for name in loaded if name.split(".")[0] == "palazzo"}
    also = {"_frozen_importlib_external", "_sha2"}  # the second is asked for first, since 3.12 has it
    assert {name.split(".")[0] for name in loaded - ours} <= {*sys.stdlib_module_names, *also}
    own_modules = ("launcher", "mcp_relay", "rpc", "service_address", "jsonl")
    assert ours == {
        "palazzo",
        *(f"palazzo.{name}" for name in ("paths", "errors", "client", "host_names")),
        *(f"palazzo.client.{name}" for name in own_modules),
    }
    heavy = {"pathlib", "socket", "subprocess", "typing", "asyncio", "hashlib", "uuid", "logging", "tempfile"}
    assert loaded & heavy == set()


def test_a_message_with_an_id_and_no_method_is_refused(host: Host) -> None:
    host.begin()
    for name, rest in ((7, {}), (8, {"params": {}}), ("nine", {"jsonrpc": "1.0"})):
        host.write(json.dumps({"jsonrpc": "2.0", "id": name, **rest}).encode() + b"\n")
        answer = host.hear()
        assert (answer["id"], answer["error"]["code"]) == (name, -32600)
    host.write(b'{"jsonrpc":"2.0","id":10,"result":{}}\n')  # an answer to no question needs none
    assert "result" in host.ask("ping", name=11)
