"""A lock between processes: a file that one process holds, and that the system releases when the process dies.

Standard library only. The lock is on an open file, so a file that was left behind locks nothing.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

_FAR = 1 << 30
"""Windows locks bytes against reading; a byte beyond the end of every file here disturbs no reader."""


class FileLock:
    """A held lock; `release` it, or use `with`."""

    def __init__(self, path: Path | str, handle: int) -> None:
        self.path, self._handle = path, handle

    def __enter__(self) -> FileLock:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def release(self) -> None:
        """Release the lock. Releasing twice is allowed."""
        if self._handle >= 0:
            os.close(self._handle)  # closing is what unlocks
            self._handle = -1

    @property
    def to_inherit(self) -> tuple[int, ...]:
        """Return the handle for a process that is to hold this lock from its start; none if locks cannot be inherited.

        The lock is held until both have released it. That process adopts it with `adopt_lock`.
        """
        return () if sys.platform == "win32" else (self._handle,)


def adopt_lock(path: Path | str, handle: int) -> FileLock:
    """Return the lock at `path` inherited from the process that started this one (`FileLock.to_inherit`)."""
    os.set_inheritable(handle, False)
    return FileLock(path, handle)


def try_lock(path: Path | str) -> FileLock | None:
    """Take the lock at `path`, or return None at once if another process (or thread) holds it.

    Raises OSError if the file cannot be created.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOINHERIT", 0), 0o600)
    try:
        is_locked = _take(handle)
    except BaseException:
        os.close(handle)
        raise
    if is_locked:
        return FileLock(path, handle)
    os.close(handle)
    return None


def is_held(path: Path | str) -> bool:
    """Return whether a process holds the lock at `path` now."""
    if not os.path.exists(path):
        return False
    try:
        lock = try_lock(path)
    except OSError:
        return False
    if lock is None:
        return True
    lock.release()
    return False


if sys.platform == "win32":
    import msvcrt

    def _take(handle: int) -> bool:
        os.lseek(handle, _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _take(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
