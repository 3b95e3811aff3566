"""A lock between processes: a file that one process holds, and that the system lets go of when it dies.

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
"""Windows locks bytes against reading; one that no file here has harms nobody."""


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
        """Let go. Releasing twice is allowed."""
        if self._handle >= 0:
            os.close(self._handle)  # closing is what unlocks
            self._handle = -1

    @property
    def to_inherit(self) -> tuple[int, ...]:
        """The handle for a process that is to hold this lock from its start; none where a lock cannot be handed on.

        It is held until both have let go. That process makes it its own by `inherited`.
        """
        return () if sys.platform == "win32" else (self._handle,)


def adopt_lock(path: Path | str, handle: int) -> FileLock:
    """Return the lock at `path` that the process which started this one has handed on (`FileLock.to_inherit`)."""
    os.set_inheritable(handle, False)
    return FileLock(path, handle)


def try_lock(path: Path | str) -> FileLock | None:
    """Take the lock at `path`, or return None at once when another process (or thread) holds it.

    Raises OSError when the file cannot be made.
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
    """Whether some process holds the lock at `path` now."""
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
