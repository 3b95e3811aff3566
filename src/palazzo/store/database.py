"""The interface between the engine and SQLite: open, transact, execute.

One connection per thread on APSW's own SQLite. Writers take the write lock at once (`BEGIN IMMEDIATE`), so another
writer never makes a transaction fail half-way, and the busy handler hides the waiting. Readers see one snapshot.
`before_commit` updates derived data inside the same transaction as the truth. `held` combines all transactions of a
call into one.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import apsw

from palazzo.errors import NotAPalace, PalaceGone, PalaceLocked, PalaceMissing, PalaceUnusable
from palazzo.model import Micros
from palazzo.store import filesystem, page_checksums, palace_opening
from palazzo.store.palace_opening import Mode
from palazzo.text.surrogates import well_formed

Value = str | bytes | int | float | None
DatabaseError = apsw.Error
"""Any error of SQLite."""
ValueRefused = (apsw.ConstraintError, apsw.MismatchError, apsw.TooBigError)
"""SQLite errors caused by the values of a statement."""


class Connection(Protocol):
    """The interface that the SQL modules need: it returns rows and executes statements."""

    dialect: str
    as_of: Micros | None
    """The point in time of this snapshot; None is now."""

    def execute(self, sql: str, parameters: Sequence[Value] = ()) -> Iterator[Any]:
        """Run one statement; yield its rows as tuples."""
        ...

    def executemany(self, sql: str, rows: Iterable[Sequence[Value]]) -> None:
        """Run one statement for each row of parameters."""
        ...

    def stems(self, text: str) -> list[str]:
        """Return the tokens of `text` in the form that the keyword index uses."""
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
        """Return the tokens of `text` in the form that the keyword index uses."""
        tokenizer = self.raw.fts5_tokenizer("porter", ["unicode61", "remove_diacritics", "2"])
        tokens = tokenizer(text.encode("utf-8", "replace"), apsw.FTS5_TOKENIZE_QUERY, None, include_offsets=False)
        return [str(token_group[0]) for token_group in tokens]

    @property
    def age(self) -> float:
        """Return the seconds since the transaction began."""
        return time.monotonic() - self.began


def _storable(values: Sequence[Value]) -> Sequence[Value]:
    for value in values:
        if type(value) is str and not value.isascii():
            return [well_formed(value) if isinstance(value, str) else value for value in values]
    return values


Follower = Callable[[Connection], None]


@dataclass(slots=True)
class _CommitHold:
    """What one thread holds back; see `Database.held`."""

    begins: Follower
    ends: Follower
    open: bool = False
    has_stepped: bool = False
    is_separate: bool = False
    callbacks: list[Callable[[], None]] = field(default_factory=list)


class Database:
    """One palace file, open for reading or writing from any number of threads and processes."""

    def __init__(
        self,
        path: Path,
        mode: Mode = "write",
        compares_checksums: bool = False,
        cache_mb: int = palace_opening.CACHE_MB,
        creates: bool = True,
    ) -> None:
        """Open `path`. A `compares_checksums` database verifies the checksum of every page that it reads.

        Each thread's connection caches up to `cache_mb` of pages. If `creates`, opening for writing makes the file;
        later connections never do.
        """
        self.path, self.mode, self.checked, self._cache_mb = path, mode, compares_checksums, cache_mb
        self.redacts = True
        """Whether ingest redacts secrets in new texts; only the user can switch this off."""
        self._before_commit: list[Follower] = []
        self._local = threading.local()
        self._all: list[apsw.Connection] = []
        self._lock = threading.Lock()
        self._closed = False
        palace_opening.refuse_special(path)
        if mode == "write":
            filesystem.refuse_unsafe(path)
            palace_opening.make_directory(path.parent)
        elif not path.exists():
            if not creates:
                raise PalaceGone.at(path)
            raise PalaceMissing(
                f"There is no palace at {path} yet. Create it with 'palazzo mine DIR', or name another with --palace."
            )
        with explain_errors(path):
            self._edition = palace_opening.edition(self._connection(creates))

    def before_commit(self, follower: Follower) -> None:
        """Run `follower` at the end of every write transaction, while it can still be rolled back."""
        self._before_commit.append(follower)

    @contextlib.contextmanager
    def transaction(self) -> Iterator[SqliteConnection]:
        """Hold the write lock for the block; commit its writes, or nothing if it raised.

        If the thread defers its commits (`hold`), the writes are deferred instead.
        """
        if self.mode == "read":
            raise PalaceUnusable(f"The palace {self.path} was opened for reading only.")
        with explain_errors(self.path):
            raw, hold = self._connection(), self._hold
            if hold is not None and hold.open:
                with self._open_savepoint(raw) as connection:
                    yield connection
                return
            raw.execute("BEGIN IMMEDIATE")
            try:
                self._refuse_replaced(raw)
                change_count = raw.total_changes()
                connection = SqliteConnection(raw)
                if hold is not None and not hold.is_separate:
                    hold.begins(connection)
                yield connection
                self._follow(connection)
                if hold is not None and not hold.is_separate and raw.total_changes() != change_count:
                    hold.open = True
                else:
                    raw.execute("COMMIT")
            finally:
                if raw.in_transaction and not (hold and hold.open):
                    raw.execute("ROLLBACK")

    @contextlib.contextmanager
    def hold_commits(self, begins: Follower, ends: Follower) -> Iterator[None]:
        """Defer the commits of this thread in the block; commit everything at the end, or nothing if the block raised.

        The first transaction that writes anything is not committed when it ends: the lock stays held, later
        transactions join it, and snapshots read in it. `begins` runs at the start of each transaction that is not part
        of it yet; `ends` runs before each commit. The block blocks nothing else: a thread that writes nothing holds no
        lock.
        """
        with explain_errors(self.path):
            raw = self._connection()
            self._local.held = hold = _CommitHold(begins, ends)
            try:
                yield
                if hold.has_stepped and not hold.open:  # the last step was committed before it was known to be the last
                    raw.execute("BEGIN IMMEDIATE")
                    hold.open = True
                self._end(raw, hold)
            finally:
                self._local.held = None
                if raw.in_transaction:
                    raw.execute("ROLLBACK")
        for act in hold.callbacks:
            act()

    def step(self) -> None:
        """Commit what this thread has deferred so far: one step of a long call, after which others may write."""
        hold = self._hold
        if hold is not None and hold.open:
            with explain_errors(self.path):
                self._end(self._connection(), hold)
                hold.has_stepped = True

    @contextlib.contextmanager
    def commit_separately(self) -> Iterator[None]:
        """Commit derived data in the block as usual, unless this thread has already deferred something."""
        hold = self._hold
        if hold is None or hold.is_separate:
            yield
            return
        hold.is_separate = True
        try:
            yield
        finally:
            hold.is_separate = False

    @property
    def keeps_back(self) -> bool:
        """Whether this thread has deferred writes, which no one else can see yet."""
        return self._hold is not None and self._hold.open

    def after_commit(self, act: Callable[[], None]) -> None:
        """Run `act` once this thread's deferred writes are committed; never if they are not. At once if none exist."""
        hold = self._hold
        if hold is None or not hold.open:
            act()
        else:
            hold.callbacks.append(act)

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[SqliteConnection]:
        """Read from one consistent state of the palace, regardless of concurrent writes."""
        with explain_errors(self.path):
            raw = self._connection()
            if raw.in_transaction:
                yield SqliteConnection(raw)
                return
            raw.execute("BEGIN")
            try:
                self._refuse_replaced(raw)
                yield SqliteConnection(raw)
            finally:
                if raw.in_transaction:
                    raw.execute("COMMIT")

    @contextlib.contextmanager
    def read_committed(self) -> Iterator[SqliteConnection]:
        """Read committed data, even while this thread defers writes: for results that outlive the call."""
        if not self.keeps_back:
            with self.snapshot() as connection:
                yield connection
            return
        with contextlib.closing(Database(self.path, "read", self.checked)) as own, own.snapshot() as connection:
            yield connection

    @contextlib.contextmanager
    def outside_transaction(self) -> Iterator[apsw.Connection]:
        """Return the raw connection, for the few statements that must not run inside a transaction."""
        with explain_errors(self.path):
            yield self._connection()

    def commit_without_waiting(self) -> None:
        """Let this thread's commits not wait for the disk: a power cut can only cost the work of deriving data again.

        The log keeps its order. A durable commit by another thread makes everything durable that was committed before
        it, and losses are always at the end of the log, together with the derived data's recorded position.
        """
        with explain_errors(self.path):
            palace_opening.do_not_wait(self._connection())

    def close(self) -> None:
        """Close every thread's connection."""
        with self._lock:
            self._closed = True
            for connection in self._all:
                # The last one out folds the log into the file. If that fails the next one in does it.
                with contextlib.suppress(apsw.IOError, apsw.FullError):
                    connection.close()
            self._all.clear()

    @property
    def is_replaced(self) -> bool:
        """Whether a backup was restored over the palace since it was opened here, so that it must be reopened."""
        with explain_errors(self.path):
            return palace_opening.edition(self._connection()) != self._edition

    @property
    def _hold(self) -> _CommitHold | None:
        return getattr(self._local, "held", None)

    def _follow(self, connection: SqliteConnection) -> None:
        for follower in self._before_commit:
            follower(connection)

    @contextlib.contextmanager
    def _open_savepoint(self, raw: apsw.Connection) -> Iterator[SqliteConnection]:
        """Run a transaction within the open one; it can be rolled back alone."""
        self._refuse_lost(raw)
        raw.execute("SAVEPOINT joined")
        try:
            connection = SqliteConnection(raw)
            yield connection
            self._follow(connection)
        except BaseException:
            if raw.in_transaction:  # a full disk makes SQLite take back all of it
                raw.execute("ROLLBACK TO joined")
            raise
        finally:
            if raw.in_transaction:
                raw.execute("RELEASE joined")

    def _end(self, raw: apsw.Connection, hold: _CommitHold) -> None:
        if hold.open:
            self._refuse_lost(raw)
            hold.ends(SqliteConnection(raw))
            raw.execute("COMMIT")
            hold.open = False

    def _refuse_replaced(self, raw: apsw.Connection) -> None:
        """Raise if the palace was restored meanwhile: row ids known to callers would mean other things in it."""
        if palace_opening.edition(raw) != self._edition:
            raise PalaceUnusable(
                f"A backup was restored over the palace {self.path} during this operation. Nothing more was written "
                "to it; run this again."
            )

    def _refuse_lost(self, raw: apsw.Connection) -> None:
        """Raise if SQLite rolled back by itself: the deferred writes are lost, and nothing must continue with them."""
        if not raw.in_transaction:
            raise PalaceUnusable(f"The palace {self.path} could not be written, and nothing was changed. Try again.")

    def _connection(self, creates: bool = False) -> apsw.Connection:
        existing: apsw.Connection | None = getattr(self._local, "connection", None)
        if existing is not None and not self._closed:
            return existing
        connection = palace_opening.open_file(self.path, self.mode, self.checked, self._cache_mb, creates)
        self._local.connection = connection
        with self._lock:
            self._all.append(connection)
        return connection


@contextlib.contextmanager
def explain_errors(path: Path) -> Iterator[None]:
    """Turn SQLite's own errors about the palace at `path` into sentences that say what to do."""
    try:
        yield
    except apsw.NotADBError as error:
        raise NotAPalace(
            f"The file {path} is not a palace, or its first page is destroyed, so nothing can be read from it. "
            "'palazzo backup --list' lists the backups; --palace names another palace."
        ) from error
    except apsw.CorruptError as error:
        raise NotAPalace(
            f"The file {path} is damaged or is not a palace ({error}). 'palazzo repair' recovers everything that can "
            "be read; 'palazzo backup --list' lists the backups; --palace names another palace."
        ) from error
    except apsw.FullError as error:
        raise PalaceUnusable(
            f"The disk that holds {path} is full. Acknowledged data is safe; free some space and run this again."
        ) from error
    except (apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError, apsw.AuthError) as error:
        raise PalaceUnusable(
            f"The palace {path} cannot be opened for this operation ({error}). Check its permissions, or name "
            "another with --palace."
        ) from error
    except (apsw.BusyError, apsw.LockedError) as error:
        raise PalaceLocked(
            f"Another program has locked the palace {path} and did not release it in time. Try again when that "
            "program has finished."
        ) from error
    except apsw.IOError as error:
        if page_checksums.is_mismatch(error):
            raise NotAPalace(
                f"The file {path} is damaged: a page does not match its checksum. 'palazzo verify' shows what is "
                "affected; 'palazzo repair' recovers everything that can be read."
            ) from error
        raise PalaceUnusable(
            f"The palace {path} could not be read or written ({error}). Acknowledged data is safe; check the disk "
            "and run this again."
        ) from error
