"""feed: every history on the machine, with one command."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
from pathlib import Path

import pytest
from tests.faces.cli.command import Command
from tests.fidelity import kept
from tests.fidelity.told import START, Turn
from tests.sources.opencode_samples import unpack

FIXTURES = Path(__file__).parents[2] / "fixtures"


@pytest.fixture
def agents(home: Path) -> Path:
    """A home directory in which five agents have worked."""
    project = home / ".claude/projects/-home-dev-acme"
    project.mkdir(parents=True)
    for transcript in (FIXTURES / "claude-code").rglob("e8cc7d58*.jsonl"):
        shutil.copy2(transcript, project)
    shutil.copytree(FIXTURES / "codex/0.169.0", home / ".codex/sessions/2026")
    shutil.copytree(FIXTURES / "pi/0.87.1", home / ".pi/agent/sessions/acme")
    shutil.copytree(FIXTURES / "gemini/0.61.0", home / ".gemini/tmp/acme")
    (home / ".local/share/opencode").mkdir(parents=True)
    unpack("1.18.33.db", home / ".local/share/opencode")
    return home


def test_a_machine_without_agents_is_told_what_else_can_be_done(palazzo: Command) -> None:
    ran = palazzo("feed")
    assert ran.code == 0
    assert "No agent history" in ran.out
    assert "palazzo mine PATH" in ran.out


def test_everything_is_taken_in_and_the_second_time_nothing_is_new(palazzo: Command, agents: Path) -> None:
    first = palazzo.json("feed")
    hosts = [one["host"] for one in first["histories"]]
    assert hosts == ["claude-code", "codex", "opencode", "pi", "gemini-cli"]
    assert all(one["new"] + one["grown"] == one["sessions"] > 0 for one in first["histories"])
    assert all(one["earliest"] <= one["latest"] for one in first["histories"])
    assert first["failed"] == []
    assert first["rows"] == first["items"] + first["noise"] + first["repeated"] + first["unreadable"]
    again = palazzo.json("feed")
    assert (again["new"], again["grown"], again["rows"], again["items"]) == (0, 0, 0, 0)
    assert again["unchanged"] == first["sources"]
    assert "Everything had already been read" in palazzo("feed").out


def test_a_history_of_conversations_that_are_too_short_has_nothing_to_read(palazzo: Command, home: Path) -> None:
    sessions = home / ".continue" / "sessions"
    sessions.mkdir(parents=True)
    (sessions / "sessions.json").write_text('[{"sessionId": "s1"}]')
    history = [{"message": {"role": role, "content": "8443"}} for role in ("user", "assistant")]
    (sessions / "s1.json").write_text(json.dumps({"sessionId": "s1", "history": history}))
    told = palazzo("feed", "continue").out
    assert "There is nothing to read." in told
    assert "fewer than 3 messages" in told


def test_a_host_with_a_history_for_each_project_takes_one_line(palazzo: Command, home: Path) -> None:
    turns = [Turn("assistant" if n % 2 else "user", f"word number {n}", START + n) for n in range(4)]
    for n in range(7):
        sessions = home / f".config/Code/User/workspaceStorage/w{n}/chatSessions"
        sessions.parent.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(kept.vscode(turns, home / f"elsewhere/{n}", 0).parent, sessions)
    lines = [line for line in palazzo("feed", "vscode", "--dry-run").out.splitlines() if line.startswith("vscode")]
    assert len(lines) == 1
    assert lines[0].startswith("vscode  7 places ")
    assert lines[0].split()[-7:-4] == ["7", "7", "0"]
    assert len(palazzo.json("feed", "vscode", "--dry-run")["histories"]) == 7


def test_a_dry_run_shows_what_there_is_and_makes_no_palace(palazzo: Command, agents: Path) -> None:
    ran = palazzo("feed", "--dry-run")
    assert "Dry run: nothing was read." in ran.out
    assert "opencode" in ran.out
    assert "would take about" in ran.out
    assert not list(agents.rglob("palace.db"))


def test_a_note_beside_a_sub_agent_s_transcript_is_not_told_of(palazzo: Command, agents: Path) -> None:
    shutil.copytree(FIXTURES / "claude-code/2.1.330", agents / ".claude/projects/-home-dev-acme", dirs_exist_ok=True)
    assert list((agents / ".claude/projects").rglob("agent-*.meta.json"))
    fed = palazzo.json("feed", "claude-code")
    assert (fed["sources"], fed["skipped"]) == (3, [])


def test_only_the_named_host_is_fed(palazzo: Command, agents: Path) -> None:
    assert [one["host"] for one in palazzo.json("feed", "pi")["histories"]] == ["pi"]


def test_an_unknown_host_is_wrong_usage_and_the_known_ones_are_named(palazzo: Command) -> None:
    ran = palazzo("feed", "emacs")
    assert ran.code == 2
    assert "claude-code, codex, opencode, pi" in ran.error


def test_one_session_is_fed_by_its_id(palazzo: Command, agents: Path) -> None:
    fed = palazzo.json("feed", "--session", "e8cc7d58")
    assert (fed["sources"], fed["new"]) == (1, 1)
    assert palazzo("feed", "--session", "ffffffff").code == 2


def test_old_sessions_may_be_left_out(palazzo: Command, agents: Path) -> None:
    assert palazzo.json("feed", "--since", "2099-01-01", "--dry-run")["sources"] == 0
    assert palazzo("feed", "--since", "yesteryear").code == 2


def test_short_sessions_are_left_out_by_the_setting_and_taken_when_asked(palazzo: Command, agents: Path) -> None:
    palazzo("settings", "set", "min_messages", "1000")
    left = palazzo.json("feed", "claude-code")
    assert left["new"] == 0
    assert {skip["reason"] for skip in left["skipped"]} == {"fewer than 1,000 messages"}
    assert palazzo.json("feed", "claude-code", "--min-messages", "0")["new"] == 1


def test_sessions_of_an_excluded_project_are_left_out(palazzo: Command, agents: Path) -> None:
    assert palazzo("settings", "set", "mine.exclude_projects", "/home/dev/acme").code == 0
    fed = palazzo.json("feed", "claude-code")
    assert fed["new"] == 0
    assert [one["reason"] for one in fed["skipped"]] == ["its project is excluded"]


def test_a_session_that_was_gone_on_with_adds_its_tail(palazzo: Command, agents: Path) -> None:
    palazzo("feed", "claude-code")
    [transcript] = (agents / ".claude/projects").rglob("*.jsonl")
    lines = transcript.read_bytes().splitlines(keepends=True)
    with transcript.open("ab") as stream:
        stream.write(lines[-1].replace(b'"uuid":"', b'"uuid":"ffff'))
    grown = palazzo.json("feed", "claude-code")
    assert (grown["grown"], grown["rows"]) == (1, 1)


# --- as scripts around other programs call it ----------------------------------------------------------------


def test_a_session_export_script_needs_only_another_name(palazzo: Command, agents: Path) -> None:
    script = ["feed", "opencode", "--wing", "wing_conversations", "--since", "2026-01-01", "--min-messages", "2"]
    would = palazzo.json(*script, "--no-repair", "--dry-run")
    assert would["new"] > 1
    assert not list(agents.rglob("palace.db"))
    assert palazzo.json(*script, "--no-repair")["new"] == would["new"]
    assert palazzo.json(*script, "--no-repair")["unchanged"] == would["new"]
    wings = palazzo.json("status")["wings"]
    assert list(wings) == ["wing_conversations"]


def test_one_session_of_opencode_is_taken_into_the_wing_that_is_named(palazzo: Command, agents: Path) -> None:
    source = palazzo.json("feed", "opencode", "--dry-run")
    assert source["sources"] > 1
    with (
        contextlib.closing(sqlite3.connect(next((agents / ".local/share/opencode").glob("*.db")))) as database,
        database,
    ):
        ((session,),) = database.execute("SELECT id FROM session WHERE parent_id IS NULL LIMIT 1")
    fed = palazzo.json("feed", "opencode", "--session", session, "--wing", "kept")
    assert fed["sources"] < source["sources"]
    assert list(palazzo.json("status")["wings"]) == ["kept"]


def test_a_wing_that_is_a_path_is_wrong_usage(palazzo: Command, agents: Path) -> None:
    ran = palazzo("feed", "--wing", "../conversations")
    assert ran.code == 2
    assert "is a path" in ran.error
