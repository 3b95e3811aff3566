"""Hosts that have no hooks, as they are released, wired by `palazzo install`: instructions, tools, what is read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.end_to_end import programs
from tests.end_to_end.aider import Aider
from tests.end_to_end.continue_dev import ContinueDev
from tests.end_to_end.machine import Machine, machine
from tests.end_to_end.model import Call, Request, Step
from tests.end_to_end.test_wired_hosts import DECIDED, NOTED, files_of, is_read_at_start, without_indentation

pytestmark = pytest.mark.slow


@dataclass
class Story:
    """Two sessions of Continue's program, what the model was asked in each, and the person's files before."""

    home: Machine
    host: ContinueDev
    before: dict[Path, bytes]
    first: list[Request] = field(default_factory=list)
    second: list[Request] = field(default_factory=list)


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    command = programs.continue_dev()
    with machine(tmp_path_factory.mktemp("continue")) as home:
        host = ContinueDev(command, home.model, home.project, home.variables)
        told = Story(home, host, files_of(host.home))
        home.palazzo("install", "continue")
        host.turn(home.model.answers("Which port does the payment gateway listen on?", DECIDED))
        host.turn(home.model.answers("Which proxy is it?", "It is nginx."))
        told.first = home.model.since(0)
        home.palazzo("feed", "continue")
        home.settle()
        second_session(told)
        yield told


def second_session(told: Story) -> None:
    asks = told.home.model.answers(
        "What did we decide about the payment gateway port?",
        Step("I look it up.", (Call("search", {"query": "payment gateway port"}),)),
        Step("I keep it.", (Call("remember", {"text": NOTED, "kind": "decision"}),)),
        "Port 8443.",
    )
    told.host.begin()
    before = len(told.home.model.requests)
    told.host.turn(asks)
    told.second = [request for request in told.home.model.since(before) if request.has(asks)]


def test_the_instructions_reach_the_model(story: Story) -> None:
    assert without_indentation(story.host.instructions) in without_indentation(story.first[0].words)
    assert story.host.instructions in story.second[0].words


def test_the_tools_are_offered_by_their_own_names(story: Story) -> None:
    assert {"search", "remember", "read", "diary_write", "wake_up"} <= {*story.first[0].tools}


def test_a_past_question_is_answered_by_the_tools(story: Story) -> None:
    assert "8443" in story.second[-1].words.partition("I look it up.")[2]
    assert any(NOTED in hit["text"] for hit in story.home.palazzo("search", "frozen on Fridays")["hits"])


def test_the_sessions_are_read(story: Story) -> None:
    assert len(story.host.transcripts) == 2
    story.home.palazzo("feed", "continue")
    hits = story.home.palazzo("search", "payment gateway port", "--host", "continue")["hits"]
    assert any(DECIDED in hit["text"] and hit["source"]["kind"] == "continue" for hit in hits)


def test_uninstalling_leaves_the_person_s_files_byte_for_byte(story: Story) -> None:
    story.home.palazzo("uninstall", "continue")
    after = files_of(story.host.home)
    assert {path: after.get(path) for path in story.before} == story.before
    new = [path for path in {*after} - {*story.before} if is_read_at_start(path) and "sessions" not in path.parts]
    assert not [path for path in new if "backup" not in path.name and b"palazzo" in after[path].lower()]


# --- aider, which has no MCP servers either ----------------------------------------------------------------


def test_aider_gives_the_model_our_instructions_and_the_person_s_notes_and_its_history_is_read(tmp_path: Path) -> None:
    command = programs.aider()
    with machine(tmp_path) as home:
        host = Aider(command, home.model, home.project, home.variables)
        settings, files = host.settings.read_bytes(), files_of(host.home)
        home.palazzo("install", "aider")
        host.turn(home.model.answers("Which port does the payment gateway listen on?", DECIDED))
        for request in home.model.since(0):
            assert host.instructions in request.words
            assert 'palazzo search "WORDS"' in request.words
            assert "The harbour master is called Ines." in request.words
        home.palazzo("feed", "aider", "--min-messages", "2")
        assert host.session_count == 1
        hits = home.palazzo("search", "payment gateway port", "--host", "aider")["hits"]
        assert any(DECIDED in hit["text"] and hit["source"]["kind"] == "aider" for hit in hits)
        home.palazzo("uninstall", "aider")
        assert host.settings.read_bytes() == settings
        assert {path for path in files_of(host.home) if path.suffix == ".md"} == {*files}
