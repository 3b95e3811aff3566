"""What the keyword index holds, read as it is and not as an answer: where a word stands, and how long drawers are.

For whoever keeps that in memory (`recall/postings.py`). Numbers come as one text, joined by commas: returning a row
for each takes five times as long.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from palazzo.store.database import Connection

_INSTANCES = "keyword_instance"


def places_of_word(connection: Connection, stem: str, least: int) -> str:
    """Return the drawers from `least` on that hold a *stemmed* word, ascending, each as often as it does."""
    _make_instances(connection)
    cursor = connection.execute(
        f"SELECT group_concat(doc) FROM temp.{_INSTANCES} WHERE term = ? AND doc >= ?", (stem, least)
    )
    return next(cursor)[0] or ""


def rows_matching(connection: Connection, match: str, least: int) -> str:
    """Return the drawers from `least` on that a MATCH expression lets through, ascending."""
    cursor = connection.execute(
        "SELECT group_concat(rowid) FROM keyword WHERE keyword MATCH ? AND rowid >= ?", (match, least)
    )
    return next(cursor)[0] or ""


def sizes(connection: Connection, drawers: Sequence[int] | None) -> tuple[str, str]:
    """Return those of the drawers (None: of all) that are indexed, joined by commas; and each one's record of sizes.

    A record is one SQLite varint for each column, the tokens in it, in hexadecimal.
    """
    return _read_columns(connection, "SELECT group_concat(id), group_concat(hex(sz)) FROM keyword_docsize", drawers)


def sources(connection: Connection, drawers: Sequence[int] | None) -> tuple[str, str]:
    """Return the drawers (None: all), live and retired, joined by commas; and the source of each, likewise."""
    return _read_columns(connection, "SELECT group_concat(id), group_concat(source) FROM drawer", drawers)


def _read_columns(connection: Connection, select: str, drawers: Sequence[int] | None) -> tuple[str, str]:
    if drawers is None:
        cursor = connection.execute(select)
    else:
        cursor = connection.execute(
            f"{select} WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(list(drawers)),)
        )
    rows, values = next(cursor)
    return rows or "", values or ""


def _make_instances(connection: Connection) -> None:
    """Make the table of each place of each word, which holds nothing of its own; it is the connection's alone."""
    tables = connection.execute("SELECT 1 FROM temp.sqlite_schema WHERE name = ?", (_INSTANCES,))
    if next(tables, None) is None:
        connection.execute(f"CREATE VIRTUAL TABLE temp.{_INSTANCES} USING fts5vocab(main, keyword, instance)")
