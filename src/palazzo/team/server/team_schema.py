"""The team's schema in PostgreSQL: migrations, and row-level security.

    person, device, token, quota, audit     control tables: seen only by sessions of the server itself
    wing, member                            seen by a wing's members
    segment, head                           primary data: what devices sent, and how far each has come
    owned                                   whose each item is: the first person who sent it
    drawer, posting, length, passage        derived by the worker; rebuilt from the segments
    erasure, notice, scratch                what was withdrawn, who was asked to remove it, which machines had it
    approval                                notes of agents that a person has read and found right
    identity, used_id_token                 who signs on as whom, and ID tokens that were exchanged, until they expire

Three settings, local to a transaction, say for whom it runs: `palazzo.person`, `palazzo.wing` (the wing that a worker
holds) and `palazzo.control`. The policies read them, and FORCE ROW LEVEL SECURITY binds the owner of the tables,
too. They are a second wall: each query also names the wings that it means.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, LiteralString

from psycopg import Connection, sql

from palazzo.errors import PalazzoError

Migration = Callable[[Connection[Any]], None]
PARTITIONS = 8
"""Partitions of the derived tables, by hash of the wing: enough for several hundred wings on one server."""
_LOCK = 7_305_209_611
"""The advisory lock of migrations: any constant that nothing else in the database uses."""

_TABLES = """
CREATE TABLE team.person(
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE CHECK (name <> ''),
  created_at timestamptz NOT NULL DEFAULT now(),
  left_at timestamptz);
CREATE TABLE team.device(
  uid bytea PRIMARY KEY CHECK (length(uid) = 16),
  person int NOT NULL REFERENCES team.person,
  public_key bytea NOT NULL CHECK (length(public_key) = 32),
  name text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now());
CREATE TABLE team.token(
  hash bytea PRIMARY KEY,
  person int NOT NULL REFERENCES team.person,
  device bytea REFERENCES team.device,
  scope text NOT NULL CHECK (scope IN ('join', 'member')),
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  revoked_at timestamptz);
CREATE TABLE team.quota(
  person int NOT NULL REFERENCES team.person, day date NOT NULL, bytes bigint NOT NULL, PRIMARY KEY (person, day));
CREATE TABLE team.wing(
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  uid bytea NOT NULL UNIQUE CHECK (length(uid) = 16),
  name text NOT NULL CHECK (name <> ''),
  key bytea NOT NULL CHECK (length(key) = 32),
  created_at timestamptz NOT NULL DEFAULT now(),
  generation int NOT NULL DEFAULT 1,
  changed bigint NOT NULL DEFAULT 0,
  built bigint NOT NULL DEFAULT 0);
CREATE TABLE team.member(
  person int NOT NULL REFERENCES team.person,
  wing int NOT NULL REFERENCES team.wing ON DELETE CASCADE,
  role text NOT NULL CHECK (role IN ('reader', 'writer', 'maintainer', 'owner')),
  PRIMARY KEY (person, wing));
CREATE INDEX ON team.member(wing);
CREATE TABLE team.segment(
  seq bigint GENERATED ALWAYS AS IDENTITY,
  wing int NOT NULL REFERENCES team.wing ON DELETE CASCADE,
  device bytea NOT NULL REFERENCES team.device,
  person int NOT NULL REFERENCES team.person,
  epoch int NOT NULL,
  n int NOT NULL,
  hash text NOT NULL,
  content bytea NOT NULL,
  at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (wing, device, epoch, n));
ALTER TABLE team.segment ALTER COLUMN content SET STORAGE EXTERNAL;
CREATE TABLE team.head(
  wing int NOT NULL REFERENCES team.wing ON DELETE CASCADE,
  device bytea NOT NULL REFERENCES team.device,
  epoch int NOT NULL, n int NOT NULL, hash text NOT NULL,
  PRIMARY KEY (wing, device));
CREATE TABLE team.owned(
  wing int NOT NULL REFERENCES team.wing ON DELETE CASCADE,
  item bytea NOT NULL, person int NOT NULL REFERENCES team.person,
  PRIMARY KEY (wing, item));
CREATE TABLE team.audit(
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT now(),
  person int REFERENCES team.person,
  verb text NOT NULL,
  wing int,
  detail text NOT NULL DEFAULT '');
CREATE INDEX ON team.audit(wing, id);
CREATE TABLE team.drawer(
  wing int NOT NULL, slot int NOT NULL, uid bytea NOT NULL, digest bytea NOT NULL,
  person int NOT NULL, trust text NOT NULL, kind text NOT NULL, role text NOT NULL, author text NOT NULL,
  room text NOT NULL, title text NOT NULL, branch text NOT NULL, created_at bigint NOT NULL, body text NOT NULL,
  PRIMARY KEY (wing, slot), UNIQUE (wing, uid)) PARTITION BY HASH (wing);
CREATE TABLE team.posting(
  wing int NOT NULL, term text NOT NULL, block int NOT NULL, n int NOT NULL, slots bytea NOT NULL,
  counts bytea NOT NULL, PRIMARY KEY (wing, term, block)) PARTITION BY HASH (wing);
CREATE TABLE team.length(
  wing int NOT NULL, block int NOT NULL, lengths bytea NOT NULL,
  PRIMARY KEY (wing, block)) PARTITION BY HASH (wing);
CREATE TABLE team.passage(
  wing int NOT NULL, slot int NOT NULL, part int NOT NULL, embedder text NOT NULL, scale real NOT NULL,
  code bytea NOT NULL, PRIMARY KEY (wing, slot, part)) PARTITION BY HASH (wing);
"""
_FUNCTIONS = """
CREATE FUNCTION team.current_person() RETURNS int LANGUAGE sql STABLE AS
 $$ SELECT nullif(current_setting('palazzo.person', true), '')::int $$;
CREATE FUNCTION team.held_wing() RETURNS int LANGUAGE sql STABLE AS
 $$ SELECT nullif(current_setting('palazzo.wing', true), '')::int $$;
CREATE FUNCTION team.is_control() RETURNS boolean LANGUAGE sql STABLE AS
 $$ SELECT coalesce(current_setting('palazzo.control', true), '') = 'on' $$;
CREATE FUNCTION team.readable_wings() RETURNS int[] LANGUAGE sql STABLE AS
 $$ SELECT coalesce(array_agg(member.wing), '{}') || coalesce(ARRAY[team.held_wing()], '{}')
    FROM team.member WHERE member.person = team.current_person() $$;
CREATE FUNCTION team.writable_wings() RETURNS int[] LANGUAGE sql STABLE AS
 $$ SELECT coalesce(array_agg(member.wing), '{}') || coalesce(ARRAY[team.held_wing()], '{}')
    FROM team.member WHERE member.person = team.current_person() AND member.role <> 'reader' $$;
"""
CONTROL_TABLES = ("person", "device", "token", "quota", "audit")
WING_TABLES = ("segment", "head", "owned")
_CHANGES: tuple[LiteralString, ...] = ("INSERT", "UPDATE", "DELETE")
DERIVED_TABLES = ("drawer", "posting", "length", "passage")


def _m001_schema(connection: Connection[Any]) -> None:
    connection.execute(_TABLES)
    connection.execute(_FUNCTIONS)
    for table in DERIVED_TABLES:
        for part in range(PARTITIONS):
            connection.execute(
                sql.SQL("CREATE TABLE {} PARTITION OF {} FOR VALUES WITH (MODULUS {}, REMAINDER {})").format(
                    sql.Identifier("team", f"{table}_{part}"), sql.Identifier("team", table), PARTITIONS, part
                )
            )
    for table in CONTROL_TABLES:
        _set_policy(connection, table, "ALL", "team.is_control()")
    _set_policy(connection, "member", "ALL", "team.is_control() OR person = team.current_person()")
    _set_policy(connection, "wing", "ALL", "team.is_control() OR id = ANY ((SELECT team.readable_wings())::int[])")
    for table in (*WING_TABLES, *DERIVED_TABLES):
        _set_policy(connection, table, "SELECT", "wing = ANY ((SELECT team.readable_wings())::int[])")
    for table in WING_TABLES:
        for verb in _CHANGES:
            _set_policy(connection, table, verb, "wing = ANY ((SELECT team.writable_wings())::int[])")
    for table in DERIVED_TABLES:
        for verb in _CHANGES:
            _set_policy(connection, table, verb, "wing = team.held_wing()")


def _set_policy(connection: Connection[Any], table: str, verb: LiteralString, condition: LiteralString) -> None:
    """Add a policy for one verb. Both the rows that it finds and the rows that it makes must fulfil the condition."""
    name = sql.Identifier("team", table)
    checks = [] if verb == "INSERT" else [sql.SQL("USING ({})").format(sql.SQL(condition))]
    if verb in ("INSERT", "UPDATE", "ALL"):
        checks.append(sql.SQL("WITH CHECK ({})").format(sql.SQL(condition)))
    connection.execute(sql.SQL("ALTER TABLE {} ENABLE ROW LEVEL SECURITY").format(name))
    connection.execute(sql.SQL("ALTER TABLE {} FORCE ROW LEVEL SECURITY").format(name))
    statement = sql.SQL("CREATE POLICY {} ON {} FOR {} {}")
    connection.execute(statement.format(sql.Identifier(verb.lower()), name, sql.SQL(verb), sql.SQL(" ").join(checks)))


_ERASURE_TABLES = """
CREATE TABLE team.erasure(
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  wing int NOT NULL,
  person int NOT NULL REFERENCES team.person,
  device bytea NOT NULL REFERENCES team.device,
  generation int NOT NULL,
  segments text[] NOT NULL,
  bytes bigint NOT NULL,
  asked_at timestamptz NOT NULL DEFAULT now(),
  drawers bytea[],
  rows_at timestamptz,
  heap_at timestamptz,
  log_position pg_lsn,
  backups_until date);
CREATE INDEX ON team.erasure(wing);
CREATE TABLE team.notice(
  erasure bigint NOT NULL REFERENCES team.erasure,
  device bytea NOT NULL REFERENCES team.device,
  acknowledged_at timestamptz,
  PRIMARY KEY (device, erasure));
CREATE TABLE team.scratch(
  directory bytea NOT NULL, wing int NOT NULL, machine text NOT NULL, generation int NOT NULL,
  PRIMARY KEY (directory, wing));
"""


def _m002_erasures(connection: Connection[Any]) -> None:
    connection.execute(_ERASURE_TABLES)
    writable = "team.is_control() OR wing = ANY ((SELECT team.writable_wings())::int[])"
    _set_policy(connection, "erasure", "ALL", writable)
    for table in ("notice", "scratch"):
        _set_policy(connection, table, "ALL", "team.is_control()")


_SIGN_ON_TABLES = """
ALTER TABLE team.person ADD COLUMN login text UNIQUE;
CREATE TABLE team.identity(
  issuer text NOT NULL, subject text NOT NULL, person int NOT NULL REFERENCES team.person,
  PRIMARY KEY (issuer, subject), UNIQUE (person, issuer));
CREATE TABLE team.used_id_token(digest bytea PRIMARY KEY, accepted_until timestamptz NOT NULL);
"""


def _m003_sign_on(connection: Connection[Any]) -> None:
    connection.execute(_SIGN_ON_TABLES)
    for table in ("identity", "used_id_token"):
        _set_policy(connection, table, "ALL", "team.is_control()")


_POSITIONS = """
ALTER TABLE team.drawer ADD COLUMN source bigint NOT NULL DEFAULT 0, ADD COLUMN thread bigint NOT NULL DEFAULT 0,
  ADD COLUMN ordinal bigint NOT NULL DEFAULT 0, ADD COLUMN start int NOT NULL DEFAULT 0,
  ADD COLUMN size int NOT NULL DEFAULT 0, ADD COLUMN marks int NOT NULL DEFAULT 0;
CREATE INDEX ON team.drawer(wing, thread, ordinal, start, slot);
CREATE INDEX ON team.drawer(wing, source);
CREATE INDEX ON team.drawer(wing, created_at) WHERE kind = 'note';
"""


def _m004_positions(connection: Connection[Any]) -> None:
    """Add where drawers stand in their sources. Workers write the rows of all wings again; the search goes on."""
    connection.execute(_POSITIONS)
    connection.execute("SELECT set_config('palazzo.control', 'on', true)")
    connection.execute("UPDATE team.wing SET built = -1")


_APPROVALS = """
CREATE TABLE team.approval(
  wing int NOT NULL REFERENCES team.wing ON DELETE CASCADE,
  drawer bytea NOT NULL CHECK (length(drawer) = 16),
  device bytea NOT NULL REFERENCES team.device,
  by_maintainer boolean NOT NULL,
  person int NOT NULL REFERENCES team.person,
  digest bytea NOT NULL CHECK (length(digest) = 16),
  is_revoked boolean NOT NULL DEFAULT false,
  change bigint NOT NULL,
  PRIMARY KEY (wing, drawer, device, by_maintainer));
"""


def _m005_approvals(connection: Connection[Any]) -> None:
    connection.execute(_APPROVALS)
    _set_policy(connection, "approval", "SELECT", "wing = ANY ((SELECT team.readable_wings())::int[])")
    for verb in _CHANGES:
        _set_policy(connection, "approval", verb, "wing = ANY ((SELECT team.writable_wings())::int[])")


MIGRATIONS: tuple[tuple[str, Migration], ...] = (
    ("schema", _m001_schema),
    ("erasures", _m002_erasures),
    ("sign_on", _m003_sign_on),
    ("positions", _m004_positions),
    ("approvals", _m005_approvals),
)
"""Appended to; a released one is never edited."""


def migrate(connection: Connection[Any]) -> int:
    """Bring the schema up to date, in one transaction and under a lock; return how many migrations ran.

    Servers that start together wait for one another. Raises PalazzoError if a newer Palazzo made the schema.
    """
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        connection.execute("CREATE SCHEMA IF NOT EXISTS team")
        connection.execute(
            "CREATE TABLE IF NOT EXISTS team.migration("
            "n int PRIMARY KEY, name text NOT NULL, at timestamptz NOT NULL DEFAULT now())"
        )
        version = applied_migrations(connection)
        for n, (name, run) in enumerate(MIGRATIONS[version:], version + 1):
            run(connection)
            connection.execute("INSERT INTO team.migration(n, name) VALUES (%s, %s)", (n, name))
    return len(MIGRATIONS) - version


def applied_migrations(connection: Connection[Any]) -> int:
    """Return the version of the schema; raises PalazzoError if it is one that this Palazzo does not know."""
    names = [str(name) for (name,) in connection.execute("SELECT name FROM team.migration ORDER BY n")]
    if names != [name for name, _ in MIGRATIONS[: len(names)]]:
        raise PalazzoError("A newer Palazzo made the team's tables in this database: update Palazzo on this server.")
    return len(names)
