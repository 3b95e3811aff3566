"""Prepared batches as plain tuples, for the pipe between a preparing process and the one that writes.

Raw bytes travel once, within their pack, and are cut out of it again. A new item is a tuple of its fields: an object of
its own for each row would take longer to read than the row takes to write.
"""

from __future__ import annotations

from functools import partial
from operator import attrgetter
from typing import Any

from palazzo.archive.ingest import IngestBatch, NewItem
from palazzo.archive.ingest_guard import Guard
from palazzo.archive.pack_writer import NewPack, Spot
from palazzo.model import Part
from palazzo.sources.formats import Identity
from palazzo.sources.new_items import name_by_row, name_by_words
from palazzo.sources.session_batches import SessionBatch
from palazzo.store.items import StoredValues
from palazzo.store.packs import Landmark

Plain = tuple[Any, ...]
"""Tuples of strings, bytes, numbers, None, dictionaries and lists."""

_FIELDS = attrgetter(
    *("id", "text", "kind", "role", "standing", "author", "thread", "ordinal", "created_at", "trust", "branch"),
    *("commit", "decoder", "meta"),
)
_PART = attrgetter("kind", "start", "end", "name", "call", "failed", "trust")


def encode_batch(batch: SessionBatch) -> Plain:
    """Return a batch as plain tuples."""
    ingest_batch = batch.ingest_batch
    original_items = {
        n: (_encode_item(came), came.raw)
        for n, (came, clean_item) in enumerate(zip(ingest_batch.came, ingest_batch.filings, strict=True))
        if came is not clean_item
    }
    return (
        [_encode_item(new_item) for new_item in ingest_batch.filings],
        original_items,
        [
            (pack.digest, pack.body, pack.packed_body, [tuple(mark) for mark in pack.landmarks])
            for pack in ingest_batch.packs
        ],
        ingest_batch.spots,
        [tuple(values) for values in ingest_batch.values],
        (batch.end, batch.size, batch.title, dict(batch.unreadable), batch.mark),
    )


def decode_batch(plain: Plain, identity: Identity, guard: Guard) -> SessionBatch:
    """Return the batch that was prepared under `guard` for the conversation `identity`."""
    encoded_items, original_items, encoded_packs, spots, values, others = plain
    packs = tuple(
        NewPack(digest, body, packed_body, tuple(Landmark(*mark) for mark in marks))
        for digest, body, packed_body, marks in encoded_packs
    )
    filings = tuple(
        _decode_item(fields, _cut_out(packs, spot), identity) for fields, spot in zip(encoded_items, spots, strict=True)
    )
    came = filings
    if original_items:
        came = tuple(
            _decode_item(original_items[n][0], original_items[n][1], identity) if n in original_items else new_item
            for n, new_item in enumerate(filings)
        )
    ingest_batch = IngestBatch(guard, came, filings, packs, tuple(spots), tuple(StoredValues(*each) for each in values))
    return SessionBatch(ingest_batch, *others)


def _cut_out(packs: tuple[NewPack, ...], spot: Spot | None) -> bytes | None:
    return None if spot is None else packs[spot[0]].body[spot[1] : spot[1] + spot[2]]


def _encode_item(new_item: NewItem) -> Plain:
    return (*_FIELDS(new_item), [_PART(part) for part in new_item.parts], new_item.name is not None)


def _decode_item(fields: Plain, raw: bytes | None, identity: Identity) -> NewItem:
    (item_id, text, kind, role, standing, author, thread, ordinal, created_at, trust, branch) = fields[:11]
    commit, decoder, meta, parts, is_named = fields[11:]
    name = partial(name_by_row if kind == "noise" else name_by_words, identity) if is_named else None
    return NewItem(
        item_id, text, kind, role, raw, standing, author, tuple(Part(*part) for part in parts), thread, ordinal,
        created_at, trust, branch, commit, decoder, meta, name,
    )  # fmt: skip
