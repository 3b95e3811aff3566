"""What a stranger stumbled over: numbers that agree, labels that say what they are, names that every command takes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.faces.cli.command import Command

from palazzo.features.code.tools import _command_line, _group_lines
from palazzo.features.portability.contract import FORMATS
from palazzo.importers.store_readers import READERS


def test_one_thing_is_counted_in_the_singular(palazzo: Command, home: Path) -> None:
    palazzo.json("remember", "The port is 8443.")
    verified = palazzo("verify").out
    for plural in ("1 items", "1 drawers", "1 links", "1 sessions", "1 failures", "1 sources"):
        assert plural not in verified
    assert "1 drawer, all match the archive" in verified
    assert "1 item, the last at " in palazzo("status").out


def test_answers_to_agents_count_one_thing_in_the_singular() -> None:
    failure = {"id": "0a", "when": "today", "outcome": "not fixed", "trust": "tool", "command": "make", "error": []}
    group = {"failures": 1, "sessions": 1, "fixed": 2, "kind": "error", "last": "today", "example": failure}
    assert "failed 1 time in 1 session, fixed 2 times" in _group_lines(group)
    command = {"worked": 1, "failed": 0, "last": "today", "host": "codex", "trust": "tool", "id": "0a", "command": "ls"}
    assert "worked 1 time, failed 0 times" in _command_line(command)


def test_today_counts_live_notes_and_no_to_dos_reminders_or_diary_entries(palazzo: Command, home: Path) -> None:
    palazzo.json("remember", "The port is 8443.")
    palazzo.json("remember", "The port was 80.")
    palazzo.json("undo")
    palazzo.json("todo", "add", "Check the port.")
    palazzo.json("remind", "Check the port.", "--at", "tomorrow")
    palazzo.json("diary", "write", "claude", "I looked at the port.")
    assert palazzo.json("today")["new"]["notes"] == 1


def test_resume_says_what_was_not_paused(palazzo: Command, home: Path) -> None:
    palazzo.json("remember", "The port is 8443.")
    assert "Capture and injection were not paused." in palazzo("resume").out


def test_remember_says_whether_the_text_is_the_same_or_similar(palazzo: Command, home: Path) -> None:
    text = "The gateway listens on port 8443, because the proxy lets only that one through, says the web team."
    palazzo.json("remember", text)
    assert "The same text was already stored" in palazzo("remember", text).out
    assert "Similar text was already stored" in palazzo("remember", f"{text} Still.").out


def test_blame_says_that_a_file_does_not_exist(palazzo: Command, home: Path) -> None:
    palazzo.json("remember", "The port is 8443.")
    assert "nofile.py does not exist here, and nothing is recorded about it" in palazzo("blame", "nofile.py").out
    (home / "shop" / "file.py").write_text("port = 8443\n")
    assert "does not exist" not in palazzo("blame", "file.py").out


def test_import_names_every_format_that_it_reads(palazzo: Command) -> None:
    assert {*FORMATS} == {"palazzo", *(reader.name for reader in READERS)}
    shown = " ".join(palazzo("import", "--help").out.split())
    assert ", ".join(FORMATS) in shown


@pytest.mark.parametrize("name", ["copilot", "copilot-cli"])
def test_the_settings_of_a_host_are_printed_by_either_of_its_names(palazzo: Command, name: str) -> None:
    assert palazzo.json("mcp", "--print-config", name)["file"]


def test_uninstall_takes_yes_as_install_does(palazzo: Command, home: Path) -> None:
    (home / ".claude").mkdir()
    assert palazzo("uninstall", "claude-code", "--yes", "--dry-run").code == 0


def test_a_list_of_drawers_names_the_branch_once(palazzo: Command, home: Path) -> None:
    for words in (
        ("init", "-q", "-b", "main"),
        ("commit", "-q", "--allow-empty", "-m", "begin"),
        ("switch", "-qc", "x/y"),
    ):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], check=True, cwd=home / "shop")
    palazzo.json("remember", "The port is 8443.")
    subprocess.run(["git", "switch", "-q", "--orphan", "other"], check=True, cwd=home / "shop")
    (line,) = [line for line in palazzo("list-drawers").out.splitlines() if "/notes" in line]
    assert line.count("x/y") == 1


def test_help_says_a_default_once(palazzo: Command) -> None:
    assert "The project directory. Default: the working directory.\n" in palazzo("init", "--help").out
    assert "mended" not in palazzo("fix", "--help").out
