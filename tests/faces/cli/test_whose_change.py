"""Whose change it was: a person's at the terminal, an agent's over MCP; what undo takes back, and what it says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.faces.cli.command import Command
from tests.faces.mcp.talking import Talk

from palazzo.palace import Palace
from palazzo.paths import data_directory

PERSONS, AGENTS = "The port is 8443, says the person.", "The port is 9443, says the agent."


@pytest.fixture
def agent(palazzo: Command, home: Path) -> Iterator[Talk]:
    """Codex, whose session has read nothing untrusted, over MCP about the palace of the command line."""
    with Palace.open(data_directory() / "palace.db") as palace:
        yield Talk(palace, home / "shop")


def actors(palazzo: Command) -> list[tuple[str, str]]:
    return [(change["actor"], change["verb"]) for change in palazzo.json("undo", "--list")["changes"]]


def test_what_an_agent_writes_over_mcp_is_listed_as_the_agents(palazzo: Command, agent: Talk) -> None:
    note = palazzo.json("remember", PERSONS)
    agent.told("remember", text=AGENTS)
    agent.told("diary_write", entry="I wrote down the port.")
    agent.told("feedback", id=note["id"], verdict="helpful")
    agent.told("todo_add", text="Check the port.")
    agent.told("kg_add", subject="gateway", predicate="port", object="9443")
    assert actors(palazzo) == [
        ("codex", "kg add"),
        ("codex", "todo add"),
        ("codex", "feedback"),
        ("codex", "diary write"),
        ("codex", "remember"),
        ("user", "remember"),
    ]


@pytest.mark.parametrize(("client", "actor"), [("user", "agent"), ("", "agent"), ("claude-code", "claude-code")])
def test_an_agents_change_has_its_clients_name_and_never_the_persons(
    palazzo: Command, agent: Talk, client: str, actor: str
) -> None:
    replace(agent, client=client).told("remember", text=AGENTS)
    assert actors(palazzo) == [(actor, "remember")]


def test_undo_takes_back_the_persons_change_and_names_the_agents_that_stands(palazzo: Command, agent: Talk) -> None:
    note = palazzo.json("remember", PERSONS)
    agent.told("remember", text=AGENTS)
    agents, own = palazzo.json("undo", "--list")["changes"]
    assert [agents["text"], own["text"], own["subject"]] == [AGENTS, PERSONS, note["id"]]
    shown = palazzo("undo").out
    for words in (own["id"], "user", "remember", PERSONS, note["id"], "1 later change by codex stands"):
        assert words in shown
    assert AGENTS not in shown
    ran = palazzo("undo")
    assert ran.code != 0
    assert f"The last change is codex's (remember): 'palazzo undo {agents['id']}' takes it back." in ran.error
    assert AGENTS in palazzo("undo", agents["id"]).out
    assert palazzo.json("status")["drawers"] == 0


def test_an_agents_undo_takes_back_only_its_own_change(palazzo: Command, agent: Talk) -> None:
    agent.told("remember", text=AGENTS)
    palazzo.json("remember", PERSONS)
    assert agent.told("undo")["undone"]["by"] == "codex"
    assert "There is nothing to undo of your own. The last change is user's" in agent.refusal("undo")


def test_a_command_in_an_agents_shell_is_the_agents(
    palazzo: Command, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    palazzo.json("remember", AGENTS)
    monkeypatch.delenv("CLAUDECODE")
    assert actors(palazzo) == [("claude-code", "remember")]


def test_the_list_shows_what_each_change_was_about(palazzo: Command, home: Path) -> None:
    note = palazzo.json("remember", PERSONS)
    todo = palazzo.json("todo", "add", "Check the port.")["todo"]
    palazzo("todo", "done", todo["id"])
    palazzo("forget", note["drawers"][0], "--yes")
    changes = palazzo.json("undo", "--list")["changes"]
    assert [(change["verb"], change["text"], change["subject"]) for change in changes] == [
        ("forget", PERSONS, note["drawers"][0]),
        ("todo done", "Check the port.", todo["id"]),
        ("todo add", "Check the port.", todo["id"]),
        ("remember", PERSONS, note["id"]),
    ]
    palazzo("undo")
    assert palazzo.json("undo", "--list")["changes"][0]["text"] == PERSONS
