"""Cline's program as it is released, wired by `palazzo install`: it shows its agent memory after a tool alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.daemon.conftest import wait_until
from tests.end_to_end import programs
from tests.end_to_end.cline import Cline
from tests.end_to_end.machine import Machine, in_time, machine
from tests.end_to_end.model import Call, Request, Step
from tests.end_to_end.test_wired_hosts import DECIDED, NOTED, files_of, without_indentation

pytestmark = pytest.mark.slow

RETRIES = "Three retries, because the fourth always met the rate limit."


@dataclass
class Story:
    """Three sessions, what the model was asked in the last two, and the person's settings before."""

    home: Machine
    host: Cline
    before: dict[Path, bytes]
    second: list[Request] = field(default_factory=list)
    third: list[Request] = field(default_factory=list)


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    command = programs.cline()
    with (
        machine(tmp_path_factory.mktemp("cline")) as home,
        closing(Cline(command, home.model, home.project, home.variables)) as host,
    ):
        told = Story(home, host, files_of(host.settings))
        home.palazzo("install", "cline")
        host.turn(home.model.answers("Which port does the payment gateway listen on?", DECIDED))
        wait_until(lambda: is_archived(told))
        second_session(told)
        in_time(lambda: third_session(told), lambda: RETRIES in told.third[-1].words)
        yield told


def is_archived(told: Story) -> bool:
    if not told.home.user.palace.exists() and not list(told.home.user.home.rglob("palace.db")):
        return False  # the hook of the first turn makes it
    return any(DECIDED in hit["text"] for hit in told.home.palazzo("search", "payment gateway port")["hits"])


def second_session(told: Story) -> None:
    asks = told.home.model.answers(
        "What did we decide about the payment gateway port?",
        Step("I look it up.", (Call(f"{told.host.server}search", {"query": "payment gateway port"}),)),
        Step("I keep it.", (Call(f"{told.host.server}remember", {"text": NOTED, "kind": "decision"}),)),
        "Port 8443.",
    )
    before = len(told.home.model.requests)
    told.host.begin()
    told.host.turn(asks)
    told.second = [request for request in told.home.model.since(before) if request.has(asks)]


def third_session(told: Story) -> None:
    """One that reads a file of which a note speaks."""
    file = told.home.project / "gateway.toml"
    file.write_text("retries = 3\n")
    told.home.palazzo("remember", RETRIES, "--anchor", "gateway.toml", "--once")
    reads = Call("read_files", {"files": [{"path": str(file)}]})
    asks = told.home.model.answers("How many retries are there?", Step("I look.", (reads,)), "Three.")
    before = len(told.home.model.requests)
    told.host.begin()
    told.host.turn(asks)
    told.third = [request for request in told.home.model.since(before) if request.has(asks)]


def test_a_note_on_a_file_reaches_the_model_when_it_has_read_the_file(story: Story) -> None:
    asked, after_reading = story.third
    assert RETRIES not in asked.words
    assert RETRIES in after_reading.words.partition("<hook_context")[2]


def test_the_answer_of_a_turn_is_archived_by_the_hook(story: Story) -> None:
    hits = story.home.palazzo("search", "payment gateway port", "--host", "cline")["hits"]
    assert any(DECIDED in hit["text"] for hit in hits)


def test_the_instructions_reach_the_model(story: Story) -> None:
    assert without_indentation(story.host.instructions) in without_indentation(story.second[0].words)


def test_a_past_question_is_answered_by_the_tools(story: Story) -> None:
    assert {f"{story.host.server}{name}" for name in ("search", "read", "remember")} <= {*story.second[0].tools}
    assert "8443" in story.second[-1].words.partition("I look it up.")[2]
    assert any(NOTED in hit["text"] for hit in story.home.palazzo("search", "frozen on Fridays")["hits"])


def test_uninstalling_leaves_the_person_s_files_byte_for_byte(story: Story) -> None:
    assert (story.host.documents / "Hooks").is_dir()
    story.home.palazzo("uninstall", "cline")
    after = files_of(story.host.settings)
    theirs = {path for path in story.before if path.name != "providers.json"}  # in which Cline writes the time
    assert [path.name for path in theirs] == ["cline_mcp_settings.json"]
    assert {path: after.get(path) for path in theirs} == {path: story.before[path] for path in theirs}
    assert not [path for path in files_of(story.host.documents) if "backup" not in path.name]
