"""The seam between the engine and SQLite: open, transact, execute.

One connection per thread on APSW's own SQLite. Writers take the write lock at once (`BEGIN IMMEDIATE`), so a
transaction never fails half-way for another writer, and waiting is hidden in the busy handler. Readers see
one snapshot. `before_commit` lets derived data follow truth inside the same transaction.
"""

from __future__ import annotations

import contextlib
import random
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol

import apsw

from palazzo.errors import NotAPalace, PalaceMissing, PalaceUnusable
from palazzo.model import Micros
from palazzo.paths import make_private_directory
from palazzo.store import checksums, filesystem

Value = str | bytes | int | float | None
Mode = Literal["read", "write"]

APPLICATION_ID = 0x50414C5A
"""`PALZ`: tells a palace from any other SQLite file."""

LONGEST_WAIT = 60.0
"""Seconds a connection waits for another's write lock. Batches hold it for 50 ms at most."""
_SHORTEST_NAP, _LONGEST_NAP = 0.0003, 0.004
_SMALLEST_PAGE = 512


class Connection(Protocol):
    """What the SQL modules need: rows out, statements in."""

    dialect: str
    as_of: Micros | None
    """The moment at which this snapshot shows the palace; None is now."""

    def execute(self, sql: str, parameters: Sequence[Value] = ()) -> Iterator[Any]:
        """Run one statement; yield its rows as tuples."""
        ...

    def executemany(self, sql: str, rows: Iterable[Sequence[Value]]) -> None:
        """Run one statement for each row of parameters."""
        ...

    def stems(self, text: str) -> list[str]:
        """Return the tokens of `text` as the keyword index holds them."""
        ...


class SqliteConnection:
    """A `Connection` on an APSW connection, inside an open transaction.

    SQLite's TEXT is well-formed Unicode: a lone surrogate in a name or title is stored as U+FFFD. Exact words
    are BLOBs and keep theirs.
    """

    dialect = "sqlite"
    as_of: Micros | None = None

    def __init__(self, raw: apsw.Connection) -> None:
        self.raw = raw
        self.began = time.monotonic()

    def execute(self, sql: str, parameters: Sequence[Value] = ()) -> Iterator[Any]:
        """Run one statement; yield its rows as tuples."""
        return self.raw.execute(sql, _storable(parameters))

    def executemany(self, sql: str, rows: Iterable[Sequence[Value]]) -> None:
        """Run one statement for each row of parameters."""
        self.raw.executemany(sql, map(_storable, rows))

    def stems(self, text: str) -> list[str]:
        """Return the tokens of `text` as the keyword index holds them."""
        tokenizer = self.raw.fts5_tokenizer("porter", ["unicode61", "remove_diacritics", "2"])
        tokens = tokenizer(text.encode("utf-8", "replace"), apsw.FTS5_TOKENIZE_QUERY, None, include_offsets=False)
        return [str(colocated[0]) for colocated in tokens]

    @property
    def age(self) -> float:
        """Seconds since the transaction began."""
        return time.monotonic() - self.began


def well_formed(text: str) -> str:
    """Return `text` as TEXT can hold it: surrogate pairs joined, lone surrogates as U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _storable(values: Sequence[Value]) -> Sequence[Value]:
    for value in values:
        if type(value) is str and not value.isascii():
            return [well_formed(value) if isinstance(value, str) else value for value in values]
    return values


Follower = Callable[[Connection], None]


class Database:
    """One palace file, open for reading or writing from any number of threads and processes."""

    def __init__(self, path: Path, mode: Mode = "write", checked: bool = False) -> None:
        """Open `path`. A `checked` database compares every page that it reads with its checksum."""
        self.path, self.mode, self.checked = path, mode, checked
        self.redacts = True
        """Whether the archive's door takes secrets out of what is filed through here; the user alone says no."""
        self._before_commit: list[Follower] = []
        self._local = threading.local()
        self._all: list[apsw.Connection] = []
        self._lock = threading.Lock()
        self._closed = False
        if mode == "write":
            filesystem.refuse_unsafe(path)
            _make_directory(path.parent)
        elif not path.exists():
            raise PalaceMissing(
                f"There is no palace at {path} yet. Feed it with 'palazzo mine DIR', or name another with --palace."
            )
        with _explained(path):
            self._connection()

    def before_commit(self, follower: Follower) -> None:
        """Run `follower` at the end of every write transaction, while it can still be rolled back."""
        self._before_commit.append(follower)

    @contextlib.contextmanager
    def transaction(self) -> Iterator[SqliteConnection]:
        """Hold the write lock for the block; commit what it did, or nothing if it raised."""
        if self.mode == "read":
            raise PalaceUnusable(f"The palace {self.path} was opened for reading only.")
        with _explained(self.path):
            raw = self._connection()
            raw.execute("BEGIN IMMEDIATE")
            try:
                connection = SqliteConnection(raw)
                yield connection
                for follower in self._before_commit:
                    follower(connection)
                raw.execute("COMMIT")
            finally:
                if raw.in_transaction:
                    raw.execute("ROLLBACK")

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[SqliteConnection]:
        """Read from one state of the palace, whatever others write meanwhile."""
        with _explained(self.path):
            raw = self._connection()
            if raw.in_transaction:
                yield SqliteConnection(raw)
                return
            raw.execute("BEGIN")
            try:
                yield SqliteConnection(raw)
            finally:
                if raw.in_transaction:
                    raw.execute("COMMIT")

    @contextlib.contextmanager
    def outside_transaction(self) -> Iterator[apsw.Connection]:
        """Give the bare connection, for the few statements that must not run inside a transaction."""
        with _explained(self.path):
            yield self._connection()

    def close(self) -> None:
        """Close every thread's connection."""
        with self._lock:
            self._closed = True
            for connection in self._all:
                # The last one out folds the log into the file. If that fails the next one in does it.
                with contextlib.suppress(apsw.IOError, apsw.FullError):
                    connection.close()
            self._all.clear()

    def _connection(self) -> apsw.Connection:
        existing: apsw.Connection | None = getattr(self._local, "connection", None)
        if existing is not None and not self._closed:
            return existing
        connection = _open(self.path, self.mode, self.checked)
        self._local.connection = connection
        with self._lock:
            self._all.append(connection)
        return connection


def _make_directory(directory: Path) -> None:
    try:
        make_private_directory(directory)
    except OSError as error:
        raise PalaceUnusable(
            f"The directory {directory} cannot be created ({error.strerror}). "
            "Name another palace with --palace, or mend its permissions."
        ) from error


def _open(path: Path, mode: Mode, checked: bool) -> apsw.Connection:
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
    if mode == "read":
        flags = apsw.SQLITE_OPEN_READONLY
    fresh = not path.exists()
    _refuse_crumb(path)
    checksums.install()
    if mode == "write":
        checksums.refuse_without(path)
    try:
        connection = apsw.Connection(str(path), flags=flags)
        connection.set_busy_handler(Patience())
        if not checked:
            checksums.do_not_compare(connection)
        if fresh and mode == "write":
            checksums.reserve(connection)
        connection.execute("PRAGMA schema_version").fetchall()
    except apsw.CantOpenError:
        if mode == "write" or _has_wal(path):
            raise
        # A directory that cannot be written has no place for the shared-memory file. With no
        # write-ahead log beside it the main file is complete and will not change.
        connection = apsw.Connection(
            f"{path.resolve().as_uri()}?immutable=1", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        )
    if fresh and mode == "write":
        path.chmod(0o600)
    _configure(connection, mode)
    return connection


def _refuse_crumb(path: Path) -> None:
    """Refuse a file of a few bytes: SQLite takes it for a database that is still empty, and writes over it."""
    if path.is_file() and 0 < path.stat().st_size < _SMALLEST_PAGE:
        raise NotAPalace(f"The file {path} is not a palace. Name another with --palace.")


def _configure(connection: apsw.Connection, mode: Mode) -> None:
    connection.execute("PRAGMA foreign_keys=ON")
    connection.execute("PRAGMA temp_store=MEMORY")
    connection.execute("PRAGMA cache_size=-65536")
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
    """Whether this is a palace or will be one. Even its journal mode is not changed in another program's file."""
    ((application,),) = connection.execute("PRAGMA application_id").fetchall()
    ((tables,),) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
    return application == APPLICATION_ID or not tables


def _has_wal(path: Path) -> bool:
    wal = path.with_name(path.name + "-wal")
    return wal.exists() and wal.stat().st_size > 0


class Patience:
    """A busy handler: short random naps, so that waiting writers interleave instead of marching in step."""

    def __init__(self) -> None:
        self._since = 0.0

    def __call__(self, attempts: int) -> bool:
        now = time.monotonic()
        if attempts == 0:
            self._since = now
        if now - self._since > LONGEST_WAIT:
            return False
        time.sleep(random.uniform(_SHORTEST_NAP, _LONGEST_NAP))  # noqa: S311 (no secret depends on it)
        return True


@contextlib.contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn SQLite's own errors into sentences that say what to do."""
    try:
        yield
    except (apsw.NotADBError, apsw.CorruptError) as error:
        raise NotAPalace(
            f"The file {path} is damaged or is not a palace ({error}). Move it away and restore a backup, "
            "or name another palace with --palace."
        ) from error
    except apsw.FullError as error:
        raise PalaceUnusable(
            f"The disk that holds {path} is full. What was acknowledged is safe; free some space and run this again."
        ) from error
    except (apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError, apsw.AuthError) as error:
        raise PalaceUnusable(
            f"The palace {path} cannot be opened for this ({error}). Check its permissions, "
            "or name another with --palace."
        ) from error
    except (apsw.BusyError, apsw.LockedError) as error:
        raise PalaceUnusable(
            f"Another program has held the palace {path} for over {LONGEST_WAIT:.0f} seconds. "
            "Try again when it is done."
        ) from error
    except apsw.IOError as error:
        if checksums.is_mismatch(error):
            raise NotAPalace(
                f"The file {path} is damaged: a page is not what its checksum says. 'palazzo verify' says what is "
                "affected; 'palazzo repair --rebuild all' makes derived data anew, and a backup restores the rest."
            ) from error
        raise PalaceUnusable(
            f"The palace {path} could not be read or written ({error}). What was acknowledged is safe; "
            "check the disk and run it again."
        ) from error
