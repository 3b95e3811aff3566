"""Squash detection: whether commits outside a history are in it all the same: squashed, rebased or cherry-picked."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from palazzo.git import patches
from palazzo.git.commit_history import Graph, History, collect_ancestors

_MOST_TIPS = 64
"""The most points of one commit's branch that are examined as possible squash points."""
_MOST_IN_PARTS = 24
"""The most commits of a branch for which every range is examined."""

Paths = frozenset[str]


@dataclass(slots=True)
class _Case:
    """One commit: its branch's start, possible squash points (tip to fork point), and the commits leading to it."""

    commit: str
    began: tuple[str, ...]
    forks: tuple[str, ...]
    squashes: dict[str, str] = field(default_factory=dict)
    single: list[str] = field(default_factory=list)


def find_squashed_commits(
    history: History, head: str, graph: Graph, tips_by_commit: Mapping[str, Collection[str]]
) -> set[str]:
    """Return those of `asked` whose changes are in `head`'s history although the commits are not.

    `graph` holds everything beyond `head`; `asked` maps a commit of it to the tips of its branch. A commit counts as
    squashed if everything that its branch changed, up to a point at or after it, is the change of one commit of that
    history since. It counts as rebased or picked if the same holds for each commit that leads to it, or else if there
    is a commit with that author, time and subject. Both may have happened to parts of one branch.
    """
    cases = [_case(history, head, graph, commit, dict.fromkeys(tips)) for commit, tips in tips_by_commit.items()]
    cases = [case for case in cases if case.began and head not in case.began]
    squashes = {tip: base for case in cases for tip, base in case.squashes.items()}
    singles = dict.fromkeys((revision for case in cases for revision in case.single), "")
    whole = patches.paths_changed(history, squashes)
    single_paths = patches.paths_changed(history, singles)
    since = _since(history, head, cases, whole, single_paths)
    candidate_commits = dict.fromkeys((revision for commits in since.values() for revision in commits), "")
    theirs = patches.paths_changed(history, candidate_commits)
    by_paths: dict[frozenset[str], list[str]] = {}
    for commit, paths in theirs.items():
        by_paths.setdefault(paths, []).append(commit)
    alike = {tip: base for tip, base in squashes.items() if whole.get(tip) in by_paths}
    like = {revision: "" for revision in singles if single_paths.get(revision) in by_paths}
    candidate_paths = {whole[revision] for revision in alike} | {single_paths[revision] for revision in like}
    like |= {commit: "" for paths in candidate_paths for commit in by_paths[paths]}
    squash_patches, single = patches.patch_ids(history, alike), patches.patch_ids(history, like)
    authorships = patches.authorship(history, [*singles, *candidate_commits])
    detected_commits = set()
    for case in cases:
        ids = {single[revision] for revision in since[case.began] if revision in single}
        hands = {authorships[revision] for revision in since[case.began] if revision in authorships}
        is_squashed = any(squash_patches.get(tip) in ids for tip in case.squashes)
        empty = {revision for revision in case.single if revision not in single_paths}
        picked_commits = {
            revision for revision in case.single if single.get(revision) in ids or authorships.get(revision) in hands
        } | empty
        if is_squashed:
            detected_commits.add(case.commit)
        elif len(empty) < len(case.single):
            changes = {revision: theirs[revision] for revision in since[case.began] if revision in theirs}
            line = _line(graph, case, tips_by_commit[case.commit]) if changes else []
            if len(picked_commits) == len(case.single) or _landed_in_parts(
                history, line, picked_commits, case, changes
            ):
                detected_commits.add(case.commit)
    return detected_commits


def _landed_in_parts(
    history: History, line: Sequence[str], picked_commits: Collection[str], case: _Case, changes: Mapping[str, Paths]
) -> bool:
    """Return whether parts of a branch were squashed one after another and together cover everything up to a commit.

    `line` is the branch from its fork point, `picked_commits` those of it that need no squash, `changes` the files that
    were changed since, by commit.
    """
    if case.commit not in line[1:]:
        return False
    paths = patches.paths_changed(history, dict.fromkeys(line[1:], ""))
    candidates_by_range: dict[tuple[int, int], list[str]] = {}
    for first in range(1, len(line)):
        stretch_paths = paths.get(line[first], frozenset())
        for last in range(first + 1, len(line)):
            stretch_paths |= paths.get(line[last], frozenset())
            ends = (paths.get(line[first], frozenset()), paths.get(line[last], frozenset()))
            like = [
                revision
                for revision, names in changes.items()
                if names <= stretch_paths and all(names & end for end in ends)
            ]
            if like:
                candidates_by_range[first, last] = like
    parts = patches.between(history, [(line[first - 1], line[last]) for first, last in candidates_by_range])
    theirs = patches.patch_ids(
        history, dict.fromkeys((revision for like in candidates_by_range.values() for revision in like), "")
    )
    matching_commits = set(picked_commits)
    for (first, last), like in candidates_by_range.items():
        part = parts.get((line[first - 1], line[last]))
        if part is not None and any(theirs.get(revision) == part for revision in like):
            matching_commits.update(line[first : last + 1])
    return matching_commits.issuperset(line[1 : line.index(case.commit) + 1])


def _line(graph: Graph, case: _Case, tips: Collection[str]) -> list[str]:
    """Return a commit's branch from its fork point: the longest of its tips' without merges and not too long."""
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
    single = [revision for revision in collect_ancestors(graph, commit) if len(graph[revision]) == 1]
    case = _Case(commit, history.first_fork(commit, graph), forks, single=single)
    for tip in _list_squash_points(graph, commit, tips):
        tip_forks = forks if tip == commit else history.forks(tip, head, graph)
        if len(tip_forks) == 1:
            case.squashes[tip] = tip_forks[0]
    return case


def _list_squash_points(graph: Graph, commit: str, tips: Iterable[str]) -> list[str]:
    """Return a commit, the tips that descend from it, and all between: where its branch may be squashed."""
    children: dict[str, list[str]] = {}
    for tip in tips:
        for revision in collect_ancestors(graph, tip):
            for parent in graph[revision]:
                children.setdefault(parent, []).append(revision)
    points = {commit: None}
    queue = [commit]
    while queue:
        for child in children.get(queue.pop(), ()):
            if child not in points:
                points[child] = None
                queue.append(child)
    first = [revision for revision in tips if revision in points]
    return list(dict.fromkeys([*first, *points]))[:_MOST_TIPS]


def _since(
    history: History,
    head: str,
    cases: Iterable[_Case],
    whole: Mapping[str, frozenset[str]],
    single_paths: Mapping[str, frozenset[str]],
) -> dict[tuple[str, ...], list[str]]:
    """Return the later commits that changed the files in question, by fork point."""
    paths: dict[tuple[str, ...], set[str]] = {}
    for case in cases:
        case_paths = paths.setdefault(case.began, set())
        for tip in case.squashes:
            case_paths |= whole.get(tip, frozenset())
        for revision in case.single:
            case_paths |= single_paths.get(revision, frozenset())
    return {forks: history.since(forks, head, names) if names else [] for forks, names in paths.items()}
