"""MemPalace's knowledge graph: triples with the times at which they held, and the types of its entities."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from palazzo.importers import Fact, SkippedRecord
from palazzo.importers.mempalace_times import end, start
from palazzo.sources.formats import source_times
from palazzo.store.database import SqliteConnection

_EMPTY_TYPES = frozenset(["", "unknown"])


def read_facts(connection: SqliteConnection, note_keys: Mapping[str, str]) -> Iterator[Fact | SkippedRecord]:
    """Yield the facts of a knowledge graph; `note_keys` gives the key of the note that holds a drawer."""
    tables = {str(name) for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    names: dict[str, str] = {}
    if "entities" in tables:
        for own, name, kind, properties in connection.execute(
            "SELECT id, name, type, properties FROM entities ORDER BY id"
        ):
            names[str(own)] = str(name)
            if kind is not None and str(kind).strip().lower() not in _EMPTY_TYPES:
                yield Fact(f"type of {own}", str(name), "is a", str(kind))
            if properties not in (None, "", "{}"):
                yield SkippedRecord(
                    "properties of entities", "entities have no properties in Palazzo; state them as facts", str(own)
                )
    if "triples" in tables:
        yield from _triples(connection, names, note_keys)


def _triples(
    connection: SqliteConnection, names: Mapping[str, str], note_keys: Mapping[str, str]
) -> Iterator[Fact | SkippedRecord]:
    columns = [str(row[1]) for row in connection.execute("PRAGMA table_info(triples)")]
    for row in connection.execute("SELECT * FROM triples ORDER BY rowid"):  # which columns there are depends on its age
        record = dict(zip(columns, row, strict=True))
        yield from _fact(record, names, note_keys)


def _fact(
    record: Mapping[str, Any], names: Mapping[str, str], note_keys: Mapping[str, str]
) -> Iterator[Fact | SkippedRecord]:
    key, subject, predicate, thing = (str(record.get(name) or "") for name in ("id", "subject", "predicate", "object"))
    began, valid_to = record.get("valid_from"), record.get("valid_to")
    since = start(str(began)) if began else None
    until = end(str(valid_to)) if valid_to else None
    if (began and since is None) or (valid_to and until is None):
        yield SkippedRecord("facts", "their period of validity is not understood", key)
        return
    sources = [str(record[name]) for name in ("source_drawer_id", "source_closet") if record.get(name)]
    cites = next((note_keys[source] for source in sources if source in note_keys), "")
    if sources and not cites:
        yield SkippedRecord("citations of facts", "they cite something that is not a drawer of the palace", key)
    sure = record.get("confidence")
    yield Fact(
        key,
        names.get(subject, subject),
        predicate,
        names.get(thing, thing),
        valid_from=since,
        valid_to=until,
        confidence=float(sure) if isinstance(sure, int | float) else None,
        stated_by=str(record.get("adapter_name") or ""),
        stated_at=source_times.moment(record.get("extracted_at")),
        cites=cites,
    )
