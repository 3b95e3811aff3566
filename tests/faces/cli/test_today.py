"""`palazzo` without a command: today's state in a few lines, never the help; quick, and the same with `--json`."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.faces.cli.command import Command, environment

FIXTURES = Path(__file__).parents[2] / "fixtures"


@pytest.fixture
def history(palazzo: Command, home: Path) -> Path:
    """A palace with a session of an agent that is not wired, to-dos and reminders."""
    project = home / ".claude/projects/-home-dev-acme"
    project.mkdir(parents=True)
    shutil.copy2(FIXTURES / "claude-code/e8cc7d58-2992-4d51-82f0-f85e91170df2.jsonl", project)
    palazzo.json("feed")
    palazzo.json("todo", "add", "Feed the heron.")
    palazzo.json("remind", "Count the nests.", "--at", "now")
    palazzo.json("remind", "Not yet.", "--at", "in 2 days")
    return home


def test_before_there_is_a_palace_two_lines_say_what_to_do(palazzo: Command, home: Path) -> None:
    ran = palazzo()
    assert (ran.code, ran.out.count("\n"), "palazzo setup" in ran.out) == (0, 2, True)
    assert palazzo.json()["exists"] is False
    assert not list(home.rglob("palace.db"))


def test_tasks_sessions_news_health_and_six_commands_are_shown(palazzo: Command, history: Path) -> None:
    ran = palazzo()
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert len(lines) < 25
    assert "Count the nests." in ran.out
    assert "Feed the heron." in ran.out
    assert "Not yet." not in ran.out
    assert any("acme" in line and "claude-code" in line for line in lines)
    assert any(line.startswith("Health") and "Claude Code not wired (palazzo setup)" in line for line in lines)
    assert sum(line.startswith("  palazzo ") for line in lines) == 6


def test_json_and_the_command_today_give_the_same(palazzo: Command, history: Path) -> None:
    result = palazzo.json()
    assert (result["exists"], result["open_todos"]) == (True, 1)
    assert [reminder["text"] for reminder in result["due"]] == ["Count the nests."]
    assert [session["wing"] for session in result["sessions"]] == ["acme"]
    assert {"session", "host", "title", "last_at"} <= set(result["sessions"][0])
    assert result["new"]["notes"] == 0  # to-dos and reminders are no notes
    assert palazzo.json("today") == result
    assert palazzo("--palace", str(history / ".local/share/palazzo/palace.db"), "--json").json == result


def test_a_pause_is_in_the_line_about_health(palazzo: Command, history: Path) -> None:
    palazzo("pause")
    (line,) = [line for line in palazzo().out.splitlines() if line.startswith("Health")]
    assert "paused (palazzo resume)" in line
    assert {note["name"]: note["ok"] for note in palazzo.json()["health"]}["capture"] is False


def test_a_forgotten_session_is_not_shown(palazzo: Command, history: Path) -> None:
    session = palazzo.json()["sessions"][0]["session"]
    assert palazzo("forget", "--session", session, "--yes").code == 0
    assert palazzo.json()["sessions"] == []


def test_it_loads_no_model_and_no_parser_and_starts_no_service(history: Path) -> None:
    program = (
        "import sys; from palazzo.faces.cli import main; main([]); print(*sys.modules, sep='\\n', file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        env=environment({"PALAZZO_SERVICE": ""}),
        cwd=history,
        check=True,
    )
    assert not {"onnxruntime", "numpy", "palazzo.client.launcher"} & set(done.stderr.decode().split())
    state = subprocess.run(
        [sys.executable, "-m", "palazzo.faces.cli", "service", "status", "--json"],
        capture_output=True,
        env=environment({}),
        check=True,
    )
    assert json.loads(state.stdout)["service"]["running"] is False


def test_an_agent_s_shell_gets_recorded_words_in_the_fence(
    palazzo: Command, history: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    assert palazzo().out.startswith("<palazzo-memory")


def test_doctor_notes_an_agent_that_is_not_wired_and_is_no_problem_by_itself(palazzo: Command, history: Path) -> None:
    ran = palazzo("doctor", "--no-canaries")
    (index,) = [n for n, line in enumerate(ran.out.splitlines()) if "installed, but not wired" in line]
    assert ran.out.splitlines()[index].startswith("note")
    assert "palazzo setup --only claude-code" in ran.out
    findings = json.loads(palazzo("doctor", "--no-canaries", "--json").out)["findings"]
    assert [finding["ok"] for finding in findings if finding["name"] == "Claude Code"] == [True]
