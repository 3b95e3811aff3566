"""Lookups of failures by their error messages, and counts of failures that are alike, across sessions."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

from palazzo.model import Micros
from palazzo.store.database import Connection
from palazzo.store.failure_fixes import FailureRecord, read_failure

_FAILURES = (
    "SELECT m.source, m.n, m.failed_at, m.passed_at, s.session_id FROM mending m JOIN source s ON s.id = m.source"
)
_IN_SCOPE = (
    "EXISTS (SELECT 1 FROM mending_place p JOIN item i ON i.id = p.item JOIN room r ON r.id = i.room"
    " JOIN wing w ON w.id = r.wing WHERE p.source = m.source AND p.n = m.n AND p.kind = 'command'"
    " AND w.name IN (SELECT value FROM json_each(?1)))"
    " AND m.failed_at >= coalesce(?2, m.failed_at) AND (?3 IS NULL OR m.failed_at < ?3)"
)
_NEWEST_FIXED_FIRST = "m.passed_at IS NULL, m.failed_at DESC, m.source, m.n"


class FailureScope(NamedTuple):
    """The wings, the accepted trust levels, and the time range (from, until) of a lookup."""

    wings: Collection[str]
    trusts: Collection[str]
    since: Micros | None = None
    until: Micros | None = None


class FailureGroup(NamedTuple):
    """Failures with one signature, or of one target with several signatures, and how many of them were fixed."""

    target: bytes
    signature: bytes
    failures: int
    sessions: int
    fixed: int
    first_at: Micros
    last_at: Micros


def find_by_signatures(
    connection: Connection, signatures: Collection[bytes], scope: FailureScope
) -> Iterator[FailureRecord]:
    """Yield the failures with one of these signatures: those that were fixed first, newest first."""
    rows = connection.execute(
        f"{_FAILURES} WHERE {_IN_SCOPE} AND m.signature IN (SELECT unhex(value) FROM json_each(?4))"
        f" ORDER BY {_NEWEST_FIXED_FIRST}",
        (*_parameters(scope), json.dumps([signature.hex() for signature in signatures if signature])),
    )
    yield from _read_rows(connection, list(rows), scope)


def newest_failures(connection: Connection, scope: FailureScope, most: int) -> Iterator[FailureRecord]:
    """Yield the newest failures, at most `most`: those that were fixed first."""
    rows = connection.execute(
        f"SELECT * FROM ({_FAILURES} WHERE {_IN_SCOPE} ORDER BY m.failed_at DESC, m.source, m.n LIMIT ?4) AS m"
        f" ORDER BY {_NEWEST_FIXED_FIRST}",
        (*_parameters(scope), most),
    )
    yield from _read_rows(connection, list(rows), scope)


def failures_of_group(connection: Connection, group: FailureGroup, scope: FailureScope) -> Iterator[FailureRecord]:
    """Yield the failures of a group: those that were fixed first, newest first."""
    rows = connection.execute(
        f"{_FAILURES} WHERE {_IN_SCOPE} AND CASE WHEN ?4 = x'' THEN m.target = ?5 ELSE m.signature = ?4 END"
        f" ORDER BY {_NEWEST_FIXED_FIRST}",
        (*_parameters(scope), group.signature, group.target),
    )
    yield from _read_rows(connection, list(rows), scope)


def errors_by_frequency(connection: Connection, scope: FailureScope, least: int) -> list[FailureGroup]:
    """Return the error messages that were reported at least `least` times, most frequent first."""
    return _groups(connection, "x''", "m.signature", "m.signature <> x''", "TRUE", scope, least)


def commands_by_frequency(connection: Connection, scope: FailureScope, least: int) -> list[FailureGroup]:
    """Return the targets that failed at least `least` times in different ways, most frequent first."""
    several = "count(DISTINCT m.signature) > 1 OR max(m.signature) = x''"
    return _groups(connection, "m.target", "x''", "m.target <> x''", several, scope, least)


def _groups(
    connection: Connection, target: str, signature: str, condition: str, having: str, scope: FailureScope, least: int
) -> list[FailureGroup]:
    """Group failures by a target or a signature. A session and its sub-agents count as one session."""
    root = "CASE WHEN instr(s.session_id, '/') THEN substr(s.session_id, 1, instr(s.session_id, '/') - 1)"
    rows = connection.execute(
        f"SELECT {target} AS target, {signature} AS signature, count(*) AS failures,"
        f" count(DISTINCT {root} ELSE s.session_id END), count(m.passed_at), min(m.failed_at), max(m.failed_at)"
        f" FROM mending m JOIN source s ON s.id = m.source WHERE {_IN_SCOPE} AND {condition} GROUP BY 1, 2"
        f" HAVING count(*) >= ?4 AND ({having}) ORDER BY failures DESC, 7 DESC",
        (*_parameters(scope), least),
    )
    return [FailureGroup(bytes(row[0]), bytes(row[1]), *row[2:]) for row in rows]


def _parameters(scope: FailureScope) -> tuple[str, Micros | None, Micros | None]:
    return json.dumps(list(scope.wings)), scope.since, scope.until


def _read_rows(connection: Connection, rows: list[tuple[Any, ...]], scope: FailureScope) -> Iterator[FailureRecord]:
    for row in rows:
        failure = read_failure(connection, row, scope.wings, scope.trusts)
        if failure is not None:
            yield failure
