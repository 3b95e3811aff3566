"""Documents and their metadata in vector stores on disk, read by plain SQLite, without the vectors.

Two formats: Chroma's (`chroma.sqlite3`, its schema of 0.4 to 1.5; https://github.com/chroma-core/chroma, in
`chromadb/migrations`), and the one that MemPalace 3 uses if it is configured to run without Chroma
(`sqlite_exact.sqlite3`). A collection is read in two steps, so that a large one is never in memory at once: first what
its rows are, then the text of some of them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from palazzo.frozen_class import frozen
from palazzo.store.database import SqliteConnection

Metadata = Mapping[str, object]
_DOCUMENT = "chroma:document"
_URI = "chroma:uri"
_ADD, _UPDATE, _DELETE = 0, 1, 3
"""Operation codes of Chroma's log; every other code is an upsert."""
_AT_ONCE = 500


@frozen
class Head:
    """A row of a collection: its number, its id, and the requested metadata."""

    number: int
    id: str
    metadata: Metadata


@frozen
class Row:
    """A complete row; `document` is None if it has none."""

    document: str | None
    metadata: Metadata


class Collection(Protocol):
    """A collection of a vector store, in an open snapshot."""

    def heads(self, keys: Sequence[str]) -> Iterator[Head]:
        """Yield all rows in the order of creation, with their metadata under `keys`."""
        ...

    def rows(self, numbers: Sequence[int]) -> dict[int, Row]:
        """Return the rows with these IDs."""
        ...


def chroma_collections(connection: SqliteConnection) -> dict[str, Collection]:
    """Return the collections of a Chroma database by name."""
    rows = connection.execute(
        "SELECT collections.name, collections.id, segments.id FROM collections JOIN segments"
        " ON segments.collection = collections.id AND segments.scope = 'METADATA' ORDER BY segments.id"
    )
    return {str(name): _Chroma(connection, str(own), str(segment)) for name, own, segment in list(rows)}


def exact_collections(connection: SqliteConnection) -> dict[str, Collection]:
    """Return the collections of MemPalace's own store by name."""
    rows = connection.execute("SELECT name, id FROM collections ORDER BY id")
    return {str(name): _Exact(connection, int(own)) for name, own in list(rows)}


# --- Chroma ------------------------------------------------------------------------------------------------


@dataclass
class _LogEntry:
    """Data about a row from Chroma's log that its tables do not contain yet."""

    metadata: dict[str, object] = field(default_factory=dict)
    is_gone: bool = False
    is_whole: bool = False
    """Whether it describes the whole row, so that the data in the tables is obsolete."""


_HEADS = (
    "SELECT e.id, CAST(e.embedding_id AS BLOB), m.key, CAST(m.string_value AS BLOB), m.int_value, m.float_value,"
    " m.bool_value FROM embeddings e LEFT JOIN embedding_metadata m ON m.id = e.id"
    " AND m.key IN (SELECT value FROM json_each(?2)) WHERE e.segment_id = ?1 ORDER BY e.id"
)
_ROWS = (
    "SELECT e.id, CAST(e.embedding_id AS BLOB), m.key, CAST(m.string_value AS BLOB), m.int_value, m.float_value,"
    " m.bool_value FROM embeddings e LEFT JOIN embedding_metadata m ON m.id = e.id"
    " WHERE e.segment_id = ?1 AND e.id IN (SELECT value FROM json_each(?2)) ORDER BY e.id"
)


class _Chroma:
    """A collection whose rows are in the tables of its metadata segment.

    The latest writes may be only in the log (`embeddings_queue`): a segment applies them when it is next used, and
    records its position in `max_seq_id`.
    """

    def __init__(self, connection: SqliteConnection, collection: str, segment: str) -> None:
        self._connection, self._collection, self._segment = connection, collection, segment
        self._log: dict[str, _LogEntry] | None = None
        self._new: list[str] = []

    def heads(self, keys: Sequence[str]) -> Iterator[Head]:
        log = self._read_log()
        table_ids: set[str] = set()
        for number, uid, metadata in self._tables(_HEADS, keys):
            if uid in log:
                table_ids.add(uid)
                if log[uid].is_gone:
                    continue
                metadata = self._merge_metadata(metadata, log[uid])
            yield Head(number, uid, {key: metadata[key] for key in keys if key in metadata})
        self._new = [uid for uid, log_entry in log.items() if uid not in table_ids and not log_entry.is_gone]
        for n, uid in enumerate(self._new):
            yield Head(-1 - n, uid, {key: log[uid].metadata[key] for key in keys if key in log[uid].metadata})

    def rows(self, numbers: Sequence[int]) -> dict[int, Row]:
        log = self._read_log()
        rows_by_number = {number: _row(log[self._new[-1 - number]].metadata) for number in numbers if number < 0}
        table_numbers = [number for number in numbers if number >= 0]
        for start in range(0, len(table_numbers), _AT_ONCE):
            for number, uid, metadata in self._tables(_ROWS, table_numbers[start : start + _AT_ONCE]):
                rows_by_number[number] = _row(self._merge_metadata(metadata, log[uid]) if uid in log else metadata)
        return rows_by_number

    def _tables(self, sql: str, values: Sequence[str | int]) -> Iterator[tuple[int, str, dict[str, object]]]:
        rows = self._connection.execute(sql, (self._segment, json.dumps([*values])))
        last, uid, metadata = None, "", dict[str, object]()
        for number, own, key, text, whole, real, truth in rows:
            if number != last:
                if last is not None:
                    yield last, uid, metadata
                last, uid, metadata = int(number), _text(own), {}
            if key is not None:
                metadata[sys.intern(str(key))] = _value(text, whole, real, truth)
        if last is not None:
            yield last, uid, metadata

    def _read_log(self) -> dict[str, _LogEntry]:
        """Return what the log adds to the tables, by row ID."""
        if self._log is None:
            self._log = {}
            for operation, uid, metadata in self._read_queue():
                log_entry = self._log.setdefault(uid, _LogEntry())
                if operation == _DELETE:
                    self._log[uid] = _LogEntry(is_gone=True, is_whole=True)
                elif log_entry.is_gone and operation != _UPDATE:
                    self._log[uid] = _LogEntry(metadata, is_whole=True)
                elif not log_entry.is_gone:
                    log_entry.metadata.update(metadata)
        return self._log

    def _read_queue(self) -> Iterator[tuple[int, str, dict[str, object]]]:
        positions = [
            _number(seq)
            for (seq,) in self._connection.execute(
                "SELECT seq_id FROM max_seq_id WHERE segment_id = ?", (self._segment,)
            )
        ]
        rows = self._connection.execute(
            "SELECT operation, CAST(id AS BLOB), CAST(metadata AS BLOB) FROM embeddings_queue"
            " WHERE topic LIKE '%/' || ? AND seq_id > ? ORDER BY seq_id",
            (self._collection, max(positions, default=0)),
        )
        for operation, uid, metadata in rows:
            yield int(operation), _text(uid), _object(metadata)

    def _merge_metadata(self, metadata: dict[str, object], log_entry: _LogEntry) -> dict[str, object]:
        merged_metadata = log_entry.metadata if log_entry.is_whole else {**metadata, **log_entry.metadata}
        return {key: value for key, value in merged_metadata.items() if value is not None}


def _number(seq: object) -> int:
    """Decode numbers that Chroma before 0.4.15 stored as bytes."""
    return int.from_bytes(seq, "big") if isinstance(seq, bytes) else int(str(seq))


def _value(text: bytes | None, whole: int | None, real: float | None, truth: int | None) -> object:
    if text is not None:
        return _text(text)
    if truth is not None:
        return bool(truth)
    return whole if whole is not None else real


def _row(metadata: Mapping[str, object]) -> Row:
    document = metadata.get(_DOCUMENT)
    extras = {key: value for key, value in metadata.items() if key not in (_DOCUMENT, _URI)}
    return Row(document if isinstance(document, str) else None, extras)


# --- MemPalace's own ---------------------------------------------------------------------------------------


class _Exact:
    """A collection that stores a row's metadata as one JSON object."""

    def __init__(self, connection: SqliteConnection, collection: int) -> None:
        self._connection, self._collection = connection, collection

    def heads(self, keys: Sequence[str]) -> Iterator[Head]:
        rows = self._connection.execute(
            "SELECT rowid, CAST(id AS BLOB), CAST(metadata_json AS BLOB) FROM documents WHERE collection_id = ?"
            " ORDER BY created_at, id",
            (self._collection,),
        )
        for number, uid, metadata in rows:
            fields = _object(metadata)
            yield Head(int(number), _text(uid), {key: fields[key] for key in keys if key in fields})

    def rows(self, numbers: Sequence[int]) -> dict[int, Row]:
        rows = self._connection.execute(
            "SELECT rowid, CAST(document AS BLOB), CAST(metadata_json AS BLOB) FROM documents"
            " WHERE rowid IN (SELECT value FROM json_each(?))",
            (json.dumps([*numbers]),),
        )
        return {int(number): Row(_text(document), _object(metadata)) for number, document, metadata in rows}


def _object(data: bytes | None) -> dict[str, object]:
    try:
        value = json.loads(_text(data or b"{}"))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _text(data: bytes) -> str:
    """Decode stored text; invalid UTF-8 becomes lone surrogates, so that one bad row costs no other."""
    return bytes(data).decode("utf-8", "surrogateescape")
