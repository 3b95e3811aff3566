"""The tables of another program's database: whether they are those that a reader knows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from palazzo.errors import SourceUnreadable
from palazzo.store.database import SqliteConnection
from palazzo.store.foreign_database import MAGIC, ForeignDatabase

Columns = Mapping[str, Collection[str]]
"""The columns that a reader needs, by table."""


def columns_of(connection: SqliteConnection, table: str) -> set[str]:
    """Return the names of a table's columns; none if there is no such table."""
    return {str(row[1]) for row in connection.execute(f"PRAGMA table_info({table})")}


def has_tables(connection: SqliteConnection, required: Columns) -> bool:
    """Return whether all columns are there."""
    return not _find_missing(connection, required)


def check_tables(connection: SqliteConnection, path: Path, required: Columns, program: str) -> None:
    """Raise SourceUnreadable, with the first column that is missing, if the database is of an unknown version."""
    missing = _find_missing(connection, required)
    if missing:
        raise SourceUnreadable(f"{path} has no {missing}: this version of {program} is not supported.")


def is_database_of(path: Path, head: bytes, name: str, is_known: Callable[[SqliteConnection], bool]) -> bool:
    """Return whether a file of that name that begins with `head` is a database whose tables are known."""
    if path.name != name or not head.startswith(MAGIC):
        return False
    try:
        with ForeignDatabase(path).snapshot() as connection:
            return is_known(connection)
    except SourceUnreadable:
        return False


def _find_missing(connection: SqliteConnection, required: Columns) -> str:
    for table, columns in required.items():
        missing = sorted(set(columns) - columns_of(connection, table))
        if missing:
            return f"column '{missing[0]}' in '{table}'"
    return ""
