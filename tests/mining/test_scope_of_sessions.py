"""Whose memory a session becomes: told from where it was held, never from the name of a folder."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from palazzo.palace import Palace
from palazzo.sources.mining_report import MineRequest
from palazzo.sources.mining_run import mine
from palazzo.store.place_rows import wing_of_project


def git(directory: Path, *arguments: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=A", "-c", "user.email=a@b.c", *arguments],
        cwd=directory,
        check=True,
        capture_output=True,
    )


def repository(directory: Path, words: str) -> Path:
    directory.mkdir(parents=True)
    git(directory, "init", "-q")
    (directory / "README.md").write_text(words)
    git(directory, "add", ".")
    git(directory, "commit", "-qm", words)
    return directory


def session(path: Path, cwd: Path, words: str) -> Path:
    rows = [
        {"type": "user", "uuid": f"{path.stem}-1", "message": {"role": "user", "content": words}},
        {"type": "assistant", "uuid": f"{path.stem}-2", "message": {"role": "assistant", "content": f"About {words}"}},
    ]
    common = {
        "parentUuid": None,
        "sessionId": path.stem,
        "cwd": str(cwd),
        "timestamp": "2026-03-04T10:00:00.000Z",
        "version": "2.1.330",
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps({**row, **common}) + "\n" for row in rows))
    return path


def wings(palace: Palace, *paths: Path) -> tuple[str, ...]:
    return mine(palace.database, palace.clock, MineRequest(paths, mode="convos")).wings


@pytest.fixture
def transcripts(tmp_path: Path) -> Path:
    return tmp_path / ".claude/projects/-one-folder-for-all"


def test_two_repositories_of_one_name_never_share_a_wing(palace: Palace, tmp_path: Path, transcripts: Path) -> None:
    first, second = (repository(tmp_path / side / "api", side) for side in ("left", "right"))
    [one] = wings(palace, session(transcripts / "s1.jsonl", first, "harbour"))
    [two] = wings(palace, session(transcripts / "s2.jsonl", second, "harbour"))
    assert (one, two) == ("api", "api-2")
    assert wings(palace, first, second) == ()
    report = mine(palace.database, palace.clock, MineRequest((second, first)))
    assert report.wings == ("api-2", "api")


def test_a_directory_that_becomes_a_repository_keeps_its_wing(
    palace: Palace, tmp_path: Path, transcripts: Path
) -> None:
    project = tmp_path / "api"
    project.mkdir()
    assert wings(palace, session(transcripts / "s1.jsonl", project, "harbour")) == ("api",)
    git(project, "init", "-q")
    assert wings(palace, session(transcripts / "s2.jsonl", project, "lighthouse")) == ("api",)
    (project / "README.md").write_text("harbour")
    git(project, "add", ".")
    git(project, "commit", "-qm", "Begin")
    assert wings(palace, session(transcripts / "s3.jsonl", project, "breakwater")) == ("api",)
    clone = tmp_path / "clone" / "api"
    git(tmp_path, "clone", "-q", str(project), str(clone))
    assert wings(palace, session(transcripts / "s4.jsonl", clone, "mole")) == ("api",)
    other = repository(tmp_path / "other" / "api", "another project")
    assert wings(palace, session(transcripts / "s5.jsonl", other, "pier")) == ("api-2",)


def test_worktrees_and_clones_of_one_repository_share_a_wing(palace: Palace, tmp_path: Path, transcripts: Path) -> None:
    main = repository(tmp_path / "api", "one")
    git(main, "worktree", "add", "-qb", "feature", str(tmp_path / "tree"))
    git(tmp_path, "clone", "-q", "api", "elsewhere")
    held = [main, tmp_path / "tree", tmp_path / "elsewhere", main / "src/deep"]
    files = [session(transcripts / f"s{n}.jsonl", where, f"words {n}") for n, where in enumerate(held)]
    assert wings(palace, *files) == ("api",)


def test_a_session_held_nowhere_goes_to_the_wing_of_conversations(
    palace: Palace, tmp_path: Path, transcripts: Path
) -> None:
    path = session(transcripts / "s.jsonl", tmp_path, "words")
    path.write_text(path.read_text().replace(json.dumps(str(tmp_path)), '""'))
    assert wings(palace, path) == ("conversations",)


def test_a_wing_that_was_given_by_name_is_kept_when_the_session_goes_on(
    palace: Palace, tmp_path: Path, transcripts: Path
) -> None:
    held = repository(tmp_path / "api", "one")
    path = session(transcripts / "s.jsonl", held, "words")
    mine(palace.database, palace.clock, MineRequest((path,), mode="convos", wing="mine"))
    path.write_text(path.read_text() + path.read_text().replace("s-1", "s-3").replace("s-2", "s-4"))
    assert wings(palace, path) == ("mine",)
    with palace.database.snapshot() as connection:
        assert wing_of_project(connection, "api") is None
