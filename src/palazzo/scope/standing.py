"""How memories of other branches stand to what is checked out: the rules, worked out from what git says.

A memory has a branch and, mostly, the commit that was checked out when it came about.

1. Its commit is in the history of what is checked out: merged. But where exactly there the branch parted from that
   history and went on, it belongs to what the branch did next, and stands as the branch does. Not so on a main line:
   what was said there before anybody left it is everybody's.
2. Its commit is not, but what it changes is: squashed, rebased, picked, or amended since. Merged.
3. Else parked where the branch is no more, and unmerged where it is.
4. Without a commit the branch's last one counts. What is not here, or cannot be proved, is not answered.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from palazzo.scope.head_log import head_logs
from palazzo.scope.history import Graph, History, behind, last_of
from palazzo.scope.landing import landed

Visibility = Literal["merged", "unmerged", "parked", "unknown"]
"""`parked` is what was never merged of a branch that is no more; `unknown` what could not be proved, or not in time."""

MAIN_LINES = ("main", "master", "trunk")
"""Branches whose words concern everybody, where it is not known at which commit they were said."""


@dataclass(frozen=True, slots=True)
class Question:
    """A memory's branch and commit ("" if not known), the branch's own tips, and the last commit known of it."""

    branch: str
    commit: str
    tips: tuple[str, ...] = ()
    last: str = ""


@dataclass(slots=True)
class _Branch:
    """One branch: commits that may be its last one, the likeliest first; others of it; what was amended on it."""

    is_there: bool
    lasts: list[str]
    others: list[str] = field(default_factory=list)
    amended: dict[str, str] = field(default_factory=dict)

    def among(self, present: Collection[str]) -> _Branch:
        """Return what of it is here."""
        lasts = [one for one in dict.fromkeys(self.lasts) if one in present]
        others = [one for one in dict.fromkeys(self.others) if one in present]
        return _Branch(self.is_there, lasts, others, {old: new for old, new in self.amended.items() if new in present})

    def last(self, graph: Graph) -> str:
        """Return the likeliest last commit; where none is known, the furthest that anybody speaks of."""
        if self.lasts:
            return self.lasts[0]
        return max(self.others, key=lambda one: len(behind(graph, one)), default="")


def work_out(
    history: History, head: str, questions: Collection[Question], decide: Callable[[Question, Visibility], None]
) -> None:
    """Say of each question what can be proved, as soon as it is. Raises UnansweredError where git does not answer."""
    branches = _branches(history, questions)
    named = {one for branch in branches.values() for one in (*branch.lasts, *branch.others, *branch.amended.values())}
    present = history.present({*named, head})
    if head not in present:
        return
    branches = {name: branch.among(present) for name, branch in branches.items()}
    graph = history.beyond(head, present - {head})
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
            tips.setdefault(commit, []).extend([*branches[question.branch].lasts, *branches[question.branch].others])
    found = landed(history, head, graph, tips)
    outside = _surely_outside(history, head, graph, tips)
    for question, commits in judged_by.items():
        if any(commit in found for commit in commits):
            decide(question, "merged")
        elif commits[0] in outside:
            decide(question, "unmerged" if branches[question.branch].is_there else "parked")


def _branches(history: History, questions: Iterable[Question]) -> dict[str, _Branch]:
    found: dict[str, _Branch] = {}
    for question in questions:
        branch = found.get(question.branch)
        if branch is None:
            branch = found[question.branch] = _Branch(bool(question.tips), [*question.tips])
            left = "" if question.tips else last_of(history.repository, question.branch)
            branch.lasts += [left] if left else []
            for log in head_logs(history.repository):
                branch.amended.update(log.amends.get(question.branch, {}))
        branch.lasts += [question.last] if question.last else []
        branch.others += [question.commit] if question.commit else []
    return found


def _judged_by(history: History, head: str, graph: Graph, question: Question, branch: _Branch) -> list[str]:
    """The commits of which one has to be in the history; none if that cannot be told."""
    last, commit = branch.last(graph), question.commit
    if not commit:
        return [last] if last else []
    if commit not in branch.others:
        return []
    if commit in graph:
        return [commit, *_amended(commit, branch.amended)]
    if question.branch not in MAIN_LINES and last in graph and commit in history.forks(last, head, graph):
        return [last]
    return [commit]


def _amended(commit: str, amended: Mapping[str, str]) -> list[str]:
    found: list[str] = []
    while (commit := amended.get(commit, "")) and commit not in found:
        found.append(commit)
    return found


def _surely_outside(history: History, head: str, graph: Graph, commits: Iterable[str]) -> set[str]:
    """Those that cannot be behind `head` where the clone left commits out: all since they parted are here."""
    cut_off = history.shallow()
    if not cut_off:
        return set(commits)
    found = set()
    for commit in commits:
        forks = history.forks(commit, head, graph)
        if forks and not cut_off & {head, *history.walk(forks, head)}:
            found.add(commit)
    return found
