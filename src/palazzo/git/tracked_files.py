"""Tracked files of a checkout, as git reports them: tracked and untracked files, and renames.

Git runs in separate threads, once for each state of the index, and its answers are kept in this process. The caller
says how long to wait. An answer that is not there by then is unknown, and is usually there at the next request.
"""

from __future__ import annotations

import os
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Generic, TypeVar, cast

from palazzo.frozen_class import frozen
from palazzo.git import git_process
from palazzo.git.git_files import Repository, head_of

T = TypeVar("T")

PATIENCE = 2.0
"""Seconds that a thread waits for git; no caller waits for the thread. A history of 100,000 commits takes about one."""
_CHECKOUTS, _ANSWERS = 4, 256
"""The most checkouts whose answers are kept, and the most answers of each: an answer about all files of a large
checkout has some 10 MB.
"""
_AT_ONCE = 4
"""Files that are searched at the same time; others are searched when they are requested again."""
_RETRY_DELAY = 30.0
"""Seconds after which git is asked again if it could not answer."""
_STALE = 10.0
"""Seconds for which untracked files are assumed to be in place: no event reports that they moved."""
_RENAMES = 8
"""The most renames of a file that are followed."""
_COMPARISON_LIMIT, _LONGEST = 200, 512 * 1024
"""The most untracked files, and their most bytes, that a missing file is compared with."""
_ALIKE = 0.5
"""git's own similarity threshold for a renamed file (`-M`)."""


@frozen
class Listing:
    """The files that git tracks: rows of `TAG MODE BLOB STAGE<tab>PATH`, each ending in NUL. Never fully parsed."""

    rows: bytes

    def entry(self, path: str) -> tuple[str, str] | None:
        """Return (tag, blob) of a tracked file. Tag `S` marks a file that is left out of this checkout."""
        end = self.rows.find(b"\t" + os.fsencode(path) + b"\0")
        if end < 0:
            return None
        start = self.rows.rfind(b"\0", 0, end) + 1
        tag, _, blob, *_ = self.rows[start:end].decode("ascii", "replace").split(" ")
        return tag, blob

    def is_in_submodule(self, path: str) -> bool:
        """Return whether the file belongs to a nested repository, whose files this repository does not track."""
        parts = path.split("/")
        above = (b"\t" + os.fsencode("/".join(parts[:n])) + b"\0" for n in range(1, len(parts)))
        return any(self.rows.find(prefix) >= 0 for prefix in above)

    def with_blob(self, blob: str, most: int) -> list[str]:
        """Return the files with exactly this content."""
        return list(self._paths(f" {blob} 0\t".encode("ascii"), most))

    def find_by_name(self, name: str, most: int) -> list[str]:
        """Return the files with this name in any directory; one at the root comes last."""
        name_bytes = os.fsencode(name)
        return [*self._paths(b"/" + name_bytes + b"\0", most), *self._paths(b"\t" + name_bytes + b"\0", 1)][:most]

    def _paths(self, mark: bytes, most: int) -> Iterator[str]:
        at = -1
        for _ in range(most):
            at = self.rows.find(mark, at + 1)
            if at < 0:
                return
            start, end = self.rows.rfind(b"\0", 0, at) + 1, self.rows.find(b"\0", at)
            yield os.fsdecode(self.rows[start:end].partition(b"\t")[2])


class CheckoutFiles:
    """One checkout. Times are in seconds of `time.monotonic`, and give the time until which an answer is awaited."""

    def __init__(self, repository: Repository) -> None:
        self._root = repository.root
        self._known = _known_of(str(repository.directory), (_index_of(repository), head_of(repository)[1]))

    def listing(self, until: float) -> Listing | None:
        """Return what git tracks; None if git has not answered in time."""
        return self._known.get("tracked", lambda: _listing(self._root), until)

    def list_untracked_files(self, until: float) -> tuple[str, ...] | None:
        """Return the untracked files that are not ignored; None if git has not answered in time."""
        return self._known.get("untracked", lambda: _list_untracked_files(self._root), until, _STALE)

    def find_new_path(self, path: str, until: float) -> str | None:
        """Return the current name of a file that no longer exists: "" if it cannot be determined, None if not known
        yet.

        It uses git's own measure: a deleted file, and a file that the same commit added (or is about to add) and that
        is at least half alike. Renames that git does not know of are measured in the same way.
        """
        return self._known.get(("renamed", path), lambda: self._follow(path), until, _STALE, _AT_ONCE)

    def _follow(self, path: str) -> str | None:
        """Follow a file through committed and staged renames, and renames that git does not know of."""
        visited_paths = [path]
        while len(visited_paths) <= _RENAMES:
            to = self._find_rename(visited_paths[-1])
            if to is None:
                return None
            if not to or to in visited_paths:
                break
            visited_paths.append(to)
            if (self._root / to).exists():
                break
        return visited_paths[-1] if len(visited_paths) > 1 else ""

    def _find_rename(self, path: str) -> str | None:
        until = time.monotonic() + PATIENCE
        listing = self.listing(until)
        if listing is None:
            return None
        entry = listing.entry(path)
        if entry is not None:
            untracked_paths = self.list_untracked_files(until)
            return (
                None if untracked_paths is None else _find_untracked_rename(self._root, path, entry[1], untracked_paths)
            )
        index_renames = self._known.get("staged", lambda: _renames(self._root, "diff", "--cached", "HEAD"), until)
        return None if index_renames is None else index_renames.get(path) or _renamed_by_commit(self._root, path)


def _index_of(repository: Repository) -> tuple[int, ...]:
    try:
        file_stat = (repository.directory / "index").stat()
    except OSError:
        return ()
    return file_stat.st_mtime_ns, file_stat.st_size, file_stat.st_ino


def _listing(root: Path) -> Listing | None:
    output = git_process.run(root, "ls-files", "--stage", "-t", "-z", timeout=PATIENCE)
    return None if output is None else Listing(output)


def _list_untracked_files(root: Path) -> tuple[str, ...] | None:
    output = git_process.run(root, "ls-files", "--others", "--exclude-standard", "-z", timeout=PATIENCE)
    return None if output is None else tuple(os.fsdecode(name) for name in output.split(b"\0") if name)


# --- renames -----------------------------------------------------------------------------------------------


def _renamed_by_commit(root: Path, path: str) -> str | None:
    """Return a removed file's new name in the last commit that removed it; "" if none did or it is gone."""
    last = ("log", "-1", "--no-renames", "--diff-filter=D", "--format=%H", "--", path)
    output = git_process.run(root, *last, timeout=PATIENCE)
    if output is None:
        return None
    commit = output.decode("ascii", "replace").strip()
    if not commit:
        return ""
    renames = _renames(root, "diff-tree", "-r", "--root", "--no-commit-id", commit)
    return None if renames is None else renames.get(path, "")


def _find_untracked_rename(root: Path, path: str, blob: str, untracked_paths: Sequence[str]) -> str:
    """Return the untracked file that is most similar to a missing tracked one; "" if there is none."""
    suffix = PurePosixPath(path).suffix
    candidates = [name for name in untracked_paths if PurePosixPath(name).suffix == suffix][:_COMPARISON_LIMIT]
    content = git_process.run(root, "cat-file", "blob", blob, timeout=PATIENCE) if candidates else None
    if content is None:
        return ""
    best = max(((_likeness(content, root / name), name) for name in candidates), default=(0.0, ""))
    return best[1] if best[0] >= _ALIKE else ""


def _likeness(content: bytes, file: Path) -> float:
    """Return the share of the longer file's lines that both files have."""
    try:
        if file.is_symlink() or not file.is_file() or file.stat().st_size > _LONGEST:
            return 0.0
        own, file_lines = Counter(content.split(b"\n")), Counter(file.read_bytes().split(b"\n"))
    except OSError:
        return 0.0
    return (own & file_lines).total() / max(own.total(), file_lines.total())


def _renames(root: Path, command: str, *rest: str) -> dict[str, str] | None:
    output = git_process.run(root, command, "-M", "--diff-filter=R", "--name-status", "-z", *rest, timeout=PATIENCE)
    if output is None:
        return None
    parts = [os.fsdecode(part) for part in output.split(b"\0")]
    return dict(zip(parts[1::3], parts[2::3], strict=False))


# --- what git said -----------------------------------------------------------------------------------------


class _Answer(Generic[T]):
    """A question, and its answer once `there` is set."""

    def __init__(self, question: Callable[[], T | None], old_answer: T | None = None) -> None:
        """Create the answer; `old_answer` is the previous answer, used until there is a new one."""
        self.there, self.at = threading.Event(), 0.0
        self.said = old_answer
        self._question = question

    def find(self) -> None:
        try:
            self.said = self._question()
        finally:
            self.at = time.monotonic()
            self.there.set()

    def is_old(self, max_age: float) -> bool:
        """Return whether git must be asked again."""
        lasts = _RETRY_DELAY if self.said is None else max_age
        return self.there.is_set() and time.monotonic() - self.at > lasts


class _Answers:
    """Answers about one checkout in one state, by question. A thread that ends by itself looks up each one."""

    def __init__(self, state: Hashable) -> None:
        self.state = state
        self._lock = threading.Lock()
        self._answers: OrderedDict[Hashable, _Answer[object]] = OrderedDict()

    def get(
        self,
        key: Hashable,
        question: Callable[[], T | None],
        until: float,
        max_age: float = float("inf"),
        at_once: int | None = None,
    ) -> T | None:
        """Return the answer: an old one if no new one arrives in time, None if there is none at all.

        With `at_once`, no new question is asked while that many questions are open.
        """
        with self._lock:
            answer = old_answer = self._answers.get(key)
            if answer is None or answer.is_old(max_age):
                if (
                    at_once is not None
                    and sum(not pending_answer.there.is_set() for pending_answer in self._answers.values()) >= at_once
                ):
                    return None if old_answer is None else cast("T | None", old_answer.said)
                answer = _Answer(question, None if old_answer is None else old_answer.said)
                self._answers[key] = answer
                threading.Thread(target=answer.find, name="palazzo-tracked", daemon=True).start()
                while len(self._answers) > _ANSWERS:
                    self._answers.popitem(last=False)
            self._answers.move_to_end(key)
        answer.there.wait(max(0.0, until - time.monotonic()))
        return cast("T | None", answer.said)


_lock = threading.Lock()
_answers_by_directory: OrderedDict[str, _Answers] = OrderedDict()
"""The known data of checkouts, by git directory; the most recently used is last."""


def _known_of(directory: str, state: Hashable) -> _Answers:
    with _lock:
        answers = _answers_by_directory.pop(directory, None)
        if answers is None or answers.state != state:
            answers = _Answers(state)
        _answers_by_directory[directory] = answers
        while len(_answers_by_directory) > _CHECKOUTS:
            _answers_by_directory.popitem(last=False)
        return answers
