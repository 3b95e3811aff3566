"""What only looks writes nothing where programs keep their own files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.faces.cli.command import Command
from tests.sources.opencode_samples import unpack_live

OWN = (".config/palazzo", ".local/share/palazzo", ".local/state/palazzo", ".cache/palazzo", "bin/")
OF_A_HOST = re.compile(r"(?:^|/)\.?(?:opencode|claude|codex|pi|gemini|copilot)(?:[/.]|$)")
HOST = """#!/bin/sh
mkdir -p "$HOME/.{0}" "${{XDG_CONFIG_HOME:-$HOME/.config}}/{0}" "${{XDG_DATA_HOME:-$HOME/.local/share}}/{0}"
mkdir -p "${{XDG_CACHE_HOME:-$HOME/.cache}}/{0}" "${{XDG_STATE_HOME:-$HOME/.local/state}}/{0}"
echo 1.2.3
"""
READ_ONLY_COMMANDS = [
    ["doctor"],
    ["status"],
    ["install", "opencode", "--dry-run"],
    ["install", "claude-code", "--dry-run"],
    ["install", "codex", "--dry-run"],
    ["install", "pi", "--dry-run"],
    ["feed", "opencode", "--dry-run"],
    ["feed", "all", "--dry-run"],
    ["wake-up"],
    ["search", "deploy"],
    ["service", "status"],
]


def files_of_hosts(home: Path) -> dict[str, tuple[int, int]]:
    """What lies below a home directory in anything that a host is named by: its size, and when it was changed."""
    state_by_name = {}
    for path in sorted(home.rglob("*")):
        name = path.relative_to(home).as_posix()
        if OF_A_HOST.search(name) and not name.startswith(OWN):
            stat = path.lstat()
            state_by_name[name] = (stat.st_size, stat.st_mtime_ns)
    return state_by_name


@pytest.fixture
def hosts(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Programs of hosts that were never used: each makes its directories whenever it is started, as opencode does."""
    programs = home / "bin"
    programs.mkdir()
    for name in ("opencode", "claude", "codex", "pi"):
        (programs / name).write_text(HOST.format(name))
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    return programs


def test_looking_makes_no_directory_of_a_host_that_was_never_used(palazzo: Command, home: Path, hosts: Path) -> None:
    palazzo.json("remember", "The deploy key is rotated in June.")
    files_before = files_of_hosts(home)
    output_by_command = {}
    for arguments in READ_ONLY_COMMANDS:
        output_by_command[arguments[0]] = palazzo(*arguments).out
        assert files_of_hosts(home) == files_before, arguments
    assert output_by_command["doctor"].count("1.2.3") == 4


def test_looking_changes_nothing_of_a_host_that_is_used(palazzo: Command, home: Path, hosts: Path) -> None:
    palazzo.json("remember", "The deploy key is rotated in June.")
    store = home / ".local" / "share" / "opencode"
    store.mkdir(parents=True)
    unpack_live(store)
    files_before = files_of_hosts(home)
    for arguments in READ_ONLY_COMMANDS:
        palazzo(*arguments)
        assert files_of_hosts(home) == files_before, arguments
