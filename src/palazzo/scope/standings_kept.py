"""Answers about ancestry that are known already: in this process, and in a file for the next one.

An answer belongs to the commit that is checked out and to where the branch stood: when one of these moves, it is asked
for anew. The file holds digests instead of names, and deleting it costs time alone.
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

from palazzo.paths import make_private_directory
from palazzo.scope.git_files import Repository
from palazzo.scope.history import History, UnansweredError, Walked
from palazzo.scope.standing import Question, Visibility, work_out

ANSWER_WITHIN = 0.18
"""How long an answer waits for what is not known yet, in seconds. Past that the work goes on without it.

An answer has 0.2 s for git in all; on a busy machine the end of a wait comes some milliseconds late.
"""
_WORK_WITHIN = 30.0
"""How long that work may take altogether: 100,000 commits without a commit-graph took it under a second."""
_DOUBT = 60.0
"""So long what could not be proved is not asked for again."""
_MOST_HEADS, _MOST_OF_A_HEAD = 8, 5_000
_LARGEST_FILE = 8 * 1024 * 1024
_STANDINGS = ("merged", "unmerged", "parked")


class Kept:
    """What is known of one repository, for all of its checkouts. Safe to use from many threads."""

    def __init__(self, repository: Repository, directory: Path | None) -> None:
        """`directory` is where the file lies; it need not be there."""
        name = hashlib.blake2b(os.fsencode(repository.common), digest_size=16).hexdigest()
        self._file = None if directory is None else directory / f"ancestry-{name}.json"
        self._lock = threading.Lock()
        self._heads: OrderedDict[str, dict[str, Visibility]] = OrderedDict()
        self._in_doubt: dict[tuple[str, str], float] = {}
        self._walked: Walked = {}
        self._working: tuple[float, threading.Event] | None = None
        self._read()

    def answers(
        self, repository: Repository, head: str, questions: Collection[Question], within: float
    ) -> dict[Question, Visibility]:
        """Return what is known of questions about a checkout; what is not is worked out, and waited for a little."""
        deadline = time.monotonic() + within
        keys = {question: _key(question) for question in questions}
        while True:
            with self._lock:
                known = self._heads.get(head, {})
                now = time.monotonic()
                found = {question: known[key] for question, key in keys.items() if key in known}
                missing = [one for one in keys if one not in found and self._in_doubt.get((head, keys[one]), 0.0) < now]
                if not missing:
                    return found
                if self._working is None:
                    self._start(repository, head, missing)
                began, done = self._working or (now, threading.Event())
            if not done.wait(min(deadline, began + ANSWER_WITHIN) - time.monotonic()):
                with self._lock:
                    known = self._heads.get(head, {})
                    return {question: known[key] for question, key in keys.items() if key in known}

    @property
    def is_working(self) -> bool:
        """Whether something is being worked out that nobody waits for any more."""
        return self._working is not None

    def _start(self, repository: Repository, head: str, questions: list[Question]) -> None:
        done = threading.Event()
        self._working = time.monotonic(), done
        working = threading.Thread(
            target=self._work, args=(repository, head, questions, done), name="palazzo-ancestry", daemon=True
        )
        working.start()

    def _work(self, repository: Repository, head: str, questions: list[Question], done: threading.Event) -> None:
        def decide(question: Question, standing: Visibility) -> None:
            with self._lock:
                known = self._heads.setdefault(head, {})
                self._heads.move_to_end(head)
                if len(known) < _MOST_OF_A_HEAD:
                    known[_key(question)] = standing
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
            done.set()

    def _read(self) -> None:
        if self._file is None:
            return
        try:
            with self._file.open("rb") as file:
                kept = json.loads(file.read(_LARGEST_FILE))
        except (OSError, ValueError, RecursionError):  # not there yet, or cut off: nothing is known then
            return
        if not isinstance(kept, dict):
            return
        for head, known in kept.items():
            if isinstance(known, dict):
                self._heads[head] = {key: said for key, said in known.items() if said in _STANDINGS}

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


_kept: dict[tuple[Path, Path | None], Kept] = {}
_kept_lock = threading.Lock()


def kept(repository: Repository, directory: Path | None) -> Kept:
    """Return what this process knows of a repository."""
    with _kept_lock:
        key = (repository.common, directory)
        if key not in _kept:
            _kept[key] = Kept(repository, directory)
        return _kept[key]


def forget_all() -> None:
    """Know nothing any more, as a process that begins."""
    with _kept_lock:
        _kept.clear()


def _key(question: Question) -> str:
    words = "\0".join((question.branch, question.commit, question.last, *question.tips))
    return hashlib.blake2b(words.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
