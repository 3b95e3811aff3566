"""Branch status: how memories of other branches relate to the checkout. The rules, derived from git's answers.

A memory has a branch and, usually, the commit that was checked out when the memory was created.

1. Its commit is in the history of the checkout: merged. But if the branch left that history exactly at this commit and
continued, the memory belongs to the branch's next commits and has the branch's status. This exception does not apply to
a main line: what was said there before a branch left it belongs to everyone. 2. Its commit is not in the history, but
its changes are: squashed, rebased, cherry-picked, or amended since. Merged. 3. Otherwise parked if the branch no longer
exists, and unmerged if it exists. 4. Without a commit, the branch's last commit counts. What is not available here, or
cannot be proved, gets no answer.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from palazzo.frozen_class import frozen
from palazzo.git.commit_history import Graph, History, collect_ancestors, last_of
from palazzo.git.reflog import head_logs
from palazzo.git.squash_detection import find_squashed_commits

Visibility = Literal["merged", "unmerged", "parked", "unknown"]
"""`parked`: never merged, and its branch no longer exists; `unknown`: could not be proved, or not in time."""

MAIN_LINES = ("main", "master", "trunk")
"""Branches whose content concerns everyone, even if the commit at which it was said is unknown."""


@frozen
class Question:
    """A memory's branch and commit ("" if unknown), the branch's own tips, and its last known commit."""

    branch: str
    commit: str
    tips: tuple[str, ...] = ()
    last: str = ""


@dataclass(slots=True)
class _Branch:
    """One branch: candidates for its last commit, likeliest first; its other commits; and its amended commits."""

    is_there: bool
    lasts: list[str]
    question_commits: list[str] = field(default_factory=list)
    amendments: dict[str, str] = field(default_factory=dict)

    def among(self, present: Collection[str]) -> _Branch:
        """Return the part of it that is present here."""
        lasts = [commit for commit in dict.fromkeys(self.lasts) if commit in present]
        question_commits = [commit for commit in dict.fromkeys(self.question_commits) if commit in present]
        return _Branch(
            self.is_there, lasts, question_commits, {old: new for old, new in self.amendments.items() if new in present}
        )

    def last(self, graph: Graph) -> str:
        """Return the likeliest last commit; if none is known, the one furthest along among those mentioned."""
        if self.lasts:
            return self.lasts[0]
        return max(self.question_commits, key=lambda one: len(collect_ancestors(graph, one)), default="")


def work_out(
    history: History, head: str, questions: Collection[Question], decide: Callable[[Question, Visibility], None]
) -> None:
    """Report each provable answer as soon as it is known. Raises UnansweredError if git does not answer."""
    branches = _branches(history, questions)
    mentioned_commits = {
        revision
        for branch in branches.values()
        for revision in (*branch.lasts, *branch.question_commits, *branch.amendments.values())
    }
    present = history.present({*mentioned_commits, head})
    if head not in present:
        return
    branches = {name: branch.among(present) for name, branch in branches.items()}
    graph = history.find_commits_beyond(head, present - {head})
    judged_by: dict[Question, list[str]] = {}
    for question in questions:
        branch = branches[question.branch]
        commits = _judged_by(history, head, graph, question, branch)
        if not commits:
            continue
        if any(commit not in graph for commit in commits):
            decide(question, "merged")
        else:
            judged_by[question] = commits
    tips: dict[str, list[str]] = {}
    for question, commits in judged_by.items():
        for commit in commits:  # several branches may have it, and one of them was squashed
            tips.setdefault(commit, []).extend(
                [*branches[question.branch].lasts, *branches[question.branch].question_commits]
            )
    squashed_commits = find_squashed_commits(history, head, graph, tips)
    outside = _surely_outside(history, head, graph, tips)
    for question, commits in judged_by.items():
        if any(commit in squashed_commits for commit in commits):
            decide(question, "merged")
        elif commits[0] in outside:
            decide(question, "unmerged" if branches[question.branch].is_there else "parked")


def _branches(history: History, questions: Iterable[Question]) -> dict[str, _Branch]:
    branches: dict[str, _Branch] = {}
    for question in questions:
        branch = branches.get(question.branch)
        if branch is None:
            branch = branches[question.branch] = _Branch(bool(question.tips), [*question.tips])
            last_commit = "" if question.tips else last_of(history.repository, question.branch)
            branch.lasts += [last_commit] if last_commit else []
            for log in head_logs(history.repository):
                branch.amendments.update(log.amends.get(question.branch, {}))
        branch.lasts += [question.last] if question.last else []
        branch.question_commits += [question.commit] if question.commit else []
    return branches


def _judged_by(history: History, head: str, graph: Graph, question: Question, branch: _Branch) -> list[str]:
    """Return the commits one of which must be in the history; none if that cannot be determined."""
    last, commit = branch.last(graph), question.commit
    if not commit:
        return [last] if last else []
    if commit not in branch.question_commits:
        return []
    if commit in graph:
        return [commit, *_follow_amendments(commit, branch.amendments)]
    if question.branch not in MAIN_LINES and last in graph and commit in history.forks(last, head, graph):
        return [last]
    return [commit]


def _follow_amendments(commit: str, amendments: Mapping[str, str]) -> list[str]:
    successors: list[str] = []
    while (commit := amendments.get(commit, "")) and commit not in successors:
        successors.append(commit)
    return successors


def _surely_outside(history: History, head: str, graph: Graph, commits: Iterable[str]) -> set[str]:
    """Return those surely not in `head`'s history although the clone is shallow: all since the fork is here."""
    cut_off = history.shallow()
    if not cut_off:
        return set(commits)
    outside_commits = set()
    for commit in commits:
        forks = history.forks(commit, head, graph)
        if forks and not cut_off & {head, *history.walk(forks, head)}:
            outside_commits.add(commit)
    return outside_commits
