"""Another program's SQLite file, read while that program writes, without leaving files beside it.

A reader of a file in WAL mode needs the shared-memory file (`-shm`). If there is none, SQLite creates one, which stays
behind. So:

- If the `-shm` exists, or the file is not in WAL mode (bytes 18 and 19 of its header, SQLite's file format 1.3), the
file is read in place: the usual locks, one consistent snapshot, nothing written except marks in shared memory. - In WAL
mode with neither `-shm` nor `-wal`, no process has the file open, and it is complete. It is read in place as an
immutable file (`immutable=1`: no locks, no files beside it). If its owner opens it and writes meanwhile, the read is
refused at its end, so results must not be used before that. - With a `-wal` alone, the owner has crashed, or the file
is a copy. The main file is not sufficient: all data may still be in the `-wal`. Both are copied to a private directory
and read there. A copy is good if meanwhile neither file changed and no `-shm` appeared, since no writer can work
without one.

No read waits for a lock longer than `LONGEST_WAIT`: a reader of another program's file can try again later.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from palazzo.errors import SourceUnreadable
from palazzo.store import page_checksums
from palazzo.store.database import SqliteConnection

MAGIC = b"SQLite format 3\x00"
LONGEST_WAIT = 1.5
"""Seconds to wait for another program's lock. Writers in WAL mode do not block readers; others commit in
milliseconds.
"""
_IN_WAL_MODE = b"\x02\x02"
_ATTEMPTS = 3

State = list[tuple[str, int, int, int]]


class ForeignDatabase:
    """A database of another program. If a copy was needed, it exists as long as this object."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._copy: Path | None = None

    @contextmanager
    def snapshot(self) -> Iterator[SqliteConnection]:
        """Read from one state of the database; the results are valid once the block has ended.

        Raises SourceUnreadable, also for errors while reading, and at the end if the state changed.
        """
        try:
            path, rests = self._readable()
            initial_state = _state(path) if rests else []
            connection = _open(path, rests)
            try:
                connection.execute("BEGIN")
                yield SqliteConnection(connection)
            finally:
                connection.close()
            if rests and _state(path) != initial_state:
                raise SourceUnreadable(f"{self.path} was opened by its program while Palazzo read it; try again later.")
        except (apsw.BusyError, apsw.LockedError):
            raise SourceUnreadable(
                f"{self.path} is locked by another program; try again when that program has finished."
            ) from None
        except (apsw.NotADBError, apsw.CorruptError) as error:
            raise SourceUnreadable(f"{self.path} is damaged, or is not a SQLite database ({error}).") from None
        except apsw.Error as error:
            raise SourceUnreadable(f"{self.path} cannot be read by SQLite ({error}); try again later.") from None
        except (OSError, UnicodeDecodeError) as error:
            raise SourceUnreadable(f"{self.path} cannot be read ({error}).") from None

    def _readable(self) -> tuple[Path, bool]:
        """Return the file to read, and whether no process has it open."""
        if self._copy is not None:
            return self._copy, False
        if not _is_in_wal_mode(self.path) or _add_suffix(self.path, "-shm").exists():
            return self.path, False
        if not _holds_anything(_add_suffix(self.path, "-wal")):
            return self.path, True
        directory = Path(tempfile.mkdtemp(prefix="palazzo-"))
        weakref.finalize(self, shutil.rmtree, directory, ignore_errors=True)
        if not _copy_at_rest(self.path, directory / "copy.db"):
            return self.path, False  # its program has just opened it, and made the -shm
        self._copy = directory / "copy.db"
        return self._copy, False


def _open(path: Path, rests: bool) -> apsw.Connection:
    page_checksums.install()
    uri = f"{path.resolve().as_uri()}?mode=ro{'&immutable=1' if rests else ''}"
    connection = apsw.Connection(uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    connection.set_busy_timeout(int(LONGEST_WAIT * 1000))
    page_checksums.do_not_compare(connection)
    connection.execute("PRAGMA query_only=ON").fetchall()
    connection.execute("PRAGMA trusted_schema=OFF").fetchall()
    connection.execute("PRAGMA mmap_size=0").fetchall()  # a file that is cut while it is read would end the process
    return connection


def _copy_at_rest(path: Path, copy: Path) -> bool:
    """Copy a database that no process has open; return False if a process opened it meanwhile."""
    for _ in range(_ATTEMPTS):
        initial_state = _state(path)
        shutil.copyfile(path, copy)
        wal, wal_copy = _add_suffix(path, "-wal"), _add_suffix(copy, "-wal")
        wal_copy.unlink(missing_ok=True)
        if wal.exists():
            shutil.copyfile(wal, wal_copy)
        if _add_suffix(path, "-shm").exists():
            return False
        if _state(path) == initial_state:
            return True
    raise SourceUnreadable(f"{path} changes faster than it can be copied; try again later.")


def _is_in_wal_mode(path: Path) -> bool:
    with path.open("rb") as stream:
        header = stream.read(20)
    if not header.startswith(MAGIC):
        raise SourceUnreadable(f"{path} is not a SQLite database.")
    return header[18:20] == _IN_WAL_MODE


def _holds_anything(path: Path) -> bool:
    return path.exists() and path.stat().st_size > 0


def _state(path: Path) -> State:
    """Return what shows that the database and its log were not written to and that no process opened it."""
    entries = []
    for file in (path, _add_suffix(path, "-wal"), _add_suffix(path, "-shm")):
        try:
            status = file.stat()
        except FileNotFoundError:
            continue
        entries.append((file.name, status.st_ino, status.st_size, status.st_mtime_ns))
    return entries


def _add_suffix(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)
