"""MemPalace's palace on disk, versions 3.0 to 3.11: drawers, diaries, facts and tunnels.

    DIR/palace/chroma.sqlite3          drawers, in chunks, in the collection `mempalace_drawers`; or
    DIR/palace/sqlite_exact.sqlite3    the same without Chroma
    knowledge_graph.sqlite3            facts: in the palace, beside it, or in ~/.mempalace
    DIR/tunnels.json, identity.txt     tunnels that somebody made, and who the agent is
    DIR/diary.jsonl                    the diary of Hermes

DIR is `~/.mempalace`, or since 3.10 `~/.config/mempalace`; whichever of the two is named, the other is looked at too.
Shapes: https://github.com/MemPalace/mempalace, as 3.11.0 writes them. Nothing of it runs and nothing is written there.
Times without a zone are by the clock of this machine.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from palazzo.errors import SourceUnreadable
from palazzo.exchange.stores import Brought, DiaryEntry, Note, Tunnel, Unplaced
from palazzo.exchange.stores.chunks import CHUNK_SIZE, OVERLAP
from palazzo.exchange.stores.json_documents import key_of, object_at, text_at
from palazzo.exchange.stores.mempalace_drawers import Drawers
from palazzo.exchange.stores.mempalace_facts import read_facts
from palazzo.exchange.stores.mempalace_times import moment
from palazzo.exchange.stores.vector_stores import Collection, chroma_collections, exact_collections
from palazzo.model import Micros
from palazzo.store.database import SqliteConnection
from palazzo.store.foreign import ForeignDatabase

CHROMA, EXACT, FACTS = "chroma.sqlite3", "sqlite_exact.sqlite3", "knowledge_graph.sqlite3"
COLLECTION, IDENTITY = "mempalace_drawers", "identity.txt"
_CUTTING = (("chunk_size", CHUNK_SIZE), ("chunk_overlap", OVERLAP))
"""The settings by which texts were cut, and what they are where nobody set them."""
_LEFT = {
    "mempalace_closets": ("closets", "they point at drawers, and are made of their words"),
    "mempalace_assets": ("assets", "they are pictures and recordings, which hold no words"),
}
_SERVERS = {"qdrant_backend.json": "Qdrant", "pgvector_backend.json": "PostgreSQL", "milvus_backend.json": "Milvus"}
"""What a palace has instead whose drawers are in no SQLite file."""
_LARGEST_FILE = 64 << 20


class MemPalace:
    """The reader of MemPalace's palaces."""

    name, title = "mempalace", "MemPalace"

    def recognises(self, path: Path) -> bool:
        """Whether it is such a palace, the directory that holds one, or one of its databases."""
        try:
            found = _Files.at(path)
            return found is not None and (found.is_surely or _is_its(found))
        except OSError:
            return False

    def read(self, path: Path) -> Iterator[Brought]:
        """Yield drawers and diary entries in the order in which they were filed, then facts, then tunnels."""
        found = _Files.at(path)
        if found is None:
            raise SourceUnreadable(
                f"There is no palace of MemPalace at {path}: name the directory of its {CHROMA}, or the one above."
            )
        cited: Mapping[str, str] = {}
        if found.drawers is not None:
            if found.drawers.name in _SERVERS:
                where = _SERVERS[found.drawers.name]
                raise SourceUnreadable(f"{found.palace} keeps its drawers in {where}; only Chroma and SQLite are read.")
            settings = found.settings()
            with ForeignDatabase(found.drawers).snapshot() as connection:
                there = _collections(connection, found.drawers)
                name = str(settings.get("collection_name") or COLLECTION)
                if name in there:
                    size, overlap = (_number(settings, key, usual) for key, usual in _CUTTING)
                    drawers = Drawers(there.pop(name), size, overlap)
                    yield from drawers.read()
                    cited = drawers.keys
                yield from _left_of(there)
        yield from _hermes(found.beside / "diary.jsonl")
        yield from _identity(_first(found.beside, (IDENTITY,)) or _home(found.beside) / IDENTITY)
        if found.facts is not None:
            with ForeignDatabase(found.facts).snapshot() as connection:
                yield from read_facts(connection, cited)
        yield from _tunnels(found.beside / "tunnels.json", cited)
        yield from _lists_beside(found)


@dataclass(frozen=True, slots=True)
class _Files:
    """Where a palace's files lie. `beside` is the directory of its settings, tunnels and the person's own lines."""

    palace: Path
    beside: Path
    drawers: Path | None
    facts: Path | None

    @classmethod
    def at(cls, path: Path) -> _Files | None:
        """Find them from what somebody names: the palace, the directory above it, or one of its databases."""
        if path.is_file():
            if path.name not in (CHROMA, EXACT, FACTS):
                return None
            path = path.parent
        for palace in (path / "palace", path, _configured(path)):
            drawers = _first(palace, (CHROMA, EXACT, *_SERVERS))
            if drawers is not None:
                beside = palace.parent
                places = (palace, beside, _home(beside))
                return cls(palace, beside, drawers, next(filter(None, (_first(one, (FACTS,)) for one in places)), None))
        facts = _first(path, (FACTS,))
        return None if facts is None else cls(path, path, None, facts)

    @property
    def is_surely(self) -> bool:
        """Whether there is a file that is nobody else's."""
        names = (EXACT, *_SERVERS, "mempalace_embedder.json", FACTS)
        return _first(self.palace, names) is not None or self.beside.name in (".mempalace", "mempalace")

    def settings(self) -> dict[str, Any]:
        """What the person set."""
        found = _json(self.beside / "config.json")
        return found if isinstance(found, dict) else {}


def _first(directory: Path, names: Sequence[str]) -> Path | None:
    return next((directory / name for name in names if (directory / name).is_file()), None)


def _home(beside: Path) -> Path:
    """Where the facts of a default palace are, which has them in `~/.mempalace` also if it is in `~/.config`."""
    is_configured = (beside.parent.name, beside.name) == (".config", "mempalace")
    return beside.parent.parent / ".mempalace" if is_configured else beside


def _configured(path: Path) -> Path:
    """Where the default palace is whose facts are in `~/.mempalace`, if that is what is named."""
    return path.parent / ".config" / "mempalace" / "palace" if path.name == ".mempalace" else path


def _is_its(found: _Files) -> bool:
    """Whether a Chroma database is MemPalace's: others keep one too. One that cannot be read may be."""
    assert found.drawers is not None  # noqa: S101 - else there are facts
    try:
        with ForeignDatabase(found.drawers).snapshot() as connection:
            return any(name.startswith("mempalace_") for name in _collections(connection, found.drawers))
    except SourceUnreadable:
        return found.drawers.name == CHROMA and found.palace.name == "palace"


def _collections(connection: SqliteConnection, database: Path) -> dict[str, Collection]:
    return chroma_collections(connection) if database.name == CHROMA else exact_collections(connection)


def _number(settings: Mapping[str, Any], key: str, usual: int) -> int:
    found = settings.get(key)
    return found if type(found) is int and found >= 0 else usual


def _left_of(collections: Mapping[str, Collection]) -> Iterator[Unplaced]:
    """What else the database holds."""
    for name, collection in collections.items():
        what, reason = _LEFT.get(name, ("rows of other collections", "they are not MemPalace's drawers"))
        size = sum(1 for _ in collection.heads(()))
        if size:
            yield Unplaced(what, reason, name, size)


# --- beside the palace -------------------------------------------------------------------------------------


def _hermes(path: Path) -> Iterator[DiaryEntry | Unplaced]:
    """The diary that Hermes keeps beside the palace, by MemPalace's plugin for it."""
    for line in (_text(path) or "").splitlines():
        told = _parsed(line)
        entry = text_at(told, "entry") if isinstance(told, dict) else ""
        if entry:
            yield DiaryEntry(key_of(text_at(told, "ts"), entry), "hermes", entry, created_at=moment(told.get("ts")))
        elif line.strip():
            yield Unplaced("diary entries", "they are not understood", path.name)


def _identity(path: Path) -> Iterator[Note]:
    """What the person wrote of who the agent is, which MemPalace puts before every session."""
    text = _text(path)
    if text is not None and text.strip():
        at = Micros(int(path.stat().st_mtime * 1_000_000))
        yield Note(
            f"identity {key_of(text)}", text.strip(), room="identity", created_at=at, trust="user", origin=path.name
        )


def _tunnels(path: Path, cited: Mapping[str, str]) -> Iterator[Tunnel | Unplaced]:
    text = _text(path)
    if text is None:
        return
    found = _parsed(text)
    if not isinstance(found, list):
        yield Unplaced("tunnels", f"{path.name} is no list of tunnels")
        return
    for one in found:
        tunnel = _tunnel(one, cited) if isinstance(one, dict) else None
        if tunnel is None:
            yield Unplaced("tunnels", "they name no two rooms")
        elif text_at(one, "kind") not in ("", "explicit"):
            yield Unplaced("tunnels", "MemPalace found them by itself, and Palazzo finds its own", tunnel.key)
        else:
            yield tunnel


def _tunnel(told: dict[str, Any], cited: Mapping[str, str]) -> Tunnel | None:
    source, target = object_at(told, "source"), object_at(told, "target")
    ends = (text_at(source, "wing"), text_at(source, "room"), text_at(target, "wing"), text_at(target, "room"))
    if not all(ends):
        return None
    return Tunnel(
        text_at(told, "id") or key_of(*ends),
        *ends,
        label=text_at(told, "label"),
        source_cites=cited.get(text_at(source, "drawer_id"), ""),
        target_cites=cited.get(text_at(target, "drawer_id"), ""),
        created_at=moment(told.get("created_at")),
    )


def _lists_beside(found: _Files) -> Iterator[Unplaced]:
    """What the directory holds besides that is no drawer, no fact and no tunnel."""
    hallways = _json(found.beside / "hallways.json")
    if hallways:
        size = len(hallways) if isinstance(hallways, list | dict) else 1
        yield Unplaced("hallways", "they are counted from drawers, and Palazzo finds its own", count=size)
    if (found.palace / "logstream.sqlite3").is_file():
        yield Unplaced("logs of agents' messages", "they are no memories", "logstream.sqlite3")


def _text(path: Path) -> str | None:
    """What a file says, None where there is none; SourceUnreadable for one that cannot be read."""
    try:
        if not path.is_file():
            return None
        if path.stat().st_size > _LARGEST_FILE:
            raise SourceUnreadable(f"{path} has more than {_LARGEST_FILE >> 20} MiB: it is no file of MemPalace's.")
        return path.read_text("utf-8", "surrogateescape")
    except OSError as error:
        raise SourceUnreadable(f"{path} cannot be read ({error}).") from None


def _json(path: Path) -> Any:
    text = _text(path)
    return None if text is None else _parsed(text)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
