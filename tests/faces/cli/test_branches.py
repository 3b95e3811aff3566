"""Branches as they are typed and shown: search, settings, diff."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.faces.cli.command import Command
from tests.features.branches.test_branches import patient
from tests.git.checkouts import Checkout

__all__ = ["patient"]
BLUE = "The lantern service of the blue deploy listens on port 9000."
GREEN = "The lantern service listens on port 8443."
EXPECTED_LABELS = (
    '## Learned on "feature/blue"\n\n### Decisions\n\n- The lantern service of the blue deploy listens on port 9000. ('
)


@pytest.fixture
def shop(home: Path, palazzo: Command) -> Checkout:
    """The project on main, with a note of a branch beside its own."""
    shop = Checkout(home / "shop").init()
    palazzo("remember", "--kind", "decision", GREEN)
    shop.on("feature/blue", "HEAD").commit("blue")
    palazzo("remember", "--kind", "decision", BLUE)
    return shop.on("main")


def test_a_hit_says_that_it_is_not_merged_and_can_be_hidden(palazzo: Command, shop: Checkout) -> None:
    shown = palazzo("search", "lantern service port").out
    assert 'unmerged: "feature/blue"' in shown
    assert "main" not in shown
    (uid,) = (hit["id"] for hit in palazzo.json("search", "lantern blue deploy")["hits"] if hit["label"])
    assert ["standing", "unmerged"] in [line.split() for line in palazzo("show", uid).out.splitlines()]
    palazzo("settings", "set", "branch_policy", "hide")
    hidden = palazzo("search", "lantern service port").out
    assert BLUE not in hidden
    assert "1 hit is left out" in " ".join(hidden.split())


def test_diff_prints_what_goes_into_a_pull_request_and_nothing_else(palazzo: Command, shop: Checkout) -> None:
    ran = palazzo("diff", "main..feature/blue")
    assert ran.code == 0
    assert ran.out.startswith(EXPECTED_LABELS)
    assert ran.out.count("\n") == EXPECTED_LABELS.count("\n") + 1
    assert ran.error == ""


def test_diff_as_json(palazzo: Command, shop: Checkout) -> None:
    found = palazzo.json("diff", "main..feature/blue")
    assert set(found) == {"wing", "base", "tip", "commits", "learned", "note", "text"}
    kinds = {"decisions", "learnings", "fixes", "facts", "notes", "todos", "threads", "sessions"}
    assert set(found["learned"]) == kinds | {"more"}
    (decision,) = found["learned"]["decisions"]
    assert set(decision) == {"id", "at", "by", "text"}
    assert (found["wing"], found["commits"], decision["text"]) == ("shop", 1, BLUE)


def test_diff_of_no_branch_says_how_to_write_it(palazzo: Command, shop: Checkout) -> None:
    ran = palazzo("diff", "feature/blue")
    assert ran.code != 0
    assert ran.error.strip() == "palazzo: 'feature/blue' does not name two branches: write them as main..feature."
