"""The context: a palace opened when asked for, settings and project of where the caller stands."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from palazzo.errors import PalaceMissing
from palazzo.operations.context import Context, Progress
from palazzo.operations.registry import operation
from palazzo.store.database import Database


def context(home: Path, cwd: Path, **variables: str) -> Context:
    """A context with a home directory of its own, and no background process."""
    return Context(cwd=cwd, variables={"HOME": str(home), "PALAZZO_SERVICE": "off", **variables})


def test_reading_creates_nothing_and_writing_does(tmp_path: Path) -> None:
    with context(tmp_path, tmp_path) as here:
        with pytest.raises(PalaceMissing):
            here.reading()
        assert not here.has_palace
        assert here.writing() is here.reading()
        assert here.has_palace


def test_two_clones_share_a_wing_and_a_namesake_does_not(tmp_path: Path) -> None:
    origin, clone, other = tmp_path / "one" / "app", tmp_path / "two" / "copy", tmp_path / "three" / "app"
    for repository in (origin, other):
        repository.mkdir(parents=True)
        git(repository, "init", "-q")
        git(repository, "commit", "-q", "--allow-empty", "-m", str(repository))
    git(tmp_path, "clone", "-q", str(origin), str(clone))
    wings = [remember(context(tmp_path, where), "a note") for where in (origin, clone, other)]
    assert wings == ["app", "app", "app-2"]


def git(where: Path, *arguments: str) -> None:
    """Run git without anybody's settings."""
    subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments],
        cwd=where,
        check=True,
        env={"PATH": "/usr/bin:/bin:/usr/local/bin", "HOME": str(where), "GIT_CONFIG_NOSYSTEM": "1"},
    )


def remember(here: Context, text: str) -> str:
    """File a note; return its wing."""
    with here:
        found = operation("remember")
        return str(found.run(here, found.request(text)).wing)


def test_a_relative_palace_is_relative_to_the_caller(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    here = context(tmp_path, tmp_path / "work", PALAZZO_PALACE="mine.db")
    assert here.palace_path == tmp_path / "work" / "mine.db"


def test_long_operations_say_how_far_they_are(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    for n in range(3):
        (tmp_path / "docs" / f"{n}.md").write_text(f"# {n}\n\nwords\n")
    seen: list[Progress] = []
    mine = operation("mine")
    with Context(
        cwd=tmp_path, variables={"HOME": str(tmp_path), "PALAZZO_SERVICE": "off"}, on_progress=seen.append
    ) as here:
        mine.run(here, mine.request((Path("docs"),), wait=True))
    assert {one.what for one in seen} == {"reading", "embedding"}
    assert [one.done for one in seen if one.what == "reading"][-1] == 3
    assert all(0 <= one.done <= one.total for one in seen)


def test_a_project_cannot_turn_redaction_off_and_the_user_can(tmp_path: Path) -> None:
    (tmp_path / "palazzo.toml").write_text("redact = false\n")
    with context(tmp_path, tmp_path) as here:
        assert here.writing().database.redacts
    with context(tmp_path, tmp_path, PALAZZO_REDACT="off") as here:
        assert not here.writing().database.redacts


@pytest.mark.parametrize("has_page", [False, True], ids=["no bytes", "one page"])
def test_a_palace_whose_creation_was_killed_is_created_by_the_next_write(tmp_path: Path, has_page: bool) -> None:
    path = tmp_path / "palace.db"
    path.touch()
    if has_page:
        Database(path).close()
        assert path.stat().st_size == 4096
    with Context(path, tmp_path, {"HOME": str(tmp_path), "PALAZZO_SERVICE": "off"}) as here:
        assert not here.has_palace
        remember(here, "The cache is warm at dawn.")
        assert here.has_palace
