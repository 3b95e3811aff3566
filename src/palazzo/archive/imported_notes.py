"""Notes brought from another memory's store: known by what that store calls them, so that a second time adds nothing.

A note that says something else there by now is filed as its next *generation*, and the one before is forgotten. One
whose filing was undone is filed as the next generation too, or nobody could bring it again. What was erased or
forgotten here stays so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from itertools import count

from palazzo.archive import identity, ingest, notes
from palazzo.archive.ingest import IngestBatch, NewItem
from palazzo.archive.ingest_guard import Guard
from palazzo.archive.notes import Note
from palazzo.model import ItemId, Micros, Place, Source
from palazzo.store import items
from palazzo.store.database import Connection

ORIGIN = "brought"
"""Where a note's `meta` says which store it came from, and what it is called there."""


@dataclass(frozen=True, slots=True)
class ImportedNote:
    """A note of a store: what it is called there, and when it was written."""

    key: str
    note: Note
    created_at: Micros


@dataclass(frozen=True, slots=True)
class ImportStatus:
    """How a note of a store stands here: the row that says it (None: it is new), and those that say what it did.

    `generation` is the one that it is to be filed as, if it is new.
    """

    row: int | None
    generation: int = 0
    earlier_rows: tuple[int, ...] = ()


def item_id(store: str, key: str, generation: int = 0) -> ItemId:
    """Return the id of the note that a store calls `key`."""
    return identity.positioned_id((ORIGIN, store, key), "", generation, "")


def as_filing(store: str, imported_note: ImportedNote, generation: int = 0) -> NewItem:
    """Return a note as the door takes it."""
    uid = item_id(store, imported_note.key, generation)
    new_item = notes.as_filing(imported_note.note, uid, imported_note.created_at, imported_note.created_at)
    return replace(new_item, meta={**new_item.meta, ORIGIN: {"from": store, "id": imported_note.key}})


def find_import_statuses(
    connection: Connection, store: str, note_texts: Sequence[tuple[str, str]], undone: Set[int]
) -> list[ImportStatus]:
    """Return how notes stand here, given as (what the store calls it, its text as it would be kept).

    `undone` are the row ids of notes whose filing was undone.
    """
    first = {key: bytes.fromhex(item_id(store, key)) for key, _ in note_texts}
    rows_by_uid = items.known_items(connection, first.values())
    return [
        _find_import_status(connection, store, key, text, undone) if first[key] in rows_by_uid else ImportStatus(None)
        for key, text in note_texts
    ]


def _find_import_status(connection: Connection, store: str, key: str, text: str, undone: Set[int]) -> ImportStatus:
    earlier_rows: list[int] = []
    for generation in count():
        uid = bytes.fromhex(item_id(store, key, generation))
        row = items.known_items(connection, [uid]).get(uid)
        if row is None:
            return ImportStatus(None, generation, tuple(earlier_rows))
        if row in undone:
            continue
        if items.is_erased(connection, row) or items.read_texts(connection, [row])[row] == text:
            return ImportStatus(row)
        earlier_rows.append(row)
    raise AssertionError  # pragma: no cover - counting does not end


def source_of(store: str, note: Note) -> Source:
    """Return the source that a store's notes of a wing come from."""
    wing = note.place.wing
    return Source((note.shelf, wing, store), "note", f"{store}:{note.shelf}/{wing}")


@dataclass(frozen=True, slots=True)
class Batch:
    """Notes of one source and place, ready to be filed; `numbers` are their places in what was given."""

    numbers: tuple[int, ...]
    source: Source
    place: Place
    ingest_batch: IngestBatch


def prepare(store: str, note_generations: Sequence[tuple[ImportedNote, int]], guard: Guard) -> list[Batch]:
    """Make notes, each with its generation, ready to be filed; needs no lock."""
    numbers_by_source: dict[tuple[Source, Place], list[int]] = {}
    for n, (imported_note, _) in enumerate(note_generations):
        numbers_by_source.setdefault((source_of(store, imported_note.note), imported_note.note.place), []).append(n)
    return [
        Batch(
            tuple(numbers),
            source,
            place,
            ingest.prepare([as_filing(store, *note_generations[number]) for number in numbers], guard),
        )
        for (source, place), numbers in numbers_by_source.items()
    ]


def file(connection: Connection, batches: Sequence[Batch], now: Micros) -> Iterator[tuple[int, int, bool]]:
    """Archive batches; yield of each note its number, its row id, and whether it was not there."""
    for batch in batches:
        receipt = ingest.file(connection, batch.source, batch.place, batch.ingest_batch, now)
        yield from zip(batch.numbers, receipt.rows, receipt.new, strict=True)
