"""pi as it is released, with Palazzo's extension: what reaches the model, what is kept, what when something fails."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.daemon.conftest import is_alive, wait_until
from tests.end_to_end import programs
from tests.end_to_end.machine import Machine, in_time, machine
from tests.end_to_end.model import Call, Request, Step
from tests.end_to_end.pi import Pi, Talk
from tests.test_script import ROOT

pytestmark = pytest.mark.slow

OLD, NEW = programs.PI_VERSIONS
DECIDED = "Decided: the payment gateway listens on port 8443, because the proxy only lets that through."
NOTED = "Deploys are frozen on Fridays, since nobody is there to undo them."
SUMMARISE = "<conversation>"
"""How pi's request for a summary begins."""
ASKED = "Palazzo memory checkpoint"
BRIDGE = Path(__file__).with_name("mempalace_bridge.ts")


@dataclass
class Story:
    """Sessions on several days, and what the model was asked in them."""

    home: Machine
    host: Pi
    first: list[Request] = field(default_factory=list)
    second: list[Request] = field(default_factory=list)
    resumed: list[Request] = field(default_factory=list)
    kept_before_compaction: list[Any] = field(default_factory=list)
    complaints: str = ""

    def after(self, prompt: str) -> list[Request]:
        """The requests of the second session that were made in the turn of this prompt."""
        return [one for one in self.second if _last_prompt(one).startswith(prompt)]


def _last_prompt(request: Request) -> str:
    """What the person sent last; what is inserted begins with a tag, or asks for a save."""
    texts = [text for said in request.turns if said.role == "user" for text in said.texts]
    return next((text for text in reversed(texts) if not text.startswith(("<", ASKED))), "")


def _memory(request: Request, marked: str) -> str:
    """The text inside our fence in which this stands; empty if there is none."""
    blocks = request.words.split("<palazzo-memory>")[1:]
    found = (block.partition("</palazzo-memory>")[0] for block in blocks)
    return next((block for block in found if marked in block), "")


def _installed(home: Machine, version: str = OLD) -> Pi:
    host = Pi(programs.pi(version), home.model, home.project, home.variables)
    home.palazzo("install", "pi")
    return host


def _starts(host: Pi, another: Callable[[str], str]) -> None:
    """Let the extension start another program than the installed one, which may be that of a whole environment."""
    starter = host.home / "extensions" / "palazzo.ts"
    before, program, after = re.split(r'(?<=program: )"(.*?)"', starter.read_text())
    starter.write_text(f"{before}{json.dumps(another(program))}{after}")


def _but_for(path: Path, program: str, event: str) -> Path:
    """Put a program there that does what `program` does, but fails at an event."""
    path.write_text(f'#!/bin/sh\ncase "$*" in *{event}*) exit 1 ;; esac\nexec "{program}" "$@"\n')
    path.chmod(0o755)
    return path


def bash(command: str) -> tuple[Call]:
    return (Call("bash", {"command": command}),)


def search(query: str) -> tuple[Call]:
    return (Call("_search", {"query": query}),)


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    programs.pi(OLD)
    with machine(tmp_path_factory.mktemp("pi")) as home:
        told = Story(home, _installed(home))
        _first_session(told)
        home.settle()
        home.break_again()
        in_time(lambda: _second_session(told), lambda: _is_whole(told))
        before = len(home.model.requests)
        told.host.turn(home.model.answers("Where were we?", "At the port."), "-c")
        told.resumed = home.model.since(before)
        yield told


def _first_session(told: Story) -> None:
    home = told.home
    port = home.model.answers("Which port does the payment gateway listen on?", DECIDED)
    mend = home.model.answers(
        "Run the check.",
        Step("I run it.", bash("./check")),
        Step("A module is missing.", (Call("write", {"path": ".ready", "content": "1\n"}),)),
        Step("Once more.", bash("./check")),
        "It passes: frobnicate was missing.",
    )
    with told.host.talk() as talk:
        talk.turn(port)
        talk.turn(mend)
    told.first = home.model.since(0)


def _second_session(told: Story) -> None:
    home = told.home

    def look() -> None:
        told.kept_before_compaction += home.palazzo("search", "heron in the engine room")["hits"]

    home.model.answers(SUMMARISE, Step("The check failed.", before=look))
    asks = home.model.answers(
        "What did we decide about the payment gateway port?",
        Step("I look it up.", search("payment gateway port")),
        Step("I keep it.", (Call("_remember", {"text": NOTED, "kind": "decision"}),)),
        "Port 8443.",
    )
    fails = home.model.answers("Please check it again.", Step("I run it.", bash("./check")), "It fails.")
    heron = home.model.answers("There is a heron in the engine room.", "I see.")
    last = home.model.answers("And what now?", "Now we rest.")
    before = len(home.model.requests)
    with told.host.talk() as talk:
        for prompt in (asks, fails, heron):
            talk.turn(prompt)
        done = talk.send({"type": "compact"})
        assert done["success"], done
        talk.turn(last)
    told.second, told.complaints = home.model.since(before), talk.complaints


def _is_whole(told: Story) -> bool:
    """Whether each hook that had something to say has said it in time."""
    return all(
        (
            _memory(told.second[0], "Current decisions"),
            _memory(told.after("What did we decide")[0], "Recorded words that may answer this"),
            _memory(told.after("Please check it again.")[-1], "This failed before"),
            _memory(told.after("And what now?")[0], "Current decisions"),
        )
    )


def test_the_tools_are_offered_from_the_first_request_on_with_the_server_s_own_schemas(story: Story) -> None:
    listed = {one["function"]["name"]: one["function"] for one in story.first[0].body["tools"]}
    ours = {name: one for name, one in listed.items() if name.startswith("palazzo_")}
    assert set(ours) >= {"palazzo_search", "palazzo_remember", "palazzo_read", "palazzo_diary_write"}
    schema = ours["palazzo_search"]["parameters"]
    assert schema["required"] == ["query"]
    assert schema["properties"]["limit"]["type"] == "integer"
    assert "palazzo_search: " in story.first[0].words  # among the tools that the system prompt names
    assert "its `search` is `palazzo_search`" in story.first[0].words


def test_the_second_session_begins_with_what_was_decided(story: Story) -> None:
    assert _memory(story.first[0], "Current decisions") == ""
    assert DECIDED in _memory(story.second[0], "Current decisions")


def test_a_session_that_is_resumed_is_not_told_again(story: Story) -> None:
    asked = next(one for one in story.resumed if one.has("Where were we?"))
    at = next(n for n, said in enumerate(asked.turns) if "Where were we?" in said.texts)
    told = [text for said in asked.turns[at:] for text in said.texts]
    assert not any("Current decisions" in text for text in told), [said.texts for said in asked.turns]


def test_a_prompt_that_asks_for_the_past_brings_it_into_the_next_request(story: Story) -> None:
    assert DECIDED in _memory(story.after("What did we decide")[0], "Recorded words that may answer this")


def test_tools_are_called_and_their_answers_reach_the_model(story: Story) -> None:
    last = story.after("What did we decide")[-1]
    answers = [one["content"] for one in last.body["messages"] if one["role"] == "tool"]
    assert "8443" in json.dumps(answers[0])
    assert any(NOTED in hit["text"] for hit in story.home.palazzo("search", "frozen on Fridays")["hits"])


def test_an_error_that_was_mended_before_is_told_with_what_mended_it(story: Story) -> None:
    told = _memory(story.after("Please check it again.")[-1], "This failed before")
    assert "past fix" in told
    assert "ModuleNotFoundError" in told


def test_what_was_said_is_kept_before_it_is_compacted(story: Story) -> None:
    assert any("heron" in hit["text"] for hit in story.kept_before_compaction)


def test_after_a_compaction_the_session_is_oriented_anew(story: Story) -> None:
    assert DECIDED in _memory(story.after("And what now?")[0], "Current decisions")


def test_the_history_that_pi_wrote_is_fed_and_found(story: Story) -> None:
    story.home.palazzo("feed", "pi")
    assert len(story.host.transcripts) >= 2
    for transcript in story.host.transcripts:
        wait_until(partial(_is_archived, story.home, transcript))
    hits = story.home.palazzo("search", "which port does the payment gateway listen on")["hits"]
    assert any("8443" in hit["text"] and hit["source"]["kind"] == "pi" for hit in hits)
    assert story.complaints == ""


def _is_archived(home: Machine, transcript: Path) -> bool:
    return home.archived(transcript) == transcript.read_bytes()


# --- saving -------------------------------------------------------------------------------------------------


def test_a_save_is_asked_for_at_the_fifteenth_message_of_a_person_and_once(tmp_path: Path) -> None:
    requests, prompts = _numbers(tmp_path, 16, ("save_mode", "ask"))
    first = _at(requests)
    assert first == 15
    assert [_last_prompt(one) for one in requests[first - 1 : first + 1]] == [prompts[14]] * 2
    words = requests[first].turns[-1].texts[0]
    assert all(one in words for one in ("diary_write", "remember", "`search`", "MEMORY.md"))
    assert len(requests) == 17


def test_a_save_is_not_asked_for_in_silent_mode(tmp_path: Path) -> None:
    requests, prompts = _numbers(tmp_path, 4, ("save_mode", "silent"), ("save_interval", "2"))
    assert [_last_prompt(one) for one in requests] == prompts
    assert _at(requests) == -1


def _numbers(directory: Path, count: int, *settings: tuple[str, str]) -> tuple[list[Request], list[str]]:
    """What the model was asked in a session of so many prompts, and the prompts."""
    requests: list[Request] = []
    programs.pi(OLD)
    with machine(directory) as home:
        prompts = [home.model.answers(f"Tell me number {n}.", f"It is {n * n}.") for n in range(1, count + 1)]
        host = _installed(home)
        for key, value in settings:
            home.palazzo("settings", "set", key, value)

        def talk() -> None:
            before = len(home.model.requests)
            with host.talk() as session:
                for prompt in prompts:
                    session.turn(prompt)
            requests[:] = home.model.since(before)

        in_time(talk, lambda: count < 15 or _at(requests) == 15)
    return requests, prompts


def _at(requests: list[Request]) -> int:
    """Which of the requests is the first that was asked to save."""
    return next((at for at, one in enumerate(requests) if ASKED in one.words), -1)


# --- when something fails -----------------------------------------------------------------------------------


def _servers(talk: Talk) -> list[int]:
    """The processes of `palazzo mcp` that a pi has started."""
    found = subprocess.run(["ps", "-wweo", "pid=,ppid=,args="], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in found.splitlines()]
    return [int(pid) for pid, parent, line in rows if int(parent) == talk.process.pid and " mcp" in line]


def _results(requests: list[Request]) -> list[str]:
    """What tools answered in a turn."""
    return [str(one["content"]) for one in requests[-1].body["messages"] if one["role"] == "tool"]


def _looks(home: Machine, talk: Talk, n: int) -> str:
    """What a search answers in a turn of its own."""
    before = len(home.model.requests)
    talk.turn(home.model.answers(f"Look {n} times.", Step("I look.", search("port")), "So it is."))
    return _results(home.model.since(before))[-1]


def test_a_server_that_is_killed_is_started_again_and_one_that_hangs_is_given_up(tmp_path: Path) -> None:
    programs.pi(OLD)
    with machine(tmp_path) as home:
        host = _installed(home)
        host.variables["PALAZZO_MCP_CALL_TIMEOUT_MS"] = "10000"
        home.palazzo("remember", DECIDED)
        with host.talk() as talk:
            assert "8443" in _looks(home, talk, 1)
            (first,) = _servers(talk)
            os.kill(first, signal.SIGKILL)
            wait_until(lambda: not is_alive(first))
            home.palazzo("remember", "The port of the sandbox is 9443.")  # which is not the server's doing
            assert "9443" in _looks(home, talk, 2)
            (second,) = _servers(talk)
            os.kill(second, signal.SIGSTOP)
            assert "did not answer search within 10 s, so its server was ended" in _looks(home, talk, 3)
            assert "8443" in _looks(home, talk, 4)
            wait_until(lambda: not is_alive(second))
            third = _servers(talk)
        assert talk.complaints == ""
        assert not any(is_alive(one) for one in third)


def test_without_palazzo_pi_starts_and_works_and_says_so_once(tmp_path: Path) -> None:
    programs.pi(OLD)
    with machine(tmp_path) as home:
        host = _installed(home)
        _starts(host, lambda program: f"{program}-gone")
        says = home.model.answers("Say something.", "Something. " * 100)
        with host.talk() as talk:
            talk.turn(says)
            talk.turn(home.model.answers("Run it.", Step("", bash("exit 3")), "It fails."))
            talk.turn(says)
            done = talk.send({"type": "compact"})
            assert done["success"], done
            assert talk.send({"type": "new_session"})["success"]
            talk.turn(says)
        assert sum("Palazzo" in one for one in talk.told) == 2  # once for each session
        assert not any(one.startswith("palazzo_") for request in home.model.requests for one in request.tools)
        starter = host.home / "extensions" / "palazzo.ts"
        starter.write_text(starter.read_text().replace("integrations/pi", "integrations/gone"))
        assert host.turn(says).startswith("Something.")


def test_a_compaction_before_which_nothing_could_be_kept_waits_once_for_the_agent_to_save(tmp_path: Path) -> None:
    programs.pi(OLD)
    with machine(tmp_path) as home:
        host = _installed(home)
        fails = tmp_path / "palazzo"
        _starts(host, lambda program: str(_but_for(fails, program, "pre-compact")))
        says = home.model.answers("Say something.", "Something. " * 100)
        home.model.answers("# Save this session", "It is saved.")
        with host.talk() as talk:
            talk.turn(says)
            talk.turn(says)
            before = len(home.model.requests)
            assert "cancelled" in talk.send({"type": "compact"})["error"]
            talk.settle()
            (asked,) = home.model.since(before)
            assert asked.turns[-1].texts[0].startswith("# Save this session")
            assert talk.send({"type": "compact"})["success"]
        assert any("Compact again to continue without saving" in one for one in talk.told)


def test_a_locked_palace_cancels_a_compaction_once_and_the_person_is_told(tmp_path: Path) -> None:
    programs.pi(OLD)
    with machine(tmp_path) as home:
        host = _installed(home)
        says = home.model.answers("Say something.", "Something. " * 100)
        decides = home.model.answers(f"Note this. {DECIDED}", "I keep it.")
        home.model.answers("# Save this session", "It cannot be saved.")
        with host.talk() as talk:
            talk.turn(says)
            with home.locked_palace() as palace:
                talk.turn(decides)
                assert "cancelled" in talk.send({"type": "compact"})["error"]
                talk.settle()
                assert talk.send({"type": "compact"})["success"]
        assert any(str(palace) in line for line in talk.told), talk.told


# --- beside others ------------------------------------------------------------------------------------------


def test_two_that_are_loaded_offer_the_tools_once_and_tell_once(tmp_path: Path) -> None:
    programs.pi(NEW)
    with machine(tmp_path) as home:
        home.palazzo("remember", DECIDED, "--kind", "decision")
        host = _installed(home, NEW)
        asks = home.model.answers(
            "What did we decide about the payment gateway port?", Step("", search("port")), "8443."
        )
        package = str(ROOT / "integrations" / "pi")

        def talk() -> None:
            with host.talk("-e", package) as session:
                session.turn(asks)

        in_time(talk, lambda: bool(_memory(home.model.requests[-1], "Current decisions")))
        last = home.model.requests[-1]
        assert [one for one in last.tools if one.endswith("search")] == ["palazzo_search"]
        assert last.words.count("Current decisions") == 1
        assert "8443" in _results([last])[-1]

        server = {"command": "palazzo", "args": ["mcp"], "exposure": "direct"}
        (host.home / "mcp.json").write_text(json.dumps({"mcpServers": {"palazzo": server}}))
        host.turn(asks)
        assert [one for one in home.model.requests[-1].tools if one.endswith("search")] == ["mcp__palazzo__search"]


def test_an_extension_that_was_written_for_mempalace_works_in_each_call_that_it_makes(tmp_path: Path) -> None:
    programs.pi(OLD)
    with machine(tmp_path) as home:
        home.palazzo("remember", "The proxy runs on the gateway's machine.")
        home.palazzo("install", "mempalace-compat", str(home.user.home / "bin"))
        host = Pi(programs.pi(OLD), home.model, home.project, home.variables)
        host.variables["PATH"] = f"{home.user.home / 'bin'}{os.pathsep}{host.variables['PATH']}"
        host.variables["BRIDGE_LOG"] = str(tmp_path / "calls.jsonl")
        calls: list[tuple[str, dict[str, Any]]] = [
            ("status", {}),
            ("check_duplicate", {"content": DECIDED}),
            ("add_drawer", {"wing": "orders", "room": "decisions", "content": DECIDED, "added_by": "pi"}),
            ("search", {"query": "payment gateway port", "limit": 3}),
            ("kg_add", {"subject": "gateway", "predicate": "listens on", "object": "8443"}),
            ("kg_query", {"entity": "gateway"}),
            ("list_wings", {}),
            ("diary_read", {"agent_name": "pi", "last_n": 3}),
            ("hook_settings", {"silent_save": False}),
            ("memories_filed_away", {}),
            ("reconnect", {}),
        ]
        steps = [Step("", (Call(f"mempalace_{name}", given),)) for name, given in calls]
        asks = home.model.answers("Use all of it.", *steps, "Done.")
        with host.talk("-e", str(BRIDGE)) as talk:
            talk.turn(asks)
        told = [json.loads(line) for line in (tmp_path / "calls.jsonl").read_text().splitlines()]
        made = {one["tool"]: one for one in told}
        assert len(home.model.requests[0].tools) >= 4 + 30
        assert [one for one in told if one["failed"]] == []
        assert {f"mempalace_{name}" for name, _ in calls} | {"mempalace_diary_write"} == set(made)
        assert made["mempalace_search"]["said"]["results"][0]["text"] == DECIDED
        assert made["mempalace_add_drawer"]["said"]["success"] is True
        assert made["mempalace_kg_query"]["said"]["facts"][0]["object"] == "8443"
        assert made["mempalace_diary_write"]["said"]["success"] is True
        assert home.palazzo("settings", "get", "save_mode")["settings"][0]["value"] == "ask"
