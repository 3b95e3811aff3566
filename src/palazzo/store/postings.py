"""What the keyword index holds, read as it is and not as an answer: where a word stands, and how long drawers are.

For whoever keeps that in memory (`recall/postings.py`). Numbers come as one text, since a statement that returns a row
for each takes five times as long. `least` is the row id from which on they are read.
"""

from __future__ import annotations

from palazzo.store.database import Connection

_INSTANCES = "keyword_instance"


def places_of_word(connection: Connection, stem: str, least: int) -> str:
    """Return the drawers that hold a *stemmed* word, ascending, each as often as it does, joined by commas."""
    _make_instances(connection)
    found = connection.execute(
        f"SELECT group_concat(doc) FROM temp.{_INSTANCES} WHERE term = ? AND doc >= ?", (stem, least)
    )
    return next(found)[0] or ""


def rows_matching(connection: Connection, match: str, least: int) -> str:
    """Return the drawers that a MATCH expression lets through, ascending, joined by commas."""
    found = connection.execute(
        "SELECT group_concat(rowid) FROM keyword WHERE keyword MATCH ? AND rowid >= ?", (match, least)
    )
    return next(found)[0] or ""


def sizes(connection: Connection, least: int) -> tuple[str, str]:
    """Return the indexed drawers, ascending, joined by commas; and the record of each's sizes in hexadecimal, likewise.

    A record is one SQLite varint for each column, the tokens in it, and one that tells when the row was written.
    """
    (rows, records) = next(
        connection.execute(
            "SELECT group_concat(id), group_concat(hex(sz)) FROM keyword_docsize WHERE id >= ?", (least,)
        )
    )
    return rows or "", records or ""


def sources(connection: Connection, least: int) -> tuple[str, str]:
    """Return all drawers, live and retired, joined by commas; and the source of each, likewise."""
    (rows, owners) = next(
        connection.execute("SELECT group_concat(id), group_concat(source) FROM drawer WHERE id >= ?", (least,))
    )
    return rows or "", owners or ""


def _make_instances(connection: Connection) -> None:
    """Make the table of each place of each word, which holds nothing of its own; it is the connection's alone."""
    known = connection.execute("SELECT 1 FROM temp.sqlite_schema WHERE name = ?", (_INSTANCES,))
    if next(known, None) is None:
        connection.execute(f"CREATE VIRTUAL TABLE temp.{_INSTANCES} USING fts5vocab(main, keyword, instance)")
