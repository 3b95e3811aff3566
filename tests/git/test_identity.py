"""Which project a directory belongs to."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from palazzo.git.project_identity import project_identity, project_root

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="these tests ask git")


def git(where: Path, *arguments: str) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {
        f"GIT_{who}_{what}": "a@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    asked = ["git", "-c", "protocol.file.allow=always", *arguments]
    return subprocess.run(asked, cwd=where, env=environment, check=True, capture_output=True, text=True).stdout.strip()


def commit(where: Path, words: str) -> str:
    (where / "words.md").write_text(words)
    git(where, "add", "-A")
    git(where, "commit", "-qm", words)
    return git(where, "rev-parse", "HEAD")


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return tmp_path.resolve()


@pytest.fixture
def acme(base: Path) -> Path:
    """A repository of two commits on `main`."""
    root = base / "acme"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    commit(root, "one")
    commit(root, "two")
    return root


def test_a_repository_is_known_by_its_first_commit(acme: Path) -> None:
    first = git(acme, "rev-list", "--max-parents=0", "HEAD")
    found = project_identity(acme)
    assert (found.identity, found.name, found.root) == (f"git:{first}", "acme", acme)
    assert (found.branch, found.commit) == ("main", git(acme, "rev-parse", "HEAD"))
    assert found.is_final


def test_a_directory_within_it_belongs_to_it(acme: Path) -> None:
    (acme / "docs/deep").mkdir(parents=True)
    assert project_identity(acme / "docs/deep") == project_identity(acme)
    assert project_identity(acme / "not/there/yet") == project_identity(acme)


def test_clones_and_worktrees_are_one_project(acme: Path, base: Path) -> None:
    git(base, "clone", "-q", "acme", "elsewhere")
    git(acme, "worktree", "add", "-qb", "feature", str(base / "tree"))
    git(acme, "worktree", "add", "-q", "--detach", str(base / "detached"))
    clone, tree, detached = (project_identity(base / name) for name in ("elsewhere", "tree", "detached"))
    assert len({one.identity for one in (project_identity(acme), clone, tree, detached)}) == 1
    assert (tree.name, tree.root, tree.branch) == ("acme", base / "tree", "feature")
    assert (detached.branch, detached.commit) == ("", git(acme, "rev-parse", "HEAD"))


def test_namesakes_are_two_projects(acme: Path, base: Path) -> None:
    other = base / "other" / "acme"
    other.mkdir(parents=True)
    git(other, "init", "-q")
    commit(other, "something else")
    assert project_identity(other).name == project_identity(acme).name
    assert project_identity(other).identity != project_identity(acme).identity


def test_an_orphan_branch_and_another_history_change_nothing(acme: Path, base: Path) -> None:
    before = project_identity(acme).identity
    git(acme, "checkout", "-q", "--orphan", "pages")
    commit(acme, "pages")
    assert project_identity(acme).identity == before
    assert project_identity(acme).branch == "pages"
    git(acme, "checkout", "-q", "main")
    git(acme, "merge", "-q", "--allow-unrelated-histories", "-X", "ours", "-m", "join", "pages")
    assert project_identity(acme).identity == before


def test_packed_references_are_read(acme: Path) -> None:
    before = project_identity(acme)
    git(acme, "pack-refs", "--all")
    assert project_identity(acme) == before


def test_a_submodule_is_its_own_project(acme: Path, base: Path) -> None:
    library = base / "library"
    library.mkdir()
    git(library, "init", "-q", "-b", "main")
    commit(library, "library")
    git(acme, "submodule", "--quiet", "add", str(library), "lib")
    inside = project_identity(acme / "lib")
    assert inside.identity == project_identity(library).identity
    assert (inside.name, inside.root) == ("lib", acme / "lib")


def test_a_shallow_clone_is_known_by_its_origin(acme: Path, base: Path) -> None:
    git(base, "clone", "-q", "--depth", "1", acme.as_uri(), "shallow")
    git(base / "shallow", "remote", "set-url", "origin", "https://user:secret@example.com:8443/Team/acme.git/")
    found = project_identity(base / "shallow")
    assert (found.identity, found.is_final) == ("remote:example.com/Team/acme", True)


@pytest.mark.parametrize(
    "url", ["git@example.com:Team/acme.git", "ssh://git@Example.com/Team/acme", "http://example.com/Team/acme"]
)
def test_one_remote_has_one_name(base: Path, url: str) -> None:
    root = base / "empty"
    root.mkdir()
    git(root, "init", "-q")
    git(root, "remote", "add", "origin", url)
    assert project_identity(root).identity == "remote:example.com/Team/acme"


@pytest.mark.parametrize("url", ["/srv/git/acme.git", "../acme", "C:\\git\\acme", "file:///srv/git/acme"])
def test_a_remote_on_this_machine_names_nothing(base: Path, url: str) -> None:
    root = base / "empty"
    root.mkdir()
    git(root, "init", "-q")
    git(root, "remote", "add", "origin", url)
    assert project_identity(root).identity == "dir:empty"


def test_without_a_repository_the_name_is_all_there_is(base: Path) -> None:
    (base / "notes/deep").mkdir(parents=True)
    found = project_identity(base / "notes")
    assert (found.identity, found.name, found.root, found.branch) == ("dir:notes", "notes", base / "notes", "")
    (base / "notes/palazzo.toml").write_text("")
    assert project_identity(base / "notes/deep").identity == "dir:notes"
    assert project_root(base / "notes/deep") == base / "notes"


def test_without_git_the_log_still_tells(acme: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = project_identity(acme)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("palazzo.git.project_identity._FIRST_COMMITS", {})
    assert project_identity(acme) == before
    shutil.rmtree(acme / ".git/logs")
    found = project_identity(acme)
    assert (found.identity, found.is_final) == ("dir:acme", False)
    assert (found.branch, found.commit) == (before.branch, before.commit)


def test_git_that_takes_too_long_is_not_waited_for(acme: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.rmtree(acme / ".git/logs")
    slow = acme.parent / "bin"
    slow.mkdir()
    (slow / "git").write_text("#!/bin/sh\nexec sleep 30\n")
    (slow / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr("palazzo.git.project_identity._FIRST_COMMITS", {})
    found = project_identity(acme, git_seconds=0.1)
    assert (found.identity, found.is_final) == ("dir:acme", False)


def test_variables_of_another_repository_do_not_matter(acme: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = project_identity(acme)
    monkeypatch.setattr("palazzo.git.project_identity._FIRST_COMMITS", {})
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    assert project_identity(acme) == before


@pytest.mark.parametrize("words", ["", "gitdir:", "gitdir: /nowhere", "nonsense", "\0"])
def test_a_git_file_that_is_none_is_no_repository(base: Path, words: str) -> None:
    (base / "odd").mkdir()
    (base / "odd/.git").write_text(words)
    assert project_identity(base / "odd").identity == "dir:odd"


def test_no_identity_holds_a_path(acme: Path, base: Path) -> None:
    for where in (acme, base / "elsewhere", Path("/")):
        assert "/" not in project_identity(where).identity.removeprefix("remote:")
