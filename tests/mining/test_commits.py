"""A session's messages know the commit that was checked out when they were written."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.git.checkouts import Checkout

from palazzo.palace import Palace
from palazzo.sources.mining_report import MineRequest
from palazzo.sources.mining_run import mine

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="these tests write repositories")

Said = tuple[int, str, str]
"""When, on which branch, and what."""


@pytest.fixture
def acme(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path.resolve() / "acme").init()


def mined(palace: Palace, cwd: Path, *said: Said) -> dict[str, str]:
    """What is archived as the commit of each message."""
    path = cwd.parent / ".claude/projects/-acme/s1.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        for at, branch, words in said:
            row: dict[str, object] = {
                "type": "user",
                "uuid": words,
                "parentUuid": None,
                "sessionId": "s1",
                "version": "2.1.330",
            }
            row |= {"cwd": str(cwd), "gitBranch": branch, "message": {"role": "user", "content": words}}
            row["timestamp"] = datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
            file.write(json.dumps(row) + "\n")
    mine(palace.database, palace.clock, MineRequest((path,), mode="convos"))
    with palace.database.snapshot() as connection:
        rows = connection.execute("SELECT meta ->> 'uuid', commit_id FROM item WHERE kind = 'message' ORDER BY ordinal")
        return dict(rows)


def test_the_commit_is_that_of_the_message_s_time(palace: Palace, acme: Checkout) -> None:
    first, at_first = acme.head, acme.now
    acme.now += 60
    second = acme.commit("second")
    found = mined(
        palace,
        acme.root,
        (at_first - 60, "main", "before there was one"),
        (at_first + 30, "main", "after the first"),
        (acme.now + 3600, "main", "after the second"),
    )
    assert list(found.values()) == ["", first, second]


def test_a_session_that_grows_gets_the_commits_of_its_new_rows(palace: Palace, acme: Checkout) -> None:
    first = acme.head
    assert mined(palace, acme.root, (acme.now + 5, "main", "one")) == {"one": first}
    acme.now += 60
    second = acme.commit("second")
    assert mined(palace, acme.root, (acme.now + 5, "main", "two")) == {"one": first, "two": second}


def test_each_worktree_s_own_log_counts(palace: Palace, acme: Checkout, tmp_path: Path) -> None:
    tree = Checkout(tmp_path / "tree", acme.now)
    acme.git("worktree", "add", "-q", "-b", "feature", str(tree.root))
    there = tree.commit("there")
    acme.now += 10
    acme.commit("here")
    (tree.root / "deep").mkdir()
    assert mined(palace, tree.root / "deep", (acme.now + 60, "feature", "words")) == {"words": there}


def test_above_a_directory_that_is_gone_another_checkout_says_nothing(palace: Palace, acme: Checkout) -> None:
    assert mined(palace, acme.root / "trees/gone", (acme.now + 60, "main", "words")) == {"words": ""}
