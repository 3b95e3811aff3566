"""What came from elsewhere: which rows another person's export added, and which items it told otherwise.

imported_row   rows (table, row id) that an export of somebody else added: a later one may go on with them alone
item_variant   items of which somebody told other words: the digest of each, and when it came
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
"""What `m015_foreign` creates of these. Never edited: what comes later is a migration of its own."""


class Variant(NamedTuple):
    """An item of which other words came, and when they came first."""

    item: str
    at: Micros


def note_variants(connection: Connection, variants: Iterable[tuple[bytes, bytes]], at: Micros) -> None:
    """Note (item id, digest) of what was told otherwise than it is here."""
    connection.executemany(
        "INSERT OR IGNORE INTO item_variant(item_uid, digest, at) VALUES(?,?,?)",
        ((uid, digest, at) for uid, digest in variants),
    )


def variants(connection: Connection) -> list[Variant]:
    """Return the items that are here and were told otherwise, the one that was told last first."""
    rows = connection.execute(
        "SELECT item_uid, min(at) FROM item_variant WHERE item_uid IN (SELECT uid FROM item)"
        " GROUP BY item_uid ORDER BY 2 DESC, 1"
    )
    return [Variant(bytes(uid).hex(), Micros(at)) for uid, at in rows]


def mark(connection: Connection, kind: str, rows: Iterable[int]) -> None:
    """Note that another person's export added these rows."""
    connection.executemany("INSERT OR IGNORE INTO imported_row(kind, row) VALUES(?,?)", ((kind, row) for row in rows))


def unmark(connection: Connection, kind: str, rows: Iterable[int]) -> None:
    """Forget that another person's export added these rows: the owner vouches for them by now."""
    connection.executemany("DELETE FROM imported_row WHERE kind = ? AND row = ?", ((kind, row) for row in rows))


def is_marked(connection: Connection, kind: str, row: int) -> bool:
    """Whether another person's export added a row."""
    rows = connection.execute("SELECT 1 FROM imported_row WHERE kind = ? AND row = ?", (kind, row))
    return any(True for _ in rows)


def marked(connection: Connection, kind: str, rows: Iterable[int]) -> set[int]:
    """Return which of these rows another person's export added."""
    found = connection.execute(
        "SELECT row FROM imported_row WHERE kind = ? AND row IN (SELECT value FROM json_each(?))",
        (kind, json.dumps([*rows])),
    )
    return {int(row) for (row,) in found}


def is_wholly_imported(connection: Connection, kind: str, row: int, part: str, within: str) -> bool:
    """Whether a row and all rows of the table `part` that name it in their column `within` were added so."""
    if not is_marked(connection, kind, row):
        return False
    own = connection.execute(
        f"SELECT 1 FROM {part} AS one WHERE {within} = ?1 AND NOT EXISTS"
        " (SELECT 1 FROM imported_row WHERE kind = ?2 AND row = one.id) LIMIT 1",
        (row, part),
    )
    return not any(True for _ in own)
