"""Many rows in one statement: PostgreSQL refuses COPY where row-level security binds the role."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, LiteralString, TypeVar

from psycopg import sql

from palazzo.team.server.team_database import Session

T = TypeVar("T")
_ROWS_AT_ONCE = 1_000
"""Rows of one statement: more are no faster, and take more memory on both sides."""


def insert_rows(
    session: Session,
    table: str,
    columns: Mapping[str, LiteralString],
    rows: Iterable[Sequence[Any]],
    on_conflict: sql.SQL = sql.SQL(""),  # noqa: B008 - it is constant
) -> None:
    """Insert rows into a table of the schema `team`; `columns` has the type of each column, by name."""
    names = sql.SQL(", ").join(map(sql.Identifier, columns))
    statement = sql.SQL("INSERT INTO {} AS own({}) SELECT * FROM {} {}").format(
        sql.Identifier("team", table), names, unnest(columns.values()), on_conflict
    )
    for arrays in split_columns(rows):
        session.execute(statement, arrays)


def unnest(types: Iterable[LiteralString]) -> sql.Composed:
    """Return a table of SQL with a column of each type, whose values are given as one array for each."""
    arrays = sql.SQL(", ").join(sql.SQL("%b::") + sql.SQL(name) + sql.SQL("[]") for name in types)
    return sql.SQL("unnest({})").format(arrays)


def split_columns(rows: Iterable[Sequence[Any]]) -> Iterator[tuple[list[Any], ...]]:
    """Yield the columns of rows, for as many rows as one statement takes."""
    for part in split(rows, _ROWS_AT_ONCE):
        yield tuple(map(list, zip(*part, strict=True)))


def split(values: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield values in lists of at most `size`."""
    remaining = iter(values)
    while part := list(islice(remaining, size)):
        yield part
