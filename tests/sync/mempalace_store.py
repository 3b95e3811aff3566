"""MemPalace's palaces, written by plain SQLite in the shapes that its 3.11.0 leaves behind."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

_CHROMA = """
CREATE TABLE collections(id TEXT PRIMARY KEY, name TEXT NOT NULL, dimension INTEGER, database_id TEXT,
    config_json_str TEXT, schema_str TEXT);
CREATE TABLE segments(id TEXT PRIMARY KEY, type TEXT NOT NULL, scope TEXT NOT NULL, collection TEXT NOT NULL);
CREATE TABLE embeddings(id INTEGER PRIMARY KEY, segment_id TEXT NOT NULL, embedding_id TEXT NOT NULL,
    seq_id BLOB NOT NULL, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, UNIQUE(segment_id, embedding_id));
CREATE TABLE embedding_metadata(id INTEGER REFERENCES embeddings(id), key TEXT NOT NULL, string_value TEXT,
    int_value INTEGER, float_value REAL, bool_value INTEGER, PRIMARY KEY(id, key));
CREATE TABLE max_seq_id(segment_id TEXT PRIMARY KEY, seq_id BLOB NOT NULL);
CREATE TABLE embeddings_queue(seq_id INTEGER PRIMARY KEY, created_at TIMESTAMP, operation INTEGER NOT NULL,
    topic TEXT NOT NULL, id TEXT NOT NULL, vector BLOB, encoding TEXT, metadata TEXT);
"""
_EXACT = """
CREATE TABLE collections(id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, dimension INTEGER,
    created_at TEXT);
CREATE TABLE documents(collection_id INTEGER NOT NULL, id TEXT NOT NULL, document TEXT NOT NULL,
    metadata_json TEXT NOT NULL, embedding BLOB NOT NULL, dim INTEGER NOT NULL, created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL, PRIMARY KEY(collection_id, id));
"""
_GRAPH = """
CREATE TABLE entities(id TEXT PRIMARY KEY, name TEXT NOT NULL, type TEXT DEFAULT 'unknown',
    properties TEXT DEFAULT '{}', created_at TEXT DEFAULT CURRENT_TIMESTAMP);
CREATE TABLE triples(id TEXT PRIMARY KEY, subject TEXT NOT NULL, predicate TEXT NOT NULL, object TEXT NOT NULL,
    valid_from TEXT, valid_to TEXT, confidence REAL DEFAULT 1.0, source_closet TEXT, source_file TEXT,
    source_drawer_id TEXT, adapter_name TEXT, extracted_at TEXT DEFAULT CURRENT_TIMESTAMP);
"""

Row = tuple[str, object, Mapping[str, object]]
"""A row of a collection: its id, its document, its metadata."""


def write_chroma(path: Path, rows: Sequence[Row], name: str = "mempalace_drawers", log: Sequence[Any] = ()) -> None:
    """Write a collection; `log` are (operation, id, metadata) that no segment has taken in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    is_new = not path.exists()
    with closing(sqlite3.connect(path)) as database, database:
        if is_new:
            database.executescript(_CHROMA)
        segment = f"{name}-metadata"
        database.execute("INSERT INTO collections(id, name) VALUES(?, ?)", (name, name))
        database.execute("INSERT INTO segments VALUES(?, 'vector', 'VECTOR', ?)", (f"{name}-vector", name))
        database.execute("INSERT INTO segments VALUES(?, 'metadata', 'METADATA', ?)", (segment, name))
        for uid, document, metadata in rows:
            added = "INSERT INTO embeddings(segment_id, embedding_id, seq_id) VALUES(?, ?, 1) RETURNING id"
            (row,) = database.execute(added, (segment, uid)).fetchone()
            for key, value in {"chroma:document": document, **metadata}.items():
                database.execute(
                    "INSERT INTO embedding_metadata VALUES(?, ?, ?, ?, ?, ?)", (row, key, *_columns(value))
                )
        database.execute("INSERT INTO max_seq_id VALUES(?, ?)", (segment, len(rows)))
        for n, (operation, uid, metadata) in enumerate(log, len(rows) + 1):
            database.execute(
                "INSERT INTO embeddings_queue(seq_id, operation, topic, id, metadata) VALUES(?, ?, ?, ?, ?)",
                (n, operation, f"persistent://default/default/{name}", uid, json.dumps(metadata)),
            )


def _columns(value: object) -> tuple[object, ...]:
    match value:
        case bool():
            return None, None, None, value
        case int():
            return None, value, None, None
        case float():
            return None, None, value, None
    return value, None, None, None


def write_exact(path: Path, rows: Sequence[Row], name: str = "mempalace_drawers") -> None:
    """Write a collection of the store without Chroma."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript(_EXACT)
        database.execute("INSERT INTO collections(name, created_at) VALUES(?, '')", (name,))
        for n, (uid, document, metadata) in enumerate(rows):
            database.execute(
                "INSERT INTO documents VALUES(1, ?, ?, ?, x'', 0, ?, '')",
                (uid, document, json.dumps(metadata), f"{n:06}"),
            )


def write_facts(path: Path, entities: Sequence[Sequence[object]], triples: Sequence[Mapping[str, object]]) -> None:
    """Write a knowledge graph: entities as (id, name, type, properties)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript(_GRAPH)
        database.executemany("INSERT INTO entities(id, name, type, properties) VALUES(?, ?, ?, ?)", entities)
        for one in triples:
            marks = ", ".join("?" * len(one))
            database.execute(f"INSERT INTO triples({', '.join(one)}) VALUES({marks})", [*one.values()])
