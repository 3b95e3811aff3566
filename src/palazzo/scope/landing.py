"""Whether commits that are not in a history are part of it all the same: squashed, rebased or picked."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from palazzo.scope import patches
from palazzo.scope.history import Graph, History, behind

_MOST_TIPS = 64
"""Of one commit's branch so many points are looked at at which it may have been squashed."""


@dataclass(slots=True)
class _Case:
    """One commit: up to where its branch may have been squashed (tip to where it parted), and what leads to it."""

    commit: str
    squashes: dict[str, str] = field(default_factory=dict)
    single: list[str] = field(default_factory=list)
    forks: tuple[str, ...] = ()


def landed(history: History, head: str, graph: Graph, asked: Mapping[str, Collection[str]]) -> set[str]:
    """Return those of `asked` whose changes are in `head`'s history though they are not.

    `graph` holds all that is beyond `head`; `asked` maps a commit of it to the tips of its branch. A squashed one: all
    that its branch changed, up to a point at or ahead of it, is the change of one commit of that history since. A
    rebased or picked one: so is each commit that leads to it, or else a commit of that author, time and subject.
    """
    cases = [_case(history, head, graph, commit, tips) for commit, tips in asked.items()]
    cases = [case for case in cases if case.forks and head not in case.forks]
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
        ids = {single[one] for one in since[case.forks] if one in single}
        hands = {written[one] for one in since[case.forks] if one in written}
        squashed_there = any(squashed.get(tip) in ids for tip in case.squashes)
        own = [one for one in case.single if one in apart]
        if squashed_there or (own and all(single.get(one) in ids or written.get(one) in hands for one in own)):
            found.add(case.commit)
    return found


def _case(history: History, head: str, graph: Graph, commit: str, tips: Collection[str]) -> _Case:
    forks = history.forks(commit, head, graph)
    case = _Case(commit, forks=forks, single=[one for one in behind(graph, commit) if len(graph[one]) == 1])
    for tip in _ahead(graph, commit, tips):
        parted = forks if tip == commit else history.forks(tip, head, graph)
        if len(parted) == 1:
            case.squashes[tip] = parted[0]
    return case


def _ahead(graph: Graph, commit: str, tips: Collection[str]) -> list[str]:
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
        concerned = paths.setdefault(case.forks, set())
        for tip in case.squashes:
            concerned |= whole.get(tip, frozenset())
        for one in case.single:
            concerned |= apart.get(one, frozenset())
    return {forks: history.since(forks, head, names) if names else [] for forks, names in paths.items()}
