"""A host's own SQLite file, read while the host writes, without leaving anything beside it.

A reader of a file in WAL mode needs the shared-memory file (`-shm`), and SQLite makes one where there is none, which
stays behind. So:

- Where the `-shm` exists, or the file is not in WAL mode (bytes 18 and 19 of its header, SQLite's file format 1.3),
  the file is read in place: the usual locks, one consistent snapshot, nothing written but marks in shared memory.
- Otherwise nobody has the file open, and it is copied with its `-wal` to a private directory and read there. The main
  file alone would not do: after a crash all sessions may still be in the `-wal`. A copy is good if meanwhile neither
  file changed and no `-shm` appeared, as no writer can work without one.

The palace's own `Database` does the reading, in mode `read`: there is one SQLite in the process, and one place that
opens it.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from palazzo.errors import PalaceUnusable, SourceUnreadable
from palazzo.store.database import Database, SqliteConnection

MAGIC = b"SQLite format 3\x00"
_IN_WAL_MODE = b"\x02\x02"
_ATTEMPTS = 3


class HostDatabase:
    """One host's database. A copy that was needed lives as long as this does."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._copy: Path | None = None

    @contextmanager
    def snapshot(self) -> Iterator[SqliteConnection]:
        """Read from one state of the database. Raises SourceUnreadable, also for what fails while reading."""
        try:
            database = Database(self._readable(), "read")
            try:
                with database.snapshot() as connection:
                    yield connection
            finally:
                database.close()
        except PalaceUnusable as error:
            cause = error.__cause__ or error
            raise SourceUnreadable(
                f"{self.path} is locked, damaged or no database ({cause}); try again later."
            ) from None
        except (OSError, UnicodeDecodeError) as error:
            raise SourceUnreadable(f"{self.path} cannot be read ({error}).") from None
        except Exception as error:
            if not _is_sqlites(error):
                raise
            raise SourceUnreadable(f"{self.path} is damaged, or of a kind that SQLite cannot read ({error}).") from None

    def _readable(self) -> Path:
        if self._copy is not None:
            return self._copy
        if not _needs_shared_memory(self.path) or _beside(self.path, "-shm").exists():
            return self.path
        directory = Path(tempfile.mkdtemp(prefix="palazzo-"))
        weakref.finalize(self, shutil.rmtree, directory, ignore_errors=True)
        if not _copy_at_rest(self.path, directory / "copy.db"):
            return self.path  # the host has just opened it, and made the -shm
        self._copy = directory / "copy.db"
        return self._copy


def _is_sqlites(error: Exception) -> bool:
    """Whether SQLite raised it. The store puts into words what may befall a palace; another's file may be odder."""
    return type(error).__module__ == "apsw"


def _copy_at_rest(path: Path, copy: Path) -> bool:
    """Copy a database that nobody has open; False where somebody opened it meanwhile."""
    for _ in range(_ATTEMPTS):
        before = _state(path)
        shutil.copyfile(path, copy)
        wal, copied = _beside(path, "-wal"), _beside(copy, "-wal")
        copied.unlink(missing_ok=True)
        if wal.exists():
            shutil.copyfile(wal, copied)
        if _beside(path, "-shm").exists():
            return False
        if _state(path) == before:
            return True
    raise SourceUnreadable(f"{path} changes faster than it can be copied; try again later.")


def _needs_shared_memory(path: Path) -> bool:
    with path.open("rb") as stream:
        header = stream.read(20)
    if not header.startswith(MAGIC):
        raise SourceUnreadable(f"{path} is no SQLite database.")
    return header[18:20] == _IN_WAL_MODE


def _state(path: Path) -> list[tuple[int, int, int]]:
    """What tells that neither the database nor its log was written to."""
    found = []
    for file in (path, _beside(path, "-wal")):
        try:
            status = file.stat()
        except FileNotFoundError:
            continue
        found.append((status.st_ino, status.st_size, status.st_mtime_ns))
    return found


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)
