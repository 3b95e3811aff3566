"""Notes brought from another memory's store: known by what that store calls them, so that a second time adds nothing.

A note that says something else there by now is filed as its next *generation*, and the one before is forgotten. One
whose filing was undone is filed as the next generation too, or nobody could bring it again. What was erased or
forgotten here stays so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from itertools import count

from palazzo.archive import door, identity, notes
from palazzo.archive.door import Filing, Prepared
from palazzo.archive.guarding import Guard
from palazzo.archive.notes import Note
from palazzo.model import ItemId, Micros, Place, Source
from palazzo.store import items
from palazzo.store.database import Connection

ORIGIN = "brought"
"""Where a note's `meta` says which store it came from, and what it is called there."""


@dataclass(frozen=True, slots=True)
class Brought:
    """A note of a store: what it is called there, and when it was written."""

    key: str
    note: Note
    created_at: Micros


@dataclass(frozen=True, slots=True)
class Standing:
    """How a note of a store stands here: the row that says it (None: it is new), and those that say what it did.

    `generation` is the one that it is to be filed as, if it is new.
    """

    row: int | None
    generation: int = 0
    before: tuple[int, ...] = ()


def item_id(store: str, key: str, generation: int = 0) -> ItemId:
    """Return the id of the note that a store calls `key`."""
    return identity.positioned_id((ORIGIN, store, key), "", generation, "")


def as_filing(store: str, one: Brought, generation: int = 0) -> Filing:
    """Return a note as the door takes it."""
    uid = item_id(store, one.key, generation)
    filing = notes.as_filing(one.note, uid, one.created_at, one.created_at)
    return replace(filing, meta={**filing.meta, ORIGIN: {"from": store, "id": one.key}})


def standing(connection: Connection, store: str, kept: Sequence[tuple[str, str]], undone: Set[int]) -> list[Standing]:
    """Return how notes stand here, given as (what the store calls it, its text as it would be kept).

    `undone` are the row ids of notes whose filing was undone.
    """
    first = {key: bytes.fromhex(item_id(store, key)) for key, _ in kept}
    known = items.known_items(connection, first.values())
    return [
        _standing(connection, store, key, text, undone) if first[key] in known else Standing(None) for key, text in kept
    ]


def _standing(connection: Connection, store: str, key: str, text: str, undone: Set[int]) -> Standing:
    before: list[int] = []
    for generation in count():
        uid = bytes.fromhex(item_id(store, key, generation))
        row = items.known_items(connection, [uid]).get(uid)
        if row is None:
            return Standing(None, generation, tuple(before))
        if row in undone:
            continue
        if items.is_erased(connection, row) or items.read_texts(connection, [row])[row] == text:
            return Standing(row)
        before.append(row)
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
    prepared: Prepared


def prepare(store: str, chosen: Sequence[tuple[Brought, int]], guard: Guard) -> list[Batch]:
    """Make notes, each with its generation, ready to be filed; needs no lock."""
    found: dict[tuple[Source, Place], list[int]] = {}
    for n, (one, _) in enumerate(chosen):
        found.setdefault((source_of(store, one.note), one.note.place), []).append(n)
    return [
        Batch(
            tuple(numbers),
            source,
            place,
            door.prepare([as_filing(store, *chosen[number]) for number in numbers], guard),
        )
        for (source, place), numbers in found.items()
    ]


def file(connection: Connection, batches: Sequence[Batch], now: Micros) -> Iterator[tuple[int, int, bool]]:
    """Archive batches; yield of each note its number, its row id, and whether it was not there."""
    for batch in batches:
        receipt = door.file(connection, batch.source, batch.place, batch.prepared, now)
        yield from zip(batch.numbers, receipt.rows, receipt.new, strict=True)
