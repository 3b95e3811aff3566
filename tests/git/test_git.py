"""Asking git: what a repository says of itself starts nothing, and what cannot be answered in time is not known."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.git.checkouts import Checkout, standings

from palazzo.git import branch_status_cache, git_process
from palazzo.git.ancestry import Ancestry
from palazzo.git.branch_range import BranchRange, branch_range
from palazzo.git.git_files import repository_of, tips_of

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="these tests ask git")
posix = pytest.mark.skipif(os.name != "posix", reason="the program in the way is a shell script")

GENEROUS = 20.0
SIGNATURE = "-----BEGIN PGP SIGNATURE-----\n \n words\n -----END PGP SIGNATURE-----"


@pytest.fixture(autouse=True)
def nothing_known() -> Iterator[None]:
    branch_status_cache.forget_all()
    yield
    branch_status_cache.forget_all()


@pytest.fixture
def acme(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path.resolve() / "acme").init()


def head(checkout: Checkout, within: float = GENEROUS) -> str:
    return (git_process.run(checkout.root, "rev-parse", "--verify", "HEAD", timeout=within) or b"").decode().strip()


def unmerged(checkout: Checkout) -> Ancestry:
    """A branch `feature` that is not merged."""
    checkout.on("feature", "main").commit("one")
    checkout.on("main")
    repository = repository_of(checkout.root)
    assert repository is not None
    return Ancestry(repository)


def instead_of_git(directory: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    directory.mkdir()
    (directory / "git").write_text(f"#!/bin/sh\n{script}\n")
    (directory / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{directory}{os.pathsep}{os.environ['PATH']}")


def test_it_is_told_what_git_prints_and_reads_what_it_is_given(acme: Checkout) -> None:
    assert head(acme) == acme.head
    told = git_process.run(acme.root, "cat-file", "--batch-check", stdin=b"HEAD\nnone\n", timeout=GENEROUS)
    assert told is not None
    assert told.decode().splitlines()[0].startswith(f"{acme.head} commit")


def test_what_fails_is_not_known(acme: Checkout) -> None:
    assert git_process.run(acme.root, "rev-parse", "--verify", "none", timeout=GENEROUS) is None
    assert git_process.run(acme.root / "none", "rev-parse", "HEAD", timeout=GENEROUS) is None
    assert git_process.run(Path("a\0b"), "rev-parse", "HEAD", timeout=GENEROUS) is None


@pytest.mark.parametrize("command", ["fetch", "gc", "status", "config", "checkout", "hash-object", "--exec-path"])
def test_a_command_that_does_more_than_read_is_an_error_of_the_program(acme: Checkout, command: str) -> None:
    with pytest.raises(ValueError, match="only read"):
        git_process.run(acme.root, command)


def test_variables_of_the_caller_do_not_reach_it(acme: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GIT_DIR", "GIT_OBJECT_DIRECTORY", "GIT_INDEX_FILE", "GIT_EXEC_PATH"):
        monkeypatch.setenv(name, "/nowhere")
    assert head(acme) == acme.head


@posix
def test_programs_that_a_repository_names_are_not_started(acme: Checkout, tmp_path: Path) -> None:
    trap, mark = tmp_path / "trap", tmp_path / "mark"
    trap.write_text(f"#!/bin/sh\ntouch {mark}\ncat\n")
    trap.chmod(0o755)
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in ("post-index-change", "reference-transaction", "fsmonitor-watchman"):
        shutil.copy(trap, hooks / name)
    settings = {
        "core.fsmonitor": str(trap),
        "core.hooksPath": str(hooks),
        "diff.external": str(trap),
        "diff.x.textconv": str(trap),
        "diff.x.command": str(trap),
        "filter.x.clean": str(trap),
        "gpg.program": str(trap),
        "log.showSignature": "true",
        "core.pager": str(trap),
        "pager.log": str(trap),
        "core.sshCommand": str(trap),
        "alias.log": f"!{trap}",
        "core.alternateRefsCommand": str(trap),
    }
    acme.commit("attributes", "* diff=x filter=x\n", ".gitattributes")
    acme.commit("changed")
    signed = acme.git("cat-file", "commit", "HEAD").replace("\n\n", f"\ngpgsig {SIGNATURE}\n\n", 1)
    (acme.root / "signed").write_text(signed + "\n")
    signed = acme.git("hash-object", "-t", "commit", "-w", "signed")
    for name, value in settings.items():
        acme.git("config", name, value)
    mark.unlink(missing_ok=True)
    (acme.root / "changed.txt").write_text("not committed\n")
    asked = [
        ("log", "-p", "--max-count=3"),
        ("log", "--max-count=1", signed),
        ("diff", "HEAD~", "HEAD"),
        ("diff", "--cached"),
        ("diff-tree", "-p", "HEAD"),
        ("diff-index", "--cached", "-p", "-M", "HEAD~"),
        ("ls-files", "-s", "-z"),
        ("rev-list", "--all"),
        ("cat-file", "-p", "HEAD"),
    ]
    for one in asked:
        assert git_process.run(acme.root, *one, timeout=GENEROUS) is not None, one
    assert not mark.exists()


@posix
def test_a_git_that_hangs_is_ended_with_all_that_it_started(
    acme: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = tmp_path / "started"
    instead_of_git(
        tmp_path / "bin", f"sleep 300 &\necho $! > {started}.new\nmv {started}.new {started}\nwait", monkeypatch
    )
    assert head(acme, within=1.0) == ""
    child = int(started.read_text())
    for _ in range(1000):
        try:
            os.kill(child, 0)
        except ProcessLookupError:
            break
        if Path(f"/proc/{child}/stat").is_file() and ") Z " in Path(f"/proc/{child}/stat").read_text():
            break
        time.sleep(0.01)
    else:
        raise AssertionError("what it started is still running")


@posix
def test_a_git_that_says_too_much_is_not_believed(
    acme: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git_process, "LARGEST", 1000)
    instead_of_git(tmp_path / "bin", "yes", monkeypatch)
    assert head(acme) == ""


@posix
def test_a_git_in_the_directory_at_hand_is_not_started(
    acme: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    instead_of_git(tmp_path / "bin", "echo mine", monkeypatch)
    monkeypatch.chdir(tmp_path / "bin")
    monkeypatch.setenv("PATH", "")
    assert head(acme) == ""
    monkeypatch.setenv("PATH", f".{os.pathsep}")
    assert head(acme) == ""


@posix
@pytest.mark.parametrize("script", ["exec sleep 300", "exit 1", "echo nonsense", "yes", "kill -9 $$"])
def test_an_answer_does_without_a_git_that_does_not_work(
    acme: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    ancestry = unmerged(acme)
    instead_of_git(tmp_path / "bin", script, monkeypatch)
    asked = [("feature", ""), ("feature", acme.head), ("main", "")]
    assert list(ancestry.standings(asked).values()) == ["unknown", "unknown", "merged"]
    assert list(ancestry.standings(asked).values()) == ["unknown", "unknown", "merged"]


def test_without_git_nothing_is_known_but_the_branch_at_hand(acme: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    ancestry = unmerged(acme)
    monkeypatch.setenv("PATH", "")
    assert list(ancestry.standings([("feature", ""), ("main", acme.head)]).values()) == ["unknown", "merged"]
    assert beyond(acme, "HEAD", "feature") is None


@pytest.mark.parametrize(
    "broken", ["HEAD is nonsense", "HEAD leads nowhere", "no objects", "a damaged object", "config"]
)
def test_a_broken_repository_is_unknown(acme: Checkout, broken: str) -> None:
    ancestry = unmerged(acme)
    directory = acme.root / ".git"
    if broken == "HEAD is nonsense":
        (directory / "HEAD").write_text("nonsense")
    elif broken == "HEAD leads nowhere":
        (directory / "HEAD").write_text("ref: refs/heads/none\n")
    elif broken == "no objects":
        shutil.rmtree(directory / "objects")
    elif broken == "config":
        (directory / "config").write_text("[core\n")
    else:
        commit = acme.git("rev-parse", "feature")
        file = directory / "objects" / commit[:2] / commit[2:]
        file.chmod(0o600)
        file.write_bytes(b"nonsense")
    assert list(ancestry.standings([("feature", "")]).values()) == ["unknown"]
    assert beyond(acme, "HEAD", "feature") is None


def test_a_broken_repository_within_another_one_does_not_answer_for_that(acme: Checkout) -> None:
    inner = Checkout(acme.root / "inner").init()
    (inner.root / ".git/HEAD").write_text("nonsense")
    assert head(inner) == ""


def test_a_bare_repository_is_no_checkout(acme: Checkout, tmp_path: Path) -> None:
    acme.git("clone", "-q", "--bare", str(acme.root), str(tmp_path / "bare.git"))
    assert repository_of(tmp_path / "bare.git") is None
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked/.git").write_text(f"gitdir: {tmp_path / 'bare.git'}\n")
    repository = repository_of(tmp_path / "linked")
    assert repository is not None
    assert Ancestry(repository).standings([("feature", "")]) == {("feature", ""): "unknown"}


def test_a_submodule_answers_for_itself(acme: Checkout, tmp_path: Path) -> None:
    library = Checkout(tmp_path / "library", acme.now + 50).init()
    acme.git("submodule", "--quiet", "add", str(library.root), "lib")
    inside = Checkout(acme.root / "lib", acme.now + 100)
    inside.on("feature", "main").commit("one")
    assert standings(inside.on("main"), [("feature", "")]) == ["unmerged"]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root gives files away")
def test_a_repository_of_somebody_else_is_not_asked(acme: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    ancestry = unmerged(acme)
    for path in (acme.root, acme.root / ".git"):
        os.chown(path, 12345, 12345)
    monkeypatch.setenv("HOME", str(acme.root.parent))
    assert head(acme) == ""
    assert ancestry.standings([("feature", "")]) == {("feature", ""): "unknown"}


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such names")
def test_names_with_newlines_are_compared_like_others(acme: Checkout) -> None:
    unmerged(acme)
    acme.on("feature")
    (acme.root / "a\nb: c").write_text("x\n")
    (acme.root / ("0123456789" * 4)).write_text("x\n")
    acme.commit("odd names")
    acme.on("main").now += 100
    acme.git("merge", "-q", "--squash", "feature")
    acme.git("commit", "-qm", "squashed")
    assert standings(acme, [("feature", "")]) == ["merged"]


def test_tips_are_found_loose_and_packed_here_and_at_remotes(acme: Checkout) -> None:
    unmerged(acme)
    repository = repository_of(acme.root)
    assert repository is not None
    tip = acme.git("rev-parse", "feature")
    assert tips_of(repository, "feature") == (tip,)
    acme.git("update-ref", "refs/remotes/origin/feature", "main")
    acme.git("pack-refs", "--all")
    assert tips_of(repository, "feature") == (tip, acme.head)
    acme.git("branch", "-qD", "feature")
    assert tips_of(repository, "feature") == (acme.head,)
    assert [tips_of(repository, name) for name in ("", "none", "../HEAD", "/etc", "a\nb", "x.lock")] == [()] * 6


def beyond(checkout: Checkout, base: str, tip: str) -> frozenset[str] | None:
    """The commits that `tip` has and `base` has not."""
    repository = repository_of(checkout.root)
    assert repository is not None
    found = branch_range(repository, base, tip)
    return found.commits if found is not None and found.has_base and found.has_tip else None


def test_the_commits_that_another_branch_does_not_have(acme: Checkout) -> None:
    unmerged(acme)
    feature = acme.git("rev-parse", "feature")
    assert beyond(acme, "main", "feature") == frozenset({feature})
    assert beyond(acme, "feature", "main") == frozenset()
    assert beyond(acme, "main", feature[:12]) == frozenset({feature})
    acme.git("branch", "-qD", "feature")
    assert beyond(acme, "HEAD", "feature") == frozenset({feature})
    for none in ("nobody", "--all", "a\nb", "", "-", ":/x", "^main"):
        assert beyond(acme, "main", none) is None


def test_what_else_was_asked_about_is_not_taken_for_the_branch_s(acme: Checkout) -> None:
    unmerged(acme)
    other = acme.on("other", "main").commit("other")
    fork = acme.on("main").head
    repository = repository_of(acme.root)
    assert repository is not None
    found = branch_range(repository, "main", "feature", [other, fork, "0" * 40])
    assert found == BranchRange(
        frozenset({acme.git("rev-parse", "feature")}),
        frozenset({fork}),
        base_commits=frozenset({fork}),
        present=frozenset({other, fork}),
        has_base=True,
        has_tip=True,
    )
