"""What git says of the commits of one checkout. All questions of a `History` share one bound in time."""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from palazzo.git import git_process
from palazzo.git.git_files import Repository, tips_of
from palazzo.git.reflog import head_logs

Graph = Mapping[str, tuple[str, ...]]
"""Commits with their parents."""

HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_MOST_BEYOND = 50_000
"""Commits of branches, counted together. Where they are more, they have another history altogether."""
_MOST_HEADS, _MOST_MERGED = 4, 100
_MOST_PATHS = 500
"""So many paths narrow a walk; of more, matching them costs what they save."""


@dataclass(frozen=True, slots=True)
class Walks:
    """What walks have found about one head.

    `graph` is what is beyond it, `inside` what was asked for and is not. `since` are changes of files since commits,
    with the head that they reach up to.
    """

    graph: dict[str, tuple[str, ...]] = field(default_factory=dict)
    inside: set[str] = field(default_factory=set)
    since: dict[tuple[tuple[str, ...], tuple[str, ...] | None], tuple[str, list[str]]] = field(default_factory=dict)

    def carry_forward(self, new: Collection[str]) -> Walks:
        """Return what holds of a later head that has this one behind it, and `new` since."""
        came = set(new) & self.graph.keys()
        graph = {commit: parents for commit, parents in self.graph.items() if commit not in came}
        return Walks(graph, self.inside | came, dict(self.since))


WalksByHead = dict[str, Walks]
"""By head, the latest last."""


class UnansweredError(Exception):
    """Git did not say, for whatever reason."""


class History:
    """Asks git about one checkout, until its time is over; then, and wherever git fails, raises UnansweredError."""

    def __init__(self, repository: Repository, timeout: float, walks_by_head: WalksByHead | None = None) -> None:
        """`walked` is what earlier ones of this repository have walked, and what this one will have."""
        self.repository = repository
        self._walked = {} if walks_by_head is None or self.shallow() else walks_by_head  # what is cut off may come yet
        self._deadline = time.monotonic() + timeout

    def ask(self, *arguments: str, lines: Iterable[str] = ()) -> bytes:
        """Return what git prints, given those lines to read."""
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
        """Return those that are commits of which the objects are here."""
        hashes = sorted(revision for revision in set(commits) if HASH.fullmatch(revision))
        if not hashes:
            return set()
        output = self.ask("cat-file", "--batch-check=%(objectname) %(objecttype)", lines=hashes).decode()
        fields = (line.partition(" ") for line in output.splitlines())
        return {commit for commit, _, kind in fields if kind == "commit"} & set(hashes)

    def find_commits_beyond(self, head: str, commits: Collection[str]) -> dict[str, tuple[str, ...]]:
        """Return all commits at or behind `commits` that are not at or behind `head`, with their parents."""
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
        """Return where a commit of `graph` (what is beyond `head`) parted from `head`: mostly one, none if nowhere."""
        inside = _inside(graph, commit)
        if len(inside) <= 1:
            return inside
        return tuple(sorted(self.ask("merge-base", "--all", commit, head).decode().split()))

    def first_fork(self, commit: str, graph: Graph) -> tuple[str, ...]:
        """Return where a commit's branch parted at first, if history has been merged into it since; () if nowhere."""
        inside = _inside(graph, commit)
        if len(inside) <= 1:
            return inside
        return tuple(self.ask("merge-base", "--octopus", *inside[:_MOST_MERGED]).decode().split())

    def since(self, bases: tuple[str, ...], head: str, paths: Collection[str]) -> list[str]:
        """Return the commits with one parent at or behind `head`, not behind `bases`, that changed one of `paths`."""
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
        """What is known of a head already, or of one that is behind it: then only what is new has to be walked."""
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
        """Return the commits at or behind `tip` that are not at or behind `bases`."""
        return self.ask("rev-list", "--stdin", lines=[tip, *(f"^{base}" for base in bases)]).decode().split()

    def shallow(self) -> frozenset[str]:
        """Return the commits whose parents were left out when this repository was cloned."""
        try:
            words = (self.repository.common / "shallow").read_text(encoding="ascii", errors="replace")
        except OSError:
            return frozenset()
        return frozenset(words.split())

    def resolve_commit(self, name: str) -> str:
        """Return the commit of a branch, also of one that is gone, or of what else git takes for one; "" if none."""
        tip = next(iter(tips_of(self.repository, name)), "") or last_of(self.repository, name)
        if tip or not name.isprintable():
            return tip
        output = self.ask("cat-file", "--batch-check=%(objectname) %(objecttype)", lines=[f"{name}^{{commit}}"])
        commit, _, kind = output.decode("utf-8", "surrogateescape").strip().partition(" ")
        return commit if kind == "commit" and HASH.fullmatch(commit) else ""


def last_of(repository: Repository, branch: str) -> str:
    """Return the commit at which a branch was left last, as the logs of this repository's heads tell, or ""."""
    last_commits = [log.lasts[branch] for log in head_logs(repository) if branch in log.lasts]
    return max(last_commits)[1] if last_commits else ""


def _inside(graph: Graph, commit: str) -> tuple[str, ...]:
    """The commits that are not in the graph any more from which those have come that are at or behind one."""
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
    """Return the commits of a graph that are at or behind one of `commits`."""
    ancestors: set[str] = set()
    queue = list(commits)
    while queue:
        commit = queue.pop()
        if commit in graph and commit not in ancestors:
            ancestors.add(commit)
            queue += graph[commit]
    return ancestors
