"""Git as a source: commits, merges and tags of a project, with branch and ancestry, found by search and blame."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.features.trust.sessions_written import run

from palazzo.git.commit_log import GitRecord
from palazzo.operations.context import Context

WHY = "Hold the till open during a refund\n\nThe printer needs the drawer for the second receipt."


class Shop:
    """A repository with a main line, a merged branch and one that is not merged."""

    def __init__(self, root: Path) -> None:
        self.root, self._second = root, 1_780_000_000
        root.mkdir()
        self.git("init", "-q", "-b", "main")
        self.commit("Begin", "till.py", "open = True\n")
        self.git("switch", "-q", "-c", "refund")
        self.commit(WHY, "till.py", "open = True\nhold = 'during a refund'\n")
        self.git("switch", "-q", "main")
        self.git("merge", "-q", "--no-ff", "refund", "-m", "Merge pull request #12 from ada/refund\n\nRefunds")
        self.git("tag", "-a", "v1.0", "-m", "First release of the till")
        self.git("tag", "nightly")
        self.git("switch", "-q", "-c", "loyalty")
        self.commit("Count stamps for the walrus card", "stamps.py", "stamps = 0\n")
        self.git("switch", "-q", "main")

    def git(self, *arguments: str) -> str:
        self._second += 60
        dates = dict.fromkeys(("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"), f"{self._second} +0000")
        names = {"GIT_AUTHOR_NAME": "Ada", "GIT_COMMITTER_NAME": "Ada"}
        mails = dict.fromkeys(("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"), "ada@shop.example")
        variables = {**os.environ, **dates, **names, **mails, "GIT_CONFIG_GLOBAL": os.devnull}
        done = subprocess.run(["git", *arguments], cwd=self.root, env=variables, check=True, capture_output=True)
        return done.stdout.decode().strip()

    def commit(self, message: str, name: str, text: str) -> None:
        (self.root / name).write_text(text)
        self.git("add", name)
        self.git("commit", "-q", "-m", message)


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path / "shop")


@pytest.fixture
def context(shop: Shop, tmp_path: Path) -> Iterator[Context]:
    variables = {"HOME": str(tmp_path), "PALAZZO_SERVICE": "off", "PATH": os.environ["PATH"]}
    with Context(tmp_path / "palace.db", shop.root, variables) as opened:
        yield opened


def mine(context: Context, **fields: object) -> int:
    return int(run(context, "mine", (context.cwd,), **{"git": True, **fields}).commits)


def commits(context: Context, query: str) -> list[str]:
    return [hit.text for hit in run(context, "search", query, kind="commit").hits]


def test_nothing_of_git_is_read_unless_it_is_asked_for(context: Context) -> None:
    assert mine(context, git=False) == 0
    assert commits(context, "refund") == []


def test_each_commit_merge_and_tag_is_archived_once(context: Context, shop: Shop) -> None:
    assert mine(context, dry_run=True) == 6
    assert not context.has_palace
    assert mine(context) == 6
    assert mine(context) == 0
    shop.commit("Close the till at night", "till.py", "open = False\n")
    assert mine(context) == 1


def test_a_message_is_found_with_its_hash_author_and_time(context: Context, shop: Shop) -> None:
    mine(context)
    commit = shop.git("rev-parse", "refund")
    (hit, *_) = run(context, "search", "why is the till held open during a refund", kind="commit").hits
    assert hit.text == f"commit {commit}\n\n{WHY}"
    assert (hit.author, hit.branch, hit.commit, hit.trust, hit.filed_as) == ("Ada", "main", commit, "repo", "commit")
    assert hit.title == f"commit {commit[:10]}"
    assert hit.wing == context.project_wing
    assert any(text.endswith("First release of the till") for text in commits(context, "first release"))
    merges = run(context, "search", "pull request refunds", kind="commit").hits
    assert any(hit.title.startswith("pull request 12, commit ") and hit.filed_as == "merge" for hit in merges)


def test_what_is_not_merged_is_left_out_until_it_is_merged(context: Context, shop: Shop) -> None:
    mine(context)
    settings = "walrus card stamps"
    (hit,) = (hit for hit in run(context, "search", settings, kind="commit").hits if "walrus" in hit.text)
    assert (hit.branch, hit.visibility) == ("loyalty", "unmerged")
    shop.git("merge", "-q", "loyalty", "-m", "Merge branch 'loyalty'")
    (hit,) = (hit for hit in run(context, "search", settings, kind="commit").hits if "walrus" in hit.text)
    assert hit.visibility == "merged"


def test_blame_cites_the_commit_that_wrote_a_line_and_those_that_changed_a_file(context: Context, shop: Shop) -> None:
    assert run(context, "remember", "Receipts are printed twice.").filed
    assert run(context, "blame", "till.py:2").commits == ()
    mine(context)
    (commit,) = run(context, "blame", "till.py:2").commits
    assert (commit.commit, commit.author) == (shop.git("rev-parse", "refund"), "Ada")
    assert commit.text.endswith(WHY)
    assert [found.text.partition("\n\n")[2] for found in run(context, "blame", "till.py").commits] == [WHY, "Begin"]
    (shop.root / "till.py").write_text("\nopen = True\nhold = 'another text'\n")
    assert run(context, "blame", "till.py:3").commits == ()


def test_a_directory_without_history_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    notices: list[str] = []
    variables = {"HOME": str(tmp_path), "PALAZZO_SERVICE": "off", "PATH": os.environ["PATH"]}
    with Context(tmp_path / "palace.db", tmp_path / "plain", variables, on_notice=notices.append) as context:
        assert mine(context) == 0
    assert any("git lists no history" in notice for notice in notices)


@pytest.mark.parametrize(
    ("message", "number"),
    [
        ("Merge pull request #12 from ada/refund\n\nRefunds", "12"),
        ("Hold the till open (#7)\n\nText", "7"),
        ("Merge branch 'x'\n\nSee merge request shop/till!31", "31"),
        ("Fixes (#7) in the till", ""),
        ("Begin", ""),
    ],
)
def test_the_pull_request_of_a_commit_is_that_which_its_message_names(message: str, number: str) -> None:
    assert GitRecord("commit", "f" * 40, "Ada", 0, message).pull_request == number
