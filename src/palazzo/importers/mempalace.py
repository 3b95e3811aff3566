"""MemPalace's palace on disk, versions 3.0 to 3.11: drawers, diaries, facts and tunnels.

    DIR/palace/chroma.sqlite3          drawers, in chunks, in the collection `mempalace_drawers`; or
    DIR/palace/sqlite_exact.sqlite3    the same without Chroma
    knowledge_graph.sqlite3            facts: in the palace, beside it, or in ~/.mempalace
    DIR/tunnels.json, identity.txt     tunnels that somebody made, and the agent's identity
    DIR/diary.jsonl                    the diary of Hermes

DIR is `~/.mempalace`, or since 3.10 `~/.config/mempalace`; if one of the two is named, the other is checked too.
Formats: https://github.com/MemPalace/mempalace, as 3.11.0 writes them. None of its code runs, and nothing is written
there. Times without a zone are in this machine's time zone.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from palazzo.errors import SourceUnreadable
from palazzo.frozen_class import frozen
from palazzo.importers import DiaryEntry, Note, SkippedRecord, StoreRecord, Tunnel
from palazzo.importers.json_documents import key_of, object_at, text_at
from palazzo.importers.mempalace_chunks import CHUNK_SIZE, OVERLAP
from palazzo.importers.mempalace_drawers import Drawers
from palazzo.importers.mempalace_facts import read_facts
from palazzo.importers.mempalace_times import moment
from palazzo.importers.vector_stores import Collection, chroma_collections, exact_collections
from palazzo.model import Micros
from palazzo.store.database import SqliteConnection
from palazzo.store.foreign_database import ForeignDatabase

CHROMA, EXACT, FACTS = "chroma.sqlite3", "sqlite_exact.sqlite3", "knowledge_graph.sqlite3"
COLLECTION, IDENTITY = "mempalace_drawers", "identity.txt"
_CHUNK_SETTINGS = (("chunk_size", CHUNK_SIZE), ("chunk_overlap", OVERLAP))
"""The settings with which texts were cut, and their defaults."""
_SKIPPED_COLLECTIONS = {
    "mempalace_closets": ("closets", "they point at drawers, and are made of the drawers' words"),
    "mempalace_assets": ("assets", "they are pictures and recordings, which contain no words"),
}
_SERVERS = {"qdrant_backend.json": "Qdrant", "pgvector_backend.json": "PostgreSQL", "milvus_backend.json": "Milvus"}
"""Files of a palace whose drawers are not in an SQLite file, with the name of the server that holds them."""
_LARGEST_FILE = 64 << 20


class MemPalace:
    """The reader of MemPalace's palaces."""

    name, title = "mempalace", "MemPalace"

    def recognises(self, path: Path) -> bool:
        """Return whether it is such a palace, its parent directory, or one of its databases."""
        try:
            files = _Files.at(path)
            return files is not None and (files.is_surely or _is_its(files))
        except OSError:
            return False

    def read(self, path: Path) -> Iterator[StoreRecord]:
        """Yield drawers and diary entries in the order of filing, then facts, then tunnels."""
        files = _Files.at(path)
        if files is None:
            raise SourceUnreadable(
                f"MemPalace has no palace at {path}: name the directory of its {CHROMA}, or its parent."
            )
        note_keys: Mapping[str, str] = {}
        if files.drawers is not None:
            if files.drawers.name in _SERVERS:
                server = _SERVERS[files.drawers.name]
                raise SourceUnreadable(
                    f"{files.palace} keeps its drawers in {server}; only Chroma and SQLite are read."
                )
            settings = files.settings()
            with ForeignDatabase(files.drawers).snapshot() as connection:
                collections = _collections(connection, files.drawers)
                name = str(settings.get("collection_name") or COLLECTION)
                if name in collections:
                    size, overlap = (_number(settings, key, usual) for key, usual in _CHUNK_SETTINGS)
                    drawers = Drawers(collections.pop(name), size, overlap)
                    yield from drawers.read()
                    note_keys = drawers.keys
                yield from _left_of(collections)
        yield from _hermes(files.settings_dir / "diary.jsonl")
        yield from _identity(_first(files.settings_dir, (IDENTITY,)) or _home(files.settings_dir) / IDENTITY)
        if files.facts is not None:
            with ForeignDatabase(files.facts).snapshot() as connection:
                yield from read_facts(connection, note_keys)
        yield from _tunnels(files.settings_dir / "tunnels.json", note_keys)
        yield from _lists_beside(files)


@frozen
class _Files:
    """Locations of a palace's files. `settings_dir` is the directory of its settings, tunnels and the user's own
    lines.
    """

    palace: Path
    settings_dir: Path
    drawers: Path | None
    facts: Path | None

    @classmethod
    def at(cls, path: Path) -> _Files | None:
        """Find the files from the given path: the palace, its parent directory, or one of its databases."""
        if path.is_file():
            if path.name not in (CHROMA, EXACT, FACTS):
                return None
            path = path.parent
        for palace in (path / "palace", path, _resolve_default(path)):
            drawers = _first(palace, (CHROMA, EXACT, *_SERVERS))
            if drawers is not None:
                settings_dir = palace.parent
                places = (palace, settings_dir, _home(settings_dir))
                return cls(
                    palace,
                    settings_dir,
                    drawers,
                    next(filter(None, (_first(place, (FACTS,)) for place in places)), None),
                )
        facts = _first(path, (FACTS,))
        return None if facts is None else cls(path, path, None, facts)

    @property
    def is_surely(self) -> bool:
        """Return whether there is a file that only MemPalace writes."""
        names = (EXACT, *_SERVERS, "mempalace_embedder.json", FACTS)
        return _first(self.palace, names) is not None or self.settings_dir.name in (".mempalace", "mempalace")

    def settings(self) -> dict[str, Any]:
        """Return the person's settings."""
        config = _json(self.settings_dir / "config.json")
        return config if isinstance(config, dict) else {}


def _first(directory: Path, names: Sequence[str]) -> Path | None:
    return next((directory / name for name in names if (directory / name).is_file()), None)


def _home(settings_dir: Path) -> Path:
    """Return where a default palace has its facts: `~/.mempalace`, even if the palace is in `~/.config`."""
    is_configured = (settings_dir.parent.name, settings_dir.name) == (".config", "mempalace")
    return settings_dir.parent.parent / ".mempalace" if is_configured else settings_dir


def _resolve_default(path: Path) -> Path:
    """Return the default palace if the path is `~/.mempalace`, which holds its facts."""
    return path.parent / ".config" / "mempalace" / "palace" if path.name == ".mempalace" else path


def _is_its(files: _Files) -> bool:
    """Return whether a Chroma database is MemPalace's, which others use too. An unreadable one may be."""
    assert files.drawers is not None  # noqa: S101 - else there are facts
    try:
        with ForeignDatabase(files.drawers).snapshot() as connection:
            return any(name.startswith("mempalace_") for name in _collections(connection, files.drawers))
    except SourceUnreadable:
        return files.drawers.name == CHROMA and files.palace.name == "palace"


def _collections(connection: SqliteConnection, database: Path) -> dict[str, Collection]:
    return chroma_collections(connection) if database.name == CHROMA else exact_collections(connection)


def _number(settings: Mapping[str, Any], key: str, usual: int) -> int:
    value = settings.get(key)
    return value if type(value) is int and value >= 0 else usual


def _left_of(collections: Mapping[str, Collection]) -> Iterator[SkippedRecord]:
    """Report the other collections of the database."""
    for name, collection in collections.items():
        label, reason = _SKIPPED_COLLECTIONS.get(name, ("rows of other collections", "they are not MemPalace drawers"))
        size = sum(1 for _ in collection.heads(()))
        if size:
            yield SkippedRecord(label, reason, name, size)


# --- beside the palace -------------------------------------------------------------------------------------


def _hermes(path: Path) -> Iterator[DiaryEntry | SkippedRecord]:
    """Read the diary that MemPalace's plugin for Hermes keeps beside the palace."""
    for line in (_text(path) or "").splitlines():
        record = _parse_json(line)
        entry = text_at(record, "entry") if isinstance(record, dict) else ""
        if entry:
            yield DiaryEntry(key_of(text_at(record, "ts"), entry), "hermes", entry, created_at=moment(record.get("ts")))
        elif line.strip():
            yield SkippedRecord("diary entries", "they have an unknown format", path.name)


def _identity(path: Path) -> Iterator[Note]:
    """Read the person's description of the agent, which MemPalace puts before every session."""
    text = _text(path)
    if text is not None and text.strip():
        at = Micros(int(path.stat().st_mtime * 1_000_000))
        yield Note(
            f"identity {key_of(text)}", text.strip(), room="identity", created_at=at, trust="user", origin=path.name
        )


def _tunnels(path: Path, note_keys: Mapping[str, str]) -> Iterator[Tunnel | SkippedRecord]:
    text = _text(path)
    if text is None:
        return
    records = _parse_json(text)
    if not isinstance(records, list):
        yield SkippedRecord("tunnels", f"{path.name} is not a list of tunnels")
        return
    for record in records:
        tunnel = _tunnel(record, note_keys) if isinstance(record, dict) else None
        if tunnel is None:
            yield SkippedRecord("tunnels", "they do not name two rooms")
        elif text_at(record, "kind") not in ("", "explicit"):
            yield SkippedRecord("tunnels", "MemPalace found them automatically, and Palazzo finds its own", tunnel.key)
        else:
            yield tunnel


def _tunnel(record: dict[str, Any], note_keys: Mapping[str, str]) -> Tunnel | None:
    source, target = object_at(record, "source"), object_at(record, "target")
    ends = (text_at(source, "wing"), text_at(source, "room"), text_at(target, "wing"), text_at(target, "room"))
    if not all(ends):
        return None
    return Tunnel(
        text_at(record, "id") or key_of(*ends),
        *ends,
        label=text_at(record, "label"),
        source_cites=note_keys.get(text_at(source, "drawer_id"), ""),
        target_cites=note_keys.get(text_at(target, "drawer_id"), ""),
        created_at=moment(record.get("created_at")),
    )


def _lists_beside(files: _Files) -> Iterator[SkippedRecord]:
    """Report the other contents of the directory: not drawers, facts or tunnels."""
    hallways = _json(files.settings_dir / "hallways.json")
    if hallways:
        size = len(hallways) if isinstance(hallways, list | dict) else 1
        yield SkippedRecord("hallways", "they are computed from drawers, and Palazzo computes its own", count=size)
    if (files.palace / "logstream.sqlite3").is_file():
        yield SkippedRecord("logs of agents' messages", "they are not memories", "logstream.sqlite3")


def _text(path: Path) -> str | None:
    """Return a file's text, None if it does not exist; raises SourceUnreadable if it cannot be read."""
    try:
        if not path.is_file():
            return None
        if path.stat().st_size > _LARGEST_FILE:
            raise SourceUnreadable(f"{path} has more than {_LARGEST_FILE >> 20} MiB: it is not a MemPalace file.")
        return path.read_text("utf-8", "surrogateescape")
    except OSError as error:
        raise SourceUnreadable(f"{path} cannot be read ({error}).") from None


def _json(path: Path) -> Any:
    text = _text(path)
    return None if text is None else _parse_json(text)


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
