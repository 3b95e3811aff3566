"""Examination of a team's database: whether the server may run over it, whether rows are secured, and what waits.

Nothing is changed, and no text is read.
"""

from __future__ import annotations

from collections.abc import Iterator

import psycopg

from palazzo.errors import PalazzoError
from palazzo.frozen_class import frozen
from palazzo.team.server import team_schema
from palazzo.team.server.team_database import Session, TeamDatabase, find_problems

EXPIRES_SOON_DAYS, PURGE_WITHIN_DAYS = 14, 2


@frozen
class Check:
    """What was looked at, whether it is as it must be, and what was seen, in a sentence or less."""

    name: str
    is_ok: bool
    detail: str


def examine(database: TeamDatabase) -> list[Check]:
    """Return the checks of a database, in the order in which one builds on another. Raises DatabaseUnusable."""
    with database.examining() as session:
        problems = find_problems(session)
        role = str(session.info.user)
        checks = [
            Check("server", True, f"PostgreSQL {session.info.server_version // 10_000}"),
            Check("role", not problems, problems[0] if problems else f"{role} is bound by row-level security"),
        ]
        try:
            version = team_schema.applied_migrations(session)
        except psycopg.errors.UndefinedTable:
            return [*checks, Check("tables", False, "there are none yet: 'palazzo team serve' creates them")]
        except PalazzoError as error:
            return [*checks, Check("tables", False, str(error))]
        pending = len(team_schema.MIGRATIONS) - version
        detail = f"{pending} migrations are pending: 'palazzo team serve' runs them" if pending else "up to date"
        checks.append(Check("tables", not pending, detail))
        checks.append(_check_row_security(session))
        if not pending:
            with session.transaction():
                session.execute("SELECT set_config('palazzo.control', 'on', true)")
                checks += _count(session)
    return checks


def _check_row_security(session: Session) -> Check:
    rows = session.execute(
        "SELECT relname FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace WHERE n.nspname = 'team'"
        " AND relkind IN ('r', 'p') AND NOT relispartition AND NOT (relrowsecurity AND relforcerowsecurity)"
        " AND relname <> 'migration' ORDER BY relname"
    ).fetchall()
    unsecured = [str(name) for (name,) in rows]
    if unsecured:
        return Check("row-level security", False, f"it is off for {', '.join(unsecured)}: restore the tables' policies")
    return Check("row-level security", True, "it binds every table, also for their owner")


def _count(session: Session) -> Iterator[Check]:
    """Yield what is there and what waits, by number."""
    people, wings, waiting, expiring, withdrawn, overdue = session.execute(
        "SELECT (SELECT count(*) FROM team.person WHERE left_at IS NULL), (SELECT count(*) FROM team.wing),"
        " (SELECT count(*) FROM team.wing WHERE changed > built),"
        " (SELECT count(*) FROM team.token WHERE scope = 'member' AND revoked_at IS NULL"
        " AND expires_at BETWEEN now() AND now() + make_interval(days => %s)),"
        " (SELECT count(*) FROM team.erasure WHERE heap_at IS NULL),"
        " (SELECT count(*) FROM team.erasure WHERE heap_at IS NULL AND asked_at < now() - make_interval(days => %s))",
        (EXPIRES_SOON_DAYS, PURGE_WITHIN_DAYS),
    ).fetchone() or (0, 0, 0, 0, 0, 0)
    yield Check("people and wings", True, f"{people:,} and {wings:,}")
    yield Check("wings that wait for a worker", True, f"{waiting:,}")
    yield Check("withdrawals whose words are still in files", not overdue, f"{withdrawn:,} wait for 'team purge'")
    yield Check("tokens", True, f"{expiring:,} expire within {EXPIRES_SOON_DAYS} days: their devices join again")
