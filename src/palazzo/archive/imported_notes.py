"""Notes imported from another memory's store, identified by the store's own ids, so that a second import adds nothing.

A note whose text in the store has changed since is filed as its next *generation*, and the previous generation is
forgotten. A note whose filing was undone is also filed as the next generation; otherwise it could never be imported
again. What was erased or forgotten here stays erased or forgotten.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import replace
from itertools import count

from palazzo.archive import identity, ingest, notes
from palazzo.archive.ingest import IngestBatch, NewItem
from palazzo.archive.ingest_guard import Guard
from palazzo.archive.notes import Note
from palazzo.frozen_class import frozen
from palazzo.model import ItemId, Micros, Place, Source
from palazzo.store import items
from palazzo.store.database import Connection

ORIGIN = "brought"
"""Key in a note's `meta` that holds the store from which the note was imported and its id in that store."""


@frozen
class ImportedNote:
    """A note from another store: its id there and its creation time."""

    key: str
    note: Note
    created_at: Micros


@frozen
class ImportStatus:
    """State of an imported note here: the row with its text (None: it is new) and the rows with earlier texts.

    `generation` is the generation under which it is filed, if it is new.
    """

    row: int | None
    generation: int = 0
    earlier_rows: tuple[int, ...] = ()


def item_id(store: str, key: str, generation: int = 0) -> ItemId:
    """Return the id of the note that a store calls `key`."""
    return identity.positioned_id((ORIGIN, store, key), "", generation, "")


def as_filing(store: str, imported_note: ImportedNote, generation: int = 0) -> NewItem:
    """Return a note in the form that the ingest takes."""
    uid = item_id(store, imported_note.key, generation)
    new_item = notes.as_filing(imported_note.note, uid, imported_note.created_at, imported_note.created_at)
    return replace(new_item, meta={**new_item.meta, ORIGIN: {"from": store, "id": imported_note.key}})


def find_import_statuses(
    connection: Connection, store: str, note_texts: Sequence[tuple[str, str]], undone: Set[int]
) -> list[ImportStatus]:
    """Return the state here of notes, given as (the store's key, the text as it would be kept).

    `undone` are the row ids of notes that were filed and then undone.
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
    """Return the source of a store's notes of a wing."""
    wing = note.place.wing
    return Source((note.shelf, wing, store), "note", f"{store}:{note.shelf}/{wing}")


@frozen
class Batch:
    """Notes of one source and place, ready to be filed; `numbers` are their indexes in the input."""

    numbers: tuple[int, ...]
    source: Source
    place: Place
    ingest_batch: IngestBatch


def prepare(store: str, note_generations: Sequence[tuple[ImportedNote, int]], guard: Guard) -> list[Batch]:
    """Prepare notes, each with its generation, for ingest; needs no lock."""
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
    """Archive batches; yield for each note its number, its row id, and whether it is new."""
    for batch in batches:
        receipt = ingest.file(connection, batch.source, batch.place, batch.ingest_batch, now)
        yield from zip(batch.numbers, receipt.rows, receipt.new, strict=True)
