"""Labels in histories that chance has written, against what the files of a commit say.

Every commit adds a file of its own and none takes one away. So what was said at a commit is part of what is checked out
if its files are there, however they came: that needs no knowledge of how git moves commits.

Of 38 such histories one has a case that is told `unmerged` wrongly: a branch was squashed, and then a part of it merged
as well, so that git takes the end of that part for where the two parted, and nothing since is what the squash was.
"""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest
from tests.git.checkouts import Checkout, standings

from palazzo.git import branch_status_cache

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("git") is None, reason="these tests ask git"),
]
STEPS = 25


class Written:
    """A repository, what was said in it (branch, commit), and where each branch ended."""

    def __init__(self, root: Path, seed: int) -> None:
        self.checkout = Checkout(root).init()
        self.chance = random.Random(seed)
        self.said: list[tuple[str, str]] = []
        self.there: list[str] = []
        self.ends: dict[str, str] = {}
        self.number = 0

    def step(self) -> str:
        """Do one thing, and leave `main` checked out; return what it was."""
        whats = ["commit", "branch", *(["work"] * 3 + WAYS if self.there else [])]
        what = self.chance.choice(whats)
        branch = self.chance.choice(self.there) if self.there else ""
        self.checkout.now += 100
        if what == "commit":
            self.add("main")
        elif what == "branch":
            self.number += 1
            branch = f"branch/{self.number}"
            self.checkout.on(branch, self.chance.choice(["main", *self.there]))
            self.there.append(branch)
            self.said.append((branch, self.checkout.head))
        elif what == "work":
            self.add(branch)
        else:
            getattr(self, what)(branch)
        if branch in self.there:
            self.ends[branch] = self.checkout.git("rev-parse", branch)
        self.checkout.on("main")
        return f"{what} {branch}"

    def add(self, branch: str) -> None:
        self.number += 1
        self.checkout.on(branch)
        self.said.append((branch, self.checkout.commit(f"file {self.number}")))

    def merge(self, branch: str) -> None:
        self.checkout.git("merge", "-q", "--no-ff", "--no-edit", branch)

    def fast_forward(self, branch: str) -> None:
        self.checkout.git("merge", "-q", "--ff-only", branch, check=False)

    def squash(self, branch: str) -> None:
        self.checkout.git("merge", "-q", "--squash", branch)
        self.checkout.git("commit", "-qm", f"squashed {branch}", check=False)

    def pick(self, branch: str) -> None:
        self.checkout.git("cherry-pick", "--keep-redundant-commits", "--no-merges", f"main..{branch}", check=False)
        self.checkout.git("cherry-pick", "--abort", check=False)

    def rebase(self, branch: str) -> None:
        self.checkout.on(branch).git("rebase", "-q", "main")

    def update(self, branch: str) -> None:
        self.checkout.on(branch).git("merge", "-q", "--no-edit", "main")

    def amend(self, branch: str) -> None:
        self.checkout.on(branch)
        if not self.checkout.git("branch", "--contains", "HEAD", "--format=%(refname:short)").split()[1:]:
            self.checkout.git("commit", "-q", "--amend", "-m", f"in other words {self.number}")

    def delete(self, branch: str) -> None:
        self.checkout.git("branch", "-qD", branch)
        self.there.remove(branch)

    def files(self, commit: str) -> frozenset[str]:
        return frozenset(self.checkout.git("ls-tree", "-r", "--name-only", commit).splitlines())

    def expected(self, branch: str, commit: str) -> str:
        here = self.files("HEAD")
        end = self.ends.get(branch, commit)
        at_fork = branch != "main" and commit in self.checkout.git("merge-base", "--all", end, "HEAD").split()
        wanted = self.files(end) if at_fork and end != commit else self.files(commit)
        if wanted <= here:
            return "merged"
        return "unmerged" if branch in self.there else "parked"


WAYS = ["merge", "fast_forward", "squash", "pick", "rebase", "update", "amend", "delete"]


@pytest.mark.parametrize("seed", [3, *range(20, 29)])
def test_every_label_is_what_the_files_say(tmp_path: Path, seed: int) -> None:
    branch_status_cache.forget_all()
    written = Written(tmp_path.resolve() / "acme", seed)
    done: list[str] = []
    for _ in range(STEPS):
        done.append(written.step())
        asked = list(dict.fromkeys(written.said))
        found = dict(zip(asked, standings(written.checkout, asked), strict=True))
        wrong = [
            (pair, found[pair], expected) for pair in asked if found[pair] != (expected := written.expected(*pair))
        ]
        assert (wrong, done) == ([], done)
