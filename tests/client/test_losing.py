"""A service that goes, however it goes, costs the client time and nothing else."""

from __future__ import annotations

import json
import random
import threading
import time

import pytest
from tests.client.conftest import Host, Services, Start, killing
from tests.reliability.sizes import chances, scaled


def calls_and_kills(host: Host, services: Services, calls: int, chance: random.Random) -> None:
    """Write `calls` times, one after the other and some side by side, while services are killed at random moments."""

    def kill() -> None:
        services.kill()
        if chance.random() < 0.5:
            time.sleep(chance.uniform(0.0, 0.1))
        services.start()

    with killing(host, kill, chance, within=0.25):
        name = 0
        while name < calls:
            together = min(chance.choice([1, 1, 1, 5]), calls - name)
            for one in range(name, name + together):
                pauses = {"before": chance.choice([0, 0.003]), "after": chance.choice([0, 0.003])}
                host.send("tools/call", {"name": "write", "arguments": {"text": f"note {one}", **pauses}}, one)
            answers = [host.hear() for _ in range(together)]
            assert {answer["id"]: answer.get("result", answer) for answer in answers} == {
                one: {"written": f"note {one}"} for one in range(name, name + together)
            }
            name += together


@pytest.mark.slow
def test_a_service_that_is_killed_at_any_moment_is_not_noticed_and_each_write_is_done_once(
    host: Host, services: Services
) -> None:
    host.begin()
    calls_and_kills(host, services, calls=50, chance=chances("services that are killed"))
    assert sorted(text for _, text in services.written()) == sorted(f"note {n}" for n in range(50))
    assert len({hello["by"] for hello in services.hellos()}) > 1
    assert host.close() == 0
    assert host.complaints() == ""


@pytest.mark.slow
def test_writes_outlive_their_services_which_are_killed_all_the_time(host: Host, services: Services) -> None:
    host.begin()
    calls_and_kills(host, services, calls=scaled(10_000), chance=chances("many services that are killed"))
    assert len(services.written()) == len({text for _, text in services.written()})
    assert host.close() == 0


def test_the_next_service_is_told_how_the_client_introduced_itself_and_the_client_hears_nothing_of_it(
    host: Host, services: Services
) -> None:
    host.begin()
    host.ask("ping", name=1)
    services.kill()
    services.start()
    assert host.ask("ping", name=2)["result"] == {"method": "ping"}
    first, _, _, again, initialized, ping = services.heard()
    assert again["params"] == first["params"]
    assert again["id"] != first["id"]
    assert (initialized["method"], ping["id"]) == ("notifications/initialized", 2)
    assert [json.loads(line)["id"] for line in host.raw] == [0, 1, 2]


def test_a_client_that_never_initialised_is_not_introduced(host: Host, services: Services) -> None:
    host.ask("server/discover", {"_meta": {}}, "probe")
    services.kill()
    services.start()
    host.ask("tools/list", name=0)
    assert [one["method"] for one in services.heard()] == ["server/discover", "tools/list"]


def test_an_initialize_that_is_not_answered_yet_is_sent_again_as_it_is(services: Services, start: Start) -> None:
    services.kill()
    host = start()
    host.send("initialize", {"protocolVersion": "2025-06-18"}, 0)
    host.send("notifications/initialized")
    host.send("tools/list", name=1)
    services.start()
    assert {host.hear()["id"], host.hear()["id"]} == {0, 1}
    assert [one["method"] for one in services.heard()] == ["initialize", "notifications/initialized", "tools/list"]


def test_a_service_that_gives_way_finishes_its_call_and_the_next_one_has_the_rest(
    host: Host, services: Services
) -> None:
    host.begin()
    host.send("tools/call", {"name": "write", "arguments": {"text": "begun", "before": 0.3}}, 1)
    while not any(one.get("id") == 1 for one in services.heard()):
        time.sleep(0.01)
    former = services.give_way()
    services.start()
    for name in range(2, 6):
        host.send("tools/call", {"name": "write", "arguments": {"text": f"after {name}"}}, name)
    answers = {answer["id"]: answer["result"]["written"] for answer in (host.hear() for _ in range(5))}
    assert answers == {1: "begun", **{name: f"after {name}" for name in range(2, 6)}}
    assert former.wait(60) == 0
    assert sorted(text for _, text in services.written()) == sorted(answers.values())


def test_what_was_cancelled_is_not_done_again_by_the_next_service(host: Host, services: Services) -> None:
    host.begin()
    host.send("tools/call", {"name": "write", "arguments": {"text": "unwanted", "before": 3600}}, 1)
    host.send("notifications/cancelled", {"requestId": 1})
    host.ask("ping", name=2)
    services.kill()
    services.start()
    host.ask("ping", name=3)
    assert [one["id"] for one in services.heard() if one["method"] == "tools/call"] == [1]


def test_an_answer_to_a_service_that_is_gone_is_not_given_to_the_next(host: Host, services: Services) -> None:
    host.begin()
    host.send("tools/call", {"name": "question"}, 1)
    question = host.hear()
    assert question["method"] == "roots/list"
    host.hear()
    host.write(b'{"jsonrpc": "2.0", "id": "question", "result": {"n": 1}}\n')
    host.ask("ping", name=2)
    services.kill()
    services.start()
    host.write(b'{"jsonrpc": "2.0", "id": "question", "result": {"n": 2}}\n')
    host.ask("ping", name=3)
    assert [one["result"]["n"] for one in services.heard() if "result" in one] == [1]


def test_a_call_that_ends_every_service_is_answered_with_that_and_harms_no_other(
    host: Host, services: Services
) -> None:
    host.begin()
    over = threading.Event()

    def starting() -> None:
        while not over.is_set():
            services.wait()
            services.start()

    starter = threading.Thread(target=starting)
    starter.start()
    host.send("tools/call", {"name": "die", "arguments": {}}, "deadly")
    said = host.hear()
    assert said["id"] == "deadly"
    assert "The memory server ended 5 times while it worked on this." in said["error"]["message"]
    assert host.call("write", 2, text="kept") == {"written": "kept"}
    over.set()
    services.kill()
    starter.join()


def test_a_service_that_ends_is_sought_again_only_when_there_is_something_to_ask(
    host: Host, services: Services
) -> None:
    host.begin()
    host.ask("ping", name=1)
    services.kill()
    services.start()
    time.sleep(0.3)
    assert len(services.hellos()) == 1
    host.ask("ping", name=2)
    assert len(services.hellos()) == 2


def test_a_service_that_dies_in_mid_line_has_said_nothing_of_it(host: Host, services: Services) -> None:
    host.begin()
    host.send("tools/call", {"name": "half-said", "arguments": {"text": "abc"}}, 1)
    services.wait()
    services.start()
    assert host.hear()["result"] == {"length": 3}
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in host.raw)
