"""What the log of a checkout's head tells, as git itself writes it and as it may be found."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.git.checkouts import Checkout

from palazzo.git.git_files import Repository, repository_of
from palazzo.git.reflog import HeadLog, head_log, head_logs
from palazzo.model import Micros

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="it is written by git")
ONE, TWO, THREE, NONE = "1" * 40, "2" * 40, "3" * 40, "0" * 40


def at(seconds: int) -> Micros:
    return Micros(seconds * 1_000_000)


def log_of(checkout: Checkout) -> HeadLog:
    repository = repository_of(checkout.root)
    assert repository is not None
    return head_log(repository)


def log_with(tmp_path: Path, *lines: str) -> HeadLog:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs/HEAD").write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return head_log(Repository(tmp_path, tmp_path, tmp_path))


def line(before: str, after: str, when: int, words: str = "commit: words") -> str:
    return f"{before} {after} A > B <a@example.com> {when} +0130\t{words}"


@needs_git
def test_git_s_own_log_tells_when_which_commit_of_which_branch_was_there(tmp_path: Path) -> None:
    acme = Checkout(tmp_path.resolve() / "acme").init()
    began, first = acme.now, acme.head
    acme.on("feature", "main")
    acme.now += 10
    second = acme.commit("two")
    acme.now += 10
    acme.on("main")
    log = log_of(acme)
    assert log.commit_at(at(began - 1)) == ""
    assert log.commit_at(at(began), "main") == log.commit_at(at(began)) == first
    assert log.commit_at(at(began), "feature") == ""
    assert log.commit_at(at(acme.now - 2), "feature") == second
    assert log.commit_at(at(acme.now), "main") == first
    assert {branch: commit for branch, (_, commit) in log.lasts.items()} == {"main": first, "feature": second}


@needs_git
def test_an_amended_commit_leads_to_the_next_one_also_after_the_branch_got_another_name(tmp_path: Path) -> None:
    acme = Checkout(tmp_path.resolve() / "acme").init()
    acme.on("feature", "main")
    before = acme.commit("two")
    acme.git("commit", "-q", "--amend", "-m", "otherwise")
    after = acme.head
    acme.git("branch", "-m", "better")
    assert log_of(acme).amends == {"feature": {before: after}}
    last = acme.commit("three")
    assert log_of(acme).lasts["feature"][1] == after
    assert log_of(acme).lasts["better"][1] == last


@needs_git
def test_all_checkouts_have_a_log(tmp_path: Path) -> None:
    acme = Checkout(tmp_path.resolve() / "acme").init()
    acme.git("worktree", "add", "-q", "-b", "feature", str(tmp_path / "tree"))
    repository = repository_of(tmp_path.resolve() / "tree")
    assert repository is not None
    logs = head_logs(repository)
    assert len(logs) == 2
    assert logs[0] == head_log(repository)
    assert logs[0] != logs[1]


def test_a_log_that_git_has_cut_off_says_nothing_of_the_time_before(tmp_path: Path) -> None:
    log = log_with(tmp_path, line(ONE, TWO, 100), line(TWO, THREE, 200))
    assert [log.commit_at(at(when)) for when in (99, 100, 199, 200, 999)] == ["", TWO, TWO, THREE, THREE]


def test_where_the_clock_went_back_nothing_is_said(tmp_path: Path) -> None:
    log = log_with(tmp_path, line(NONE, ONE, 100), line(ONE, TWO, 300), line(TWO, THREE, 200))
    assert [log.commit_at(at(when)) for when in (50, 150, 250, 350)] == ["", ONE, "", THREE]


@pytest.mark.parametrize(
    "odd",
    [
        "",
        "nonsense",
        line("x", "y", 150),
        f"{ONE} {TWO} nobody 150",
        line(ONE, TWO, 150).replace("150", "9" * 40),
        "\0",
    ],
)
def test_a_damaged_line_costs_itself_alone(tmp_path: Path, odd: str) -> None:
    log = log_with(tmp_path, line(NONE, ONE, 100), odd, line(ONE, TWO, 200, "a\twith a tab"))
    assert [log.commit_at(at(when)) for when in (150, 250)] == [ONE, TWO]


def test_a_log_that_grows_is_read_again(tmp_path: Path) -> None:
    log_with(tmp_path, line(NONE, ONE, 100))
    with (tmp_path / "logs/HEAD").open("a") as file:
        file.write(line(ONE, TWO, 200) + "\n")
    assert head_log(Repository(tmp_path, tmp_path, tmp_path)).commit_at(at(250)) == TWO


def test_no_log_says_nothing(tmp_path: Path) -> None:
    assert head_log(Repository(tmp_path, tmp_path, tmp_path)) == HeadLog()
    assert HeadLog().commit_at(at(100)) == ""
