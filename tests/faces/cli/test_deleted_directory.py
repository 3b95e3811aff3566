"""A current directory that was deleted: commands that do not need it work, the others say so in one sentence."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.faces.cli.command import Command

NEEDS_NO_DIRECTORY = [
    ["status"],
    ["search", "port"],
    ["wake-up"],
    ["verify"],
    ["undo", "--list"],
    ["sessions"],
    ["settings"],
    ["today"],
    ["todo", "list"],
    ["kg", "query", "SQLite"],
    ["diff", "main..other"],
    ["pause"],
    ["forget", "--source", "no-such-session", "--dry-run"],
]
NEEDS_THE_DIRECTORY = [
    ["mine", "."],
    ["mine", "README.md"],
    ["init"],
    ["sync-sources"],
    ["export", "palace.jsonl"],
    ["backup", "palace.db"],
    ["restore", "palace.db"],
    ["import", "palace.jsonl"],
    ["blame", "README.md"],
    ["stats", "--card", "card.svg"],
    ["remember", "a note", "--anchor", "src/main.py"],
    ["install", "claude-code", "--project", "--dry-run"],
    ["search", "port", "--palace", "other.db"],
]


@pytest.fixture
def deleted_directory(home: Path, shop: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory, which was deleted."""
    directory = home / "deleted"
    directory.mkdir()
    monkeypatch.chdir(directory)
    directory.rmdir()
    return directory


@pytest.mark.parametrize("arguments", NEEDS_NO_DIRECTORY, ids=" ".join)
def test_a_command_that_needs_no_directory_works(
    palazzo: Command, deleted_directory: Path, arguments: list[str]
) -> None:
    ran = palazzo(*arguments)
    is_unknown_session = "no-such-session" in arguments
    assert ran.code == (2 if is_unknown_session else 0), ran.error
    assert ("came from 'no-such-session'" in ran.error) if is_unknown_session else not ran.error


@pytest.mark.parametrize("arguments", NEEDS_THE_DIRECTORY, ids=" ".join)
def test_a_command_that_needs_the_directory_says_so(
    palazzo: Command, deleted_directory: Path, arguments: list[str]
) -> None:
    ran = palazzo(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert ran.error.splitlines()[-1].startswith("palazzo: The current directory was deleted, so the path '")
    assert not Path("/(deleted)").exists()


def test_a_remote_by_a_relative_path_is_refused(palazzo: Command, deleted_directory: Path) -> None:
    ran = palazzo("sync", "init", "remote")
    assert ran.code == 2
    assert "is not an existing directory" in ran.error


def test_a_note_is_filed_outside_every_project(palazzo: Command, deleted_directory: Path, home: Path) -> None:
    ran = palazzo("remember", "The parrot repeats the passphrase.")
    assert ran.code == 0
    assert ran.error == "palazzo: The current directory was deleted, so this is filed in the wing 'user'.\n"
    assert palazzo("mine", str(home / "shop" / "docs")).code == 0
    os.chdir(home)
    (hit,) = palazzo.json("search", "parrot passphrase", "--limit", "1")["hits"]
    assert (hit["wing"], hit["text"]) == ("user", "The parrot repeats the passphrase.")
    assert "(deleted)" not in palazzo("taxonomy").out
