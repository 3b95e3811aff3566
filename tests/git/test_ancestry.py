"""What was said on a branch is labelled by what became of its commits: every way in which git moves them."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.git.checkouts import Checkout, standings

from palazzo.git import branch_status_cache
from palazzo.git.ancestry import Visibility

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="these tests ask git")

FEATURE = "feature/x"
ABSENT = "0123456789" * 4


@pytest.fixture(autouse=True)
def nothing_known() -> Iterator[None]:
    """Every test begins as a process does."""
    branch_status_cache.forget_all()
    yield
    branch_status_cache.forget_all()


@pytest.fixture
def acme(tmp_path: Path) -> Checkout:
    """`main` with one commit."""
    return Checkout(tmp_path.resolve() / "acme").init()


def standing(checkout: Checkout, branch: str, commit: str, tip: str = "") -> Visibility:
    """How one memory stands."""
    return standings(checkout, [(branch, commit)], {branch: tip} if tip else {})[0]


def two_on_feature(acme: Checkout) -> tuple[str, str]:
    """Two commits on the feature branch, then `main` again."""
    acme.on(FEATURE, "main")
    commits = acme.commit("one"), acme.commit("two")
    acme.on("main")
    return commits


def test_what_is_not_merged_is_unmerged_and_what_led_to_it_is_merged(acme: Checkout) -> None:
    first = acme.head
    acme.commit("before")
    one, two = two_on_feature(acme)
    assert [standing(acme, FEATURE, commit) for commit in (one, two, first)] == ["unmerged", "unmerged", "merged"]


def test_the_branch_that_is_checked_out_and_no_branch_at_all_are_merged(acme: Checkout) -> None:
    one, _ = two_on_feature(acme)
    assert standing(acme, "", one) == standing(acme, "main", one) == standing(acme, "main", "") == "merged"
    acme.on(FEATURE)
    assert standing(acme, FEATURE, ABSENT) == "merged"


def test_work_that_was_begun_where_the_branch_parted_belongs_to_the_branch(acme: Checkout) -> None:
    fork = acme.head
    two_on_feature(acme)
    acme.commit("main goes on")
    assert standing(acme, FEATURE, fork) == "unmerged"
    acme.git("merge", "-q", "--no-edit", FEATURE)
    assert standing(acme, FEATURE, fork) == "merged"


def test_a_branch_without_commits_of_its_own_is_merged(acme: Checkout) -> None:
    fork = acme.head
    acme.on(FEATURE, "main").on("main")
    assert standing(acme, FEATURE, fork) == "merged"


def test_a_merge_promotes(acme: Checkout) -> None:
    one, two = two_on_feature(acme)
    acme.commit("main goes on")
    acme.git("merge", "-q", "--no-edit", FEATURE)
    assert [standing(acme, FEATURE, commit) for commit in (one, two, "")] == ["merged"] * 3


def test_a_fast_forward_promotes(acme: Checkout) -> None:
    fork = acme.head
    one, two = two_on_feature(acme)
    acme.git("merge", "-q", "--ff-only", FEATURE)
    assert [standing(acme, FEATURE, commit) for commit in (one, two, "", fork)] == ["merged"] * 4


@pytest.mark.parametrize("goes_on", ["before", "after", "beside", "not at all"])
def test_a_squash_promotes_all_of_the_branch(acme: Checkout, goes_on: str) -> None:
    """Wherever `main` went on, also in the same file, as long as the lines are the same."""
    fork = acme.head
    lines = [f"line {n}\n" for n in range(10)]
    acme.on(FEATURE, "main")
    one = acme.commit("one", "".join([*lines, "new\n"]), "base.txt")
    two = acme.commit("two", "more\n")
    acme.on("main")
    if goes_on == "beside":
        acme.commit("beside", "".join(["first\n", *lines]), "base.txt")
    if goes_on == "before":
        acme.commit("before")
    acme.now += 100
    acme.git("merge", "-q", "--squash", FEATURE)
    acme.git("commit", "-qm", "squashed")
    if goes_on == "after":
        acme.commit("after", "rewritten\n", "base.txt")
    assert [standing(acme, FEATURE, commit) for commit in (one, two, "", fork)] == ["merged"] * 4


def test_what_was_added_after_a_squash_is_unmerged(acme: Checkout) -> None:
    one, two = two_on_feature(acme)
    acme.now += 100
    acme.git("merge", "-q", "--squash", FEATURE)
    acme.git("commit", "-qm", "squashed")
    acme.on(FEATURE)
    three = acme.commit("three")
    acme.on("main")
    assert [standing(acme, FEATURE, commit) for commit in (one, two, three)] == ["merged", "merged", "unmerged"]


def squashed(checkout: Checkout, what: str) -> None:
    """Squash what a branch has beyond what is checked out, as a hosting site's button does."""
    checkout.now += 100
    checkout.git("merge", "-q", "--squash", what)
    checkout.git("commit", "-qm", f"squashed {what}")


def test_a_branch_that_is_squashed_again_and_again_is_merged(acme: Checkout) -> None:
    one, two = two_on_feature(acme)
    squashed(acme, FEATURE)
    acme.on(FEATURE)
    three, four, five = (acme.commit(words) for words in ("three", "four", "five"))
    acme.on("main").commit("main goes on")
    squashed(acme, four)
    commits = [one, two, three, four, five]
    assert standings(acme, [(FEATURE, one) for one in commits]) == ["merged"] * 4 + ["unmerged"]


def test_what_was_left_of_a_branch_after_a_pick_is_squashed(acme: Checkout) -> None:
    acme.on(FEATURE, "main")
    commits = [acme.commit(words) for words in ("one", "two", "three", "four")]
    acme.on("main").commit("main goes on")
    acme.now += 100
    acme.git("cherry-pick", commits[0])
    squashed(acme, commits[2])
    assert standings(acme, [(FEATURE, commit) for commit in commits]) == ["merged", "merged", "merged", "unmerged"]


def test_what_two_branches_have_is_merged_by_either(acme: Checkout) -> None:
    one, two = two_on_feature(acme)
    acme.on("other", one).on("main")
    squashed(acme, two)
    asked = [(FEATURE, one), ("other", one)]
    assert standings(acme, asked) == standings(acme, asked[::-1]) == ["merged", "merged"]


def test_what_was_picked_before_the_branch_merged_main_is_merged(acme: Checkout) -> None:
    one, two = two_on_feature(acme)
    acme.commit("main goes on")
    acme.now += 100
    acme.git("cherry-pick", one)
    acme.on(FEATURE).git("merge", "-q", "--no-edit", "main")
    joined = acme.head
    acme.on("main").git("cherry-pick", two)
    assert standings(acme, [(FEATURE, commit) for commit in (one, two, joined)]) == ["merged"] * 3


def test_a_branch_that_merged_main_before_it_was_squashed_is_merged(acme: Checkout) -> None:
    one, _ = two_on_feature(acme)
    acme.commit("main goes on")
    acme.on(FEATURE)
    acme.git("merge", "-q", "--no-edit", "main")
    joined, last = acme.head, acme.commit("three")
    acme.on("main").commit("and on")
    acme.now += 100
    acme.git("merge", "-q", "--squash", FEATURE)
    acme.git("commit", "-qm", "squashed")
    assert [standing(acme, FEATURE, commit) for commit in (one, joined, last)] == ["merged"] * 3


def test_a_squash_of_binary_files_is_told_from_another_one(acme: Checkout) -> None:
    acme.on(FEATURE, "main")
    (acme.root / "picture").write_bytes(bytes(range(256)))
    one = acme.commit("one")
    acme.on("main")
    (acme.root / "picture").write_bytes(bytes(reversed(range(256))))
    acme.commit("another picture", "one\n", "one.txt")
    assert standing(acme, FEATURE, one) == "unmerged"
    acme.git("reset", "-q", "--hard", "HEAD~")
    acme.git("merge", "-q", "--squash", FEATURE)
    acme.now += 100
    acme.git("commit", "-qm", "squashed")
    assert standing(acme, FEATURE, one) == "merged"


def test_a_rebase_promotes_the_commits_that_it_replaced(acme: Checkout) -> None:
    one, two = two_on_feature(acme)
    acme.commit("main goes on")
    acme.on(FEATURE)
    acme.now += 100
    acme.git("rebase", "-q", "main")
    acme.on("main")
    assert standing(acme, FEATURE, one) == "unmerged"
    acme.git("merge", "-q", "--ff-only", FEATURE)
    assert [standing(acme, FEATURE, commit) for commit in (one, two)] == ["merged", "merged"]


def test_a_rebase_with_a_conflict_keeps_who_wrote_it_when(acme: Checkout) -> None:
    acme.on(FEATURE, "main")
    one = acme.commit("one", "ours\n", "base.txt")
    acme.on("main").commit("theirs", "theirs\n", "base.txt")
    acme.on(FEATURE)
    acme.git("rebase", "-q", "main", check=False)
    (acme.root / "base.txt").write_text("theirs and ours\n")
    acme.git("add", "-A")
    acme.git("rebase", "--continue")
    acme.on("main").git("merge", "-q", "--ff-only", FEATURE)
    assert standing(acme, FEATURE, one) == "merged"


def test_a_branch_that_is_being_rebased_is_still_the_one_at_hand(acme: Checkout) -> None:
    acme.on(FEATURE, "main")
    one = acme.commit("one", "ours\n", "base.txt")
    acme.on("main").commit("theirs", "theirs\n", "base.txt")
    acme.on(FEATURE).git("rebase", "-q", "main", check=False)
    assert acme.git("branch", "--show-current") == ""
    assert standing(acme, FEATURE, one) == "merged"


def test_a_cherry_pick_promotes_what_it_brought_and_not_what_it_left(acme: Checkout) -> None:
    one, two = two_on_feature(acme)
    acme.commit("main goes on")
    acme.now += 100
    acme.git("cherry-pick", one)
    assert [standing(acme, FEATURE, commit) for commit in (one, two)] == ["merged", "unmerged"]


@pytest.mark.parametrize("reworded", [[], ["-m", "in other words"]])
def test_a_commit_that_was_amended_is_merged_with_what_replaced_it(acme: Checkout, reworded: list[str]) -> None:
    acme.on(FEATURE, "main")
    before = acme.commit("one")
    (acme.root / "one.txt").write_text("otherwise\n")
    acme.now += 100
    acme.git("commit", "-qa", "--amend", *(reworded or ["--no-edit"]))
    acme.on("main")
    assert standing(acme, FEATURE, before) == "unmerged"
    acme.git("merge", "-q", "--no-ff", "--no-edit", FEATURE)
    assert standing(acme, FEATURE, before) == "merged"


def test_what_a_reset_took_from_the_branch_is_not_merged_with_it(acme: Checkout) -> None:
    acme.on(FEATURE, "main")
    kept, dropped = acme.commit("kept"), acme.commit("dropped")
    acme.git("reset", "-q", "--hard", "HEAD~")
    acme.on("main").git("merge", "-q", "--no-ff", "--no-edit", FEATURE)
    assert [standing(acme, FEATURE, commit) for commit in (kept, dropped)] == ["merged", "unmerged"]


def test_a_commit_that_changes_nothing_is_not_merged_by_that(acme: Checkout) -> None:
    acme.on(FEATURE, "main").git("commit", "-q", "--allow-empty", "-m", "nothing")
    nothing = acme.head
    one = acme.commit("one")
    acme.commit("two")
    acme.on("main").commit("two too", "two\n", "two.txt")
    assert standings(acme, [(FEATURE, nothing), (FEATURE, one)]) == ["unmerged", "unmerged"]


def test_a_deleted_branch_that_was_merged_is_merged(acme: Checkout) -> None:
    fork = acme.head
    one, two = two_on_feature(acme)
    acme.git("merge", "-q", "--no-ff", "--no-edit", FEATURE)
    acme.git("branch", "-qD", FEATURE)
    assert [standing(acme, FEATURE, commit) for commit in (fork, one, two, "")] == ["merged"] * 4


def test_a_deleted_branch_that_was_never_merged_is_parked(acme: Checkout) -> None:
    fork = acme.head
    one, two = two_on_feature(acme)
    acme.git("branch", "-qD", FEATURE)
    assert [standing(acme, FEATURE, commit) for commit in (fork, one, two, "")] == ["parked"] * 4


def test_a_deleted_branch_that_was_squashed_is_merged(acme: Checkout) -> None:
    fork = acme.head
    one, two = two_on_feature(acme)
    acme.now += 100
    acme.git("merge", "-q", "--squash", FEATURE)
    acme.git("commit", "-qm", "squashed")
    acme.git("branch", "-qD", FEATURE)
    assert [standing(acme, FEATURE, commit) for commit in (fork, one, two, "")] == ["merged"] * 4


def test_the_last_commit_of_a_deleted_branch_may_be_known_by_others_alone(acme: Checkout) -> None:
    one, two = two_on_feature(acme)
    acme.git("branch", "-qD", FEATURE)
    shutil.rmtree(acme.root / ".git/logs")
    assert standing(acme, FEATURE, "") == "unknown"
    assert standing(acme, FEATURE, "", tip=two) == "parked"
    acme.now += 100
    acme.git("cherry-pick", one, two)
    assert standing(acme, FEATURE, "", tip=two) == "merged"


def test_a_branch_that_a_remote_has_is_not_parked(acme: Checkout, tmp_path: Path) -> None:
    one, _ = two_on_feature(acme)
    acme.git("clone", "-q", str(acme.root), str(tmp_path / "clone"))
    clone = Checkout(tmp_path / "clone")
    assert standing(clone, FEATURE, one) == standing(clone, FEATURE, "") == "unmerged"
    clone.git("pack-refs", "--all")
    assert standing(clone, FEATURE, one) == "unmerged"
    clone.git("branch", "-rd", f"origin/{FEATURE}")
    assert standing(clone, FEATURE, one) == "parked"


def test_what_main_learned_since_is_unmerged_on_an_old_branch(acme: Checkout) -> None:
    before = acme.commit("before")
    acme.on(FEATURE, "main").on("main")
    after = acme.commit("after")
    acme.on(FEATURE)
    acme.commit("mine")
    assert standing(acme, "main", after) == "unmerged"
    assert standing(acme, "main", "") == "merged"
    assert standing(acme, "main", before) == "merged"
    acme.git("merge", "-q", "--no-edit", "main")
    assert standing(acme, "main", after) == standing(acme, "main", before) == "merged"


def test_each_worktree_has_a_view_of_its_own(acme: Checkout, tmp_path: Path) -> None:
    one, two = two_on_feature(acme)
    tree = Checkout(tmp_path / "tree")
    acme.git("worktree", "add", "-q", str(tree.root), FEATURE)
    other = acme.commit("on main")
    assert standing(acme, FEATURE, two) == "unmerged"
    assert standing(tree, FEATURE, two) == "merged"
    assert standing(tree, "main", other) == "unmerged"
    detached = Checkout(tmp_path / "detached")
    acme.git("worktree", "add", "-q", "--detach", str(detached.root), one)
    assert [standing(detached, FEATURE, commit) for commit in (one, two)] == ["unmerged", "unmerged"]


def test_a_shallow_clone_proves_what_it_can_and_no_more(acme: Checkout, tmp_path: Path) -> None:
    oldest = acme.head
    old = acme.commit("old")
    acme.commit("main goes on")
    two = two_on_feature(acme)[1]
    last = acme.commit("last")
    less, more = Checkout(tmp_path / "less"), Checkout(tmp_path / "more")
    for clone, depth in ((less, 2), (more, 3)):
        acme.git("clone", "-q", f"--depth={depth}", "--no-single-branch", acme.root.as_uri(), str(clone.root))
    assert [standing(less, FEATURE, one) for one in (oldest, old, two)] == ["unknown"] * 3
    assert standing(less, "other", last) == "merged"
    assert [standing(more, FEATURE, one) for one in (oldest, old, two)] == ["unknown", "merged", "unmerged"]
    less.git("fetch", "-q", "--unshallow")
    branch_status_cache.forget_all()
    assert [standing(less, FEATURE, one) for one in (oldest, old, two)] == ["merged", "merged", "unmerged"]


def test_a_commit_that_is_not_here_is_unknown(acme: Checkout) -> None:
    two_on_feature(acme)
    assert standing(acme, FEATURE, ABSENT) == "unknown"
    assert standing(acme, FEATURE, "--all") == "unknown"
    assert standing(acme, FEATURE, acme.git("rev-parse", "HEAD^{tree}")) == "unknown"


def test_a_branch_of_which_nothing_is_known_is_unknown(acme: Checkout) -> None:
    for name in ("nobody/knows", "--help", "../../HEAD", "a\nb", "a\0b", "x" * 5000, "\udcff"):
        assert standing(acme, name, "") == "unknown"


def test_many_are_answered_at_once(acme: Checkout) -> None:
    one, two = two_on_feature(acme)
    asked = [(FEATURE, one), (FEATURE, two), ("main", ""), ("gone", ABSENT), (FEATURE, "")]
    assert standings(acme, asked) == ["unmerged", "unmerged", "merged", "unknown", "unmerged"]


def test_when_the_head_moves_what_was_walked_before_leads_to_the_same_answers(acme: Checkout, tmp_path: Path) -> None:
    """Forward, back, aside and by a squash: as a process says that begins there."""
    fork = acme.head
    one, two = two_on_feature(acme)
    other = acme.on("other", "main").commit("other")
    acme.on("main")
    asked = [(name, commit) for name in (FEATURE, "other") for commit in (fork, one, two, other, "")]

    def commit() -> None:
        acme.commit(f"number {acme.now}")

    def pick() -> None:
        acme.now += 100
        acme.git("cherry-pick", one)

    def squash() -> None:
        acme.now += 100
        acme.git("merge", "-q", "--squash", "other")
        acme.git("commit", "-qm", "squashed")

    def merge() -> None:
        acme.git("merge", "-q", "--no-edit", FEATURE)

    def back() -> None:
        acme.git("reset", "-q", "--hard", fork)

    def aside() -> None:
        acme.on("third", fork)

    seen: list[int] = []
    for step in (commit, pick, commit, squash, merge, back, commit, aside, commit, merge):
        step()
        carried = standings(acme, asked)
        anew = standings(acme, asked, cache=tmp_path / f"cache {len(seen)}")
        assert carried == anew, step
        seen.append(anew.count("merged"))
    assert seen == [0, 2, 2, 6, 10, 0, 0, 0, 0, 6]


def test_an_answer_is_kept_for_the_next_process_without_names(acme: Checkout, tmp_path: Path) -> None:
    one, _ = two_on_feature(acme)
    cache = tmp_path / "cache"
    assert standings(acme, [(FEATURE, one)], cache=cache) == ["unmerged"]
    branch_status_cache.forget_all()
    (file,) = cache.iterdir()
    words = file.read_text()
    assert list(json.loads(words)) == [acme.head]
    assert "feature" not in words
    assert one not in words
    if os.name == "posix":
        assert file.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("words", ["", "[]", "{", '{"x": 1}', '{"x": {"y": "nonsense"}}', '{"x": {"y": []}}', "\0"])
def test_a_file_of_answers_that_is_none_costs_nothing(acme: Checkout, tmp_path: Path, words: str) -> None:
    one, _ = two_on_feature(acme)
    cache = tmp_path / "cache"
    assert standings(acme, [(FEATURE, one)], cache=cache) == ["unmerged"]
    branch_status_cache.forget_all()
    (file,) = cache.iterdir()
    file.write_text(words.replace("x", acme.head))
    assert standings(acme, [(FEATURE, one)], cache=cache) == ["unmerged"]
