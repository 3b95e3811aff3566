"""What git says of the commits of one checkout. All questions of a `History` share one bound in time."""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Iterable, Mapping

from palazzo.scope import git
from palazzo.scope.git_files import Repository, tips_of
from palazzo.scope.head_log import head_logs

Graph = Mapping[str, tuple[str, ...]]
"""Commits with their parents."""

HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_MOST_PATHS = 500
"""So many paths narrow a walk; of more, matching them costs what they save."""


class UnansweredError(Exception):
    """Git did not say, for whatever reason."""


class History:
    """Asks git about one checkout, until its time is over; then, and wherever git fails, raises UnansweredError."""

    def __init__(self, repository: Repository, within: float) -> None:
        self.repository = repository
        self._deadline = time.monotonic() + within

    def ask(self, *arguments: str, lines: Iterable[str] = ()) -> bytes:
        """Return what git prints, given those lines to read."""
        left = self._deadline - time.monotonic()
        stdin = "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape")
        told = git.run(self.repository.root, *arguments, stdin=stdin, within=left) if left > 0 else None
        if told is None:
            raise UnansweredError
        return told

    def present(self, commits: Collection[str]) -> set[str]:
        """Return those that are commits of which the objects are here."""
        asked = sorted(one for one in set(commits) if HASH.fullmatch(one))
        if not asked:
            return set()
        told = self.ask("cat-file", "--batch-check=%(objectname) %(objecttype)", lines=asked).decode()
        found = (line.partition(" ") for line in told.splitlines())
        return {commit for commit, _, kind in found if kind == "commit"} & set(asked)

    def beyond(self, head: str, commits: Collection[str]) -> dict[str, tuple[str, ...]]:
        """Return all commits at or behind `commits` that are not at or behind `head`, with their parents."""
        if not commits:
            return {}
        told = self.ask("rev-list", "--parents", "--stdin", lines=[*sorted(commits), f"^{head}"]).decode()
        rows = (line.split(" ") for line in told.splitlines())
        return {commit: tuple(parents) for commit, *parents in rows}

    def forks(self, commit: str, head: str, graph: Graph) -> tuple[str, ...]:
        """Return where a commit of `graph` (what is beyond `head`) parted from `head`: mostly one, none if nowhere."""
        inside = {parent for one in behind(graph, commit) for parent in graph[one] if parent not in graph}
        if len(inside) <= 1:
            return tuple(inside)
        return tuple(self.ask("merge-base", "--all", commit, head).decode().split())

    def since(self, bases: Collection[str], head: str, paths: Collection[str]) -> list[str]:
        """Return the commits with one parent at or behind `head`, not behind `bases`, that changed one of `paths`."""
        narrow = len(paths) <= _MOST_PATHS and not any("\n" in path for path in paths)
        lines = [head, *(f"^{base}" for base in bases), *(("--", *sorted(paths)) if narrow else ())]
        return self.ask("rev-list", "--no-merges", "--full-history", "--stdin", lines=lines).decode().split()

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

    def named(self, name: str) -> str:
        """Return the commit of a branch, also of one that is gone, or of what else git takes for one; "" if none."""
        tip = next(iter(tips_of(self.repository, name)), "") or last_of(self.repository, name)
        if tip or not name.isprintable():
            return tip
        told = self.ask("cat-file", "--batch-check=%(objectname) %(objecttype)", lines=[f"{name}^{{commit}}"])
        commit, _, kind = told.decode("utf-8", "surrogateescape").strip().partition(" ")
        return commit if kind == "commit" and HASH.fullmatch(commit) else ""


def last_of(repository: Repository, branch: str) -> str:
    """Return the commit at which a branch was left last, as the logs of this repository's heads tell, or ""."""
    left = [found for log in head_logs(repository) if (found := log.left_at(branch))]
    return max(left, key=lambda one: one.at).before if left else ""


def behind(graph: Graph, commit: str) -> set[str]:
    """Return the commits of a graph that are at or behind one."""
    found: set[str] = set()
    waiting = [commit]
    while waiting:
        one = waiting.pop()
        if one in graph and one not in found:
            found.add(one)
            waiting += graph[one]
    return found
