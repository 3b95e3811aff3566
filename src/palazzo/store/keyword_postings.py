"""The raw content of the keyword index: which drawers contain a word, and how long drawers are.

For caches in memory (`index/posting_lists`). The numbers are returned as one text, joined by commas: returning one row
for each takes five times as long.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from palazzo.store.database import Connection

_INSTANCES = "keyword_instance"


def places_of_word(connection: Connection, stem: str, least: int) -> str:
    """Return the drawers from `least` on that contain a *stemmed* word, ascending, once per occurrence."""
    _make_instances(connection)
    cursor = connection.execute(
        f"SELECT group_concat(doc) FROM temp.{_INSTANCES} WHERE term = ? AND doc >= ?", (stem, least)
    )
    return next(cursor)[0] or ""


def rows_matching(connection: Connection, match: str, least: int) -> str:
    """Return the drawers from `least` on that match a MATCH expression, ascending."""
    cursor = connection.execute(
        "SELECT group_concat(rowid) FROM keyword WHERE keyword MATCH ? AND rowid >= ?", (match, least)
    )
    return next(cursor)[0] or ""


def sizes(connection: Connection, drawers: Sequence[int] | None) -> tuple[str, str]:
    """Return the indexed drawers among these (None: all), joined by commas; and the size record of each.

    A record has one SQLite varint per column, its number of tokens, in hexadecimal.
    """
    return _read_columns(connection, "SELECT group_concat(id), group_concat(hex(sz)) FROM keyword_docsize", drawers)


def sources(connection: Connection, drawers: Sequence[int] | None) -> tuple[str, str]:
    """Return the drawers (None: all), live and retired, joined by commas; and each one's source in the same form."""
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
    """Create the virtual table of every word occurrence, which stores nothing; it is private to the connection."""
    tables = connection.execute("SELECT 1 FROM temp.sqlite_schema WHERE name = ?", (_INSTANCES,))
    if next(tables, None) is None:
        connection.execute(f"CREATE VIRTUAL TABLE temp.{_INSTANCES} USING fts5vocab(main, keyword, instance)")


def live_rows(connection: Connection) -> int:
    """Return the number of live drawers in the index."""
    return int(next(connection.execute("SELECT count(*) FROM keyword_docsize"))[0])


def live_document_frequency(connection: Connection, stem: str) -> int:
    """Return in how many live drawers a stemmed word occurs."""
    rows = connection.execute("SELECT doc FROM keyword_vocabulary WHERE term = ?", (stem,))
    return sum(int(count) for (count,) in rows)
