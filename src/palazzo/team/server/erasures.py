"""Erasures: what was withdrawn from a wing, and from where its words are gone by now; together, a certificate.

    withdrawal ──> rows ──worker──> rewritten ──purge──> log ──PostgreSQL──> backups ──their age──> gone
        ├──> scratch palaces of each worker's machine
        └──> devices of the wing's members, which acknowledge

`DELETE` and `VACUUM` leave a row's words in the files of a table. `purge` writes the affected tables again. What it
cannot reach, it names: the write-ahead log until PostgreSQL reuses its files, and backups until they expire.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from psycopg import sql
from psycopg.errors import Diagnostic

from palazzo.frozen_class import frozen
from palazzo.sync.segments import SegmentName
from palazzo.team.protocol import ROLES
from palazzo.team.server import accounts
from palazzo.team.server.accounts import Account
from palazzo.team.server.team_database import Session, TeamDatabase, with_accounts
from palazzo.team.server.team_schema import DERIVED_TABLES, PARTITIONS


@frozen
class ScratchCopy:
    """A worker's machine that has had a scratch copy of a wing, and whether the words are gone from it."""

    machine: str
    is_clean: bool


@frozen
class ClientNotice:
    """A member's device, and when (microseconds since 1970) it said that it has removed what it had."""

    person: str
    device: str
    acknowledged_at: int | None


@frozen
class Certificate:
    """What was withdrawn, and where its words still are. Times are microseconds since 1970; None is not yet.

    `segments` are the names of what was deleted, `drawers` the ids that search no longer returns. `rows_at` is when
    derived rows were gone, `heap_at` when the tables' files were rewritten. `log_position` names the place in the
    write-ahead log that recovery must pass; `is_log_passed` says that a restart needs nothing before it.
    `backups_until` is the day (ISO) on which the operator's backups no longer have the words; '' if not stated.
    """

    id: int
    wing: str
    person: str
    device: str
    asked_at: int
    segments: tuple[str, ...]
    bytes: int
    drawers: tuple[str, ...]
    rows_at: int | None
    heap_at: int | None
    log_position: str
    is_log_passed: bool
    backups_until: str
    scratch: tuple[ScratchCopy, ...]
    clients: tuple[ClientNotice, ...]


@frozen
class PurgeOutcome:
    """How many erasures were purged; `blocked` row versions were kept for a transaction that still sees them."""

    erasures: int
    tables: int
    blocked: int


def record(
    session: Session, account: Account, wing: int, generation: int, segments: Sequence[tuple[SegmentName, int]]
) -> None:
    """Note a withdrawal (names and bytes), and which devices have to acknowledge it, in the transaction that does it.

    These are the devices of the wing's members that can ask the server now: what one joins with later saw nothing.
    """
    row = session.execute(
        "INSERT INTO team.erasure(wing, person, device, generation, segments, bytes) VALUES (%s, %s, %s, %s, %s, %s)"
        " RETURNING id",
        (
            wing,
            account.person,
            account.device,
            generation,
            [str(name) for name, _ in segments],
            sum(size for _, size in segments),
        ),
    ).fetchone()
    with with_accounts(session):
        session.execute(
            "INSERT INTO team.notice(erasure, device) SELECT DISTINCT %s::bigint, token.device FROM team.token"
            " JOIN team.member ON member.person = token.person WHERE member.wing = %s AND token.device IS NOT NULL"
            " AND token.revoked_at IS NULL AND token.expires_at > now()",
            (row[0] if row else 0, wing),
        )


def note_rows(session: Session, wing: int, generation: int, removed_uids: Sequence[bytes]) -> None:
    """Note that derived rows are gone, in the worker's transaction that wrote the wing without them."""
    session.execute(
        "UPDATE team.erasure SET rows_at = now(), drawers = %s"
        " WHERE wing = %s AND generation <= %s AND rows_at IS NULL",
        ([*removed_uids], wing, generation),
    )


def purge(database: TeamDatabase, backup_days: int | None) -> PurgeOutcome:
    """Rewrite the tables that still have withdrawn words in their files. Each is locked while it is rewritten.

    If an older transaction still sees rows that were withdrawn, they are kept, and the erasures wait for the next call.
    """
    with database.examining() as session:
        with session.transaction():
            session.execute("SELECT set_config('palazzo.control', 'on', true)")
            pending = session.execute(
                "SELECT id, wing FROM team.erasure WHERE rows_at IS NOT NULL AND heap_at IS NULL"
            ).fetchall()
        if not pending:
            return PurgeOutcome(0, 0, 0)
        tables = list(_find_tables(session, sorted({wing for _, wing in pending})))
        blocked = sum(_rewrite(session, table) for table in tables)
        blocked += _rewrite(session, sql.Identifier("pg_catalog", "pg_statistic"))  # it has samples of texts
        if blocked == 0:
            with session.transaction():
                session.execute("SELECT set_config('palazzo.control', 'on', true)")
                session.execute(
                    "UPDATE team.erasure SET heap_at = now(), log_position = pg_current_wal_insert_lsn(),"
                    " backups_until = current_date + %s::int WHERE id = ANY (%s)",
                    (backup_days, [row for row, _ in pending]),
                )
    return PurgeOutcome(0 if blocked else len(pending), len(tables), blocked)


def _find_tables(session: Session, wings: Sequence[int]) -> Iterator[sql.Identifier]:
    """Yield the tables and partitions that have had rows of these wings."""
    yield sql.Identifier("team", "segment")
    for table in DERIVED_TABLES:
        for part in range(PARTITIONS):
            row = session.execute(
                "SELECT bool_or(satisfies_hash_partition(%s::regclass, %s, %s, wing)) FROM unnest(%s::int[]) AS wing",
                (f"team.{table}", PARTITIONS, part, [*wings]),
            ).fetchone()
            if row is not None and row[0]:
                yield sql.Identifier("team", f"{table}_{part}")


def _rewrite(session: Session, table: sql.Identifier) -> int:
    """Write a table and its statistics again; return how many deleted row versions it had to keep."""
    kept: list[int] = []

    def read_report(report: Diagnostic) -> None:
        number = re.search(r"\d+", report.message_detail or "")
        if number is not None:  # "3 dead row versions cannot be removed yet.", in any language
            kept.append(int(number.group()))

    session.add_notice_handler(read_report)
    try:
        session.execute(sql.SQL("VACUUM (FULL, VERBOSE) {}").format(table))
    finally:
        session.remove_notice_handler(read_report)
    if not table.as_string(session).startswith('"pg_catalog"'):
        session.execute(sql.SQL("ANALYZE {}").format(table))
    return sum(kept)


def list_notices(database: TeamDatabase, account: Account) -> list[tuple[int, list[str]]]:
    """Return the erasures that a device has to acknowledge: the number of each, and the ids of its drawers."""
    with database.as_server() as session:
        rows = session.execute(
            "SELECT erasure.id, erasure.drawers FROM team.notice JOIN team.erasure ON erasure.id = notice.erasure"
            " WHERE notice.device = %s AND notice.acknowledged_at IS NULL AND erasure.rows_at IS NOT NULL"
            " ORDER BY erasure.id",
            (account.device,),
        ).fetchall()
    return [(int(row), [bytes(uid).hex() for uid in uids]) for row, uids in rows]


def acknowledge(database: TeamDatabase, account: Account, erasures: Sequence[int]) -> int:
    """Note that a device has removed what it had; return how many erasures this is news for."""
    with database.as_server() as session:
        return session.execute(
            "UPDATE team.notice SET acknowledged_at = now() WHERE device = %s AND erasure = ANY (%s::bigint[])"
            " AND acknowledged_at IS NULL",
            (account.device, [*erasures]),
        ).rowcount


def list_certificates(database: TeamDatabase, account: Account, limit: int) -> list[Certificate]:
    """Return what the person withdrew, and what anybody withdrew in the wings that they maintain; newest first."""
    wings = accounts.list_wings(database, account)
    names = {access.wing: access.name for access in wings}
    maintained = [access.wing for access in wings if access.role in ROLES[2:]]
    with database.as_server() as session:
        rows = session.execute(_CERTIFICATES, (account.person, maintained, limit)).fetchall()
        return [_make_certificate(session, names, row) for row in rows]


_MICROS = "(extract(epoch FROM {}) * 1000000)::bigint"
_CERTIFICATES = (
    "SELECT erasure.id, erasure.wing, erasure.generation, person.name, device.name,"  # noqa: S608 - constants
    f" {_MICROS.format('asked_at')}, segments, bytes, drawers, {_MICROS.format('rows_at')},"
    f" {_MICROS.format('heap_at')}, coalesce(log_position::text, ''),"
    " coalesce(log_position < (SELECT redo_lsn FROM pg_control_checkpoint()), false),"
    " coalesce(to_char(backups_until, 'YYYY-MM-DD'), '')"
    " FROM team.erasure JOIN team.person ON person.id = erasure.person JOIN team.device ON device.uid = erasure.device"
    " WHERE erasure.person = %s OR erasure.wing = ANY (%s::int[]) ORDER BY erasure.id DESC LIMIT %s"
)


def _make_certificate(session: Session, names: dict[int, str], row: Sequence[Any]) -> Certificate:
    erasure, wing, generation, person, device, asked_at, segments, size, drawers, *state = row
    scratch = session.execute(
        "SELECT machine, generation >= %s FROM team.scratch WHERE wing = %s ORDER BY machine", (generation, wing)
    ).fetchall()
    clients = session.execute(
        f"SELECT person.name, device.name, {_MICROS.format('acknowledged_at')} FROM team.notice"  # noqa: S608 - constant
        " JOIN team.device ON device.uid = notice.device JOIN team.person ON person.id = device.person"
        " WHERE erasure = %s ORDER BY person.name, device.name",
        (erasure,),
    ).fetchall()
    rows_at, heap_at, log_position, is_log_passed, backups_until = state
    return Certificate(
        erasure, names.get(wing, ""), person, device, asked_at, tuple(segments), size,
        tuple(bytes(uid).hex() for uid in drawers or ()), rows_at, heap_at, log_position, is_log_passed, backups_until,
        tuple(ScratchCopy(*copy) for copy in scratch), tuple(ClientNotice(*notice) for notice in clients),
    )  # fmt: skip
