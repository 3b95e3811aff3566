"""The keyword index: an FTS5 table without content, one row for each live drawer.

Columns: `body` is the drawer's words, `context` its title, date and speakers, `scope` tokens for its wing, room, kind
and tags, so that a scope is matched in the index instead of joined. On a snapshot as of a day, the index of the past
(`retired_keywords`) answers together with it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from palazzo.store import keyword_postings, retired_keywords, tag_rows
from palazzo.store.database import Connection
from palazzo.store.keyword_columns import _words
from palazzo.store.place_rows import Stretch

BODY_WEIGHT, CONTEXT_WEIGHT = 1.0, 1.0
"""BM25 column weights; `scope` has no weight."""


def scope_tokens(wing: int, room: int, kind: str, tags: Iterable[int] = ()) -> str:
    """Return the scope column of a drawer; `wing` is the wing in which its room was created, which never changes."""
    return " ".join((f"w{wing}x r{room}x k{kind}x", *(f"t{tag}x" for tag in tags)))


def wing_filter(stretches: Iterable[Stretch]) -> str:
    """Return a MATCH fragment that restricts to a wing, given as the ranges of rooms that are in it now."""
    return f"({' OR '.join(map(_of_stretch, stretches))})"


def _of_stretch(stretch: Stretch) -> str:
    rooms = room_filter(stretch.rooms)
    if not stretch.but:
        return rooms
    wing = _any_of([f"w{stretch.first_wing}x"])
    return f"({wing} NOT {rooms})" if stretch.rooms else wing


def room_filter(rooms: Iterable[int]) -> str:
    """Return a MATCH fragment that restricts to the given rooms."""
    return _any_of(f"r{room}x" for room in rooms)


def kind_filter(kind: str) -> str:
    """Return a MATCH fragment that restricts to one kind of drawer; only letters of its name are used."""
    return _any_of([f"k{''.join(filter(str.isalpha, kind))}x"])


def tag_filter(tag: int) -> str:
    """Return a MATCH fragment that restricts to the drawers with a tag."""
    return _any_of([f"t{tag}x"])


def scope_of(connection: Connection, row: int) -> str:
    """Return the scope column of a drawer, from its row and its tags."""
    rows = connection.execute(
        "SELECT first_wing, room, kind FROM drawer JOIN room ON room.id = drawer.room WHERE drawer.id = ?", (row,)
    )
    wing, room, kind = next(rows)
    return scope_tokens(wing, room, kind, tag_rows.tag_ids_of(connection, row))


def index(connection: Connection, rows: Iterable[tuple[int, str, str, str]]) -> None:
    """Index drawers, each (row id, body, context, scope), replacing their earlier index entries."""
    connection.executemany("INSERT OR REPLACE INTO keyword(rowid, body, context, scope) VALUES(?,?,?,?)", rows)


def remove(connection: Connection, row: int) -> None:
    """Remove a drawer from the index."""
    connection.execute("DELETE FROM keyword WHERE rowid = ?", (row,))


def matches(connection: Connection, expression: str, filters: Sequence[str], limit: int) -> list[tuple[int, float]]:
    """Return (drawer row id, BM25) of the best drawers for a MATCH expression, best first; higher is better.

    A negative `limit` means no limit.
    """
    full = " AND ".join([*filters, _words(connection, expression)])
    if connection.as_of is not None:
        return retired_keywords.matches(connection, full, expression, f"{BODY_WEIGHT}, {CONTEXT_WEIGHT}, 0.0", limit)
    rows = connection.execute(
        f"SELECT rowid, bm25(keyword, {BODY_WEIGHT}, {CONTEXT_WEIGHT}, 0.0) AS score FROM keyword"
        " WHERE keyword MATCH ? ORDER BY score LIMIT ?",
        (full, limit),
    )
    return [(int(row), -float(score)) for row, score in rows]


def stems(connection: Connection, terms: Iterable[str]) -> dict[str, list[str]]:
    """Return each term in index form: split into tokens and stemmed by the index's own tokenizer."""
    return {term: connection.stems(term) for term in terms}


def document_frequencies(connection: Connection, terms: Iterable[str]) -> dict[str, int]:
    """Return in how many drawers each *stemmed* term occurs; terms that do not occur are absent."""
    frequencies: dict[str, int] = {}
    for term in terms:
        count = keyword_postings.live_document_frequency(connection, term)
        if connection.as_of is not None:
            count += retired_keywords.document_frequency(connection, term)
        if count:
            frequencies[term] = count
    return frequencies


def holders(connection: Connection, term: str, sources: Sequence[int]) -> list[tuple[int, int]]:
    """Return (drawer row id, source) of those sources' live drawers that contain the word or phrase."""
    match = _words(connection, term)
    if connection.as_of is not None:
        return retired_keywords.holders(connection, match, sources)
    rows = connection.execute(
        "SELECT drawer.id, drawer.source FROM keyword CROSS JOIN drawer ON drawer.id = keyword.rowid"
        " WHERE keyword MATCH ? AND drawer.source IN (SELECT value FROM json_each(?))",
        (match, json.dumps(list(sources))),
    )
    return [(int(row), int(source)) for row, source in rows]


def indexed_rows(connection: Connection) -> int:
    """Return the number of indexed drawers; as of a day, including those in the index of the past."""
    live = keyword_postings.live_rows(connection)
    return live if connection.as_of is None else live + retired_keywords.indexed_rows(connection)


def count_in_scope(connection: Connection, expression: str) -> int:
    """Return how many drawers match the filters of a MATCH expression; all indexed drawers without one."""
    if not expression:
        return indexed_rows(connection)
    return int(next(connection.execute("SELECT count(*) FROM keyword WHERE keyword MATCH ?", (expression,)))[0])


def drawers_in_scope(connection: Connection, filters: Sequence[str]) -> list[int]:
    """Return the row ids of the drawers that match all filters, ascending; at least one filter is required."""
    if connection.as_of is not None:
        return retired_keywords.drawers_in_scope(connection, " AND ".join(filters))
    rows = connection.execute("SELECT rowid FROM keyword WHERE keyword MATCH ?", (" AND ".join(filters),))
    return [int(row) for (row,) in rows]


def check(connection: Connection) -> str:
    """Return '' if the index is sound, else SQLite's error."""
    import apsw

    try:
        connection.execute("INSERT INTO keyword(keyword) VALUES('integrity-check')")
    except apsw.Error as error:
        return str(error)
    return ""


def purge(connection: Connection) -> None:
    """Merge the index into one segment: until then it contains words of removed rows, though no query finds them."""
    connection.execute("INSERT INTO keyword(keyword) VALUES('optimize')")


def clear(connection: Connection) -> None:
    """Empty the index."""
    connection.execute("INSERT INTO keyword(keyword) VALUES('delete-all')")


def _any_of(tokens: Iterable[str]) -> str:
    return "scope : (" + " OR ".join(f'"{token}"' for token in tokens) + ")"
