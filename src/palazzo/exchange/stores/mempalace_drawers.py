"""MemPalace's drawers: which rows of its collection are chunks of one text, and what that text is a note of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from palazzo.exchange.stores import DiaryEntry, Note, Unplaced
from palazzo.exchange.stores import chunks as chunked
from palazzo.exchange.stores.mempalace_times import day, moment
from palazzo.exchange.stores.vector_stores import Collection, Head, Metadata, Row
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
"""Metadata that say how a text was cut and told apart, or that a note of ours has a place for."""
_MINED = frozenset(["source_mtime", "normalize_version", "line_start", "chunk_total"])
"""What no tool says of a drawer that it files, also if it names the file that the words are from."""
_NOBODY = frozenset(["", "mcp", "mempalace"])
"""What `added_by` says where nobody said who."""
_ROWS_AT_ONCE = 500
How = Literal["one", "parts", "file", "conversation"]
Told = Note | DiaryEntry | Unplaced


@dataclass(frozen=True, slots=True)
class _Chunk:
    """A row: its number among its text's chunks, its number in the collection, and its id."""

    index: int
    number: int
    id: str


@dataclass(frozen=True, slots=True)
class _Cut:
    """Rows that are one text (or, of a conversation, turns), and how they are to be put together."""

    how: How
    filed_at: str
    key: str
    chunks: tuple[_Chunk, ...]


@dataclass
class _Group:
    """Rows that may belong together."""

    how: How
    filed_at: str
    chunks: list[_Chunk] = field(default_factory=list)


class Drawers:
    """The drawers of a collection; `size` and `overlap` are what it was cut by."""

    def __init__(self, collection: Collection, size: int, overlap: int) -> None:
        self._collection, self._size, self._overlap = collection, size, overlap
        self.keys: dict[str, str] = {}
        """The key of the note that each row (and each drawer that is several rows) came into, once it was read."""

    def read(self) -> Iterator[Told]:
        """Yield the texts as notes and diary entries, in the order in which they were filed."""
        cuts, registered = self._cuts()
        batch: list[_Cut] = []
        size = 0
        for cut in sorted(cuts, key=lambda one: (one.filed_at, one.key)):
            batch.append(cut)
            size += len(cut.chunks)
            if size >= _ROWS_AT_ONCE:
                yield from self._told(batch)
                batch, size = [], 0
        yield from self._told(batch)
        if registered:
            yield Unplaced("marks", "they say which files were mined, and hold no words of them", count=registered)

    # --- which rows are one text ---------------------------------------------------------------------------

    def _cuts(self) -> tuple[list[_Cut], int]:
        groups: dict[tuple[object, ...], _Group] = {}
        registered = 0
        for head in self._collection.heads(_KEYS):
            if head.metadata.get("ingest_mode") == "registry" or head.metadata.get("room") == "_registry":
                registered += 1
                continue
            how, key = _belongs(head)
            group = groups.setdefault(key, _Group(how, str(head.metadata.get("filed_at", ""))))
            group.chunks.append(_Chunk(_index(head, how), head.number, head.id))
        whole = {key[1] for key in groups if key[0] == "parts"}
        cuts: list[_Cut] = []
        for key, group in groups.items():
            if not (group.how == "one" and key[1] in whole):  # a row from before it was cut, beside its chunks
                cuts.extend(_cut(key, group))
        return cuts, registered

    # --- as notes ------------------------------------------------------------------------------------------

    def _told(self, cuts: Sequence[_Cut]) -> Iterator[Told]:
        rows = self._collection.rows([chunk.number for cut in cuts for chunk in cut.chunks])
        for cut in cuts:
            known = [(chunk, rows[chunk.number]) for chunk in cut.chunks if chunk.number in rows]
            there = [(chunk, row, row.document) for chunk, row in known if row.document is not None]
            if len(there) < len(cut.chunks):
                lost = len(cut.chunks) - len(there)
                yield Unplaced("chunks", "they have no text", cut.key, lost)
            if there:
                yield from self._notes(cut, [(chunk, row) for chunk, row, _ in there], [text for *_, text in there])

    def _notes(self, cut: _Cut, rows: Sequence[tuple[_Chunk, Row]], texts: Sequence[str]) -> Iterator[Told]:
        for first, last, text in self._texts(cut.how, texts):
            key = cut.key if cut.how == "parts" else rows[first][0].id
            self.keys[key] = key
            self.keys.update((chunk.id, key) for chunk, _ in rows[first:last])
            metadata = rows[first][1].metadata
            is_mined = cut.how == "file" and (len(rows) > 1 or not _MINED.isdisjoint(metadata))
            yield _note(key, text, metadata, "repo" if is_mined else "agent")

    def _texts(self, how: How, texts: Sequence[str]) -> Iterator[tuple[int, int, str]]:
        """The texts that chunks are of: (first chunk, behind the last one, text)."""
        longest = max(self._size, *map(len, texts)) if how != "parts" else self._size
        if how == "conversation":
            turns = [*chunked.of_conversation(texts, longest)]
            for (first, text), last in zip(turns, [*(n for n, _ in turns[1:]), len(texts)], strict=True):
                yield first, last, text
        elif how == "file":
            yield 0, len(texts), chunked.of_file(texts, longest, self._overlap)
        else:
            yield 0, len(texts), "".join(texts)


def _belongs(head: Head) -> tuple[How, tuple[object, ...]]:
    """How a row belongs to others, and to which."""
    told = head.metadata
    parent = told.get("parent_drawer_id") or told.get("parent_entry_id")
    source, place = told.get("source_file"), (told.get("wing"), told.get("room"))
    if isinstance(parent, str):
        return "parts", ("parts", parent)
    if source and told.get("entry_index") is not None:
        return "parts", ("entry", place, source, told["entry_index"])
    is_chunk = bool(source) and type(told.get("chunk_index")) is int and told.get("added_by") != "mcp"
    if is_chunk and told.get("extract_mode") == "exchange":
        return "conversation", ("conversation", place, source)
    if is_chunk and told.get("extract_mode") is None:
        return "file", ("file", place, source)
    return "one", ("one", head.id)


def _index(head: Head, how: How) -> int:
    name = "entry_chunk_index" if "entry_index" in head.metadata and how == "parts" else "chunk_index"
    index = head.metadata.get(name)
    return index if isinstance(index, int) else 0


def _cut(key: tuple[object, ...], group: _Group) -> Iterator[_Cut]:
    """The texts of a group: chunks that follow one another. Rows of one number are no chunks of one text."""
    ordered = sorted(group.chunks, key=lambda one: (one.index, one.id))
    indices = [one.index for one in ordered]
    if group.how == "parts":
        name = str(key[1]) if key[0] == "parts" else ordered[0].id
        yield _Cut("parts", group.filed_at, name, tuple(ordered))
    elif len(set(indices)) < len(indices):
        for one in ordered:
            yield _Cut("one", group.filed_at, one.id, (one,))
    else:
        for run in chunked.runs(indices):
            yield _Cut(group.how, group.filed_at, ordered[run.start].id, tuple(ordered[run]))


def _note(key: str, text: str, metadata: Metadata, trust: Trust) -> Note | DiaryEntry:
    wing, room, agent = (_string(metadata, name) for name in ("wing", "room", "agent"))
    beside = {name: value for name, value in metadata.items() if name not in _ITS_OWN and value not in (None, "")}
    about: dict[str, object] = {"metadata": beside} if beside else {}
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
    """When it was written: what a transcript says, the day of a diary's file, else when it was filed."""
    dated = day(metadata.get("date")) if "entry_index" in metadata else None
    found = (moment(metadata.get("authored_at")), moment(metadata.get("timestamp")), dated)
    return next((one for one in found if one is not None), moment(metadata.get("filed_at")))


def _string(metadata: Mapping[str, object], name: str) -> str:
    found = metadata.get(name)
    return found if isinstance(found, str) else ""
