"""Directories without permission: one sentence that names the path, exit code 1 or 2, no bug report, nothing lost."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.faces.cli.command import Command, Ran, environment

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="permissions are those of POSIX")
WITHOUT_RIGHTS = ("setpriv", "--bounding-set", "-dac_override,-dac_read_search")
"""Runs a program of root as one to whom permissions apply."""
REFUSED = [
    ["mine", "{}/a"],
    ["init", "{}/a"],
    ["sync-sources", "{}/a"],
    ["watch", "{}/a"],
    ["export", "{}/palace.jsonl"],
    ["import", "{}/palace.jsonl"],
    ["restore", "{}/palace.db"],
    ["backup", "{}/palace.db"],
    ["stats", "--card", "{}/card.svg"],
    ["remind", "look again", "--on-file", "{}/a.py"],
    ["sync", "init", "{}"],
    ["install", "mempalace-compat", "{}/programs"],
]


def run(*arguments: str) -> Ran:
    """Run the command in the current directory, as a user to whom permissions apply."""
    command = [sys.executable, "-P", "-m", "palazzo.faces.cli", *arguments]
    if os.geteuid() == 0:
        if shutil.which(WITHOUT_RIGHTS[0]) is None:
            pytest.skip("root needs setpriv to do without its rights")
        command = [*WITHOUT_RIGHTS, *command]
    done = subprocess.run(command, capture_output=True, env=environment({}), timeout=120, check=False)
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.fixture
def locked(home: Path) -> Iterator[Path]:
    """A directory that may not be entered or listed, with a directory in it."""
    directory = home / "locked"
    (directory / "a").mkdir(parents=True)
    directory.chmod(0)
    yield directory
    directory.chmod(0o700)


@pytest.mark.parametrize("arguments", REFUSED, ids=lambda words: " ".join(words[:2]))
def test_a_path_without_permission_is_named(shop: Path, locked: Path, home: Path, arguments: list[str]) -> None:
    ran = run(*(word.format(locked) for word in arguments))
    assert (ran.code, ran.out) == (1, ""), ran.error
    (line,) = ran.error.splitlines()
    assert line.startswith(f"palazzo: {locked}")
    assert "(Permission denied)." in line
    assert not list(home.rglob("bug-*.txt"))


def test_a_named_path_that_cannot_be_read_fails_the_command(shop: Path, locked: Path, home: Path) -> None:
    secret = home / "shop" / "docs" / "secret.md"
    secret.write_text("# Not for everybody\n")
    secret.chmod(0)
    for path in (locked, secret):
        ran = run("mine", str(path))
        assert (ran.code, ran.error) == (1, "")
        assert f"Nothing was read from {path}: it cannot be read: Permission denied." in ran.out
    assert run("mine", "docs").code == 0  # the others were read


def test_commands_work_in_a_current_directory_without_permission(
    shop: Path, locked: Path, palazzo: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    locked.chmod(0o700)
    monkeypatch.chdir(locked)  # which is inherited
    locked.chmod(0)
    note = f"palazzo: {locked} cannot be entered: no settings in it are used.\n"
    for arguments in (["remember", "The heron stands in the pond."], ["wake-up"], ["status"], ["search", "heron"]):
        ran = run(*arguments)
        assert (ran.code, ran.error) == (0, note)
    assert "The heron stands in the pond." in ran.out
    assert run("settings").code == 0
    assert run("doctor").error == ""
