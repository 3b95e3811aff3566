"""Mining with nothing new: the record of a run answers for it, until something that the run depended on changes."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest

from palazzo.client import unchanged_run
from palazzo.faces.cli import main

CODEX = Path(__file__).parents[1] / "fixtures/codex/0.169.0"


@pytest.fixture
def projects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with transcripts and a document, and an environment of its own."""
    for variable in ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(variable, str(tmp_path / "home" / variable.lower()))
    monkeypatch.setenv("PALAZZO_SERVICE", "off")
    projects = tmp_path / "work/projects"
    shutil.copytree(CODEX, projects / "sessions")
    (projects / "notes").mkdir()
    (projects / "notes/README.md").write_text("# Release\n\nTag the commit, then push the tag.\n")
    (projects / "notes/page.html").write_text("{% extends 'base.html' %}")  # which is skipped, and told each time
    monkeypatch.chdir(tmp_path)
    return projects


@contextmanager
def appended(path: Path, text: bytes) -> Iterator[None]:
    """Append to a file; afterwards it is exactly as before."""
    before, status = path.read_bytes(), path.stat()
    path.write_bytes(before + text)
    yield
    path.write_bytes(before)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


@contextmanager
def created(path: Path, text: str) -> Iterator[None]:
    """Create a file; afterwards neither it nor its directory is there."""
    is_own = not path.parent.exists()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    yield
    path.unlink()
    if is_own:
        path.parent.rmdir()


@contextmanager
def stored(palace: Path, statement: str, reverse: str) -> Iterator[None]:
    """Change a palace; afterwards its tables are as before."""
    with apsw.Connection(str(palace)) as connection:
        connection.execute(statement)
    yield
    with apsw.Connection(str(palace)) as connection:
        connection.execute(reverse)


def test_nothing_new_is_answered_from_the_record_until_something_changes(
    projects: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(unchanged_run, "_COARSEST_CLOCK", 0.0)
    palace = tmp_path / "palace.db"
    line = ["mine", str(projects), "--palace", str(palace)]
    monkeypatch.setattr(sys, "argv", ["palazzo", *line])

    def answer() -> int | None:
        return unchanged_run.run(line, os.environ)

    assert main(line) == 0
    assert answer() is None  # a run that found something new leaves no record
    capfd.readouterr()
    assert main(line) == 0
    full_output = capfd.readouterr().out
    assert answer() == 0
    assert capfd.readouterr().out.splitlines()[:-1] == full_output.splitlines()[:-1]
    assert "page.html" in full_output

    transcript = next(iter(sorted(projects.rglob("*.jsonl"))))
    changes: dict[str, Callable[[], object]] = {
        "a file is new": lambda: created(projects / "notes/new.md", "# New\n"),
        "an ignore file above": lambda: created(projects.parent / ".gitignore", "notes\n"),
        "a project file above": lambda: created(projects.parent / "palazzo.toml", 'wing = "other"\n'),
        "a repository": lambda: created(projects / ".git/HEAD", "ref: refs/heads/main\n"),
        "settings": lambda: created(Path(os.environ["XDG_CONFIG_HOME"]) / "palazzo/config.toml", "redact = false\n"),
        "the state of a file": lambda: stored(
            palace, "UPDATE file_state SET consumed = consumed + 1", "UPDATE file_state SET consumed = consumed - 1"
        ),
    }
    for what, change in changes.items():
        with change():  # type: ignore[attr-defined]
            assert answer() is None, what
        assert answer() == 0, f"after: {what}"
    unchanged_run.record(line, os.environ, [], "0.0 s", transcript.stat().st_ctime)
    assert answer() == 0  # the record of a run that began before its files were written replaces none
    with monkeypatch.context() as other:
        other.setenv("PALAZZO_REDACT", "false")
        assert answer() is None
    assert unchanged_run.run(["mine", str(projects)], os.environ) is None  # another palace
    with apsw.Connection(str(palace)) as connection:  # what has nothing to do with files
        connection.execute("INSERT INTO meta VALUES('unrelated', 'value')")
    assert answer() == 0
    with appended(transcript, b"{}\n"):
        assert answer() is None
    assert answer() is None, "a file that was written and then set back in size and time"
    (projects / "notes/README.md").unlink()
    assert answer() is None
