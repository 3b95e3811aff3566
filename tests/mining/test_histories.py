"""Where the hosts keep what was said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from palazzo.host_names import WITH_HISTORY
from palazzo.hosts.host_histories import History, display, histories


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def make(home: Path, *names: str) -> None:
    for name in names:
        path = home / name
        if path.suffix in (".db", ".vscdb"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        else:
            path.mkdir(parents=True)


def found(home: Path, *hosts: str, **variables: str) -> list[tuple[str, str]]:
    return [
        (one.host, one.path.relative_to(home.resolve()).as_posix())
        for one in histories({"HOME": str(home), **variables}, hosts)
    ]


def test_a_machine_without_agents_has_none(home: Path) -> None:
    assert found(home) == []


def test_each_host_is_found_where_it_keeps_its_sessions(home: Path) -> None:
    make(home, ".claude/projects", ".codex/sessions", ".codex/archived_sessions", ".pi/agent/sessions", ".gemini/tmp")
    make(home, ".local/share/opencode/opencode.db", ".local/share/opencode/opencode-dev.db")
    make(home, ".local/share/opencode/storage", ".copilot/session-state", ".continue/sessions")
    make(
        home,
        ".factory/sessions",
        ".local/share/amp/threads",
        ".cline/data/sessions",
        ".config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks",
        ".vscode-server/data/User/globalStorage/rooveterinaryinc.roo-cline/tasks",
        ".qwen/projects",
        ".local/share/kilo/kilo.db",
        ".local/share/goose/sessions/sessions.db",
        ".config/Code/User/workspaceStorage/w1/chatSessions",
        ".config/Cursor/User/globalStorage/state.vscdb",
        ".kiro/sessions",
        ".windsurf/transcripts",
        ".config/Claude/local-agent-mode-sessions/a1/o1/local_1/.claude/projects",
        "AppData/Roaming/Claude/local-agent-mode-sessions/a1/o1/agent/local_2/.claude/projects",
        ".local/share/zed/threads/threads.db",
        "Library/Application Support/VSCodium/User/globalStorage/emptyWindowChatSessions",
    )
    assert found(home) == [
        ("claude-code", ".claude/projects"),
        ("codex", ".codex/sessions"),
        ("codex", ".codex/archived_sessions"),
        ("opencode", ".local/share/opencode/opencode-dev.db"),
        ("opencode", ".local/share/opencode/opencode.db"),
        ("opencode", ".local/share/opencode/storage"),
        ("pi", ".pi/agent/sessions"),
        ("gemini-cli", ".gemini/tmp"),
        ("copilot", ".copilot/session-state"),
        ("continue", ".continue/sessions"),
        ("cursor", ".config/Cursor/User/globalStorage/state.vscdb"),
        ("amp", ".local/share/amp/threads"),
        ("claude-desktop", ".config/Claude/local-agent-mode-sessions/a1/o1/local_1/.claude/projects"),
        ("claude-desktop", "AppData/Roaming/Claude/local-agent-mode-sessions/a1/o1/agent/local_2/.claude/projects"),
        ("cline", ".cline/data/sessions"),
        ("cline", ".config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks"),
        ("droid", ".factory/sessions"),
        ("goose", ".local/share/goose/sessions/sessions.db"),
        ("kilo-code", ".local/share/kilo/kilo.db"),
        ("kiro", ".kiro/sessions"),
        ("qwen-code", ".qwen/projects"),
        ("roo-code", ".vscode-server/data/User/globalStorage/rooveterinaryinc.roo-cline/tasks"),
        ("vscode", ".config/Code/User/workspaceStorage/w1/chatSessions"),
        ("vscode", "Library/Application Support/VSCodium/User/globalStorage/emptyWindowChatSessions"),
        ("windsurf", ".windsurf/transcripts"),
        ("zed", ".local/share/zed/threads/threads.db"),
    ]
    assert {host for host, _ in found(home)} == set(WITH_HISTORY) - {"aider", "crush"}  # which are found by a project


def test_aider_s_history_is_found_in_the_project_that_is_worked_in(home: Path) -> None:
    make(home, "shop")
    (home / "shop/.aider.chat.history.md").write_text("")
    assert [one.host for one in histories({"HOME": str(home)}, (), home / "shop")] == ["aider"]
    assert histories({"HOME": str(home)}, ("codex",), home / "shop") == ()


def test_only_the_named_hosts_are_looked_for(home: Path) -> None:
    make(home, ".claude/projects", ".codex/sessions")
    assert found(home, "codex") == [("codex", ".codex/sessions")]


def test_a_host_is_followed_to_where_its_variable_says(home: Path) -> None:
    make(home, ".claude/projects", "work/claude/projects", "data/opencode/opencode.db", "elsewhere/pi", "my.db")
    assert found(home, "claude-code", CLAUDE_CONFIG_DIR=str(home / "work/claude")) == [
        ("claude-code", "work/claude/projects")
    ]
    assert found(home, "opencode", XDG_DATA_HOME="~/data", OPENCODE_DB=str(home / "my.db")) == [
        ("opencode", "my.db"),
        ("opencode", "data/opencode/opencode.db"),
    ]
    assert found(home, "pi", PI_CODING_AGENT_SESSION_DIR=str(home / "elsewhere/pi")) == [("pi", "elsewhere/pi")]


def test_one_place_under_two_names_is_one_history(home: Path) -> None:
    make(home, ".claude/projects", ".config")
    (home / ".config/claude").symlink_to(home / ".claude")
    assert found(home) == [("claude-code", ".claude/projects")]


@pytest.mark.parametrize(
    ("settings", "days"),
    [
        (None, 30),
        ({}, 30),
        ({"cleanupPeriodDays": 90}, 90),
        ({"cleanupPeriodDays": 0}, 0),
        ({"cleanupPeriodDays": "x"}, 30),
    ],
)
def test_claude_code_says_when_it_deletes(home: Path, settings: object, days: int) -> None:
    make(home, ".claude/projects")
    if settings is not None:
        (home / ".claude/settings.json").write_text(json.dumps(settings))
    assert histories({"HOME": str(home)}) == (History("claude-code", (home / ".claude/projects").resolve(), days),)


def test_settings_that_cannot_be_read_leave_the_default(home: Path) -> None:
    make(home, ".claude/projects")
    (home / ".claude/settings.json").write_text("{")
    assert histories({"HOME": str(home)})[0].deletes_after_days == 30


def test_a_path_is_shown_from_home(home: Path) -> None:
    variables = {"HOME": str(home)}
    assert display(home / ".claude/projects", variables) == str(Path("~/.claude/projects"))
    assert display(Path("/var/log"), variables) == str(Path("/var/log"))
