"""Foreign rows: rows from another person's export, and items that have a variant in another palace.

imported_row   rows (table, row id) that another person's export added; a later such export may change only these
item_variant   items for which another palace has a different text: the digest of each variant, and its arrival
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import NamedTuple

from palazzo.model import Micros
from palazzo.store.database import Connection

TABLES = (
    "CREATE TABLE imported_row(kind TEXT NOT NULL, row INTEGER NOT NULL, PRIMARY KEY(kind, row)) WITHOUT ROWID",
    "CREATE TABLE item_variant(item_uid BLOB NOT NULL, digest BLOB NOT NULL, at INTEGER NOT NULL,"
    " PRIMARY KEY(item_uid, digest)) WITHOUT ROWID",
)
"""The tables that `m015_foreign` creates. Never edit these statements: a later change is a migration of its own."""


class Variant(NamedTuple):
    """An item (its id) that has variants, and when the first of them arrived."""

    item: str
    at: Micros


def note_variants(connection: Connection, variants: Iterable[tuple[bytes, bytes]], at: Micros) -> None:
    """Record variants, each as (item id, digest of the variant)."""
    connection.executemany(
        "INSERT OR IGNORE INTO item_variant(item_uid, digest, at) VALUES(?,?,?)",
        ((uid, digest, at) for uid, digest in variants),
    )


def variants(connection: Connection) -> list[Variant]:
    """Return the items of this palace that have variants, with the time of the first, newest first."""
    rows = connection.execute(
        "SELECT item_uid, min(at) FROM item_variant WHERE item_uid IN (SELECT uid FROM item)"
        " GROUP BY item_uid ORDER BY 2 DESC, 1"
    )
    return [Variant(bytes(uid).hex(), Micros(at)) for uid, at in rows]


def mark(connection: Connection, kind: str, rows: Iterable[int]) -> None:
    """Record that another person's export added these rows of the table `kind`."""
    connection.executemany("INSERT OR IGNORE INTO imported_row(kind, row) VALUES(?,?)", ((kind, row) for row in rows))


def unmark(connection: Connection, kind: str, rows: Iterable[int]) -> None:
    """Remove the mark that another person's export added these rows: the owner vouches for them."""
    connection.executemany("DELETE FROM imported_row WHERE kind = ? AND row = ?", ((kind, row) for row in rows))


def is_marked(connection: Connection, kind: str, row: int) -> bool:
    """Whether another person's export added a row."""
    rows = connection.execute("SELECT 1 FROM imported_row WHERE kind = ? AND row = ?", (kind, row))
    return any(True for _ in rows)


def marked_rows(connection: Connection, kind: str, rows: Iterable[int]) -> set[int]:
    """Return which of these rows another person's export added."""
    foreign = connection.execute(
        "SELECT row FROM imported_row WHERE kind = ? AND row IN (SELECT value FROM json_each(?))",
        (kind, json.dumps([*rows])),
    )
    return {int(row) for (row,) in foreign}


def is_wholly_marked(connection: Connection, kind: str, row: int, part: str, column: str) -> bool:
    """Whether such an export added a row and every row of the table `part` that refers to it in `column`."""
    if not is_marked(connection, kind, row):
        return False
    own_parts = connection.execute(
        f"SELECT 1 FROM {part} AS part WHERE {column} = ?1 AND NOT EXISTS"
        " (SELECT 1 FROM imported_row WHERE kind = ?2 AND row = part.id) LIMIT 1",
        (row, part),
    )
    return not any(True for _ in own_parts)
