"""Make the vectors that are pending, at the lowest priority, and exit: `python -m palazzo.daemon.embedding PALACE`.

One process for each palace: it holds a lock file beside it. Killing it loses at most the batch at hand, which
the next one makes again. What went wrong is left in a file that `palazzo doctor` reads.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from palazzo import locks
from palazzo.errors import PalazzoError
from palazzo.operations.background import failure_file, lock_file, was_called_lately
from palazzo.operations.context import Context
from palazzo.paths import make_private_directory

_THREADS, _THREADS_BESIDE_CALLS = 2, 1
_TRIES, _PAUSE = 4, 0.1
"""A lock that somebody only looked at is free again within a moment."""


def main(arguments: list[str] | None = None) -> int:
    """Embed what is pending in the palace named by the only argument; return the exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    if len(given) != 1:
        print("usage: python -m palazzo.daemon.embedding PALACE", file=sys.stderr)
        return 2
    # At the lowest priority a handler of our own may wait seconds for its turn. The system ends us at once, and
    # what is committed is safe from that.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    lower_priority()
    try:
        made = embed(Path(given[0]))
    except Exception as error:  # noqa: BLE001 - nobody watches this process: what happened is kept for `doctor`
        _keep(f"{error if isinstance(error, PalazzoError) else type(error).__name__}\n")
        return 1
    if made:
        failure_file().unlink(missing_ok=True)
    return 0


def embed(palace: Path) -> int:
    """Make vectors until none is pending or another process makes them; return how many were made."""
    made = 0
    with Context(palace=palace) as context:
        while _pending(context):
            lock = _lock(lock_file(context.palace_path))
            if lock is None:
                break
            with lock:
                made += _embed_pending(context)
                context.writing().follow_claims()
                context.writing().follow_digests()
                context.writing().follow_failures()
                context.writing().follow_mentions(context.settings.flag("entities"))
            # What was filed after the last look is found by looking again without the lock: whoever
            # filed it may have seen the lock held and started nobody.
    return made


def _embed_pending(context: Context) -> int:
    """Make the vectors that are pending, on one thread while somebody is being answered, else on two."""
    from palazzo.derive import embed as embedding

    database, made = context.writing().database, 0
    while _pending(context):
        threads = _threads(context)
        with contextlib.closing(context.open_embedder(threads)) as embedder:
            made += embedding.embed_pending(database, embedder, stop=lambda: _threads(context) != threads)  # noqa: B023
    return made


def _threads(context: Context) -> int:
    return _THREADS_BESIDE_CALLS if was_called_lately(context.palace_path, context.variables) else _THREADS


def lower_priority() -> None:
    """Let every other process go first."""
    if sys.platform == "win32":
        import ctypes

        kernel = ctypes.windll.kernel32
        kernel.SetPriorityClass(kernel.GetCurrentProcess(), 0x40)  # IDLE_PRIORITY_CLASS
    else:
        with contextlib.suppress(OSError):
            os.nice(19)


def _pending(context: Context) -> bool:
    from palazzo.store import vectors

    with context.reading().database.snapshot() as connection:
        return vectors.any_pending(connection)


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


def _keep(reason: str) -> None:
    with contextlib.suppress(OSError):
        make_private_directory(failure_file().parent)
        failure_file().write_text(reason, encoding="utf-8", errors="replace")


if __name__ == "__main__":
    sys.exit(main())
