"""The tables, as a list of migrations. The palace stores the names of the applied ones.

To change the schema, add a function `mNNN_what` here and append its name to `MIGRATION_NAMES`; never edit a released
one. A palace with a name that this list lacks was written by a later Palazzo and is not touched.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Callable
from pathlib import Path

from palazzo.errors import NotAPalace, PalaceMissing, PalaceUnusable, PalazzoError, SchemaTooNew
from palazzo.store import device_rows, first_tables, foreign_rows, ledger, redaction_state, source_headings, sync_tables
from palazzo.store.database import Connection, Database
from palazzo.store.migration_names import MIGRATION_NAMES
from palazzo.store.palace_opening import APPLICATION_ID

_CREATION_TIMEOUT, _LOOK_AGAIN = 2.0, 0.02
"""Seconds to wait for a palace that another process is creating, and the polling interval."""
Migration = Callable[[Connection], None]


def m001_first(connection: Connection) -> None:
    """Create the first tables: archived content, the log and derived data."""
    for statement in first_tables.INITIAL_TABLES:
        connection.execute(statement)
    now = time.time_ns() // 1000
    connection.execute(
        "INSERT INTO device(id, uid, name, created_at) VALUES(1, ?, ?, ?)",
        (os.urandom(16), socket.gethostname(), now),
    )
    connection.execute("INSERT INTO meta(key, value) VALUES('palace', ?)", (os.urandom(16).hex(),))
    redaction_state.make_fingerprint_key(connection)


def m002_tokens(connection: Connection) -> None:
    """Create the table of the HTTP server's tokens."""
    connection.execute(
        "CREATE TABLE token(id INTEGER PRIMARY KEY, uid BLOB NOT NULL UNIQUE, name TEXT NOT NULL, scope TEXT NOT NULL,"
        " hash BLOB NOT NULL UNIQUE, created_at INTEGER NOT NULL, revoked_at INTEGER)"
    )


def m003_calls(connection: Connection) -> None:
    """Create the table of calls with an idempotency key (`store/answered_calls`)."""
    connection.execute(
        "CREATE TABLE call(key BLOB PRIMARY KEY, operation TEXT NOT NULL, asked BLOB, result TEXT, at INTEGER NOT NULL)"
    )
    connection.execute("CREATE INDEX call_at ON call(at)")


def m004_hooks(connection: Connection) -> None:
    """Create the tables of hook sessions (`store/hook_sessions`) and of the ledger of injections into them."""
    for statement in (
        "CREATE TABLE hook_session(id INTEGER PRIMARY KEY, host TEXT NOT NULL, session TEXT NOT NULL,"
        " epoch INTEGER NOT NULL, saved_at INTEGER NOT NULL, held_back INTEGER NOT NULL, noticed INTEGER NOT NULL,"
        " began_at INTEGER NOT NULL, epoch_at INTEGER NOT NULL, heard_at INTEGER NOT NULL, UNIQUE(host, session))",
        "CREATE INDEX hook_session_id ON hook_session(session)",
        "CREATE TABLE injection(id INTEGER PRIMARY KEY, session INTEGER NOT NULL REFERENCES hook_session,"
        " epoch INTEGER NOT NULL, event TEXT NOT NULL, reason TEXT NOT NULL, at INTEGER NOT NULL,"
        " tokens INTEGER NOT NULL, took INTEGER NOT NULL, hash BLOB NOT NULL, text BLOB)",
        "CREATE INDEX injection_session ON injection(session, epoch)",
        "CREATE TABLE injection_part(injection INTEGER NOT NULL REFERENCES injection, n INTEGER NOT NULL,"
        " kind TEXT NOT NULL, uid BLOB NOT NULL, PRIMARY KEY(injection, n)) WITHOUT ROWID",
        "CREATE INDEX injection_part_uid ON injection_part(uid)",
        "CREATE TABLE injection_use(injection INTEGER NOT NULL, n INTEGER NOT NULL, how TEXT NOT NULL,"
        " at INTEGER NOT NULL, PRIMARY KEY(injection, n, how)) WITHOUT ROWID",
    ):
        connection.execute(statement)


def m005_people(connection: Connection) -> None:
    """Create the table of people known from commits (`store/known_people`)."""
    connection.execute("CREATE TABLE known_person(id INTEGER PRIMARY KEY, name TEXT NOT NULL)")


def m006_mendings(connection: Connection) -> None:
    """Create the tables of past failures and their fixes (`store/failure_fixes`), and of current repeated failures."""
    for statement in (
        "CREATE TABLE mending(source INTEGER NOT NULL, n INTEGER NOT NULL, target BLOB NOT NULL,"
        " signature BLOB NOT NULL, failed_at INTEGER NOT NULL, passed_at INTEGER, PRIMARY KEY(source, n))"
        " WITHOUT ROWID",
        "CREATE INDEX mending_target ON mending(target)",
        "CREATE INDEX mending_signature ON mending(signature)",
        "CREATE TABLE mending_place(source INTEGER NOT NULL, n INTEGER NOT NULL, m INTEGER NOT NULL,"
        " kind TEXT NOT NULL, item INTEGER NOT NULL, start INTEGER NOT NULL, end INTEGER NOT NULL,"
        " PRIMARY KEY(source, n, m)) WITHOUT ROWID",
        "CREATE TABLE hook_failure(session INTEGER NOT NULL REFERENCES hook_session, target BLOB NOT NULL,"
        " count INTEGER NOT NULL, last INTEGER NOT NULL, PRIMARY KEY(session, target)) WITHOUT ROWID",
    ):
        connection.execute(statement)


def m007_uses(connection: Connection) -> None:
    """Create the totals of injections and uses (`store/use_totals`), and how far sessions were searched for uses."""
    for statement in (
        "CREATE TABLE told_tally(uid BLOB PRIMARY KEY, told INTEGER NOT NULL, used INTEGER NOT NULL,"
        " unused INTEGER NOT NULL) WITHOUT ROWID",
        "CREATE TABLE used_together(one BLOB NOT NULL, other BLOB NOT NULL, sessions INTEGER NOT NULL,"
        " last INTEGER NOT NULL, PRIMARY KEY(one, other)) WITHOUT ROWID",
        "CREATE INDEX used_together_last ON used_together(last)",
        "CREATE TABLE looked_through(session INTEGER NOT NULL REFERENCES hook_session, source INTEGER NOT NULL,"
        " item INTEGER NOT NULL, PRIMARY KEY(session, source)) WITHOUT ROWID",
    ):
        connection.execute(statement)
    ledger.count_anew(connection)  # of what was told and used before there were sums of it


def m008_counts(connection: Connection) -> None:
    """Create the counts of hooks (`store/human_counts`), and the index by which they read new items."""
    for statement in (
        "CREATE TABLE human_count(session INTEGER NOT NULL REFERENCES hook_session, source INTEGER NOT NULL,"
        " humans INTEGER NOT NULL, item INTEGER NOT NULL, PRIMARY KEY(session, source)) WITHOUT ROWID",
        "CREATE INDEX item_source ON item(source)",
    ):
        connection.execute(statement)


def m009_anchors(connection: Connection) -> None:
    """Create the table of files that drawers and facts cite (`store/anchors`)."""
    anchor_columns = (
        "path TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, digest BLOB NOT NULL,"
        " lines INTEGER NOT NULL, blob BLOB NOT NULL"
    )
    for statement in (
        f"CREATE TABLE anchor(id INTEGER PRIMARY KEY, drawer INTEGER NOT NULL, {anchor_columns}, how TEXT NOT NULL)",
        "CREATE INDEX anchor_path ON anchor(path)",
        "CREATE INDEX anchor_drawer ON anchor(drawer)",
        # Of one who states a fact (`fact_source`): derived of nothing, it is truth.
        "CREATE TABLE fact_anchor(id INTEGER PRIMARY KEY, version INTEGER NOT NULL REFERENCES fact_version,"
        f" n INTEGER NOT NULL, {anchor_columns})",
        "CREATE INDEX fact_anchor_version ON fact_anchor(version, n)",
        "CREATE INDEX fact_anchor_path ON fact_anchor(path)",
    ):
        connection.execute(statement)


def m010_fact_trust(connection: Connection) -> None:
    """Store the trust of each source of a fact, and index external content.

    `tainted_by` are the ids of untrusted items that the stating session had met: a JSON list.
    """
    for statement in (
        "ALTER TABLE fact_source ADD COLUMN trust TEXT NOT NULL DEFAULT 'agent'",
        "ALTER TABLE fact_source ADD COLUMN tainted_by TEXT NOT NULL DEFAULT '[]'",
        "UPDATE fact_source SET trust = 'user' WHERE stated_by = 'user'",
        "CREATE INDEX fact_source_external ON fact_source(version) WHERE trust = 'external'",
        "CREATE INDEX drawer_external ON drawer(kind) WHERE trust = 'external'",
    ):
        connection.execute(statement)


def m011_outside(connection: Connection) -> None:
    """Create the tables of untrusted content in sessions, and of what was said after it (`store/taint_rows`)."""
    for statement in (
        "CREATE TABLE outside(item INTEGER NOT NULL, start INTEGER NOT NULL, kind TEXT NOT NULL, name BLOB NOT NULL,"
        " source INTEGER NOT NULL, PRIMARY KEY(item, start, kind, name)) WITHOUT ROWID",
        "CREATE INDEX outside_source ON outside(source, kind)",
        "CREATE INDEX outside_name ON outside(name) WHERE name <> x''",
    ):
        connection.execute(statement)


def m012_fact_branch(connection: Connection) -> None:
    """Store the branch and commit of each source of a fact, if no item provides them."""
    connection.execute("ALTER TABLE fact_source ADD COLUMN branch TEXT NOT NULL DEFAULT ''")
    connection.execute("ALTER TABLE fact_source ADD COLUMN commit_id TEXT NOT NULL DEFAULT ''")


def m013_exchange(connection: Connection) -> None:
    """Add the tables for exchange between palaces (`store/sync_tables`)."""
    sync_tables.create(connection)


def m014_dead_letters(connection: Connection) -> None:
    """Create the table of dead letters (`store/dead_letters`)."""
    connection.execute(
        "CREATE TABLE dead_letter(id INTEGER PRIMARY KEY, consumer TEXT NOT NULL, thing INTEGER NOT NULL,"
        " label TEXT NOT NULL, version INTEGER NOT NULL, error TEXT NOT NULL, at INTEGER NOT NULL,"
        " release TEXT NOT NULL, UNIQUE(consumer, thing))"
    )


def m015_foreign(connection: Connection) -> None:
    """Create the tables of rows from other people's exports and of variants (`store/foreign_rows`)."""
    for statement in foreign_rows.TABLES:
        connection.execute(statement)


def m016_sync_devices(connection: Connection) -> None:
    """Create the tables of devices, their keys and their rights (`store/device_rows`)."""
    for statement in device_rows.TABLES:
        connection.execute(statement)


def m017_done_here(connection: Connection) -> None:
    """Record which groups were made in this palace: their rows are in the order in which they were made."""
    connection.execute("ALTER TABLE change_group ADD COLUMN here INTEGER NOT NULL DEFAULT 0")


def m018_source_headings(connection: Connection) -> None:
    """Create the table of the drawers that are found by their source's title (`store/source_headings`)."""
    for statement in source_headings.TABLES:
        connection.execute(statement)


def m019_live_counts(connection: Connection) -> None:
    """Create the indexes with which live drawers are counted by room, and items without noise."""
    for statement in (
        "CREATE INDEX drawer_live ON drawer(room, created_at) WHERE retired_at IS NULL",
        "CREATE INDEX item_noise ON item(id) WHERE kind = 'noise'",
    ):
        connection.execute(statement)


def m020_heading_vectors(connection: Connection) -> None:
    """Add the hashes under which vectors of titles, directories and paths are stored (`store/source_headings`)."""
    for statement in source_headings.VECTOR_COLUMNS:
        connection.execute(statement)


MIGRATIONS: list[Migration] = [globals()[name] for name in MIGRATION_NAMES]


def migrate(database: Database, version: int | None = None) -> None:
    """Migrate the palace to this schema, or refuse it; concurrent callers apply each step once.

    With a `version` only the steps up to it are applied: the schema of an earlier release.
    """
    migrations = MIGRATIONS[:version]
    with database.snapshot() as connection:
        step_names = _read_step_names(connection, database)
    if all(step.__name__ in step_names for step in migrations):
        return
    if not step_names:
        with database.transaction() as connection:  # a new palace is there at once, or not at all
            if not _read_step_names(connection, database):
                connection.execute("CREATE TABLE migration(name TEXT PRIMARY KEY, applied_at INTEGER) WITHOUT ROWID")
                connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
                for step in migrations:
                    _apply_step(connection, step)
    for step in migrations:
        with database.transaction() as connection:
            if step.__name__ not in _read_step_names(connection, database):
                _apply_step(connection, step)


def _apply_step(connection: Connection, step: Migration) -> None:
    step(connection)
    migration_row = (step.__name__, time.time_ns() // 1000)
    connection.execute("INSERT INTO migration(name, applied_at) VALUES(?, ?)", migration_row)


def migrate_older(database: Database) -> None:
    """Migrate a palace of an earlier Palazzo, if it can be written; `database` may be open for reading."""
    if is_older(database):
        with contextlib.suppress(PalaceUnusable), contextlib.closing(Database(database.path)) as writable:
            migrate(writable)


def is_older(database: Database) -> bool:
    """Whether an earlier Palazzo release wrote the palace."""
    return 0 < len(_missing(database)) < len(MIGRATIONS)


def is_current(database: Database) -> bool:
    """Whether the palace has every migration of this release."""
    return not _missing(database)


def is_created(path: Path, seconds: float = _CREATION_TIMEOUT) -> bool:
    """Whether the file at `path` has a schema; without one, wait `seconds` for a process that is creating the palace.

    A creation that was cut off leaves a file without a schema.
    """
    try:
        with contextlib.closing(Database(path, "read")) as database:
            check(database, seconds)
    except PalaceMissing:
        return False
    except PalazzoError:  # whoever opens the palace gets the error
        return True
    return True


def check(database: Database, seconds: float = _CREATION_TIMEOUT) -> None:
    """Raise unless the palace has exactly the schema that this Palazzo release reads.

    If the schema is empty, another process is creating the palace, which takes a moment; wait `seconds` for it.
    """
    deadline = time.monotonic() + seconds
    while len(missing := _missing(database)) == len(MIGRATIONS):
        if time.monotonic() > deadline:
            raise PalaceMissing(f"{database.path} is empty. Fill it with 'palazzo mine DIR'.")
        time.sleep(_LOOK_AGAIN)
    if missing:
        raise NotAPalace(
            f"{database.path} holds an older or unfinished palace (it lacks {missing[0]}). Run 'palazzo status' once "
            "with write access to it, which updates it."
        )


def objects(steps: int | None = None) -> list[tuple[str, str, str, str | None]]:
    """Return the objects of this schema, or of its first `steps` migrations: (kind, name, table, SQL)."""
    import apsw

    from palazzo.store.database import SqliteConnection

    with contextlib.closing(apsw.Connection(":memory:")) as raw:
        connection = SqliteConnection(raw)
        connection.execute("CREATE TABLE migration(name TEXT PRIMARY KEY, applied_at INTEGER) WITHOUT ROWID")
        for step in MIGRATIONS[:steps]:
            step(connection)
        rows = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY rowid")
        return [(str(kind), str(name), str(table), sql) for kind, name, table, sql in rows]


def version(connection: Connection) -> int:
    """Return the number of migrations applied to the palace."""
    return int(next(connection.execute("SELECT count(*) FROM migration"))[0])


def _missing(database: Database) -> list[str]:
    with database.snapshot() as connection:
        step_names = _read_step_names(connection, database)
    return [step.__name__ for step in MIGRATIONS if step.__name__ not in step_names]


def _read_step_names(connection: Connection, database: Database) -> set[str]:
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    if "migration" not in tables:
        if tables:
            raise NotAPalace(
                f"{database.path} is a SQLite file of another program, not a palace. Name another with --palace."
            )
        return set()
    (application,) = next(connection.execute("PRAGMA application_id"))
    if application != APPLICATION_ID:
        raise NotAPalace(
            f"{database.path} is a SQLite file of another program, not a palace. Name another with --palace."
        )
    step_names = {str(name) for (name,) in connection.execute("SELECT name FROM migration")}
    later_steps = sorted(step_names - {step.__name__ for step in MIGRATIONS})
    if later_steps:
        raise SchemaTooNew(
            f"{database.path} was written by a later Palazzo ({later_steps[-1]}). It was left unchanged; upgrade "
            "with 'pip install --upgrade palazzo'."
        )
    return step_names
