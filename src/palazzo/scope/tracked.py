"""Where the files of a checkout are, as git knows it: what it tracks, what lies beside that, what was renamed.

git is asked in threads of their own, once for each state of the index, and its answers are kept in this process. Who
asks says how long to wait; what is not there by then is not known yet, and mostly is when it is asked for again.
"""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar, cast

from palazzo.scope import git
from palazzo.scope.git_files import Repository, head_of

T = TypeVar("T")

PATIENCE = 2.0
"""Seconds that a thread waits for git: nobody waits for the thread. A history of 100,000 commits takes about one."""
_KEPT = 64
"""Answers that are kept. Those about all files of a large repository have some 10 MB each, but few are of one time."""
_AGAIN = 30.0
"""Seconds after which git is asked again what it could not answer."""
_STALE = 10.0
"""Seconds for which files that git does not track are taken to be where they were: nothing says that they moved."""
_RENAMES = 8
"""How often a file may have been renamed to be followed."""


@dataclass(frozen=True, slots=True)
class Listing:
    """What git tracks: rows of `TAG MODE BLOB STAGE<tab>PATH`, each with a NUL behind it. They are never all parsed."""

    rows: bytes

    def entry(self, path: str) -> tuple[str, str] | None:
        """Return (tag, blob) of a tracked file. Tag `S` is one that is left out of this checkout."""
        end = self.rows.find(b"\t" + os.fsencode(path) + b"\0")
        if end < 0:
            return None
        start = self.rows.rfind(b"\0", 0, end) + 1
        tag, _, blob, *_ = self.rows[start:end].decode("ascii", "replace").split(" ")
        return tag, blob

    def is_in_submodule(self, path: str) -> bool:
        """Whether the file belongs to a repository within this one, of which this one knows no files."""
        parts = path.split("/")
        above = (b"\t" + os.fsencode("/".join(parts[:n])) + b"\0" for n in range(1, len(parts)))
        return any(self.rows.find(one) >= 0 for one in above)

    def with_blob(self, blob: str, most: int) -> list[str]:
        """Return files of this very content."""
        return list(self._paths(f" {blob} 0\t".encode("ascii"), most))

    def named(self, name: str, most: int) -> list[str]:
        """Return files of this name, in whatever directory; at the root last."""
        known = os.fsencode(name)
        return [*self._paths(b"/" + known + b"\0", most), *self._paths(b"\t" + known + b"\0", 1)][:most]

    def _paths(self, mark: bytes, most: int) -> Iterator[str]:
        at = -1
        for _ in range(most):
            at = self.rows.find(mark, at + 1)
            if at < 0:
                return
            start, end = self.rows.rfind(b"\0", 0, at) + 1, self.rows.find(b"\0", at)
            yield os.fsdecode(self.rows[start:end].partition(b"\t")[2])


class Tracked:
    """One checkout. Times are seconds of `time.monotonic`: until when an answer is waited for."""

    def __init__(self, repository: Repository) -> None:
        self._root = repository.root
        self._state = (str(repository.directory), _index_of(repository), head_of(repository)[1])

    def listing(self, until: float) -> Listing | None:
        """Return what git tracks; None where that is not known by then."""
        return _answers.get(("tracked", *self._state), lambda: _listing(self._root), until)

    def untracked(self, until: float) -> tuple[str, ...] | None:
        """Return the files beside those, but for those that are ignored; None where that is not known by then."""
        return _answers.get(("untracked", *self._state), lambda: _untracked(self._root), until, _STALE)

    def renamed(self, path: str, until: float) -> str | None:
        """Return what a file is called now that is not there any more: "" if that is not recorded, None if not known.

        What is recorded is told by git's own measure: a file that was deleted, and one that was added by the same
        commit (or is about to be) and is alike by half at least.
        """
        return _answers.get(("renamed", *self._state, path), lambda: _renamed(self._root, path), until)


def _index_of(repository: Repository) -> tuple[int, ...]:
    try:
        found = (repository.directory / "index").stat()
    except OSError:
        return ()
    return found.st_mtime_ns, found.st_size, found.st_ino


def _listing(root: Path) -> Listing | None:
    told = git.run(root, "ls-files", "--stage", "-t", "-z", within=PATIENCE)
    return None if told is None else Listing(told)


def _untracked(root: Path) -> tuple[str, ...] | None:
    told = git.run(root, "ls-files", "--others", "--exclude-standard", "-z", within=PATIENCE)
    return None if told is None else tuple(os.fsdecode(name) for name in told.split(b"\0") if name)


# --- renames -----------------------------------------------------------------------------------------------


def _renamed(root: Path, path: str) -> str | None:
    """Follow a file through what is staged and what was committed."""
    staged = _renames(root, "diff", "--cached", "HEAD")
    if staged is None:
        return None
    seen = [path]
    while len(seen) <= _RENAMES:
        to = staged.get(seen[-1]) or _renamed_by_commit(root, seen[-1])
        if to is None:
            return None
        if not to or to in seen:
            break
        seen.append(to)
        if (root / to).exists():
            break
    return seen[-1] if len(seen) > 1 else ""


def _renamed_by_commit(root: Path, path: str) -> str | None:
    """What the last commit that took a file away called it; "" where none did, or it is gone for good."""
    last = ("log", "-1", "--no-renames", "--diff-filter=D", "--format=%H", "--", path)
    told = git.run(root, *last, within=PATIENCE)
    if told is None:
        return None
    commit = told.decode("ascii", "replace").strip()
    if not commit:
        return ""
    renames = _renames(root, "diff-tree", "-r", "--root", "--no-commit-id", commit)
    return None if renames is None else renames.get(path, "")


def _renames(root: Path, command: str, *rest: str) -> dict[str, str] | None:
    told = git.run(root, command, "-M", "--diff-filter=R", "--name-status", "-z", *rest, within=PATIENCE)
    if told is None:
        return None
    parts = [os.fsdecode(part) for part in told.split(b"\0")]
    return dict(zip(parts[1::3], parts[2::3], strict=False))


# --- what git said -----------------------------------------------------------------------------------------


class _Answer(Generic[T]):
    """What somebody asked, and what was said once `there` is set."""

    def __init__(self, question: Callable[[], T | None]) -> None:
        self.there, self.at = threading.Event(), 0.0
        self.said: T | None = None
        self._question = question

    def find(self) -> None:
        try:
            self.said = self._question()
        finally:
            self.at = time.monotonic()
            self.there.set()

    def is_old(self, lasting: float) -> bool:
        """Whether it is to be asked for again."""
        lasts = _AGAIN if self.said is None else lasting
        return self.there.is_set() and time.monotonic() - self.at > lasts


class _Answers:
    """Answers by what was asked. Each is looked for by one thread at a time, that ends with the process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: OrderedDict[Hashable, _Answer[object]] = OrderedDict()

    def get(
        self, key: Hashable, question: Callable[[], T | None], until: float, lasting: float = float("inf")
    ) -> T | None:
        with self._lock:
            known = self._known.get(key)
            if known is None or known.is_old(lasting):
                known = _Answer(question)
                self._known[key] = known
                threading.Thread(target=known.find, name="palazzo-tracked", daemon=True).start()
                while len(self._known) > _KEPT:
                    self._known.popitem(last=False)
            self._known.move_to_end(key)
        known.there.wait(max(0.0, until - time.monotonic()))
        return cast("T | None", known.said) if known.there.is_set() else None


_answers = _Answers()
