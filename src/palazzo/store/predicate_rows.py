"""Predicates: their spelling, and their declarations."""

from __future__ import annotations

from typing import NamedTuple

from palazzo.model import Micros
from palazzo.store.database import Connection


class Predicate(NamedTuple):
    """A predicate. `functional`: whether a subject has only one object at a time; None if that was never declared."""

    row: int
    name: str
    functional: bool | None


_COLUMNS = (
    "SELECT p.id, p.name, (SELECT r.functional FROM predicate_rule r WHERE r.predicate = p.id"
    " AND r.retired_at IS NULL ORDER BY r.recorded_at DESC, r.uid DESC LIMIT 1) FROM predicate p"
)


def create_predicate(connection: Connection, name: str, name_key: str) -> int:
    """Add a predicate; return its row id."""
    rows = connection.execute("INSERT INTO predicate(name, folded) VALUES(?, ?) RETURNING id", (name, name_key))
    return int(next(rows)[0])


def find_predicate(connection: Connection, name: str, name_key: str) -> Predicate | None:
    """Return the predicate with exactly that name, else the first by name with the same folded name."""
    rows = connection.execute(
        f"{_COLUMNS} WHERE p.folded = ?2 OR p.name = ?1 ORDER BY p.name <> ?1, p.name", (name, name_key)
    )
    return next((_predicate(row) for row in rows), None)


def read_predicate(connection: Connection, row: int) -> Predicate:
    """Return the predicate with that row id."""
    return _predicate(next(connection.execute(f"{_COLUMNS} WHERE p.id = ?", (row,))))


def all_predicates(connection: Connection) -> list[Predicate]:
    """Return all predicates, by name."""
    return [_predicate(row) for row in connection.execute(f"{_COLUMNS} ORDER BY p.name")]


def count_facts(connection: Connection) -> dict[int, int]:
    """Return the number of facts believed now for each predicate, by row id."""
    rows = connection.execute(
        "SELECT f.predicate, count(*) FROM fact f JOIN fact_version v ON v.fact = f.id WHERE v.retired_at IS NULL"
        " GROUP BY f.predicate"
    )
    return {int(row): int(number) for row, number in rows}


def declare(connection: Connection, uid: bytes, predicate: int, functional: bool, at: Micros) -> int:
    """Record whether a predicate is functional; return the declaration's row id."""
    rows = connection.execute(
        "INSERT INTO predicate_rule(uid, predicate, functional, recorded_at) VALUES(?, ?, ?, ?) RETURNING id",
        (uid, predicate, int(functional), at),
    )
    return int(next(rows)[0])


def retire_rule(connection: Connection, row: int, at: Micros) -> None:
    """Retire a declaration; the one before it becomes active again."""
    connection.execute("UPDATE predicate_rule SET retired_at = ? WHERE id = ? AND retired_at IS NULL", (at, row))


def _predicate(row: tuple[int, str, int | None]) -> Predicate:
    return Predicate(int(row[0]), str(row[1]), None if row[2] is None else bool(row[2]))
