"""Who wrote the commits of a project, as far as git tells in time."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from palazzo.git.git_authors import commit_authors


def commit(where: Path, author: str) -> None:
    identity = {"GIT_AUTHOR_NAME": author, "GIT_AUTHOR_EMAIL": "a@example.com"}
    identity |= {"GIT_COMMITTER_NAME": "C", "GIT_COMMITTER_EMAIL": "c@example.com"}
    if not (where / ".git").exists():
        subprocess.run(["git", "init", "-q"], cwd=where, check=True)
    arguments = ["git", "commit", "-q", "--allow-empty", "-m", "words"]
    subprocess.run(arguments, cwd=where, check=True, env={**os.environ, **identity})


def test_authors_are_told_once_who_wrote_last_first(tmp_path: Path) -> None:
    for author in ("Wojciech  Zieliński", "Ola Nordmann", "Wojciech Zieliński"):
        commit(tmp_path, author)
    (tmp_path / "docs").mkdir()
    assert commit_authors(tmp_path / "docs") == ["Wojciech Zieliński", "Ola Nordmann"]


def test_without_a_repository_a_commit_or_git_there_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert commit_authors(tmp_path) == []
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    assert commit_authors(tmp_path) == []
    commit(tmp_path, "Ola Nordmann")
    monkeypatch.setenv("PATH", "")
    assert commit_authors(tmp_path) == []


@pytest.mark.skipif(os.name == "nt", reason="a script that hangs")
def test_git_that_hangs_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(tmp_path, "Ola Nordmann")
    slow = tmp_path / "slow"
    slow.mkdir()
    (slow / "git").write_text("#!/bin/sh\nexec sleep 30\n")
    (slow / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr("palazzo.git.git_authors._SECONDS", 0.1)
    assert commit_authors(tmp_path) == []


@pytest.mark.skipif(os.name == "nt", reason="a script that hangs")
def test_git_that_ends_late_is_collected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine a process takes a while to end. Nobody collected it then, and it stayed as a zombie."""
    commit(tmp_path, "Ola Nordmann")
    slow = tmp_path / "slow"
    slow.mkdir()
    number = tmp_path / "number"
    (slow / "git").write_text(f"#!/bin/sh\necho $$ > {number}.new; mv {number}.new {number}\nexec sleep 30\n")
    (slow / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr("palazzo.git.git_authors._SECONDS", 2)
    monkeypatch.setattr("palazzo.git.git_process._LAST_WORDS", 0)
    assert commit_authors(tmp_path) == []
    process = int(number.read_text())
    deadline = time.monotonic() + 60
    while is_there(process) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not is_there(process)


def is_there(process: int) -> bool:
    """Return whether a process runs, or has ended and was not collected."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
