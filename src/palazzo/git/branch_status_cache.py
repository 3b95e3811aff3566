"""Cache of answers about ancestry: in this process, and in a file for the next one.

An answer depends on the commit that is checked out and on the tip of the branch: when one of these changes, git is
asked again. The file contains digests instead of names. Deleting it only costs time.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from palazzo.git.branch_status import Question, Visibility, work_out
from palazzo.git.commit_history import History, UnansweredError, WalksByHead
from palazzo.git.git_files import Repository
from palazzo.paths import make_private_directory

ANSWER_WITHIN = 0.18
"""Seconds that an answer waits for unknown results. After that, the work goes on without it.

An answer has 0.2 s for git in total; on a busy machine, the end of a wait is some milliseconds late.
"""
_WORK_WITHIN = 30.0
"""Seconds that this work may take in total: 100,000 commits without a commit-graph took less than one."""
_DOUBT = 60.0
"""Seconds for which an unproved question is not asked again."""
_MOST_HEADS, _MOST_OF_A_HEAD = 8, 5_000
_LARGEST_FILE = 8 * 1024 * 1024
_STANDINGS = ("merged", "unmerged", "parked")


class BranchStatusCache:
    """The known results for one repository, shared by all of its checkouts. Safe to use from many threads."""

    def __init__(self, repository: Repository, directory: Path | None) -> None:
        """Create it. `directory` is where the file lies; it need not exist."""
        name = hashlib.blake2b(os.fsencode(repository.common), digest_size=16).hexdigest()
        self._file = None if directory is None else directory / f"ancestry-{name}.json"
        self._lock = threading.Lock()
        self._heads: OrderedDict[str, dict[str, Visibility]] = OrderedDict()
        self._in_doubt: dict[tuple[str, str], float] = {}
        self._walked: WalksByHead = {}
        self._working: tuple[float, threading.Event] | None = None
        self._read()

    def answers(
        self, repository: Repository, head: str, questions: Collection[Question], timeout: float
    ) -> dict[Question, Visibility]:
        """Return known answers about a checkout; the others are computed, waiting only briefly."""
        deadline = time.monotonic() + timeout
        keys = {question: _key(question) for question in questions}
        while True:
            with self._lock:
                visibilities = self._heads.get(head, {})
                now = time.monotonic()
                answers = {question: visibilities[key] for question, key in keys.items() if key in visibilities}
                missing = [
                    pending_question
                    for pending_question in keys
                    if pending_question not in answers and self._in_doubt.get((head, keys[pending_question]), 0.0) < now
                ]
                if not missing:
                    return answers
                if self._working is None:
                    self._start(repository, head, missing)
                began, finish_event = self._working or (now, threading.Event())
            if not finish_event.wait(min(deadline, began + ANSWER_WITHIN) - time.monotonic()):
                with self._lock:
                    visibilities = self._heads.get(head, {})
                    return {question: visibilities[key] for question, key in keys.items() if key in visibilities}

    @property
    def is_working(self) -> bool:
        """Return whether something is still being computed that no caller waits for."""
        return self._working is not None

    def _start(self, repository: Repository, head: str, questions: list[Question]) -> None:
        finish_event = threading.Event()
        self._working = time.monotonic(), finish_event
        thread = threading.Thread(
            target=self._work, args=(repository, head, questions, finish_event), name="palazzo-ancestry", daemon=True
        )
        thread.start()

    def _work(
        self, repository: Repository, head: str, questions: list[Question], finish_event: threading.Event
    ) -> None:
        def decide(question: Question, visibility: Visibility) -> None:
            with self._lock:
                visibilities = self._heads.setdefault(head, {})
                self._heads.move_to_end(head)
                if len(visibilities) < _MOST_OF_A_HEAD:
                    visibilities[_key(question)] = visibility
                while len(self._heads) > _MOST_HEADS:
                    self._heads.popitem(last=False)

        try:
            with suppress(UnansweredError):
                work_out(History(repository, _WORK_WITHIN, self._walked), head, questions, decide)
            self._write()
        finally:
            with self._lock:
                now = time.monotonic()
                self._in_doubt = {key: until for key, until in self._in_doubt.items() if until > now}
                self._in_doubt |= {(head, _key(question)): now + _DOUBT for question in questions}
                self._working = None
            finish_event.set()

    def _read(self) -> None:
        if self._file is None:
            return
        try:
            with self._file.open("rb") as file:
                content = json.loads(file.read(_LARGEST_FILE))
        except (OSError, ValueError, RecursionError):  # not there yet, or cut off: nothing is known then
            return
        if not isinstance(content, dict):
            return
        for head, visibilities in content.items():
            if isinstance(visibilities, dict):
                self._heads[head] = {
                    key: visibility for key, visibility in visibilities.items() if visibility in _STANDINGS
                }

    def _write(self) -> None:
        if self._file is None:
            return
        with self._lock:
            words = json.dumps(self._heads, separators=(",", ":"))
        aside = None
        try:
            make_private_directory(self._file.parent)
            with tempfile.NamedTemporaryFile("w", dir=self._file.parent, prefix=".ancestry-", delete=False) as file:
                aside = Path(file.name)
                file.write(words)
            aside.replace(self._file)
        except OSError:  # a cache that cannot be written costs time alone
            if aside is not None:
                with suppress(OSError):
                    aside.unlink()


_caches: dict[tuple[Path, Path | None], BranchStatusCache] = {}
_kept_lock = threading.Lock()


def get_cache(repository: Repository, directory: Path | None) -> BranchStatusCache:
    """Return what this process has cached for a repository."""
    with _kept_lock:
        key = (repository.common, directory)
        if key not in _caches:
            _caches[key] = BranchStatusCache(repository, directory)
        return _caches[key]


def forget_all() -> None:
    """Clear the cache, as in a new process."""
    with _kept_lock:
        _caches.clear()


def _key(question: Question) -> str:
    words = "\0".join((question.branch, question.commit, question.last, *question.tips))
    return hashlib.blake2b(words.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
