"""Source headings: the drawer by which the words of a source's title, directory or path are found.

The keyword index has one row for each drawer. The first drawer of a session is also indexed by the session's title and
working directory, the first section of a document by the document's title and path. One drawer of each source is
enough: a query for a title finds as many sources as it asks for hits, and the words count for the other drawers of the
source (`covered` in `index/ranking`). The same words get a vector, which counts as one of that drawer's: so a title is
also found in other words.
Derived (`derived/heading_consumer`).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from palazzo.store.database import Connection
from palazzo.store.json_columns import decode_string, string_at

TABLES = (
    "CREATE TABLE source_heading(source INTEGER PRIMARY KEY, drawer INTEGER NOT NULL)",
    "CREATE INDEX source_heading_drawer ON source_heading(drawer)",
)
VECTOR_COLUMNS = (
    "ALTER TABLE source_heading ADD COLUMN hash BLOB",
    "ALTER TABLE source_heading ADD COLUMN is_pending INTEGER NOT NULL DEFAULT 0",
    "CREATE INDEX source_heading_hash ON source_heading(hash)",
    "CREATE INDEX source_heading_pending ON source_heading(source) WHERE is_pending",
)
"""The hash of the words, under which their vector is stored (NULL without words), and whether they wait for it."""
_DIRECTORIES, _PATH_PARTS = 2, 3
"""How many of the last parts of a directory, and of a document's path, are indexed: those before them are the same for
nearly all files of a machine.
"""
_OF_NO_SOURCE = ("note", "diary", "todo", "reminder", "commit", "reasoning")
"""Kinds of drawers whose source is only a shelf of a wing, and reasoning, which stands for no session."""


def find_first_drawer(connection: Connection, source: int) -> int | None:
    """Return the drawer with which a session or document begins; None if it has no live drawer, or is a shelf.

    In a session it is the first exchange, as a tool's output says little about the session.
    """
    for is_tool in (False, True):
        place = _find_first_place(connection, source, is_tool)
        if place is None:
            continue
        thread, ordinal = place
        first = connection.execute(
            "SELECT id FROM drawer WHERE source = ? AND thread = ? AND ordinal = ? AND (kind = 'tool') = ?"
            " AND retired_at IS NULL"
            " ORDER BY (SELECT min(start) FROM drawer_span WHERE drawer_span.drawer = drawer.id), uid LIMIT 1",
            (source, thread, ordinal, is_tool),
        )
        for (row,) in first:
            return int(row)
    return None


def _find_first_place(connection: Connection, source: int, is_tool: bool) -> tuple[str, int] | None:
    """Return thread and ordinal of the first live drawer that is a tool's, or of the first other one.

    Each thread is read up to its first: a session of weeks has thousands of drawers.
    """
    rows = connection.execute(
        "WITH RECURSIVE name(thread) AS (SELECT min(thread) FROM drawer WHERE source = ?1 UNION ALL"
        " SELECT (SELECT min(thread) FROM drawer WHERE source = ?1 AND thread > name.thread) FROM name"
        " WHERE name.thread IS NOT NULL)"
        " SELECT thread, (SELECT ordinal FROM drawer WHERE source = ?1 AND thread = name.thread"
        " AND retired_at IS NULL AND (kind = 'tool') = ?2"
        f" AND kind NOT IN ({', '.join('?' * len(_OF_NO_SOURCE))}) ORDER BY ordinal LIMIT 1) AS first"
        " FROM name WHERE first IS NOT NULL ORDER BY first, thread LIMIT 1",
        (source, is_tool, *_OF_NO_SOURCE),
    )
    return next(((str(thread), int(ordinal)) for thread, ordinal in rows), None)


def stored_drawer(connection: Connection, source: int) -> int | None:
    """Return the drawer that is indexed by the words of a source, as it was last stored."""
    return read_heading(connection, source)[0]


def read_heading(connection: Connection, source: int) -> tuple[int | None, bytes | None]:
    """Return the drawer that is indexed by the words of a source, and the hash of these words, as last stored."""
    for row, digest in connection.execute("SELECT drawer, hash FROM source_heading WHERE source = ?", (source,)):
        return int(row), None if digest is None else bytes(digest)
    return None, None


def store(connection: Connection, source: int, drawer: int | None, digest: bytes | None) -> None:
    """Store which drawer is indexed by the words of a source, and the hash of the words; no drawer for none.

    The words then wait for a vector.
    """
    connection.execute("DELETE FROM source_heading WHERE source = ?", (source,))
    if drawer is not None:
        connection.execute(
            "INSERT INTO source_heading(source, drawer, hash, is_pending) VALUES(?, ?, ?, ?)",
            (source, drawer, digest, digest is not None),
        )


def pending_headings(connection: Connection, limit: int) -> list[tuple[int, int, bytes]]:
    """Return up to `limit` headings that wait for a vector: (source, drawer, hash)."""
    rows = connection.execute(
        "SELECT source, drawer, hash FROM source_heading WHERE is_pending AND hash IS NOT NULL ORDER BY source LIMIT ?",
        (limit,),
    )
    return [(int(source), int(drawer), bytes(digest)) for source, drawer, digest in rows]


def count_pending(connection: Connection) -> int:
    """Return how many headings wait for a vector."""
    return int(next(connection.execute("SELECT count(*) FROM source_heading WHERE is_pending"))[0])


def any_pending(connection: Connection) -> bool:
    """Return whether any heading waits for a vector."""
    return any(True for _ in connection.execute("SELECT 1 FROM source_heading WHERE is_pending LIMIT 1"))


def settle_vectors(connection: Connection, headings: Iterable[tuple[int, bytes]]) -> None:
    """Record that these headings, each (source, hash), wait no more; those with other words by now still do."""
    connection.executemany("UPDATE source_heading SET is_pending = 0 WHERE source = ? AND hash = ?", headings)


def await_all_vectors(connection: Connection) -> None:
    """Let every heading wait for a vector."""
    connection.execute("UPDATE source_heading SET is_pending = 1 WHERE hash IS NOT NULL")


def heading_hashes(connection: Connection, drawers: Sequence[int] | None) -> Iterator[tuple[int, bytes]]:
    """Yield (drawer, hash of the words) of headings, in the order of drawers: of all, or of some."""
    query = "SELECT drawer, hash FROM source_heading WHERE hash IS NOT NULL"
    if drawers is not None:
        query += " AND drawer IN (SELECT value FROM json_each(?))"
    parameters = () if drawers is None else (json.dumps(list(drawers)),)
    for drawer, digest in connection.execute(f"{query} ORDER BY drawer, source", parameters):
        yield int(drawer), bytes(digest)


def find_new(connection: Connection, source: int, kinds_by_drawer: Mapping[int, str]) -> int | None:
    """Return which of these new drawers stands for a source that has none yet, or None."""
    if all(kind in _OF_NO_SOURCE for kind in kinds_by_drawer.values()) or stored_drawer(connection, source) is not None:
        return None
    first = find_first_drawer(connection, source)
    return first if first in kinds_by_drawer else None


def sources_of(connection: Connection, drawers: Collection[int]) -> set[int]:
    """Return the sources whose words are indexed with one of these drawers."""
    rows = connection.execute(
        "SELECT source FROM source_heading WHERE drawer IN (SELECT value FROM json_each(?))",
        (json.dumps(list(drawers)),),
    )
    return {int(source) for (source,) in rows}


def sources_with_drawers(connection: Connection) -> list[int]:
    """Return all sources that have a live drawer or a stored heading, in order."""
    rows = connection.execute(
        "SELECT source FROM drawer WHERE retired_at IS NULL UNION SELECT source FROM source_heading ORDER BY 1"
    )
    return [int(source) for (source,) in rows]


def heading_words(connection: Connection, drawer: int) -> str:
    """Return the words of the sources for which a drawer stands in the keyword index; '' for most drawers."""
    rows = connection.execute(
        f"{_HEADINGS} FROM source_heading JOIN source ON source.id = source_heading.source"
        " JOIN drawer ON drawer.id = source_heading.drawer WHERE source_heading.drawer = ? ORDER BY source.id",
        (drawer,),
    )
    return " ".join(_join_words(*row) for row in rows)


def source_words(connection: Connection, source: int, drawer: int) -> str:
    """Return the words of a source that get a vector: its title, and the end of its directory or path.

    '' for a session without a title: its directory alone is that of many, which would all be equally near.
    """
    rows = connection.execute(
        f"{_HEADINGS} FROM source JOIN drawer ON drawer.id = ? WHERE source.id = ?", (drawer, source)
    )
    return " ".join(_join_words(*row) for row in rows if row[0] == "section" or row[2]).strip()


_HEADINGS = (
    f"SELECT drawer.kind, source.key, source.title, (SELECT {string_at('item.meta', '$.cwd')} FROM drawer_span"
    " JOIN item ON item.id = drawer_span.item WHERE drawer_span.drawer = drawer.id ORDER BY drawer_span.n LIMIT 1)"
)


def _join_words(kind: str, key: str, title: str, directory: bytes | None) -> str:
    if kind == "section":
        path = PurePosixPath(str(json.loads(key)[-1]).replace("\\", "/"))
        return " ".join((title, *path.with_suffix("").parts[-_PATH_PARTS:]))
    return " ".join((title, *_last_parts(decode_string(directory))))


def _last_parts(directory: str) -> Iterable[str]:
    parts = [part for part in directory.replace("\\", "/").split("/") if part]
    return parts[-_DIRECTORIES:]
