"""digest, as it is typed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.faces.cli.command import Command

SESSION = "e8cc7d58-2992-4d51-82f0-f85e91170df2"
TRANSCRIPT = Path(__file__).parents[2] / "fixtures" / "claude-code" / f"{SESSION}.jsonl"


@pytest.fixture
def mined(palazzo: Command, home: Path) -> Command:
    palazzo.json("mine", str(TRANSCRIPT))
    return palazzo


def test_each_line_cites_words_that_a_drawer_shows(mined: Command) -> None:
    told = mined.json("digest", SESSION[:8])
    assert told["session"] == SESSION
    assert {line["kind"] for line in told["lines"]} == {"asked", "decided", "changed", "failed", "fixed", "open"}
    for line in told["lines"]:
        shown = mined.json("show", line["words"]["drawer"])
        assert line["words"]["text"].split("\n")[0] in shown["entries"][0]["text"]


def test_lines_of_one_kind_and_what_a_person_sees(mined: Command) -> None:
    decided = mined.json("digest", SESSION, "--kind", "decided")["lines"]
    assert {line["kind"] for line in decided} == {"decided"}
    ran = mined("digest", SESSION)
    assert "Decision: the orders service uses PostgreSQL 16" in ran.out
    assert "Left open" in ran.out


def test_a_session_that_is_not_there_and_a_kind_that_is_none_are_one_sentence(mined: Command) -> None:
    assert mined("digest", "0000").error.startswith("palazzo: No session has the id '0000'.")
    ran = mined("digest", SESSION, "--kind", "decisions")
    assert ran.code == 2
    assert "'decisions' is not a kind of line" in ran.error


def test_a_sub_agent_has_a_digest_of_its_own_and_leaves_nothing_open_for_the_project(
    palazzo: Command, home: Path
) -> None:
    parent = "fe532e01-9804-438f-a6da-df3ae7e1b7a7"
    directory = home / ".claude" / "projects" / "-shop"
    shutil.copytree(TRANSCRIPT.parent / "2.1.330", directory)
    (agent_file,) = directory.glob("*/subagents/agent-*.jsonl")
    asked = agent_file.read_text().replace(
        "SUBAGENT: find out how retries are configured", "Find out how retries are configured. From now on use tabs."
    )
    agent_file.write_text(asked)
    palazzo.json("feed", "--min-messages", "1")
    (sub_agent,) = palazzo.json("digest", parent)["sub_agents"]
    assert sub_agent["session"].startswith(f"{parent}/agent-")
    assert sub_agent["session"] in palazzo("digest", parent).out
    told = palazzo.json("digest", sub_agent["session"])
    assert (len(told["lines"]), told["sub_agents"]) == (sub_agent["lines"], [])
    assert "how retries are configured" in told["lines"][0]["words"]["text"]
    assert {line["by"] for line in told["lines"]} <= {"assistant", "tool"}  # who asked was an agent, too
    assert "use tabs" not in palazzo("wake-up", "--wing", told["wing"]).out
    assert palazzo.json("verify")["ok"]
