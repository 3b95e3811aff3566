"""Opening a palace's file: who may open it, with which settings, and how long to wait for another process's lock."""

from __future__ import annotations

import contextlib
import random
import stat
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import apsw

from palazzo.errors import NotAPalace, PalaceGone, PalaceUnusable
from palazzo.paths import make_private_directory
from palazzo.store import page_checksums, raw_database

Mode = Literal["read", "write"]

APPLICATION_ID = 0x50414C5A
"""`PALZ`: distinguishes a palace from any other SQLite file."""

LONGEST_WAIT = 60.0
"""Seconds that a connection waits for another's write lock. Batches hold it for some 100 ms."""
CACHE_MB = 64
"""Megabytes of pages that a connection caches: most of what a query over 100,000 drawers reads."""
_CACHED_STATEMENTS = 512
"""Statements that a connection keeps prepared, the most that APSW allows. Its cache is a ring in which each use takes a
place: with 100, every sixth statement of filing documents was prepared anew, which took 8 % of the processor time.
"""
_SHORTEST_NAP, _LONGEST_NAP = 0.0003, 0.004
_SMALLEST_PAGE = 512
_OTHER_KINDS = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
_deadline = threading.local()


def make_directory(directory: Path) -> None:
    """Create a palace's directory, accessible only to its owner."""
    try:
        make_private_directory(directory)
    except OSError as error:
        raise PalaceUnusable(
            f"The directory {directory} cannot be created ({error.strerror}). Name another palace with --palace, or "
            "fix its permissions."
        ) from error


def open_file(path: Path, mode: Mode, compares_checksums: bool, cache_mb: int, creates: bool = True) -> apsw.Connection:
    """Open a connection to the palace at `path`, caching up to `cache_mb`; a new file is private to its owner.

    Raises PalaceGone if there is no file and `creates` is false. Who knows that a palace is here says so: a file that
    was deleted a moment ago must not come back as an empty one.
    """
    flags = apsw.SQLITE_OPEN_READONLY
    if mode == "write":
        flags = apsw.SQLITE_OPEN_READWRITE | (apsw.SQLITE_OPEN_CREATE if creates else 0)
    refuse_special(path)
    _refuse_crumb(path)
    fresh = not path.exists()
    page_checksums.install()
    if mode == "write":
        page_checksums.refuse_without(path)
    try:
        connection = apsw.Connection(str(path), flags=flags, statementcachesize=_CACHED_STATEMENTS)
        connection.set_busy_handler(Patience())
        if not compares_checksums:
            page_checksums.do_not_compare(connection)
        if fresh and mode == "write":
            page_checksums.reserve(connection)
        connection.execute("PRAGMA schema_version").fetchall()
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        if not creates and not path.exists():
            raise PalaceGone.at(path) from None
        if mode == "write" or _has_wal(path):
            raise
        # A directory that cannot be written has no place for the shared-memory file: SQLite raises either
        # error. With no write-ahead log beside it the main file is complete and will not change.
        connection = apsw.Connection(
            f"{path.resolve().as_uri()}?immutable=1", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        )
        if not compares_checksums:
            page_checksums.do_not_compare(connection)
    raw_database.note_open(path)
    if fresh and mode == "write":
        path.chmod(0o600)
    _configure(connection, mode, cache_mb)
    return connection


@contextlib.contextmanager
def lock_deadline(seconds: float | None) -> Iterator[None]:
    """Limit how long this thread waits in total for palace locks within the block; None sets no limit."""
    outer_deadline = getattr(_deadline, "at", float("inf"))
    _deadline.at = outer_deadline if seconds is None else min(outer_deadline, time.monotonic() + seconds)
    try:
        yield
    finally:
        _deadline.at = outer_deadline


def do_not_wait(connection: apsw.Connection) -> None:
    """Let this connection's commits return before the data is on disk; see `Database.commit_without_waiting`."""
    connection.execute("PRAGMA synchronous=NORMAL")


def edition(connection: apsw.Connection) -> int:
    """Return a number that differs after a backup was restored over this palace file (`backup.put_in_place`)."""
    ((number,),) = connection.execute("PRAGMA user_version").fetchall()
    return int(str(number))


def refuse_special(path: Path) -> None:
    """Refuse a path that is no regular file before opening it: NotAPalace, or PalaceUnusable. A free path is allowed.

    Opening a pipe would block until its other end opens, and a dangling link would create a palace at its target.
    """
    if not str(path).isprintable():
        raise PalaceUnusable(
            f"The palace's path {str(path)!a} contains unprintable characters, so nothing was opened or created. "
            "Name another with --palace or PALAZZO_PALACE."
        )
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        if path.is_symlink():
            raise NotAPalace(
                f"{path} is a link to {path.readlink()}, which does not exist. Restore that file, remove the link, "
                "or name another palace with --palace."
            ) from None
        return
    except OSError as error:
        raise PalaceUnusable(
            f"The palace {path} cannot be accessed ({error.strerror or error}). Name another with --palace."
        ) from None
    if not stat.S_ISREG(status.st_mode):
        kind = next((kind for is_kind, kind in _OTHER_KINDS if is_kind(status.st_mode)), "a special file")
        raise NotAPalace(f"{path} is {kind}, not a palace. Move it away, or name another palace with --palace.")


def _refuse_crumb(path: Path) -> None:
    """Refuse a file of a few bytes, which SQLite would treat as an empty database and overwrite."""
    if path.exists() and 0 < path.stat().st_size < _SMALLEST_PAGE:
        raise NotAPalace(f"The file {path} is not a palace. Name another with --palace.")


def _configure(connection: apsw.Connection, mode: Mode, cache_mb: int) -> None:
    connection.execute("PRAGMA foreign_keys=ON")
    connection.execute("PRAGMA temp_store=MEMORY")
    connection.execute(f"PRAGMA cache_size={-1024 * cache_mb}")
    # No memory map: a file that is cut while it is read would end the process with SIGBUS, and mapped pages
    # would pass by their checksums.
    connection.execute("PRAGMA mmap_size=0").fetchall()
    connection.execute("PRAGMA trusted_schema=OFF")
    if mode == "read" or not _may_be_palace(connection):
        return
    connection.execute("PRAGMA journal_mode=WAL").fetchall()
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("PRAGMA fullfsync=ON")  # macOS: fsync alone leaves words in the drive's cache
    connection.execute("PRAGMA checkpoint_fullfsync=ON")
    connection.execute("PRAGMA journal_size_limit=67108864").fetchall()
    connection.execute("PRAGMA secure_delete=FAST").fetchall()


def _may_be_palace(connection: apsw.Connection) -> bool:
    """Whether this is or can become a palace. Not even the journal mode of another program's file is changed."""
    ((application,),) = connection.execute("PRAGMA application_id").fetchall()
    ((tables,),) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
    return application == APPLICATION_ID or not tables


def _has_wal(path: Path) -> bool:
    wal = path.with_name(path.name + "-wal")
    return wal.exists() and wal.stat().st_size > 0


class Patience:
    """A busy handler: short random waits, so that waiting writers alternate instead of retrying at the same time."""

    def __init__(self) -> None:
        self._since = 0.0

    def __call__(self, attempts: int) -> bool:
        now = time.monotonic()
        if attempts == 0:
            self._since = now
        if now > min(self._since + LONGEST_WAIT, getattr(_deadline, "at", float("inf"))):
            return False
        time.sleep(random.uniform(_SHORTEST_NAP, _LONGEST_NAP))  # noqa: S311 (no secret depends on it)
        return True
