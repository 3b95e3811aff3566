"""Conflicts: two facts, or two places in the record, that cannot both be true. A conflict deletes nothing."""

from __future__ import annotations

from typing import NamedTuple

from palazzo.model import Micros
from palazzo.store import uids
from palazzo.store.database import Connection


class Claim(NamedTuple):
    """One side of a conflict: a fact (its row id), or the span of an item that states it."""

    fact: int | None = None
    item: str | None = None
    start: int | None = None
    end: int | None = None


class Conflict(NamedTuple):
    """Two contradicting statements, and when that was found; `kind` is the rule that found it."""

    row: int
    uid: str
    kind: str
    earlier: Claim
    later: Claim
    found_at: Micros
    dismissed_at: Micros | None


_COLUMNS = (
    "SELECT id, uid, kind, earlier_fact, earlier_item, earlier_start, earlier_end, later_fact, later_item,"
    " later_start, later_end, found_at, dismissed_at FROM conflict"
)


def find(connection: Connection, kind: str, earlier: Claim, later: Claim) -> Conflict | None:
    """Return the conflict between these two sides, in either order."""
    rows = connection.execute(f"{_COLUMNS} WHERE uid = ?", (_uid_of(connection, kind, earlier, later),))
    return next((_conflict(row) for row in rows), None)


def is_contradicted(connection: Connection, earlier: Claim) -> bool:
    """Whether a text range is already the earlier side of a conflict, including dismissed ones."""
    rows = connection.execute(
        "SELECT 1 FROM conflict WHERE earlier_item = ? AND earlier_start = ? AND earlier_end = ? LIMIT 1",
        _to_columns(earlier)[1:],
    )
    return any(True for _ in rows)


def record(connection: Connection, kind: str, earlier: Claim, later: Claim, at: Micros) -> int:
    """Record a new conflict between these two sides; return its row id. Its id is derived from them."""
    uid = _uid_of(connection, kind, earlier, later)
    rows = connection.execute(
        "INSERT INTO conflict(uid, kind, earlier_fact, earlier_item, earlier_start, earlier_end, later_fact,"
        " later_item, later_start, later_end, found_at) VALUES(?,?,?,?,?,?,?,?,?,?,?) RETURNING id",
        (uid, kind, *_to_columns(earlier), *_to_columns(later), at),
    )
    return int(next(rows)[0])


def all_conflicts(connection: Connection) -> list[Conflict]:
    """Return every conflict, newest first, including dismissed ones."""
    return [_conflict(row) for row in connection.execute(f"{_COLUMNS} ORDER BY found_at DESC, uid DESC")]


def between(connection: Connection, low: bytes, high: bytes, limit: int) -> list[tuple[int, bytes]]:
    """Return (row id, id) of the conflicts whose id is in [low, high], at most `limit`."""
    rows = connection.execute(
        "SELECT id, uid FROM conflict WHERE uid BETWEEN ? AND ? ORDER BY uid LIMIT ?", (low, high, limit)
    )
    return [(int(row), bytes(uid)) for row, uid in rows]


def dismiss(connection: Connection, row: int, at: Micros) -> None:
    """Dismiss a conflict: both sides may stay."""
    connection.execute("UPDATE conflict SET dismissed_at = ? WHERE id = ? AND dismissed_at IS NULL", (at, row))


def restore(connection: Connection, row: int, at: Micros) -> None:
    """Undo a dismissal."""
    connection.execute("UPDATE conflict SET dismissed_at = NULL, restored_at = ? WHERE id = ?", (at, row))


def _uid_of(connection: Connection, kind: str, earlier: Claim, later: Claim) -> bytes:
    return uids.of_conflict(kind, _side(connection, earlier), _side(connection, later))


def _side(connection: Connection, claim: Claim) -> uids.Side:
    _, item, start, end = _to_columns(claim)
    for (uid,) in connection.execute("SELECT uid FROM fact WHERE id = ?", (claim.fact,)):
        return bytes(uid), item, start, end
    return None, item, start, end


def _to_columns(claim: Claim) -> tuple[int | None, bytes | None, int | None, int | None]:
    return claim.fact, None if claim.item is None else bytes.fromhex(claim.item), claim.start, claim.end


def _conflict(row: tuple[object, ...]) -> Conflict:
    own, uid, kind, *sides, found_at, dismissed_at = row
    return Conflict(own, _hex(uid) or "", kind, _claim(sides[:4]), _claim(sides[4:]), found_at, dismissed_at)  # type: ignore[arg-type]


def _claim(side: list[object]) -> Claim:
    fact, item, start, end = side
    return Claim(fact, _hex(item), start, end)  # type: ignore[arg-type]


def _hex(uid: object) -> str | None:
    return None if uid is None else bytes(uid).hex()  # type: ignore[call-overload]
