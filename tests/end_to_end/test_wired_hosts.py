"""Hosts with hooks in settings, as they are released, wired by `palazzo install`: two sessions on two days."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest
from tests.daemon.conftest import wait_until
from tests.end_to_end import programs
from tests.end_to_end.copilot_cli import CopilotCli
from tests.end_to_end.droid import Droid
from tests.end_to_end.gemini_cli import GeminiCli
from tests.end_to_end.kilo_code import KiloCode
from tests.end_to_end.machine import Machine, in_time, machine
from tests.end_to_end.model import Call, Request, Step
from tests.end_to_end.qwen_code import QwenCode

pytestmark = pytest.mark.slow

DECIDED = "Decided: the payment gateway listens on port 8443, because the proxy only lets that through."
NOTED = "Deploys are frozen on Fridays, since nobody is there to undo them."
AnyHost = GeminiCli | CopilotCli | QwenCode | Droid | KiloCode
HOSTS: dict[str, tuple[Callable[[], tuple[str, ...]], type[AnyHost]]] = {
    "gemini-cli": (programs.gemini_cli, GeminiCli),
    "copilot": (programs.copilot, CopilotCli),
    "qwen-code": (programs.qwen_code, QwenCode),
    "droid": (programs.droid, Droid),
    "kilo-code": (programs.kilo_code, KiloCode),
}


@dataclass
class Story:
    """Two sessions, what the model was asked in each, and the person's files before and after."""

    home: Machine
    host: AnyHost
    before: dict[Path, bytes]
    first: list[Request] = field(default_factory=list)
    second: list[Request] = field(default_factory=list)


def files_of(directory: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()}


@pytest.fixture(scope="module", params=HOSTS)
def story(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    program, kind = HOSTS[request.param]
    command = program()
    with machine(tmp_path_factory.mktemp(request.param)) as home:
        host = kind(command, home.model, home.project, home.variables)
        told = Story(home, host, files_of(host.home))
        home.palazzo("install", host.name, "--skills")
        host.turn(home.model.answers("Which port does the payment gateway listen on?", DECIDED))
        told.first = home.model.since(0)
        home.settle()
        in_time(lambda: second_session(told), lambda: is_oriented(told))
        yield told


def second_session(told: Story) -> None:
    asks = told.home.model.answers(
        "What did we decide about the payment gateway port?",
        Step("I look it up.", (Call(f"{told.host.server}search", {"query": "payment gateway port"}),)),
        Step("I keep it.", (Call(f"{told.host.server}remember", {"text": NOTED, "kind": "decision"}),)),
        "Port 8443.",
    )
    told.host.begin()
    before = len(told.home.model.requests)
    told.host.turn(asks)
    told.second = [one for one in told.home.model.since(before) if one.has(asks)]


def is_oriented(told: Story) -> bool:
    return bool(told.second) and DECIDED in memory_of(told.second[0])


def memory_of(request: Request) -> str:
    """What stands inside our fences; Gemini CLI and Qwen Code write entities for their brackets."""
    blocks = html.unescape(request.words).split("<palazzo-memory>")[1:]
    return "\n".join(block.partition("</palazzo-memory>")[0] for block in blocks)


def test_the_second_session_begins_with_what_was_decided(story: Story) -> None:
    assert DECIDED not in memory_of(story.first[0])
    assert DECIDED in memory_of(story.second[0])


def test_the_instructions_reach_the_model(story: Story) -> None:
    assert without_indentation(story.host.instructions) in without_indentation(story.second[0].words)


def without_indentation(text: str) -> str:
    """Lines without blanks before them: Kilo Code indents what it takes over."""
    return "\n".join(line.strip() for line in text.splitlines())


def test_a_past_question_is_answered_by_the_tools(story: Story) -> None:
    offered = {name for name in story.second[0].tools if "palazzo" in name}
    assert len(offered) >= 3 or story.host.name in ("qwen-code", "droid")
    assert "8443" in story.second[-1].words.partition("I look it up.")[2]
    assert any(NOTED in hit["text"] for hit in story.home.palazzo("search", "frozen on Fridays")["hits"])


def is_archived(told: Story, transcript: Path) -> bool:
    words = told.home.palazzo("search", "payment gateway port", "--host", told.host.name)["hits"]
    return any(DECIDED in hit["text"] for hit in words) and transcript.exists()


def test_the_transcripts_are_in_the_palace(story: Story) -> None:
    assert story.host.session_count >= 2
    for transcript in story.host.transcripts:
        wait_until(partial(is_archived, story, transcript))


def test_uninstalling_leaves_the_person_s_files_byte_for_byte(story: Story) -> None:
    story.home.palazzo("uninstall", story.host.name)
    after = files_of(story.host.home)
    assert {path: after.get(path) for path in story.before} == story.before
    ours = {path for path in after if "backup" not in path.name and is_read_at_start(path)}
    assert not [path for path in ours if any(words in after[path] for words in (b"palazzo hook", b"palazzo install"))]


def is_read_at_start(path: Path) -> bool:
    """Whether the file is one that hosts read when they start: not a transcript or a log."""
    suffixes = (".json", ".jsonc", ".md", ".toml", ".ts", ".yaml")
    return path.suffix in suffixes and not {"tmp", "session-state", "logs"} & {*path.parts}
