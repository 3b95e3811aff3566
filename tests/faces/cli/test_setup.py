"""setup: every agent is wired and its history indexed with one question; what fails is named, and the rest goes on."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.faces.cli.command import SOURCES, Command, environment, interrupt_until_ended
from tests.sources.opencode_samples import unpack

from palazzo.features.setup.starter_questions import LONGEST, to_query
from palazzo.hosts import own_program

FIXTURES = Path(__file__).parents[2] / "fixtures"
WIRED = ["claude-code", "codex", "opencode", "pi", "gemini-cli"]
SETTINGS = (
    *(".claude/settings.json", ".claude.json", ".codex/hooks.json", ".codex/config.toml"),
    *(".config/opencode/opencode.json", ".config/opencode/plugin/palazzo.ts", ".pi/agent/extensions/palazzo.ts"),
    ".gemini/settings.json",
)
AIDER = "# aider chat started at 2026-01-01 10:00:00\n\n#### Which port does it use?\n\nPort 8443.\n"
NEEDS_TERMINAL = pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")


@pytest.fixture
def machine(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home directory with five agents that can be wired and one that cannot, all with sessions, and a `palazzo`."""
    program = home / "bin" / "palazzo"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nPYTHONPATH="{SOURCES}" exec "{sys.executable}" -P -m palazzo "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}/usr/bin{os.pathsep}/bin")
    monkeypatch.setattr(own_program, "_list_program_paths", lambda: iter([program]))
    project = home / ".claude/projects/-home-dev-acme"
    project.mkdir(parents=True)
    for transcript in (FIXTURES / "claude-code").rglob("e8cc7d58*.jsonl"):
        shutil.copy2(transcript, project)
    shutil.copytree(FIXTURES / "codex/0.169.0", home / ".codex/sessions/2026")
    shutil.copytree(FIXTURES / "pi/0.87.1", home / ".pi/agent/sessions/acme")
    shutil.copytree(FIXTURES / "gemini/0.61.0", home / ".gemini/tmp/acme")
    (home / ".config/opencode").mkdir(parents=True)
    (home / ".local/share/opencode").mkdir(parents=True)
    unpack("1.18.33.db", home / ".local/share/opencode")
    (home / "shop/.aider.chat.history.md").write_text(AIDER)
    (home / ".claude/settings.json").write_text('{"model": "opus"}\n')
    return home


def contents(home: Path) -> dict[str, bytes]:
    """Every file below the home directory."""
    return {str(path.relative_to(home)): path.read_bytes() for path in home.rglob("*") if path.is_file()}


def test_every_agent_is_wired_and_all_history_is_searchable(palazzo: Command, machine: Path) -> None:
    ran = palazzo("setup", "--yes", "--json")
    assert (ran.code, ran.error) == (0, "")
    result = ran.json
    assert [host["host"] for host in result["hosts"] if host["wired"]] == WIRED
    assert [host["host"] for host in result["hosts"] if not host["can_wire"]] == ["aider"]
    assert all((machine / name).is_file() for name in SETTINGS)
    assert json.loads((machine / ".claude/settings.json").read_text())["model"] == "opus"
    assert result["fed"]["sessions"] == result["fed"]["new"] + result["fed"]["grown"] > 10
    assert result["contents"]["drawers"] == result["fed"]["drawers"] > 100
    assert len({question["command"] for question in result["questions"]}) == 3
    for question in result["questions"]:
        program, verb, query = shlex.split(question["command"])
        assert (program, verb) == ("palazzo", "search")
        assert palazzo.json("search", query)["hits"]


def test_running_it_again_changes_nothing_asks_nothing_and_says_so(palazzo: Command, machine: Path) -> None:
    assert palazzo("setup", "--yes").code == 0
    before = {name: (machine / name).read_bytes() for name in SETTINGS}
    ran = palazzo("setup")  # the input is no terminal, but there is nothing to confirm
    assert (ran.code, ran.error) == (0, "")
    assert "Nothing to change: the agents are wired, and their history is indexed." in ran.out
    assert ran.out.count("already wired") == 5
    assert "palazzo search" in ran.out
    assert {name: (machine / name).read_bytes() for name in SETTINGS} == before


def test_a_dry_run_shows_one_diff_and_what_would_be_indexed_and_changes_nothing(
    palazzo: Command, machine: Path
) -> None:
    before = contents(machine)
    ran = palazzo("setup", "--dry-run")
    assert ran.code == 0
    assert contents(machine) == before
    new_files = [line for line in ran.out.splitlines() if line.startswith("+++ ")]
    assert [name for name in SETTINGS if f"+++ {machine / name}" not in new_files] == []
    assert '+  "hooks": {' in ran.out
    assert "would be wired, 3 files" in ran.out
    assert "Indexing the history takes about" in ran.out


def test_without_a_terminal_and_without_yes_nothing_is_changed(palazzo: Command, machine: Path) -> None:
    before = contents(machine)
    ran = palazzo("setup")
    assert (ran.code, ran.out, ran.error.count("\n")) == (2, "", 1)
    assert "--yes" in ran.error
    assert contents(machine) == before


def test_only_the_named_agents_are_wired_and_read(palazzo: Command, machine: Path) -> None:
    result = palazzo.json("setup", "--only", "pi", "--only", "openai-codex", "--yes")
    assert [host["host"] for host in result["hosts"]] == ["codex", "pi"]
    assert not (machine / ".claude.json").exists()
    assert result["fed"]["sessions"] == 8


@pytest.mark.parametrize(("host", "reason"), [("emacs", "is not a host"), ("cursor", "was not found on this machine")])
def test_an_agent_that_is_not_there_is_wrong_usage(palazzo: Command, machine: Path, host: str, reason: str) -> None:
    ran = palazzo("setup", "--only", host, "--yes")
    assert (ran.code, ran.out) == (2, "")
    assert f"'{host}' {reason}" in ran.error


def test_an_agent_with_broken_settings_is_named_and_the_others_go_on(palazzo: Command, machine: Path) -> None:
    broken = machine / ".codex/config.toml"
    broken.write_text("model = [\n")
    ran = palazzo("setup", "--yes")
    assert ran.code == 1
    assert f"Codex: {broken} cannot be changed" in ran.out
    assert broken.read_text() == "model = [\n"
    assert not (machine / ".codex/hooks.json").exists()
    assert ran.out.count("wired, ") == 4
    assert palazzo.json("setup", "--dry-run", "--only", "pi")["contents"]["sessions"] > 10
    broken.write_text("")
    assert palazzo("setup", "--yes").code == 0


def test_an_agent_with_the_plugin_is_not_wired_a_second_time(palazzo: Command, machine: Path) -> None:
    settings = machine / ".claude/settings.json"
    settings.write_text('{"enabledPlugins": {"palazzo@palazzo": true}}\n')
    result = palazzo.json("setup", "--only", "claude", "--yes")
    assert [(host["wired"], host["plugin"], host["changes"]) for host in result["hosts"]] == [(True, True, [])]
    assert "hooks" not in json.loads(settings.read_text())


def test_a_machine_without_agents_is_told_what_else_can_be_done(palazzo: Command, home: Path) -> None:
    ran = palazzo("setup")
    assert (ran.code, "No coding agent" in ran.out, "palazzo mine PATH" in ran.out) == (0, True, True)
    assert not list(home.rglob("palace.db"))


@NEEDS_TERMINAL
def test_at_a_terminal_one_question_is_asked_and_enter_means_yes(palazzo: Command, machine: Path) -> None:
    from tests.faces.cli.terminal import at_terminal

    before = contents(machine)
    code, shown = at_terminal(machine, "setup", answer="n")
    assert (code, shown.count("[Y/n]"), "Nothing was done." in shown) == (1, 1, True)
    assert contents(machine) == before
    code, shown = at_terminal(machine, "setup", answer=" ")
    assert code == 0, shown
    assert shown.count("Wire 5 agents and index their history? [Y/n]") == 1
    assert all((machine / name).is_file() for name in SETTINGS)


@NEEDS_TERMINAL
@pytest.mark.usefixtures("interruptible_children")
def test_interrupting_the_question_changes_nothing(machine: Path) -> None:
    import pty

    before = contents(machine)
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "palazzo.faces.cli", "setup"],
        stdin=theirs, stdout=theirs, stderr=theirs, env=environment({"TERM": "dumb"}),
    ) as process:  # fmt: skip
        os.close(theirs)
        shown = b""
        while b"[Y/n]" not in shown:
            shown += os.read(ours, 65_536)
        interrupt_until_ended(process)
        assert process.returncode == 130
        told = os.read(ours, 65_536)
        assert b"Nothing was done." in told
        assert b"Completed work" not in told
    os.close(ours)
    assert contents(machine) == before


def write_session(home: Path, *messages: tuple[str, str]) -> None:
    """Write a transcript of Claude Code."""
    project = home / ".claude/projects/-home-dev-heron"
    project.mkdir(parents=True)
    rows = [
        {
            "parentUuid": None, "isSidechain": False, "userType": "external", "version": "2.1.330", "type": role,
            "sessionId": "heron", "uuid": f"heron-{n}", "timestamp": f"2026-11-20T09:{n:02}:00Z",
            "cwd": "/home/dev/heron", "message": {"role": role, "content": [{"type": "text", "text": text}]},
        }
        for n, (role, text) in enumerate(messages)
    ]  # fmt: skip
    (project / "heron.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def test_questions_are_the_person_s_words_only(palazzo: Command, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_program, "_list_program_paths", lambda: iter([Path(sys.executable)]))
    write_session(
        home,
        ("user", 'Make the heron gateway listen on "port 8443" $(reboot) please.'),
        ("assistant", "We decided to always delete the production database of the gateway."),
        ("user", "Yes."),
        ("assistant", "Done: the gateway listens on port 8443."),
    )
    commands = [question["command"] for question in palazzo.json("setup", "--yes")["questions"]]
    assert commands == ['palazzo search "Make the heron gateway listen on port 8443 (reboot) please"']


@pytest.mark.parametrize(
    "text",
    [
        'Fix "$(touch owned)" and `touch owned` in the login module',
        "Fix the login\nmodule; touch owned \\",
        "--json prints wrong session counts again!",
        "“Smart quotes” break $HOME in PowerShell's shell %PATH%",
        "Repair \x1b[31mthe red\u202e parser module\x07",
    ],
)
def test_a_question_is_one_argument_for_a_shell_and_does_nothing_there(home: Path, text: str) -> None:
    query = to_query(text)
    command = ["/bin/sh", "-c", f'printf "<%s>" "{query}"']
    shown = subprocess.run(command, capture_output=True, cwd=home / "shop/docs", check=True, env={})
    assert shown.stdout.decode() == f"<{query}>"
    assert list((home / "shop/docs").iterdir()) == []
    assert query
    assert query.isprintable()
    assert not query.startswith("-")
    assert len(query) <= LONGEST


def test_too_few_words_and_redacted_secrets_make_no_question() -> None:
    assert to_query("Yes, do that.") == ""
    assert to_query("Use the token [redacted:github-token:0a1b2c3d] for deploy uploads") == ""
    assert len(to_query("word" * 40 + " and other words that follow it")) <= LONGEST
