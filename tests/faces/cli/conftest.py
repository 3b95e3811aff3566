"""For every test of the command line: a home directory of its own, no background process, a project to stand in."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.faces.cli.command import Command


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home directory, with a space in its name; the working directory is the project `shop` in it."""
    for name in os.environ:
        if name.startswith(("PALAZZO_", "XDG_")):
            monkeypatch.delenv(name)
    home = tmp_path / "a home"
    (home / "shop" / "docs").mkdir(parents=True)
    (home / "shop" / "palazzo.toml").write_text('wing = "shop"\n')
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PALAZZO_SERVICE", "off")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.chdir(home / "shop")
    return home


@pytest.fixture
def palazzo(capsys: pytest.CaptureFixture[str]) -> Command:
    """The command."""
    return Command(capsys)


@pytest.fixture
def shop(home: Path, palazzo: Command) -> Path:
    """The project with two documents and two notes in the palace; returns the palace file."""
    docs = home / "shop" / "docs"
    (docs / "deploy.md").write_text(
        "# Deploying\n\nThe deploy service listens on port 8443.\n\n"
        + "".join(f"Machine {n} is checked for its health before the next one is updated.\n" for n in range(9))
        + "\n## Rollback\n\nTo undo a bad release, run the tag before it.\n"
        + "".join(f"Step {n}: tell the others in the channel, and write down what went wrong.\n" for n in range(9))
    )
    (docs / "retries.md").write_text("# Retries\n\nRetries double after each failure, up to a minute.\n")
    palazzo.json("mine", "docs")
    palazzo.json("remember", "We chose SQLite because it needs no server.", "--kind", "decision", "--tag", "storage")
    palazzo.json("remember", "The grey cat sleeps on the router.", "--room", "animals")
    return home / ".local" / "share" / "palazzo" / "palace.db"
