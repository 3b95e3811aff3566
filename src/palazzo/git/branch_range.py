"""Branch ranges: the commits of one line of history that another does not have, and the words recorded on the way."""

from __future__ import annotations

from collections.abc import Collection

from palazzo.frozen_class import frozen
from palazzo.git.commit_history import History, UnansweredError
from palazzo.git.git_files import Repository, head_of

_PERSON_WAITS = 10.0
"""Seconds that a person waits for an answer about branches."""


@frozen
class BranchRange:
    """The commits of `tip` that `base` does not have, and the commits where the two diverged.

    `has_base` and `has_tip` say which of the two git knows. Of the requested commits, `present` are those that the
    repository has, and `base_commits` those that `base` has: what was said at these is not new to `base`, except at the
    commits where the two diverged, where the work began.
    """

    commits: frozenset[str] = frozenset()
    forks: frozenset[str] = frozenset()
    base_commits: frozenset[str] = frozenset()
    present: frozenset[str] = frozenset()
    has_base: bool = False
    has_tip: bool = False

    def is_news(self, commit: str, on_branch: bool, is_main: bool = False) -> bool:
        """Return whether a statement at a commit ('' if unknown) belongs to the range.

        `on_branch` says that it was made on the branch itself; commits that history has lost (amended, rebased) count
        by that alone. A statement at the fork point belongs to the branch, unless that is itself the main line.
        """
        if commit in self.commits:
            return True
        if commit in self.forks:
            return on_branch and bool(self.commits) and not is_main
        return on_branch and commit not in self.base_commits


def plain_name(repository: Repository | None, name: str) -> str:
    """Return a branch's plain name: without its remote, and for HEAD the branch that is checked out."""
    if name in ("HEAD", "@") and repository is not None:
        return head_of(repository)[0] or name
    short = name.removeprefix("refs/").removeprefix("heads/")
    return short.removeprefix("remotes/").removeprefix("origin/")


def branch_range(repository: Repository, base: str, tip: str, commits: Collection[str] = ()) -> BranchRange | None:
    """Return what `tip` has beyond `base`, branches or anything else that names a commit; None if git cannot say.

    `commits` are those to be classified by whether `base` has them.
    """
    history = History(repository, _PERSON_WAITS)
    try:
        first, last = history.resolve_commit(base), history.resolve_commit(tip)
        if not first or not last:
            return BranchRange(has_base=bool(first), has_tip=bool(last))
        graph = history.find_commits_beyond(first, [last])
        forks = history.forks(last, first, graph) if graph else ()
        present = history.present(commits)
        base_commits = present - history.find_commits_beyond(first, present).keys()
        return BranchRange(frozenset(graph), frozenset(forks), frozenset(base_commits), frozenset(present), True, True)
    except UnansweredError:
        return None
