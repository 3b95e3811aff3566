"""Embedding process: computes the pending vectors at the lowest priority, and exits.

Run as `python -m palazzo.daemon.embedding_process PALACE`. There is one process for each palace: it holds a lock file
beside the palace, and the process that starts it may hand the lock on (`PALACE HANDLE`). Killing it loses at most the
current batch, which the next process computes again. Errors are written to a file that `palazzo doctor` reads.

Digests, failures and mentions of sessions do not wait for vectors: they are processed first, and then in turn with the
vectors.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from palazzo import locks
from palazzo.features.service.background_process import (
    EMBEDDING_ACTIVITY,
    lock_file,
    note_failure,
    note_success,
    was_called_lately,
)
from palazzo.operations.context import Context

_THREADS, _THREADS_BESIDE_CALLS = 2, 1
_TRIES, _PAUSE = 4, 0.1
"""Attempts and pause in seconds for a lock: a lock that another process only checked is free again within a moment."""
_TURN, _EVERY = 2.0, 5.0
"""Maximum seconds for one turn of following sessions while vectors are pending, and seconds between two turns. A few
seconds are enough for recent messages; the first read of a history would delay all vectors.
"""


def main(arguments: list[str] | None = None) -> int:
    """Embed pending passages of the palace named by the only argument; return the exit code."""
    argv = sys.argv[1:] if arguments is None else arguments
    if len(argv) not in (1, 2) or not all(handle.isdecimal() for handle in argv[1:]):
        print("usage: python -m palazzo.daemon.embedding_process PALACE [HANDLE]", file=sys.stderr)
        return 2
    # At the lowest priority a handler of our own may wait seconds for its turn. The system ends us at once, and
    # what is committed is safe from that.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    lower_priority()
    try:
        lock = locks.adopt_lock(lock_file(Path(argv[0])), int(argv[1])) if argv[1:] else None
        embed(Path(argv[0]), lock)
    except Exception as error:  # noqa: BLE001 - this process runs in the background: `doctor` reports it
        note_failure(EMBEDDING_ACTIVITY, error)
        return 1
    note_success(EMBEDDING_ACTIVITY)
    return 0


def embed(palace: Path, inherited_lock: locks.FileLock | None = None) -> int:
    """Make vectors until none is pending or another process makes them; return how many were made.

    `inherited_lock`: the lock, if the caller holds it already. It is released.
    """
    count = 0
    with Context(palace=palace) as context, inherited_lock or contextlib.nullcontext():
        if not context.has_palace:
            return 0  # it was moved or deleted since; opening it to write would make an empty one
        consumers = _Consumers(context)
        while inherited_lock is not None or _pending(context):
            lock = inherited_lock or _lock(lock_file(context.palace_path))
            if lock is None:
                break
            inherited_lock = None
            with lock:
                # On a slow disk hooks would wait behind one commit of these after the other.
                context.writing().database.commit_without_waiting()
                consumers.follow_sessions(time.monotonic() + _TURN)
                count += _embed_pending(context, consumers)
                consumers.follow_sessions()
                consumers.follow_claims()
            # What was filed after the last look is found by looking again without the lock: whoever
            # filed it may have seen the lock held and started nobody.
    return count


class _Consumers:
    """The asynchronous consumers of the log that run during embedding.

    If one fails, embedding and the other consumers continue.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._failed: set[str] = set()
        context.writing().retry_of_other_releases()

    def follow_sessions(self, until: float = float("inf")) -> None:
        """Process new messages until that time: fixes of failures first, since they may be needed again at once."""

        def stop() -> bool:
            return time.monotonic() >= until

        palace, entities = self._context.writing(), self._context.settings.flag("entities")
        self._run("heading", lambda: palace.follow_consumer("heading", stop=stop))
        self._run("mending", lambda: palace.follow_failures(stop))
        self._run("anchor", lambda: palace.follow_anchors(stop))
        self._run("digest", lambda: palace.follow_digests(stop=stop))
        self._run("mention", lambda: palace.follow_mentions(entities, stop))

    def follow_claims(self) -> None:
        """Process claims."""
        self._run("claim", self._context.writing().follow_claims)

    def _run(self, activity: str, follow: Callable[[], None]) -> None:
        """Run a consumer, unless it has failed in this process. Record an error for `doctor`."""
        if activity in self._failed:
            return
        try:
            follow()
        except Exception as error:  # noqa: BLE001 - `doctor` reports it, and the other consumers go on
            self._failed.add(activity)
            note_failure(activity, error)
        else:
            note_success(activity)


def _embed_pending(context: Context, consumers: _Consumers) -> int:
    """Make the pending vectors, on one thread while a request is being answered, otherwise on two."""
    from palazzo.index import passage_embedding as embedding

    database, count, turn = context.writing().database, 0, time.monotonic()

    def follow(*_: int) -> None:
        nonlocal turn
        if time.monotonic() >= turn + _EVERY:
            consumers.follow_sessions(time.monotonic() + _TURN)
            turn = time.monotonic()

    while _pending(context):
        threads = _threads(context)
        with contextlib.closing(context.open_embedder(threads)) as embedder:
            count += embedding.embed_pending(database, embedder, follow, partial(_has_other_threads, context, threads))
    return count


def _threads(context: Context) -> int:
    return _THREADS_BESIDE_CALLS if was_called_lately(context.palace_path, context.variables) else _THREADS


def _has_other_threads(context: Context, threads: int) -> bool:
    """Return whether the embedder should run on another number of threads now."""
    return _threads(context) != threads


def lower_priority() -> None:
    """Lower the priority of this process below all others."""
    if sys.platform == "win32":
        import ctypes

        kernel = ctypes.windll.kernel32
        kernel.SetPriorityClass(kernel.GetCurrentProcess(), 0x40)  # IDLE_PRIORITY_CLASS
    else:
        with contextlib.suppress(OSError):
            os.nice(19)


def _pending(context: Context) -> bool:
    from palazzo.store import vector_rows

    with context.reading().database.snapshot() as connection:
        return vector_rows.any_pending(connection)


def _lock(path: Path) -> locks.FileLock | None:
    for _ in _tries():
        lock = locks.try_lock(path)
        if lock is not None:
            return lock
    return None


def _tries() -> Iterator[int]:
    for attempt in range(_TRIES):
        if attempt:
            time.sleep(_PAUSE)
        yield attempt


if __name__ == "__main__":
    sys.exit(main())
