"""The file beside a palace that holds what a search reads of all vectors, so that it need not be read row by row.

The file is derived from the palace and can be removed at any time. It holds hashes of texts, so an erase overwrites it.
One process at a time writes or removes it, under a lock. So a writer either sees that something was erased, or has
finished before the erase removes the file.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

from palazzo import locks

_SUFFIX, _UNFINISHED_SUFFIX, _LOCK_SUFFIX = "-vectors", "-vectors.new", "-vectors.lock"
"""What the names of the files have after that of the palace, which is the file itself and no link to it."""
_NAP = 0.02


def vector_file(palace: Path) -> Path:
    """Return the path of the file of a palace."""
    return _companion_path(palace, _SUFFIX)


def unfinished_file(palace: Path) -> Path:
    """Return the path under which the file is written."""
    return _companion_path(palace, _UNFINISHED_SUFFIX)


def all_files(palace: Path) -> list[Path]:
    """Return the paths of the file, of one that is being written, and of their lock."""
    return [_companion_path(palace, suffix) for suffix in (_SUFFIX, _UNFINISHED_SUFFIX, _LOCK_SUFFIX)]


@contextlib.contextmanager
def hold_write_lock(palace: Path, patience: float = 0.0) -> Iterator[bool]:
    """Hold the lock for the block; yield whether it was free within `patience` seconds."""
    until = time.monotonic() + patience
    while (lock := locks.try_lock(_companion_path(palace, _LOCK_SUFFIX))) is None and time.monotonic() < until:
        time.sleep(_NAP)
    if lock is None:
        yield False
        return
    with lock:
        yield True


def remove_vector_files(palace: Path, patience: float = 0.0) -> None:
    """Overwrite and remove the file of a palace, and one that a killed process has not finished.

    Raises OSError if that is not allowed, or if another process writes the file for longer than `patience` seconds.
    """
    if not any(path.exists() for path in all_files(palace)):  # nobody has begun to write one
        return
    with hold_write_lock(palace, patience) as is_held:
        if not is_held:
            raise TimeoutError(f"{vector_file(palace)} is being written")
        for path in (vector_file(palace), unfinished_file(palace)):
            if path.exists():
                overwrite_and_remove(path)


def overwrite_and_remove(path: Path) -> None:
    """Overwrite a file with zeros and remove it. One that another user wrote is only removed."""
    with contextlib.suppress(PermissionError), path.open("r+b") as file:
        file.write(bytes(path.stat().st_size))
        file.flush()
        os.fsync(file.fileno())
    path.unlink()


def _companion_path(palace: Path, suffix: str) -> Path:
    real_path = palace.resolve()
    return real_path.with_name(real_path.name + suffix)
