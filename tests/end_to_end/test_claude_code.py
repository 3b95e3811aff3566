"""Claude Code as it is released, with Palazzo as a plugin and by its settings: what reaches the model, what is kept."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.daemon.conftest import wait_until
from tests.end_to_end.claude_code import ClaudeCode, run
from tests.end_to_end.machine import Machine, in_time, machine
from tests.end_to_end.model import Call, Request, Step
from tests.end_to_end.programs import claude_code
from tests.test_script import ROOT

from palazzo.hosts.claude_code.wiring import WIRING

pytestmark = pytest.mark.slow

SUMMARISE = "CRITICAL: Respond with TEXT ONLY."
"""How Claude Code's request for a summary begins."""
DECIDED = "Decided: the payment gateway listens on port 8443, because the proxy only lets that through."
NOTED = "Deploys are frozen on Fridays, since nobody is there to undo them."

Wire = Callable[[Machine], tuple[str, ...]]


def by_plugin(home: Machine, *options: str) -> tuple[str, ...]:
    """The plugin, installed from the marketplace that this repository is."""
    for words in (["marketplace", "add", str(ROOT)], ["install", "palazzo@palazzo", *options]):
        run(claude_code(), home.model, home.project, home.variables, "plugin", *words)
    return ()


def by_settings(home: Machine) -> tuple[str, ...]:
    """What `palazzo install` writes into a person's own settings."""
    (home.user.home / ".claude").mkdir(exist_ok=True)
    home.palazzo("install", WIRING.host)
    return ()


WIRED: dict[str, Wire] = {"plugin": by_plugin, "settings": by_settings}


@dataclass
class Story:
    """Two sessions on two days, and what the model was asked in each."""

    home: Machine
    first: list[Request] = field(default_factory=list)
    second: list[Request] = field(default_factory=list)
    kept_before_compaction: list[Any] = field(default_factory=list)
    transcripts: list[Path] = field(default_factory=list)

    def after(self, prompt: str) -> list[Request]:
        """The requests of the second session that were made in the turn of this prompt."""
        return [one for one in self.second if one.turns and _last_prompt(one).startswith(prompt)]


def _last_prompt(request: Request) -> str:
    """What the person sent last: what hosts add themselves begins with a tag."""
    texts = [text for said in request.turns if said.role == "user" for text in said.texts]
    return next((text.strip() for text in reversed(texts) if not text.lstrip().startswith("<")), "")


def bash(command: str) -> tuple[Call]:
    return (Call("Bash", {"command": command, "description": "Run it"}),)


@pytest.fixture(scope="module", params=WIRED)
def story(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    program = claude_code()
    with machine(tmp_path_factory.mktemp("claude-code")) as home:
        told = Story(home)
        more = WIRED[request.param](home)
        _first_session(told, program, more)
        home.settle()
        home.break_again()
        in_time(lambda: _second_session(told, program, more), lambda: _is_whole(told))
        yield told


def _first_session(told: Story, program: Path, more: tuple[str, ...]) -> None:
    home = told.home
    port = home.model.answers("Which port does the payment gateway listen on?", DECIDED)
    mend = home.model.answers(
        "Run the check.",
        Step("I run it.", bash("./check")),
        Step("A module is missing.", (Call("Write", {"file_path": str(home.project / ".ready"), "content": "1"}),)),
        Step("Once more.", bash("./check")),
        "It passes: frobnicate was missing.",
    )
    with ClaudeCode(program, home.model, home.project, home.variables, *more) as session:
        session.turns([port, mend])
    told.first = home.model.since(0)
    told.transcripts = sorted((home.user.home / ".claude" / "projects").glob("*/*.jsonl"))


def _second_session(told: Story, program: Path, more: tuple[str, ...]) -> None:
    home = told.home

    def look() -> None:
        told.kept_before_compaction += home.palazzo("search", "heron in the engine room")["hits"]

    home.model.answers(SUMMARISE, Step("<summary>The check failed.</summary>", before=look))
    asks = home.model.answers(
        "What did we decide about the payment gateway port?",
        Step("I look it up.", (Call("__search", {"query": "payment gateway port"}),)),
        Step("I keep it.", (Call("__remember", {"text": NOTED, "kind": "decision"}),)),
        "Port 8443.",
    )
    fails = home.model.answers("Please check it again.", Step("I run it.", bash("./check")), "It fails.")
    large = home.model.answers(
        "There is a heron in the engine room.",
        Step("A large step.", bash("echo done"), used=199_500, once=True),
        "Done.",
    )
    sub = home.model.answers(
        "Have somebody look into it.",
        Step("I ask.", (Call("Agent", {"description": "look", "prompt": "SUB: look", "subagent_type": "claude"}),)),
        "They say it is fine.",
    )
    home.model.answers("SUB: look", "The otter is fine.")
    before = len(home.model.requests)
    with ClaudeCode(program, home.model, home.project, home.variables, "--autocompact", "100000", *more) as session:
        session.turns([asks, fails, large, sub])
    told.second = home.model.since(before)


def _is_whole(told: Story) -> bool:
    """Whether each hook that had something to say has said it in time."""
    asked, failed = told.after("What did we decide"), told.after("Please check it again.")
    after = told.after("Have somebody")
    sub = next((one for one in told.second if one.has("SUB: look")), None)
    return (
        "SessionStart hook additional context" in told.second[0].words
        and "UserPromptSubmit hook additional context" in asked[0].words
        and "past fix" in failed[-1].words
        and "SessionStart hook additional context" in after[0].words
        and (sub is not None and "SubagentStart hook additional context" in sub.words)
    )


def test_the_second_session_begins_with_what_was_decided(story: Story) -> None:
    assert "hook additional context" not in story.first[0].words
    first = story.second[0].words
    assert "SessionStart hook additional context: <palazzo-memory>" in first
    assert DECIDED in first.partition("SessionStart hook additional context")[2].partition("</palazzo-memory>")[0]


def test_a_prompt_that_asks_for_the_past_brings_it_into_the_next_request(story: Story) -> None:
    told = story.after("What did we decide")[0].words.partition("UserPromptSubmit hook additional context: ")[2]
    assert DECIDED in told.partition("</palazzo-memory>")[0]


def test_an_error_that_was_mended_before_is_told_with_what_mended_it(story: Story) -> None:
    assert all("past fix" not in one.words for one in story.first)
    answered = story.after("Please check it again.")[-1].words.partition("Please check it again.")[2]
    assert "ModuleNotFoundError" in answered
    assert "past fix" in answered
    assert "in between: edited " in answered


def test_the_tools_are_offered_and_called(story: Story) -> None:
    asked = story.after("What did we decide")
    assert {name.rpartition("__")[2] for name in asked[0].tools if "palazzo" in name} >= {"search", "remember", "read"}
    assert "8443" in asked[1].words.rpartition("tool_result")[2]
    assert any(NOTED in hit["text"] for hit in story.home.palazzo("search", "frozen on Fridays")["hits"])


def test_the_transcript_is_in_the_palace_byte_for_byte(story: Story) -> None:
    assert story.transcripts
    for transcript in story.transcripts:
        wait_until(partial(_is_archived, story.home, transcript))


def _is_archived(home: Machine, transcript: Path) -> bool:
    return home.archived(transcript) == transcript.read_bytes()


def test_what_was_said_is_kept_before_it_is_compacted(story: Story) -> None:
    assert any("heron" in hit["text"] for hit in story.kept_before_compaction)


def test_nothing_is_added_to_the_instructions_of_a_summary(story: Story) -> None:
    asked = [one for one in story.second if SUMMARISE in one.words]
    assert asked
    assert all("Additional Instructions:" not in one.words for one in asked)


def test_after_a_compaction_the_session_is_oriented_anew(story: Story) -> None:
    (after,) = [one for one in story.after("Have somebody") if one.turns[-1].role == "user"][:1]
    assert "SessionStart hook additional context: <palazzo-memory>" in after.words


def test_a_sub_agent_is_oriented_and_what_it_said_is_kept(story: Story) -> None:
    asked = next(one for one in story.second if one.has("SUB: look"))
    assert "SubagentStart hook additional context: <palazzo-memory>" in asked.words
    wait_until(lambda: any("otter" in hit["text"] for hit in story.home.palazzo("search", "otter")["hits"]))


# --- saving -------------------------------------------------------------------------------------------------

ASKED = "Palazzo memory checkpoint"


def save_mode_of_plugin(home: Machine, mode: str) -> tuple[str, ...]:
    """As Claude Code keeps it for the plugin."""
    return by_plugin(home, "--config", f"save_mode={mode}")


def save_mode_of_person(home: Machine, mode: str) -> tuple[str, ...]:
    """As Palazzo keeps it."""
    home.palazzo("settings", "set", "save_mode", mode)
    return by_settings(home)


SAVING: dict[str, Callable[[Machine, str], tuple[str, ...]]] = {
    "plugin": save_mode_of_plugin,
    "settings": save_mode_of_person,
}


@pytest.mark.parametrize(("wired", "mode"), [("plugin", "ask"), ("settings", "silent")])
def test_a_save_is_asked_for_at_the_fifteenth_message_of_a_person_or_never(
    tmp_path: Path, wired: str, mode: str
) -> None:
    requests: list[Request] = []
    with machine(tmp_path) as home:
        prompts = [home.model.answers(f"Tell me number {n}.", f"It is {n * n}.") for n in range(1, 17)]
        more = SAVING[wired](home, mode)

        def talk() -> None:
            before = len(home.model.requests)
            with ClaudeCode(claude_code(), home.model, home.project, home.variables, *more) as session:
                session.turns(prompts)
            requests[:] = home.model.since(before)

        in_time(talk, lambda: len(requests) == 16 + (mode == "ask") and (mode == "silent" or _at(requests) == 15))
    asked, turns = [ASKED in one.words for one in requests], [_last_prompt(one) for one in requests]
    if mode == "silent":
        assert not any(asked)
    else:
        first = asked.index(True)
        assert turns[first - 1] == prompts[14]
        assert turns[first].startswith("Stop hook feedback:")
        assert turns[first + 1 :] == prompts[15:]  # it is asked for once


def _at(requests: list[Request]) -> int:
    """Which of the requests is the first that was asked to save."""
    return next((at for at, one in enumerate(requests) if ASKED in one.words), -1)


def test_the_plugin_and_the_marketplace_are_valid_to_the_letter(tmp_path: Path) -> None:
    with machine(tmp_path) as home:
        for path in (ROOT, ROOT / "integrations" / "claude-code"):
            told = run(
                claude_code(), home.model, home.project, home.variables, "plugin", "validate", "--strict", str(path)
            )
            assert "Validation passed" in told


def test_wired_by_both_nothing_is_told_or_kept_twice(tmp_path: Path) -> None:
    """Claude Code starts each hook twice then, both at once."""
    with machine(tmp_path) as home:
        by_plugin(home)
        by_settings(home)
        says = home.model.answers(f"Note this. {DECIDED}", "I keep it.")
        asks = home.model.answers("What did we decide about the payment gateway port?", "Port 8443.")
        for prompt in (says, asks):
            with ClaudeCode(claude_code(), home.model, home.project, home.variables) as session:
                session.turn(prompt)
            home.settle()
        told = next(one for one in home.model.requests if one.has(asks)).words
        for event in ("SessionStart", "UserPromptSubmit"):
            assert told.count(f"{event} hook additional context: <palazzo-memory>") <= 1
        assert told.count("additional context: <palazzo-memory>") >= 1
        assert len({one["id"] for one in home.palazzo("search", DECIDED)["hits"] if "I keep it." in one["text"]}) == 1


def test_commands_say_what_the_installed_version_says(tmp_path: Path) -> None:
    with machine(tmp_path) as home:
        with ClaudeCode(claude_code(), home.model, home.project, home.variables, *by_plugin(home)) as session:
            session.turn("/palazzo:search the retry budget")
        asked = home.model.requests[-1].words
        assert home.palazzo("instructions", "search")["text"].strip() in asked
        assert "the retry budget" in asked


def test_without_the_program_commands_say_what_is_missing_and_the_session_goes_on(tmp_path: Path) -> None:
    with machine(tmp_path) as home:
        by_plugin(home)
        installed = str(tmp_path / "where it is installed")
        path = os.pathsep.join(one for one in home.variables["PATH"].split(os.pathsep) if not one.startswith(installed))
        if shutil.which("palazzo", path=path):
            pytest.skip("There is another palazzo on the PATH.")
        without = {**home.variables, "PATH": path}
        with ClaudeCode(claude_code(), home.model, home.project, without) as session:
            session.turn("/palazzo:help")
        assert "pip install palazzo" in home.model.requests[-1].words


def test_a_locked_palace_holds_a_compaction_back_once_and_the_person_is_told(tmp_path: Path) -> None:
    with machine(tmp_path) as home:
        by_settings(home)
        says = home.model.answers("Say something.", "Something.")
        decides = home.model.answers(f"Note this. {DECIDED}", "I keep it.")
        home.model.answers(SUMMARISE, "<summary>A port was decided.</summary>")
        with ClaudeCode(claude_code(), home.model, home.project, home.variables) as session:
            session.turn(says)
            with home.locked_palace() as palace:
                session.turn(decides)
                request_count = len(home.model.requests)
                session.turn("/compact")
                assert home.model.since(request_count) == []
                output = json.dumps(session.told)
                session.turn("/compact")
                assert any(SUMMARISE in request.words for request in home.model.since(request_count))
        assert "Palazzo could not save this session before its compaction" in output
        assert str(palace) in output
