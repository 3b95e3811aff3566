"""Reading the bytes of a database's file without taking its locks away from SQLite.

POSIX drops all locks that a process has on a file when it closes any descriptor of that file. SQLite's own file layer
knows that; nothing else does. After an ordinary `open` and `close` of a palace that this process has open, another
process takes itself for the last user, folds the log and deletes it, and what is written here afterwards is lost
(https://www.sqlite.org/howtocorrupt.html, section 2.2). So a palace is read by `RawDatabase`, and who reads any file
that a person or a project names calls `refuse_open` first.
"""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path
from types import TracebackType
from typing import Self

import apsw

_FLAGS = apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY
_DESCRIPTORS, _INDEX_SUFFIX = Path("/dev/fd"), "-shm"
_opened: set[tuple[int, int]] = set()
"""Device and inode of the palaces that SQLite has opened in this process."""


class RawDatabase:
    """The bytes of a database's file; use `with`. Raises OSError if the file cannot be opened or read."""

    def __init__(self, path: Path) -> None:
        path.stat()  # for the system's own words about a missing file
        try:
            self._file = apsw.VFSFile(plain_system(), str(path), [_FLAGS, 0])
        except apsw.Error as error:
            raise OSError(errno.EACCES, os.strerror(errno.EACCES), str(path)) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def read(self, offset: int, size: int) -> bytes:
        """Return `size` bytes from an offset, or fewer at the end of the file."""
        try:
            return bytes(self._file.xRead(size, offset))
        except apsw.Error as error:  # the disk cannot read the sector
            raise OSError(errno.EIO, os.strerror(errno.EIO)) from error

    def close(self) -> None:
        """Close the file; SQLite keeps the descriptor while it holds locks."""
        self._file.xClose()


def plain_system() -> str:
    """Return the name of SQLite's file layer that reads and writes pages unchanged."""
    return next(name for name in apsw.vfs_names() if not name.startswith("cksm"))


def note_open(path: Path) -> None:
    """Note that SQLite has opened a database in this process, so that `refuse_open` knows its files."""
    with contextlib.suppress(OSError):
        state = path.stat()
        _opened.add((state.st_dev, state.st_ino))


def refuse_open(path: str | Path) -> None:
    """Raise OSError if SQLite has this file open in this process: it must not be opened in any other way."""
    if is_open(path):
        raise OSError(errno.EBUSY, "it is the open palace", str(path))


def is_open(path: str | Path) -> bool:
    """Return whether SQLite has a file open in this process: a palace, or the index of its log."""
    if not _opened or os.name != "posix":
        return False
    try:
        state = Path(path).stat()
        database = Path(str(path).removesuffix(_INDEX_SUFFIX)).stat()
    except (OSError, ValueError):
        return False  # it is missing, or is the index of no database
    return (database.st_dev, database.st_ino) in _opened and _has_descriptor(state)


def _has_descriptor(state: os.stat_result) -> bool:
    """Whether this process has the file open: an inode may have been given to another file since."""
    for descriptor in list(_DESCRIPTORS.iterdir()):
        try:
            opened = os.fstat(int(descriptor.name))
        except OSError:
            continue  # that of the listing itself
        if (opened.st_dev, opened.st_ino) == (state.st_dev, state.st_ino):
            return True
    return False
