"""opencode as it is released, with Palazzo as `palazzo install` wires it: what reaches the model, what is kept."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.daemon.conftest import wait_until
from tests.end_to_end import programs
from tests.end_to_end.machine import Machine, in_time, machine
from tests.end_to_end.model import Call, Request, Step
from tests.end_to_end.opencode import Opencode, Server, child_of

pytestmark = pytest.mark.slow

SUMMARISE = "Here is the conversation so far"
"""How opencode's request for a summary begins."""
DECIDED = "Decided: the payment gateway listens on port 8443, because the proxy only lets that through."
NOTED = "Deploys are frozen on Fridays, since nobody is there to undo them."
FOUND = "Retries are set in gateway.toml, and nowhere else."
ASKED = "Palazzo memory checkpoint"


@dataclass
class Story:
    """Two sessions on two days, the second of which goes on in another process, and what the model was asked."""

    home: Machine
    host: Opencode
    first: list[Request] = field(default_factory=list)
    second: list[Request] = field(default_factory=list)
    resumed: list[Request] = field(default_factory=list)
    kept_before_compaction: list[Any] = field(default_factory=list)
    diary: list[Any] = field(default_factory=list)
    session: str = ""

    def after(self, prompt: str) -> list[Request]:
        """The requests of the second session that were made in the turn of this prompt."""
        return [one for one in self.second if _last_prompt(one).startswith(prompt)]


def _last_prompt(request: Request) -> str:
    """What the person sent last."""
    texts = [text for said in request.turns if said.role == "user" for text in said.texts]
    return next((text for text in reversed(texts) if not text.startswith("<palazzo-memory>")), "")


def _memory(request: Request, marked: str) -> str:
    """The text inside our fence in which this stands; empty if there is none."""
    blocks = request.words.split("<palazzo-memory>")[1:]
    found = (block.partition("</palazzo-memory>")[0] for block in blocks)
    return next((block for block in found if marked in block), "")


def shell(command: str) -> tuple[Call]:
    return (Call("bash", {"command": command, "description": "As asked"}),)


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    with machine(tmp_path_factory.mktemp("opencode")) as home:
        told = Story(home, Opencode(programs.opencode(), home.model, home.project, home.variables))
        home.palazzo("install", "opencode")
        home.palazzo("settings", "set", "auto_commit", "true")
        with Server(told.host) as server:
            _first_session(told, server)
            home.settle()
            in_time(lambda: _second_session(told, server), lambda: _is_whole(told))
            told.session = server.session
            in_time(lambda: _third_session(told, server), lambda: _is_in_the_diary(told))
        before = len(home.model.requests)
        told.host.run(home.model.answers("Continue.", "Nothing is left."), "--session", told.session)
        told.resumed = home.model.since(before)
        yield told


def _first_session(told: Story, server: Server) -> None:
    home = told.home
    port = home.model.answers("Which port does the payment gateway listen on?", DECIDED)
    mend = home.model.answers(
        "Run the check.",
        Step("I run it.", shell("./check")),
        Step("A module is missing.", (Call("write", {"filePath": str(home.project / ".ready"), "content": "1\n"}),)),
        Step("Once more.", shell("./check")),
        "It passes: frobnicate was missing.",
    )
    server.begin()
    server.turn(port)
    server.turn(mend)
    told.first = home.model.since(0)


def _second_session(told: Story, server: Server) -> None:
    home = told.home

    def look() -> None:
        told.kept_before_compaction += home.palazzo("search", "heron in the engine room")["hits"]

    home.break_again()
    home.model.answers(SUMMARISE, Step("The check failed.", before=look))
    asks = home.model.answers(
        "What did we decide about the payment gateway port?",
        Step("I look it up.", (Call("_search", {"query": "payment gateway port"}),)),
        Step("I keep it.", (Call("_remember", {"text": NOTED, "kind": "decision"}),)),
        "Port 8443.",
    )
    fails = home.model.answers("Please check it again.", Step("I run it.", shell("./check")), "It fails.")
    research = {"description": "retries", "prompt": "Find the retries.", "subagent_type": "general"}
    delegates = home.model.answers("Let somebody find out.", Step("I ask.", (Call("task", research),)), "They know.")
    home.model.answers("Find the retries.", FOUND)
    mends = Call("write", {"filePath": str(home.project / ".ready"), "content": "1\n"})
    large = home.model.answers(
        "There is a heron in the engine room.",
        Step("A large step.", (mends,), used=199_500, once=True),
        "Done.",
    )
    before = len(home.model.requests)
    server.begin()
    for prompt in (asks, fails, delegates, large):
        server.turn(prompt)
    told.second = home.model.since(before)


def _third_session(told: Story, server: Server) -> None:
    """One that is closed after its first turn, with opencode."""
    server.begin()
    server.turn(told.home.model.answers("Which proxy is it?", "Decided: the proxy is nginx, because it is there."))
    server.dispose()
    for _ in range(20):
        told.diary = told.home.palazzo("diary", "read", "opencode")["entries"]
        if _is_in_the_diary(told):
            break
        time.sleep(1)


def _is_in_the_diary(told: Story) -> bool:
    """Whether the session that was closed is; those before it, which ended as well, have entries too."""
    return any("Decided:" in one["content"] and "nginx" in one["content"] for one in told.diary)


def _is_whole(told: Story) -> bool:
    """Whether each hook that had something to say has said it in time."""
    return all(
        (
            _memory(told.second[0], "Current decisions"),
            _memory(told.second[0], "Recorded words that may answer this"),
            _memory(told.after("Please check it again.")[-1], "This failed before"),
            _memory(told.second[-1], "Current decisions"),
            told.kept_before_compaction,
        )
    )


def test_the_second_session_begins_with_what_was_decided_in_the_person_s_turn(story: Story) -> None:
    assert DECIDED in _memory(story.second[0], "Current decisions")
    said = [turn.role for turn in story.second[0].turns if any("<palazzo-memory>" in text for text in turn.texts)]
    assert said == ["user"]


def test_what_is_told_never_stands_in_a_system_s_role(story: Story) -> None:
    for request in (*story.first, *story.second, *story.resumed):
        told = [text for turn in request.turns if turn.role in ("system", "developer") for text in turn.texts]
        assert not any("<palazzo-memory>" in text for text in told)


def test_a_prompt_that_asks_for_the_past_brings_it_into_the_next_request(story: Story) -> None:
    assert DECIDED in _memory(story.second[0], "Recorded words that may answer this")


def test_the_tools_are_offered_with_their_schemas_and_called(story: Story) -> None:
    tools = {one["function"]["name"]: one["function"]["parameters"] for one in story.second[0].body["tools"]}
    assert set(tools) >= {"palazzo_search", "palazzo_remember", "palazzo_read", "palazzo_diary_write"}
    assert tools["palazzo_search"]["required"] == ["query"]
    assert tools["palazzo_search"]["properties"]["query"]["type"] == "string"
    outputs = [one for one in story.after("What did we decide")[-1].body["messages"] if one["role"] == "tool"]
    assert "8443" in json.dumps(outputs[0])
    assert any(NOTED in hit["text"] for hit in story.home.palazzo("search", "frozen on Fridays")["hits"])


def test_an_error_that_was_mended_before_is_told_with_what_mended_it(story: Story) -> None:
    told = _memory(story.after("Please check it again.")[-1], "This failed before")
    assert "past fix" in told
    assert "ModuleNotFoundError" in told


def test_a_sub_agent_is_oriented_and_what_it_found_is_kept(story: Story) -> None:
    (asked,) = (one for one in story.second if _last_prompt(one) == "Find the retries.")
    assert _memory(asked, "Recorded words") != ""
    assert _memory(asked, "Recorded words that may answer this") == ""
    assert any(FOUND in hit["text"] for hit in story.home.palazzo("search", "retries in gateway.toml")["hits"])


def test_what_was_said_is_kept_before_it_is_compacted(story: Story) -> None:
    assert any("heron" in hit["text"] for hit in story.kept_before_compaction)


def test_after_a_compaction_the_session_is_oriented_anew(story: Story) -> None:
    assert "heron" not in _last_prompt(story.second[-1])
    assert DECIDED in _memory(story.second[-1], "Current decisions")


def test_a_session_that_goes_on_in_another_process_is_not_told_again(story: Story) -> None:
    (asked,) = (one for one in story.resumed if "Continue." in _last_prompt(one))
    assert len(asked.turns) > 3
    new = [text for turn in asked.turns[-1:] for text in turn.texts]
    assert not any("Current decisions" in text for text in new)


def test_the_diary_says_what_a_session_came_to_that_was_closed(story: Story) -> None:
    assert {entry["topic"] for entry in story.diary} == {"checkpoint"}
    assert _is_in_the_diary(story)


def test_the_history_is_taken_in_by_feed_and_found_by_search(story: Story) -> None:
    story.home.palazzo("feed", "opencode")
    for words in (DECIDED, FOUND):
        hits = story.home.palazzo("search", words)["hits"]
        assert any(words in hit["text"] and hit["source"]["kind"] == "opencode" for hit in hits)


# --- saving -------------------------------------------------------------------------------------------------


def test_a_save_is_asked_for_at_the_fifteenth_message_of_a_person_or_never(tmp_path: Path) -> None:
    requests: list[Request] = []
    with machine(tmp_path) as home:
        host = Opencode(programs.opencode(), home.model, home.project, home.variables)
        home.palazzo("install", "opencode")
        home.palazzo("settings", "set", "save_interval", "2")
        prompts = [home.model.answers(f"Tell me number {n}.", f"It is {n * n}.") for n in range(1, 17)]
        with Server(host) as server:
            server.begin()
            for prompt in prompts[:3]:
                server.turn(prompt)
            assert not any(ASKED in one.words for one in home.model.since(0))
            home.palazzo("settings", "set", "save_interval", "15")
            home.palazzo("settings", "set", "save_mode", "ask")

            def talk() -> None:
                before = len(home.model.requests)
                server.begin()
                for prompt in prompts[:15]:
                    server.turn(prompt)
                wait_until(lambda: len(home.model.since(before)) > 15)
                server.turn(prompts[15])
                requests[:] = home.model.since(before)

            in_time(talk, lambda: [ASKED in one.words for one in requests].index(True) == 15)
    asked = [ASKED in one.words for one in requests]
    assert asked == [False] * 15 + [True] * 2  # once; from then on it stands in the session
    assert [one.turns[-1].role for one in requests[15:]] == ["user", "user"]
    assert requests[16].words.count(ASKED) == 1


# --- when something is wrong --------------------------------------------------------------------------------


def test_two_copies_tell_once_a_killed_server_is_started_again_and_without_the_program_opencode_works_on(
    tmp_path: Path,
) -> None:
    with machine(tmp_path) as home:
        host = Opencode(programs.opencode(), home.model, home.project, home.variables)
        home.palazzo("install", "opencode")
        home.palazzo("install", "opencode", "--project")
        home.palazzo("remember", NOTED, "--kind", "decision")
        search = Step("I look.", (Call("_search", {"query": "deploys"}),))
        begins = home.model.answers("Begin.", "I begin.")
        killed = home.model.answers("After it was killed.", search, "As before.")
        gone = home.model.answers("After it was gone.", "Still here.")
        with Server(host) as server:

            def begin() -> None:
                server.begin()
                server.turn(begins)

            in_time(begin, lambda: NOTED in home.model.requests[-1].words)
            assert home.model.requests[-1].words.count(NOTED) == 1
            os.kill(child_of(server.process, " mcp"), signal.SIGKILL)
            wait_until(lambda: server.ask("GET", "/mcp")["palazzo"]["status"] != "connected")
            assert server.turn(killed) == "As before."
            (output,) = (one for one in home.model.requests[-1].body["messages"] if one["role"] == "tool")
            assert "Recorded words" in output["content"]
            found = subprocess.run(
                ["sh", "-c", "command -v palazzo"], env=home.variables, capture_output=True, text=True, check=True
            )
            Path(found.stdout.strip()).rename(tmp_path / "moved away")
            assert [server.turn(gone) for _ in range(2)] == ["Still here."] * 2
        log = (home.project.parent / "opencode.log").read_text()
        assert log.count("The agent works without memory") == 1
