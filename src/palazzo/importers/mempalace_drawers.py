"""MemPalace's drawers: which rows of its collection are chunks of one text, and which kind of note that text
becomes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from palazzo.frozen_class import frozen
from palazzo.importers import DiaryEntry, Note, SkippedRecord
from palazzo.importers import mempalace_chunks as chunked
from palazzo.importers.mempalace_times import day, moment
from palazzo.importers.vector_stores import Collection, Head, Metadata, Row
from palazzo.model import Micros, Trust

_KEYS = (
    *("parent_drawer_id", "parent_entry_id", "source_file", "chunk_index", "wing", "room", "filed_at"),
    *("extract_mode", "ingest_mode", "added_by", "entry_index", "entry_chunk_index", "type"),
)
_ITS_OWN = frozenset(
    (
        *("wing", "room", "source_file", "chunk_index", "parent_drawer_id", "parent_entry_id", "chunk_total"),
        *("entry_index", "entry_chunk_index", "entry_header_preview", "normalize_version", "convo_chunker_version"),
        *("id_recipe", "source_dir_ino", "line_start", "line_end", "type", "agent", "topic", "date", "content_hash"),
    )
)
"""Metadata keys that describe how a text was cut and identified, or for which a Palazzo note has its own field."""
_MINING_KEYS = frozenset(["source_mtime", "normalize_version", "line_start", "chunk_total"])
"""Metadata keys that no tool sets for a drawer that it files, even if it names the file from which the words come."""
_NOBODY = frozenset(["", "mcp", "mempalace"])
"""Values of `added_by` if no author was given."""
_ROWS_AT_ONCE = 500
GroupKind = Literal["one", "parts", "file", "conversation"]
DrawerRecord = Note | DiaryEntry | SkippedRecord


@frozen
class _Chunk:
    """A row: its number among the chunks of its text, its number in the collection, and its id."""

    index: int
    number: int
    id: str


@frozen
class _Cut:
    """Rows that form one text (or the turns of a conversation), and how to combine them."""

    kind: GroupKind
    filed_at: str
    key: str
    chunks: tuple[_Chunk, ...]


@dataclass
class _Group:
    """Rows that may belong together."""

    kind: GroupKind
    filed_at: str
    chunks: list[_Chunk] = field(default_factory=list)


class Drawers:
    """The drawers of a collection; `size` and `overlap` are the parameters with which it was cut."""

    def __init__(self, collection: Collection, size: int, overlap: int) -> None:
        self._collection, self._size, self._overlap = collection, size, overlap
        self.keys: dict[str, str] = {}
        """For each row (and each drawer that consists of several rows), the key of the note that contains it, once it
        was read.
        """

    def read(self) -> Iterator[DrawerRecord]:
        """Yield the texts as notes and diary entries, in the order of filing."""
        cuts, registry_count = self._cuts()
        batch: list[_Cut] = []
        size = 0
        for cut in sorted(cuts, key=lambda one: (one.filed_at, one.key)):
            batch.append(cut)
            size += len(cut.chunks)
            if size >= _ROWS_AT_ONCE:
                yield from self._compose_records(batch)
                batch, size = [], 0
        yield from self._compose_records(batch)
        if registry_count:
            yield SkippedRecord(
                "marks", "they say which files were mined, and contain none of their words", count=registry_count
            )

    # --- which rows are one text ---------------------------------------------------------------------------

    def _cuts(self) -> tuple[list[_Cut], int]:
        groups: dict[tuple[object, ...], _Group] = {}
        registry_count = 0
        for head in self._collection.heads(_KEYS):
            if head.metadata.get("ingest_mode") == "registry" or head.metadata.get("room") == "_registry":
                registry_count += 1
                continue
            kind, key = _belongs(head)
            group = groups.setdefault(key, _Group(kind, str(head.metadata.get("filed_at", ""))))
            group.chunks.append(_Chunk(_index(head, kind), head.number, head.id))
        whole = {key[1] for key in groups if key[0] == "parts"}
        cuts: list[_Cut] = []
        for key, group in groups.items():
            if not (group.kind == "one" and key[1] in whole):  # a row from before it was cut, beside its chunks
                cuts.extend(_cut(key, group))
        return cuts, registry_count

    # --- as notes ------------------------------------------------------------------------------------------

    def _compose_records(self, cuts: Sequence[_Cut]) -> Iterator[DrawerRecord]:
        rows = self._collection.rows([chunk.number for cut in cuts for chunk in cut.chunks])
        for cut in cuts:
            chunk_rows = [(chunk, rows[chunk.number]) for chunk in cut.chunks if chunk.number in rows]
            text_rows = [(chunk, row, row.document) for chunk, row in chunk_rows if row.document is not None]
            if len(text_rows) < len(cut.chunks):
                missing_count = len(cut.chunks) - len(text_rows)
                yield SkippedRecord("chunks", "they have no text", cut.key, missing_count)
            if text_rows:
                yield from self._notes(
                    cut, [(chunk, row) for chunk, row, _ in text_rows], [text for *_, text in text_rows]
                )

    def _notes(self, cut: _Cut, rows: Sequence[tuple[_Chunk, Row]], texts: Sequence[str]) -> Iterator[DrawerRecord]:
        for first, last, text in self._texts(cut.kind, texts):
            key = cut.key if cut.kind == "parts" else rows[first][0].id
            self.keys[key] = key
            self.keys.update((chunk.id, key) for chunk, _ in rows[first:last])
            metadata = rows[first][1].metadata
            is_mined = cut.kind == "file" and (len(rows) > 1 or not _MINING_KEYS.isdisjoint(metadata))
            yield _note(key, text, metadata, "repo" if is_mined else "agent")

    def _texts(self, kind: GroupKind, texts: Sequence[str]) -> Iterator[tuple[int, int, str]]:
        """Yield the texts that chunks form: (first chunk, index after the last, text)."""
        longest = max(self._size, *map(len, texts)) if kind != "parts" else self._size
        if kind == "conversation":
            turns = [*chunked.of_conversation(texts, longest)]
            for (first, text), last in zip(turns, [*(n for n, _ in turns[1:]), len(texts)], strict=True):
                yield first, last, text
        elif kind == "file":
            yield 0, len(texts), chunked.of_file(texts, longest, self._overlap)
        else:
            yield 0, len(texts), "".join(texts)


def _belongs(head: Head) -> tuple[GroupKind, tuple[object, ...]]:
    """Return how a row belongs to a group of rows, and to which."""
    metadata = head.metadata
    parent = metadata.get("parent_drawer_id") or metadata.get("parent_entry_id")
    source, place = metadata.get("source_file"), (metadata.get("wing"), metadata.get("room"))
    if isinstance(parent, str):
        return "parts", ("parts", parent)
    if source and metadata.get("entry_index") is not None:
        return "parts", ("entry", place, source, metadata["entry_index"])
    is_chunk = bool(source) and type(metadata.get("chunk_index")) is int and metadata.get("added_by") != "mcp"
    if is_chunk and metadata.get("extract_mode") == "exchange":
        return "conversation", ("conversation", place, source)
    if is_chunk and metadata.get("extract_mode") is None:
        return "file", ("file", place, source)
    return "one", ("one", head.id)


def _index(head: Head, kind: GroupKind) -> int:
    name = "entry_chunk_index" if "entry_index" in head.metadata and kind == "parts" else "chunk_index"
    index = head.metadata.get(name)
    return index if isinstance(index, int) else 0


def _cut(key: tuple[object, ...], group: _Group) -> Iterator[_Cut]:
    """Yield the texts of a group, joining consecutive chunks. Rows with equal numbers are separate texts."""
    chunks = sorted(group.chunks, key=lambda one: (one.index, one.id))
    indices = [chunk.index for chunk in chunks]
    if group.kind == "parts":
        name = str(key[1]) if key[0] == "parts" else chunks[0].id
        yield _Cut("parts", group.filed_at, name, tuple(chunks))
    elif len(set(indices)) < len(indices):
        for chunk in chunks:
            yield _Cut("one", group.filed_at, chunk.id, (chunk,))
    else:
        for run in chunked.runs(indices):
            yield _Cut(group.kind, group.filed_at, chunks[run.start].id, tuple(chunks[run]))


def _note(key: str, text: str, metadata: Metadata, trust: Trust) -> Note | DiaryEntry:
    wing, room, agent = (_string(metadata, name) for name in ("wing", "room", "agent"))
    extras = {name: value for name, value in metadata.items() if name not in _ITS_OWN and value not in (None, "")}
    about: dict[str, object] = {"metadata": extras} if extras else {}
    if metadata.get("type") == "diary_entry" or (room == "diary" and agent):
        own = f"wing_{agent.replace(' ', '_')}"
        project = "" if wing in ("", own) else wing
        return DiaryEntry(key, agent, text, _string(metadata, "topic"), project, _time(metadata), about)
    author = _string(metadata, "added_by")
    return Note(
        key,
        text,
        wing,
        room,
        _time(metadata),
        author="" if author in _NOBODY else author,
        trust=trust,
        origin=_string(metadata, "source_file"),
        about=about,
    )


def _time(metadata: Metadata) -> Micros | None:
    """Return when it was written: a transcript's time, the day of a diary's file, or the filing time."""
    entry_day = day(metadata.get("date")) if "entry_index" in metadata else None
    candidates = (moment(metadata.get("authored_at")), moment(metadata.get("timestamp")), entry_day)
    return next((candidate for candidate in candidates if candidate is not None), moment(metadata.get("filed_at")))


def _string(metadata: Mapping[str, object], name: str) -> str:
    value = metadata.get(name)
    return value if isinstance(value, str) else ""
