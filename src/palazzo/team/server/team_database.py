"""The team's database: connections to PostgreSQL, and the role that the server may have there.

Every transaction says for whom it runs (`team_schema`): a person, a worker with a leased wing, or the server itself.
The setting is local to the transaction, so a connection that goes back to the pool carries nothing over.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from typing import Any

import psycopg
from psycopg import Connection
from psycopg_pool import ConnectionPool, PoolTimeout

from palazzo.errors import PalazzoError
from palazzo.frozen_class import frozen
from palazzo.team.server import team_schema

PATIENCE = 10.0
"""Seconds to wait for a connection: a request that waits longer should fail, and be repeated by its client."""
OLDEST_SERVER = 15
_WING_LOCKS = 7_305
"""The first half of the advisory locks of wings: any constant that nothing else in the database uses."""
Session = Connection[Any]
logging.getLogger("psycopg.pool").setLevel(logging.ERROR)  # it warns of what the error says that follows


class DatabaseUnusable(PalazzoError):
    """PostgreSQL cannot be reached, or its role has the wrong rights."""


class TeamDatabase:
    """A pool of connections to one database. Threads may share it; close it, or use `with`."""

    def __init__(self, url: str, most_connections: int = 8) -> None:
        self._url = url
        self._pool = ConnectionPool(
            url, min_size=0, max_size=most_connections, timeout=PATIENCE, open=False, kwargs={"autocommit": True}
        )

    def __enter__(self) -> TeamDatabase:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self._pool.close()

    def prepare(self) -> int:
        """Check the role and the server, and migrate; return how many migrations ran. Raises DatabaseUnusable."""
        with _explain_errors(), self._open() as connection:
            problems = find_problems(connection)
            if problems:
                raise DatabaseUnusable(problems[0])
            return team_schema.migrate(connection)

    @contextlib.contextmanager
    def examining(self) -> Iterator[Session]:
        """Give a connection that sees the catalogue and no rows, whatever the role may do. Raises DatabaseUnusable."""
        with _explain_errors(), self._open() as connection:
            yield connection

    def _open(self) -> Session:
        """Connect outside the pool, which would only say that it had waited."""
        try:
            return psycopg.connect(self._url, autocommit=True, connect_timeout=int(PATIENCE))
        except psycopg.ProgrammingError:
            raise DatabaseUnusable(
                "That is not the address of a PostgreSQL database: write postgresql://ROLE@HOST/DATABASE."
            ) from None

    @contextlib.contextmanager
    def as_person(self, person: int) -> Iterator[Session]:
        """Run a transaction that sees only the wings of a person."""
        with self._session("palazzo.person", str(person)) as session:
            yield session

    @contextlib.contextmanager
    def as_reader(self, person: int) -> Iterator[Session]:
        """Run a transaction that sees only the wings of a person, all of it as of one moment."""
        with self._session("palazzo.person", str(person), is_snapshot=True) as session:
            yield session

    @contextlib.contextmanager
    def hold_wing(self, wing: int) -> Iterator[HeldWing | None]:
        """Lease a wing to this caller, as long as the block and its connection last; None if another has it.

        PostgreSQL ends the lease of a process that is killed, and what is written in a lease goes over its connection:
        a caller that lost the lease can write nothing.
        """
        with self._connect() as connection:
            row = connection.execute("SELECT pg_try_advisory_lock(%s, %s)", (_WING_LOCKS, wing)).fetchone()
            if row is None or not row[0]:
                yield None
                return
            try:
                yield HeldWing(connection, wing)
            finally:
                if not connection.broken:
                    connection.execute("SELECT pg_advisory_unlock(%s, %s)", (_WING_LOCKS, wing))

    @contextlib.contextmanager
    def as_server(self) -> Iterator[Session]:
        """Run a transaction of the server itself, which sees accounts and no text."""
        with self._session("palazzo.control", "on") as session:
            yield session

    @contextlib.contextmanager
    def _session(self, setting: str = "", value: str = "", is_snapshot: bool = False) -> Iterator[Session]:
        with self._connect() as connection, connection.transaction():
            if is_snapshot:
                connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            if setting:
                connection.execute("SELECT set_config(%s, %s, true)", (setting, value))
            yield connection

    @contextlib.contextmanager
    def _connect(self) -> Iterator[Session]:
        with _explain_errors():
            self._pool.open()
            with self._pool.connection() as connection:
                yield connection


@contextlib.contextmanager
def _explain_errors() -> Iterator[None]:
    """Raise DatabaseUnusable where PostgreSQL is away, or the role lacks a right."""
    try:
        yield
    except (psycopg.OperationalError, PoolTimeout) as error:
        reason = str(error).strip().splitlines()
        raise DatabaseUnusable(
            f"The team's database does not answer ({reason[0] if reason else type(error).__name__}): check that "
            "PostgreSQL runs and that the address is right."
        ) from error
    except psycopg.errors.InsufficientPrivilege as error:
        raise DatabaseUnusable(
            f"The role of the team server lacks a right in its database ({error.diag.message_primary}): let it own the "
            "database, without being a superuser."
        ) from error


@contextlib.contextmanager
def with_accounts(session: Session) -> Iterator[None]:
    """Let the statements of a block see accounts, too, in a transaction of a person or a worker."""
    session.execute("SELECT set_config('palazzo.control', 'on', true)")
    yield  # without `finally`: a transaction that failed forgets the setting, and takes no further statement
    session.execute("SELECT set_config('palazzo.control', '', true)")


@frozen
class HeldWing:
    """A wing that one worker holds, over one connection."""

    connection: Session
    wing: int

    @contextlib.contextmanager
    def transaction(self) -> Iterator[Session]:
        """Run a transaction that sees and writes only this wing."""
        with self.connection.transaction():
            self.connection.execute("SELECT set_config('palazzo.wing', %s, true)", (str(self.wing),))
            yield self.connection


def find_problems(session: Session) -> list[str]:
    """Return what is wrong with the role or the server, one sentence each; none if the server may run.

    Row-level security does not bind a superuser, nor a role with BYPASSRLS.
    """
    problems = []
    row = session.execute("SELECT rolsuper, rolbypassrls FROM pg_roles WHERE rolname = current_user").fetchone()
    is_superuser, bypasses = row if row is not None else (False, False)
    for is_wrong, right in ((is_superuser, "is a superuser"), (bypasses and not is_superuser, "has BYPASSRLS")):
        if is_wrong:
            problems.append(
                f"The role of the team server {right}, so row-level security would not bind it: create a role "
                "without that, and let it own the database."
            )
    version = session.info.server_version // 10_000
    if version < OLDEST_SERVER:
        problems.append(f"PostgreSQL {version} is too old: the team server needs {OLDEST_SERVER} or later.")
    return problems
