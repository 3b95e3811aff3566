"""The seam between the engine and SQLite: open, transact, execute.

One connection per thread on APSW's own SQLite. Writers take the write lock at once (`BEGIN IMMEDIATE`), so a
transaction never fails half-way for another writer, and waiting is hidden in the busy handler. Readers see
one snapshot. `before_commit` lets derived data follow truth inside the same transaction. `held` makes one of
all transactions of a call.
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

from palazzo.errors import NotAPalace, PalaceMissing, PalaceUnusable
from palazzo.model import Micros
from palazzo.store import filesystem, page_checksums, palace_opening
from palazzo.store.palace_opening import Mode

Value = str | bytes | int | float | None
DatabaseError = apsw.Error
"""Any error of SQLite."""
ValueRefused = (apsw.ConstraintError, apsw.MismatchError, apsw.TooBigError)
"""Errors of SQLite that are due to the values of a statement."""


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
        return [str(token_group[0]) for token_group in tokens]

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


@dataclass(slots=True)
class _CommitHold:
    """What one thread keeps back; see `Database.held`."""

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
    ) -> None:
        """Open `path`. A `checked` database compares every page that it reads with its checksum.

        Each thread's connection keeps up to `cache_mb` of pages.
        """
        self.path, self.mode, self.checked, self._cache_mb = path, mode, compares_checksums, cache_mb
        self.redacts = True
        """Whether the archive's door takes secrets out of what is filed through here; the user alone says no."""
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
            raise PalaceMissing(
                f"There is no palace at {path} yet. Feed it with 'palazzo mine DIR', or name another with --palace."
            )
        with explain_errors(path):
            self._edition = palace_opening.edition(self._connection())

    def before_commit(self, follower: Follower) -> None:
        """Run `follower` at the end of every write transaction, while it can still be rolled back."""
        self._before_commit.append(follower)

    @contextlib.contextmanager
    def transaction(self) -> Iterator[SqliteConnection]:
        """Hold the write lock for the block; commit what it did, or nothing if it raised.

        Where the thread keeps back what it writes (`held`), that is what happens instead of the commit.
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
        """Keep back what this thread writes in the block; commit all of it at the end, or nothing if it raised.

        The first transaction that writes anything is not committed when it ends: the lock stays held, later
        transactions join that one, and snapshots read in it. `begins` runs at the start of each that is not part of it
        yet; `ends` before each commit. Nothing else is in the block's way: who writes nothing holds no lock.
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
        """Commit what this thread has kept back so far: one step of a long call, behind which others may write."""
        hold = self._hold
        if hold is not None and hold.open:
            with explain_errors(self.path):
                self._end(self._connection(), hold)
                hold.has_stepped = True

    @contextlib.contextmanager
    def commit_separately(self) -> Iterator[None]:
        """Let what is derived in the block be committed as ever, unless this thread has already kept back something."""
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
        """Whether this thread has written something that it keeps back: nobody else sees it yet."""
        return self._hold is not None and self._hold.open

    def after_commit(self, act: Callable[[], None]) -> None:
        """Run `act` once what this thread keeps back is committed; never if it is not. At once if there is nothing."""
        hold = self._hold
        if hold is None or not hold.open:
            act()
        else:
            hold.callbacks.append(act)

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[SqliteConnection]:
        """Read from one state of the palace, whatever others write meanwhile."""
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
        """Read what is committed, also while this thread keeps something back: for what outlives the call."""
        if not self.keeps_back:
            with self.snapshot() as connection:
                yield connection
            return
        with contextlib.closing(Database(self.path, "read", self.checked)) as own, own.snapshot() as connection:
            yield connection

    @contextlib.contextmanager
    def outside_transaction(self) -> Iterator[apsw.Connection]:
        """Give the bare connection, for the few statements that must not run inside a transaction."""
        with explain_errors(self.path):
            yield self._connection()

    def commit_without_waiting(self) -> None:
        """Let this thread's commits not wait for the disk: of what is derived, all that a power cut can take is work.

        The log keeps its order. What somebody else commits durably makes all durable that was committed before it, and
        what is lost is lost from the end, together with the note of how far the derived data had come.
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
        """Whether a backup was restored over the palace since it was opened here: it has to be opened anew."""
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
        """A transaction within the one that is kept open; what it did is taken back alone."""
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
        """Row ids that somebody still knows mean something else in a palace that was restored meanwhile."""
        if palace_opening.edition(raw) != self._edition:
            raise PalaceUnusable(
                f"A backup was restored over the palace {self.path} while this was going on. Nothing more was written "
                "to it; run this again."
            )

    def _refuse_lost(self, raw: apsw.Connection) -> None:
        """What was kept back is gone once SQLite has rolled back by itself; nothing must go on as if it were there."""
        if not raw.in_transaction:
            raise PalaceUnusable(f"The palace {self.path} could not be written, and nothing was. Try again.")

    def _connection(self) -> apsw.Connection:
        existing: apsw.Connection | None = getattr(self._local, "connection", None)
        if existing is not None and not self._closed:
            return existing
        connection = palace_opening.open_file(self.path, self.mode, self.checked, self._cache_mb)
        self._local.connection = connection
        with self._lock:
            self._all.append(connection)
        return connection


@contextlib.contextmanager
def explain_errors(path: Path) -> Iterator[None]:
    """Turn SQLite's own errors about the palace at `path` into sentences that say what to do."""
    try:
        yield
    except (apsw.NotADBError, apsw.CorruptError) as error:
        raise NotAPalace(
            f"The file {path} is damaged or is not a palace ({error}). 'palazzo repair' brings back all of it that can "
            "be read; 'palazzo backup --list' says which backups there are; --palace names another palace."
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
            f"Another program has locked the palace {path} and did not release it in time. Try again when it is done."
        ) from error
    except apsw.IOError as error:
        if page_checksums.is_mismatch(error):
            raise NotAPalace(
                f"The file {path} is damaged: a page is not what its checksum says. 'palazzo verify' says what is "
                "affected; 'palazzo repair' brings back all that can be read."
            ) from error
        raise PalaceUnusable(
            f"The palace {path} could not be read or written ({error}). What was acknowledged is safe; "
            "check the disk and run it again."
        ) from error
