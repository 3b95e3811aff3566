"""The commit history of one checkout, as git reports it. All queries of a `History` share one time limit."""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import field

from palazzo.frozen_class import frozen
from palazzo.git import git_process
from palazzo.git.git_files import Repository, tips_of
from palazzo.git.reflog import head_logs

Graph = Mapping[str, tuple[str, ...]]
"""Commits with their parents."""

HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_MOST_BEYOND = 50_000
"""The most commits of branches, counted together. If there are more, the branches have an unrelated history."""
_MOST_HEADS, _MOST_MERGED = 4, 100
_MOST_PATHS = 500
"""The most paths that restrict a walk; with more, matching costs as much as it saves."""


@frozen
class Walks:
    """The results of walks from one head.

    `graph` contains the commits beyond it, `inside` the requested commits that are not beyond it. `since` are the
    changes of files since commits, with the head that they reach up to.
    """

    graph: dict[str, tuple[str, ...]] = field(default_factory=dict)
    inside: set[str] = field(default_factory=set)
    since: dict[tuple[tuple[str, ...], tuple[str, ...] | None], tuple[str, list[str]]] = field(default_factory=dict)

    def carry_forward(self, new: Collection[str]) -> Walks:
        """Return what remains valid for a later head that descends from this one, with `new` commits since."""
        came = set(new) & self.graph.keys()
        graph = {commit: parents for commit, parents in self.graph.items() if commit not in came}
        return Walks(graph, self.inside | came, dict(self.since))


WalksByHead = dict[str, Walks]
"""Walks by head, the latest last."""


class UnansweredError(Exception):
    """Git did not answer, for any reason."""


class History:
    """Asks git about one checkout until the time limit; after that, and if git fails, it raises UnansweredError."""

    def __init__(self, repository: Repository, timeout: float, walks_by_head: WalksByHead | None = None) -> None:
        """Create it. `walks_by_head` is the shared cache of walks of this repository, which this object extends."""
        self.repository = repository
        self._walked = {} if walks_by_head is None or self.shallow() else walks_by_head  # what is cut off may come yet
        self._deadline = time.monotonic() + timeout

    def ask(self, *arguments: str, lines: Iterable[str] = ()) -> bytes:
        """Return git's output for those input lines."""
        remaining_seconds = self._deadline - time.monotonic()
        stdin = "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape")
        output = (
            git_process.run(self.repository.root, *arguments, stdin=stdin, timeout=remaining_seconds)
            if remaining_seconds > 0
            else None
        )
        if output is None:
            raise UnansweredError
        return output

    def present(self, commits: Collection[str]) -> set[str]:
        """Return those that are commits whose objects are present here."""
        hashes = sorted(revision for revision in set(commits) if HASH.fullmatch(revision))
        if not hashes:
            return set()
        output = self.ask("cat-file", "--batch-check=%(objectname) %(objecttype)", lines=hashes).decode()
        fields = (line.partition(" ") for line in output.splitlines())
        return {commit for commit, _, kind in fields if kind == "commit"} & set(hashes)

    def find_commits_beyond(self, head: str, commits: Collection[str]) -> dict[str, tuple[str, ...]]:
        """Return `commits` and their ancestors that are not `head` or its ancestors, with their parents."""
        walks = self._walks_of(head)
        new_commits = [
            revision for revision in sorted(commits) if revision not in walks.graph and revision not in walks.inside
        ]
        if new_commits:
            most = f"--max-count={_MOST_BEYOND + 1}"
            output_lines = (
                self.ask("rev-list", "--parents", most, "--stdin", lines=[*new_commits, f"^{head}"])
                .decode()
                .splitlines()
            )
            if len(output_lines) > _MOST_BEYOND:
                raise UnansweredError
            walks.graph.update(
                (commit, tuple(parents)) for commit, *parents in (line.split(" ") for line in output_lines)
            )
            walks.inside.update(revision for revision in new_commits if revision not in walks.graph)
        return {revision: walks.graph[revision] for revision in collect_ancestors(walks.graph, *commits)}

    def forks(self, commit: str, head: str, graph: Graph) -> tuple[str, ...]:
        """Return where a commit of `graph` (beyond `head`) forked from `head`: usually one, () if nowhere."""
        inside = _inside(graph, commit)
        if len(inside) <= 1:
            return inside
        return tuple(sorted(self.ask("merge-base", "--all", commit, head).decode().split()))

    def first_fork(self, commit: str, graph: Graph) -> tuple[str, ...]:
        """Return where a commit's branch first forked, if history was merged into it since; () if nowhere."""
        inside = _inside(graph, commit)
        if len(inside) <= 1:
            return inside
        return tuple(self.ask("merge-base", "--octopus", *inside[:_MOST_MERGED]).decode().split())

    def since(self, bases: tuple[str, ...], head: str, paths: Collection[str]) -> list[str]:
        """Return the non-merge commits of `head`, not of `bases` (ancestors included), that changed one of `paths`."""
        names = sorted(paths)
        narrow = len(names) <= _MOST_PATHS and not any("\n" in name for name in names)
        cached_changes = self._walks_of(head).since
        key = (bases, tuple(names) if narrow else None)
        earlier_head, old_commits = cached_changes.get(key, ("", []))
        if earlier_head != head:
            lines = [
                head,
                *(f"^{base}" for base in (*bases, earlier_head) if base),
                *(("--", *names) if narrow else ()),
            ]
            new_commits = self.ask("rev-list", "--no-merges", "--full-history", "--stdin", lines=lines).decode().split()
            cached_changes[key] = head, [*new_commits, *old_commits]
        return cached_changes[key][1]

    def _walks_of(self, head: str) -> Walks:
        """Return the walks known for a head, or for an ancestor of it: then only the new part must be walked."""
        if head in self._walked:
            return self._walked[head]
        walks = Walks()
        for earlier_head in reversed(tuple(self._walked)):
            if not self.ask("rev-list", "--max-count=1", "--stdin", lines=[earlier_head, f"^{head}"]):
                walks = self._walked[earlier_head].carry_forward(self.walk([earlier_head], head))
                break
        self._walked[head] = walks
        while len(self._walked) > _MOST_HEADS:
            self._walked.pop(next(iter(self._walked)))
        return walks

    def walk(self, bases: Collection[str], tip: str) -> list[str]:
        """Return `tip` and its ancestors that are not `bases` or their ancestors."""
        return self.ask("rev-list", "--stdin", lines=[tip, *(f"^{base}" for base in bases)]).decode().split()

    def shallow(self) -> frozenset[str]:
        """Return the commits whose parents were omitted when this repository was cloned."""
        try:
            words = (self.repository.common / "shallow").read_text(encoding="ascii", errors="replace")
        except OSError:
            return frozenset()
        return frozenset(words.split())

    def resolve_commit(self, name: str) -> str:
        """Return the commit of a branch, even a deleted one, or of any other git name; "" if there is none."""
        tip = next(iter(tips_of(self.repository, name)), "") or last_of(self.repository, name)
        if tip or not name.isprintable():
            return tip
        output = self.ask("cat-file", "--batch-check=%(objectname) %(objecttype)", lines=[f"{name}^{{commit}}"])
        commit, _, kind = output.decode("utf-8", "surrogateescape").strip().partition(" ")
        return commit if kind == "commit" and HASH.fullmatch(commit) else ""


def last_of(repository: Repository, branch: str) -> str:
    """Return a branch's last commit when it was last left, by the logs of this repository's heads, or ""."""
    last_commits = [log.lasts[branch] for log in head_logs(repository) if branch in log.lasts]
    return max(last_commits)[1] if last_commits else ""


def _inside(graph: Graph, commit: str) -> tuple[str, ...]:
    """Return the commits outside the graph that are parents of a commit or its ancestors in the graph."""
    return tuple(
        sorted(
            {
                parent
                for ancestor in collect_ancestors(graph, commit)
                for parent in graph[ancestor]
                if parent not in graph
            }
        )
    )


def collect_ancestors(graph: Graph, *commits: str) -> set[str]:
    """Return those of `commits` that are in the graph, and their ancestors in it."""
    ancestors: set[str] = set()
    queue = list(commits)
    while queue:
        commit = queue.pop()
        if commit in graph and commit not in ancestors:
            ancestors.add(commit)
            queue += graph[commit]
    return ancestors
