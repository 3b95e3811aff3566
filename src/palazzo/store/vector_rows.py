"""Vectors: rows keyed by the hash of a text, stored as int8 with a scale."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from palazzo.store import change_log, source_headings
from palazzo.store.database import Connection


def embedder_id(connection: Connection, name: str, dimension: int) -> int:
    """Return the row id of an embedder, creating it if it is new."""
    for row, stored_dimension in connection.execute("SELECT id, dimension FROM embedder WHERE name = ?", (name,)):
        assert stored_dimension == dimension, f"{name} gave {stored_dimension} dimensions before, now {dimension}"  # noqa: S101
        return int(row)
    (row,) = next(
        connection.execute("INSERT INTO embedder(name, dimension) VALUES(?,?) RETURNING id", (name, dimension))
    )
    return int(row)


def embedders(connection: Connection) -> list[tuple[int, str, int]]:
    """Return (row id, name, dimension) of every embedder that computed vectors here."""
    return [(int(a), str(b), int(c)) for a, b, c in connection.execute("SELECT id, name, dimension FROM embedder")]


def insert_vectors(connection: Connection, embedder: int, rows: Iterable[tuple[bytes, float, bytes]]) -> None:
    """Store vectors, each (text hash, scale, int8 bytes)."""
    connection.executemany(
        "INSERT OR REPLACE INTO vector(embedder, hash, scale, body) VALUES(?,?,?,?)",
        ((embedder, *row) for row in rows),
    )


def pending_passages(connection: Connection, limit: int) -> list[tuple[int, bytes, int, int, int]]:
    """Return up to `limit` passages that wait for a vector, newest first.

    Each is (passage row id, text hash, item row id, start, end).
    """
    rows = connection.execute(
        "SELECT p.id, p.hash, p.item, p.start, p.end FROM pending JOIN passage p ON p.id = pending.passage"
        " ORDER BY pending.passage DESC LIMIT ?",
        (limit,),
    )
    return [(int(a), bytes(b), int(c), int(d), int(e)) for a, b, c, d, e in rows]


def delete_orphans(connection: Connection) -> int:
    """Delete the vectors of texts that are neither a passage nor a title; return how many there were."""
    deleted_rows = connection.execute(
        "DELETE FROM vector WHERE hash NOT IN (SELECT hash FROM passage)"
        " AND hash NOT IN (SELECT hash FROM source_heading WHERE hash IS NOT NULL) RETURNING 1"
    )
    return sum(1 for _ in deleted_rows)


def still_read(connection: Connection, passages: Iterable[tuple[int, bytes]]) -> set[int]:
    """Return the passages whose text hash has not changed since it was read, each given as (row id, hash)."""
    return {
        row
        for row, digest in passages
        for _ in connection.execute("SELECT 1 FROM passage WHERE id = ? AND hash = ?", (row, digest))
    }


def settle(connection: Connection, passages: Iterable[int]) -> None:
    """Remove passages from the queue of pending vectors."""
    connection.executemany("DELETE FROM pending WHERE passage = ?", ((row,) for row in passages))


def await_vectors(connection: Connection, drawers: Iterable[int]) -> None:
    """Add the passages of these drawers to the queue of pending vectors."""
    connection.executemany(
        "INSERT OR IGNORE INTO pending SELECT id FROM passage WHERE drawer = ?", ((drawer,) for drawer in drawers)
    )


def await_all(connection: Connection) -> None:
    """Add every passage of a live drawer to the queue of pending vectors, and every title."""
    connection.execute(
        "INSERT OR IGNORE INTO pending SELECT p.id FROM passage p JOIN drawer d ON d.id = p.drawer"
        " WHERE d.retired_at IS NULL"
    )
    source_headings.await_all_vectors(connection)


def forgo_vectors(connection: Connection, drawer: int) -> None:
    """Remove a drawer's passages from the queue of pending vectors."""
    connection.execute("DELETE FROM pending WHERE passage IN (SELECT id FROM passage WHERE drawer = ?)", (drawer,))


def count_pending(connection: Connection) -> int:
    """Return the number of passages that wait for a vector."""
    return int(next(connection.execute("SELECT count(*) FROM pending"))[0])


def count_pending_vectors(connection: Connection) -> int:
    """Return the number of passages and of titles that wait for a vector."""
    return count_pending(connection) + source_headings.count_pending(connection)


def any_pending(connection: Connection) -> bool:
    """Whether any passage or title waits for a vector."""
    is_any = any(True for _ in connection.execute("SELECT 1 FROM pending LIMIT 1"))
    return is_any or source_headings.any_pending(connection)


def with_vectors(connection: Connection, embedder: int, hashes: Iterable[bytes]) -> set[bytes]:
    """Return the text hashes, among these, that have a vector."""
    return {
        digest
        for digest in hashes
        for _ in connection.execute("SELECT 1 FROM vector WHERE embedder = ? AND hash = ?", (embedder, digest))
    }


def count_passages(connection: Connection) -> int:
    """Return the number of passages of live drawers."""
    rows = connection.execute(
        "SELECT count(*) FROM passage p JOIN drawer d ON d.id = p.drawer WHERE d.retired_at IS NULL"
    )
    return int(next(rows)[0])


def passages_with_hash(connection: Connection, digest: bytes) -> list[int]:
    """Return the row ids of the passages with that text hash."""
    return [int(row) for (row,) in connection.execute("SELECT id FROM passage WHERE hash = ?", (digest,))]


_READ_TOGETHER = 200_000
"""The most passages whose vectors are read in one pass over the table: 90 MB for a moment. Read in the order of the
drawers, each vector costs a page of its own, and a million of them took four minutes.
"""


class VectorRow(NamedTuple):
    """A live passage with its vector, and the fields that a search filters by. The passage of a title is 0."""

    passage: int
    drawer: int
    room: int
    kind: str
    created_at: int
    hash: bytes
    scale: float
    body: bytes


def vectors_of(connection: Connection, embedder: int, drawer_rows: Sequence[int] | None = None) -> Iterator[VectorRow]:
    """Yield the vectors of live drawers, in drawer order: all, or those of `drawer_rows`, ascending.

    A vector of a title is one of the drawer that stands for its source.
    """
    passages = heapq.merge(
        _passages(connection, drawer_rows), _headings(connection, drawer_rows), key=itemgetter(_DRAWER)
    )
    while block := list(itertools.islice(passages, _READ_TOGETHER)):
        vectors = read_vectors(connection, embedder, sorted({bytes(digest) for *_, digest in block}))
        for passage, drawer, room, kind, created_at, digest in block:
            if digest in vectors:
                yield VectorRow(passage, drawer, room, kind, created_at, digest, *vectors[digest])


def _passages(connection: Connection, drawer_rows: Sequence[int] | None) -> Iterator[Any]:
    """Yield (passage, drawer, room, kind, created at, hash) of live drawers, in drawer order."""
    base = (
        "SELECT p.id, d.id, d.room, d.kind, d.created_at, p.hash FROM drawer d CROSS JOIN passage p"
        " ON p.drawer = d.id WHERE d.retired_at IS NULL"
    )
    if drawer_rows is None:
        yield from connection.execute(f"{base} ORDER BY d.id")
        return
    for start in range(0, len(drawer_rows), 500):
        part = drawer_rows[start : start + 500]
        yield from connection.execute(f"{base} AND d.id IN ({','.join('?' * len(part))}) ORDER BY d.id", part)


_DRAWER = 1
"""The position of the drawer in a row of `_passages` and `_headings`."""


def _headings(connection: Connection, drawer_rows: Sequence[int] | None) -> Iterator[Any]:
    """Yield the same of titles, whose passage is 0."""
    for drawer, digest in source_headings.heading_hashes(connection, drawer_rows):
        rows = connection.execute(
            "SELECT room, kind, created_at FROM drawer WHERE id = ? AND retired_at IS NULL", (drawer,)
        )
        for room, kind, created_at in rows:
            yield 0, drawer, room, kind, created_at, digest


_LIST_SIZES = (1, 8, 64, 500)
"""How many hashes a statement may ask for: those of every other number would each be prepared and kept."""


def read_vectors(connection: Connection, embedder: int, hashes: Sequence[bytes]) -> dict[bytes, tuple[float, bytes]]:
    """Return (scale, int8 bytes) by text hash; `hashes` are sorted, so that each page of the table is read once."""
    vectors: dict[bytes, tuple[float, bytes]] = {}
    for start in range(0, len(hashes), 500):
        part = list(hashes[start : start + 500])
        part += part[-1:] * (next(size for size in _LIST_SIZES if size >= len(part)) - len(part))
        rows = connection.execute(
            f"SELECT hash, scale, body FROM vector WHERE embedder = ? AND hash IN ({','.join('?' * len(part))})",
            (embedder, *part),
        )
        for digest, scale, body in rows:
            vectors[digest] = (scale, body)
    return vectors


def all_vectors(connection: Connection, embedder: int) -> Iterator[tuple[bytes, float, bytes]]:
    """Yield (text hash, scale, int8 bytes) of an embedder, in the order of the table, which is that of the hashes."""
    yield from connection.execute("SELECT hash, scale, body FROM vector WHERE embedder = ? ORDER BY hash", (embedder,))


def drawers_of_passages(connection: Connection, passages: Sequence[int]) -> set[int]:
    """Return the drawers that the passages belong to."""
    drawer_rows: set[int] = set()
    for start in range(0, len(passages), 500):
        part = passages[start : start + 500]
        rows = connection.execute(f"SELECT drawer FROM passage WHERE id IN ({','.join('?' * len(part))})", part)
        drawer_rows.update(int(drawer) for (drawer,) in rows)
    return drawer_rows


def report_changed(connection: Connection, drawers: Iterable[int]) -> None:
    """Record in the change log that these drawers have other vectors: by one of their passages, if they have any."""
    for drawer in sorted(drawers):
        ((passage,),) = connection.execute("SELECT min(id) FROM passage WHERE drawer = ?", (drawer,))
        change_log.append(connection, "drawer~" if passage is None else "vector+", [passage or drawer])


def newest_passage(connection: Connection) -> int:
    """Return the greatest row id of a passage, which is an upper bound of their number."""
    return int(next(connection.execute("SELECT coalesce(max(id), 0) FROM passage"))[0])
