"""Whether commits that are not in a history are part of it all the same: squashed, rebased or picked."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from palazzo.scope import patches
from palazzo.scope.history import Graph, History, behind

_MOST_TIPS = 64
"""Of one commit's branch so many points are looked at at which it may have been squashed."""
_MOST_IN_PARTS = 24
"""Commits of a branch of which every stretch is looked at."""

Paths = frozenset[str]


@dataclass(slots=True)
class _Case:
    """One commit: where its branch began, up to where that may have been squashed (tip to where it parted), and what
    leads to it."""

    commit: str
    began: tuple[str, ...]
    forks: tuple[str, ...]
    squashes: dict[str, str] = field(default_factory=dict)
    single: list[str] = field(default_factory=list)


def landed(history: History, head: str, graph: Graph, asked: Mapping[str, Collection[str]]) -> set[str]:
    """Return those of `asked` whose changes are in `head`'s history though they are not.

    `graph` holds all that is beyond `head`; `asked` maps a commit of it to the tips of its branch. A squashed one: all
    that its branch changed, up to a point at or ahead of it, is the change of one commit of that history since. A
    rebased or picked one: so is each commit that leads to it, or else a commit of that author, time and subject. Both
    may have happened to stretches of one branch.
    """
    cases = [_case(history, head, graph, commit, dict.fromkeys(tips)) for commit, tips in asked.items()]
    cases = [case for case in cases if case.began and head not in case.began]
    squashes = {tip: base for case in cases for tip, base in case.squashes.items()}
    singles = dict.fromkeys((one for case in cases for one in case.single), "")
    whole = patches.paths_changed(history, squashes)
    apart = patches.paths_changed(history, singles)
    since = _since(history, head, cases, whole, apart)
    there = dict.fromkeys((one for commits in since.values() for one in commits), "")
    theirs = patches.paths_changed(history, there)
    by_paths: dict[frozenset[str], list[str]] = {}
    for commit, paths in theirs.items():
        by_paths.setdefault(paths, []).append(commit)
    alike = {tip: base for tip, base in squashes.items() if whole.get(tip) in by_paths}
    like = {one: "" for one in singles if apart.get(one) in by_paths}
    wanted = {whole[one] for one in alike} | {apart[one] for one in like}
    like |= {commit: "" for paths in wanted for commit in by_paths[paths]}
    squashed, single = patches.patch_ids(history, alike), patches.patch_ids(history, like)
    written = patches.authorship(history, [*singles, *there])
    found = set()
    for case in cases:
        ids = {single[one] for one in since[case.began] if one in single}
        hands = {written[one] for one in since[case.began] if one in written}
        squashed_there = any(squashed.get(tip) in ids for tip in case.squashes)
        empty = {one for one in case.single if one not in apart}
        alone = {one for one in case.single if single.get(one) in ids or written.get(one) in hands} | empty
        if squashed_there:
            found.add(case.commit)
        elif len(empty) < len(case.single):
            changes = {one: theirs[one] for one in since[case.began] if one in theirs}
            line = _line(graph, case, asked[case.commit]) if changes else []
            if len(alone) == len(case.single) or _landed_in_parts(history, line, alone, case, changes):
                found.add(case.commit)
    return found


def _landed_in_parts(
    history: History, line: Sequence[str], alone: Collection[str], case: _Case, changes: Mapping[str, Paths]
) -> bool:
    """Whether stretches of a branch were squashed one after another, which together have all that leads to a commit.

    `line` is the branch from where it parted, `alone` those of it that need no squash, `changes` the files that were
    changed since, by commit.
    """
    if case.commit not in line[1:]:
        return False
    paths = patches.paths_changed(history, dict.fromkeys(line[1:], ""))
    wanted: dict[tuple[int, int], list[str]] = {}
    for first in range(1, len(line)):
        touched = paths.get(line[first], frozenset())
        for last in range(first + 1, len(line)):
            touched |= paths.get(line[last], frozenset())
            ends = (paths.get(line[first], frozenset()), paths.get(line[last], frozenset()))
            like = [one for one, names in changes.items() if names <= touched and all(names & end for end in ends)]
            if like:
                wanted[first, last] = like
    parts = patches.between(history, [(line[first - 1], line[last]) for first, last in wanted])
    theirs = patches.patch_ids(history, dict.fromkeys((one for like in wanted.values() for one in like), ""))
    covered = set(alone)
    for (first, last), like in wanted.items():
        part = parts.get((line[first - 1], line[last]))
        if part is not None and any(theirs.get(one) == part for one in like):
            covered.update(line[first : last + 1])
    return covered.issuperset(line[1 : line.index(case.commit) + 1])


def _line(graph: Graph, case: _Case, tips: Collection[str]) -> list[str]:
    """The branch of a commit from where it parted: the longest of its tips' that has no merge and is not too long."""
    longest: list[str] = []
    for tip in (case.commit, *tips):
        line = [tip]
        while line[-1] in graph and len(graph[line[-1]]) == 1 and len(line) <= _MOST_IN_PARTS:
            line.append(graph[line[-1]][0])
        if line[-1] in case.forks and case.commit in line and len(line) > len(longest):
            longest = line
    return longest[::-1]


def _case(history: History, head: str, graph: Graph, commit: str, tips: Iterable[str]) -> _Case:
    forks = history.forks(commit, head, graph)
    single = [one for one in behind(graph, commit) if len(graph[one]) == 1]
    case = _Case(commit, history.first_fork(commit, graph), forks, single=single)
    for tip in _ahead(graph, commit, tips):
        parted = forks if tip == commit else history.forks(tip, head, graph)
        if len(parted) == 1:
            case.squashes[tip] = parted[0]
    return case


def _ahead(graph: Graph, commit: str, tips: Iterable[str]) -> list[str]:
    """The commit, the tips that it is behind, and what lies between: where its branch may have been squashed."""
    children: dict[str, list[str]] = {}
    for tip in tips:
        for one in behind(graph, tip):
            for parent in graph[one]:
                children.setdefault(parent, []).append(one)
    found = {commit: None}
    waiting = [commit]
    while waiting:
        for child in children.get(waiting.pop(), ()):
            if child not in found:
                found[child] = None
                waiting.append(child)
    first = [one for one in tips if one in found]
    return list(dict.fromkeys([*first, *found]))[:_MOST_TIPS]


def _since(
    history: History,
    head: str,
    cases: Iterable[_Case],
    whole: Mapping[str, frozenset[str]],
    apart: Mapping[str, frozenset[str]],
) -> dict[tuple[str, ...], list[str]]:
    """What happened to the files in question, by where it was parted from."""
    paths: dict[tuple[str, ...], set[str]] = {}
    for case in cases:
        concerned = paths.setdefault(case.began, set())
        for tip in case.squashes:
            concerned |= whole.get(tip, frozenset())
        for one in case.single:
            concerned |= apart.get(one, frozenset())
    return {forks: history.since(forks, head, names) if names else [] for forks, names in paths.items()}
