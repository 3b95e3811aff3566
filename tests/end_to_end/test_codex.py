"""Codex as it is released, with Palazzo as a plugin and by its settings: what reaches the model, what is kept."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.daemon.conftest import wait_until
from tests.end_to_end import programs
from tests.end_to_end.codex import Codex
from tests.end_to_end.machine import Machine, in_time, machine
from tests.end_to_end.model import Call, Request, Step
from tests.test_script import ROOT

from palazzo.hosts.codex.wiring import WIRING

pytestmark = pytest.mark.slow

UNASKED = "--dangerously-bypass-approvals-and-sandbox"
SUMMARISE = "You are performing a CONTEXT CHECKPOINT COMPACTION"
"""How Codex's request for a summary begins."""
DECIDED = "Decided: the payment gateway listens on port 8443, because the proxy only lets that through."
NOTED = "Deploys are frozen on Fridays, since nobody is there to undo them."
PATCH = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: .ready\n+1\n*** End Patch\nEOF"


def by_plugin(home: Machine, host: Codex) -> None:
    """The plugin, installed from the marketplace that this repository is."""
    host.run("plugin", "marketplace", "add", str(ROOT))
    host.run("plugin", "add", "palazzo@palazzo")


def by_settings(home: Machine, host: Codex) -> None:
    """What `palazzo install` writes into a person's own settings, beside what is there."""
    home.palazzo("install", WIRING.host)


WIRED: dict[str, Callable[[Machine, Codex], None]] = {"plugin": by_plugin, "settings": by_settings}


@dataclass
class Story:
    """Two sessions on two days, and what the model was asked in each."""

    home: Machine
    host: Codex
    first: list[Request] = field(default_factory=list)
    second: list[Request] = field(default_factory=list)
    kept_before_compaction: list[Any] = field(default_factory=list)

    def after(self, prompt: str) -> list[Request]:
        """The requests of the second session that were made in the turn of this prompt."""
        return [one for one in self.second if _last_prompt(one).startswith(prompt)]


def _last_prompt(request: Request) -> str:
    """What the person sent last: what hosts add themselves begins with a tag."""
    texts = [text for said in request.turns if said.role == "user" for text in said.texts]
    return next((text.strip() for text in reversed(texts) if not text.lstrip().startswith(("<", "# AGENTS"))), "")


def shell(command: str) -> tuple[Call]:
    return (Call("exec_command", {"cmd": command}),)


@pytest.fixture(scope="module", params=WIRED)
def story(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    program = programs.codex()
    with machine(tmp_path_factory.mktemp("codex")) as home:
        told = Story(home, Codex(program, home.model, home.project, home.variables))
        WIRED[request.param](home, told.host)
        _first_session(told)
        home.settle()
        home.break_again()
        in_time(lambda: _second_session(told), lambda: _is_whole(told))
        yield told


def _first_session(told: Story) -> None:
    home = told.home
    port = home.model.answers("Which port does the payment gateway listen on?", DECIDED)
    mend = home.model.answers(
        "Run the check.",
        Step("I run it.", shell("./check")),
        Step("A module is missing.", shell(PATCH)),
        Step("Once more.", shell("./check")),
        "It passes: frobnicate was missing.",
    )
    told.host.turn(port)
    told.host.turn(mend)
    told.first = home.model.since(0)


def _second_session(told: Story) -> None:
    home = told.home

    def look() -> None:
        told.kept_before_compaction += home.palazzo("search", "heron in the engine room")["hits"]

    home.model.answers(SUMMARISE, Step("The check failed.", before=look))
    asks = home.model.answers(
        "What did we decide about the payment gateway port?",
        Step("I look it up.", (Call(".search", {"query": "payment gateway port"}),)),
        Step("I keep it.", (Call(".remember", {"text": NOTED, "kind": "decision"}),)),
        "Port 8443.",
    )
    fails = home.model.answers("Please check it again.", Step("I run it.", shell("./check")), "It fails.")
    large = home.model.answers(
        "There is a heron in the engine room.",
        Step("A large step.", shell("echo done"), used=195_000, once=True),
        "Done.",
    )
    last = home.model.answers("And what now?", "Now we rest.")
    told.host.begin()
    before = len(home.model.requests)
    told.host.turn(asks, "--dangerously-bypass-hook-trust")  # nobody is there to approve what a tool does
    for prompt in (fails, large, last):
        told.host.turn(prompt)
    told.second = home.model.since(before)


def _memory(request: Request, marked: str) -> str:
    """The text inside our fence in which this stands; empty if there is none."""
    blocks = request.words.split("<palazzo-memory>")[1:]
    found = (block.partition("</palazzo-memory>")[0] for block in blocks)
    return next((block for block in found if marked in block), "")


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


def test_the_second_session_begins_with_what_was_decided(story: Story) -> None:
    assert _memory(story.first[0], "Recorded words") == ""
    assert DECIDED in _memory(story.second[0], "Current decisions")


def test_a_prompt_that_asks_for_the_past_brings_it_into_the_next_request(story: Story) -> None:
    assert DECIDED in _memory(story.after("What did we decide")[0], "Recorded words that may answer this")


def test_an_error_that_was_mended_before_is_told_with_what_mended_it(story: Story) -> None:
    assert all("past fix" not in one.words for one in story.first)
    told = _memory(story.after("Please check it again.")[-1], "This failed before")
    assert "past fix" in told
    assert "ModuleNotFoundError" in told
    assert "in between: edited " in told


def test_the_tools_are_offered_and_called_though_nobody_is_asked_for_approval(story: Story) -> None:
    asked = story.after("What did we decide")
    assert {name.rpartition(".")[2] for name in asked[0].tools if "palazzo" in name} >= {"search", "remember", "read"}
    outputs = [item["output"] for item in asked[-1].body["input"] if item.get("type") == "function_call_output"]
    assert "8443" in json.dumps(outputs[0])
    assert any(NOTED in hit["text"] for hit in story.home.palazzo("search", "frozen on Fridays")["hits"])


def _is_archived(home: Machine, transcript: Path) -> bool:
    return home.archived(transcript) == transcript.read_bytes()


def test_the_transcript_is_in_the_palace_byte_for_byte(story: Story) -> None:
    assert len(story.host.transcripts) >= 2
    for transcript in story.host.transcripts:
        wait_until(partial(_is_archived, story.home, transcript))


def test_what_was_said_is_kept_before_it_is_compacted(story: Story) -> None:
    assert any("heron" in hit["text"] for hit in story.kept_before_compaction)


def test_after_a_compaction_the_session_is_oriented_anew(story: Story) -> None:
    assert DECIDED in _memory(story.after("And what now?")[0], "Current decisions")


# --- saving -------------------------------------------------------------------------------------------------

ASKED = "Palazzo memory checkpoint"


@pytest.mark.parametrize(("wired", "mode"), [("settings", "ask"), ("plugin", "silent")])
def test_a_save_is_asked_for_at_the_fifteenth_message_of_a_person_or_never(
    tmp_path: Path, wired: str, mode: str
) -> None:
    requests: list[Request] = []
    with machine(tmp_path) as home:
        prompts = [home.model.answers(f"Tell me number {n}.", f"It is {n * n}.") for n in range(1, 17)]
        host = Codex(programs.codex(), home.model, home.project, home.variables)
        WIRED[wired](home, host)
        home.palazzo("settings", "set", "save_mode", mode)

        def talk() -> None:
            before = len(home.model.requests)
            host.begin()
            for prompt in prompts:
                host.turn(prompt)
            requests[:] = home.model.since(before)

        in_time(talk, lambda: len(requests) == 16 + (mode == "ask") and (mode == "silent" or _at(requests) == 15))
    asked, turns = [ASKED in one.words for one in requests], [_last_prompt(one) for one in requests]
    if mode == "silent":
        assert not any(asked)
    else:
        first = asked.index(True)
        assert turns[first] == turns[first - 1] == prompts[14]
        assert turns[first + 1 :] == prompts[15:]  # it is asked for once


def _at(requests: list[Request]) -> int:
    """Which of the requests is the first that was asked to save."""
    return next((at for at, one in enumerate(requests) if ASKED in one.words), -1)


# --- trust --------------------------------------------------------------------------------------------------


def test_hooks_run_once_they_are_trusted_and_doctor_knows_which_are_not(tmp_path: Path) -> None:
    with machine(tmp_path) as home:
        host = Codex(programs.codex(), home.model, home.project, home.variables)
        by_settings(home, host)
        host.turn("Good morning.", UNASKED)
        assert any("trust" in one for one in _amiss(home))
        assert not home.archived(host.transcripts[0])
        host.trust_hooks()
        assert not any("trust" in one for one in _amiss(home))
        host.turn("Good evening.", UNASKED)
        wait_until(partial(_is_archived, home, host.transcripts[0]))


def _amiss(home: Machine) -> list[str]:
    """What `palazzo doctor` says of Codex that is not in order."""
    command = ["palazzo", "doctor", "--json"]
    done = subprocess.run(
        command, cwd=home.project, env=home.variables, capture_output=True, text=True, timeout=120, check=False
    )
    return [one["detail"] for one in json.loads(done.stdout)["findings"] if one["name"] == "Codex" and not one["ok"]]
