"""Items from another palace (`Arrival`), and the rule for two copies of one item.

Pure: `incoming_storage` stores the result.

A stored item keeps its content: an arrival of the same id with other content is only recorded as a variant. Where two
devices archived the same content independently, the copy that was recorded first decides the item's place (source,
thread, room), and the item gets the lower trust of the two. What was erased from either copy stays erased.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Literal

from palazzo.archive import device_chain
from palazzo.archive.ingest import NewItem
from palazzo.archive.pack_writer import Spot
from palazzo.frozen_class import frozen
from palazzo.model import least_trust
from palazzo.store import items
from palazzo.store.items import ItemRow
from palazzo.text.hashed_words import COVER, cover_blanks

Authority = Literal["device", "owner", "other"]
"""Who vouches for an arrival: a device of this palace, its owner (who states the trust), or another person."""


@frozen
class Arrival:
    """An item from another palace. `source` and `room` are ids; `parts` and `meta` have their stored form.

    An item without a salt has erased words, and no bytes.
    """

    new_item: NewItem
    source: bytes
    room: bytes
    recorded_at: int
    salt: bytes
    parts: str = ""
    meta: str = "{}"

    @property
    def uid(self) -> bytes:
        """Return its id."""
        return bytes.fromhex(self.new_item.id)

    @property
    def is_erased(self) -> bool:
        """Return whether words of it were erased."""
        return not self.salt


def digest(arrival: Arrival) -> bytes:
    """Return the digest that the link of an incoming item should have."""
    row = item_row(arrival, 0, 0, None, None)
    return device_chain.digest(row, arrival.source, arrival.new_item.raw or b"", arrival.new_item.text)


def item_row(arrival: Arrival, source: int, room: int, pack: int | None, spot: Spot | None) -> ItemRow:
    """Return the row of an incoming item for the item table; `pack` and `spot` say where its bytes are."""
    new_item = arrival.new_item
    text, codec = items.encode_text(new_item.text)
    return ItemRow(
        uid=arrival.uid,
        source=source,
        kind=new_item.kind,
        role=new_item.role,
        standing=new_item.standing,
        author=new_item.author,
        thread=new_item.thread,
        ordinal=new_item.ordinal,
        created_at=new_item.created_at,
        recorded_at=arrival.recorded_at,
        trust=new_item.trust,
        branch=new_item.branch,
        commit=new_item.commit,
        room=room,
        parts=arrival.parts,
        meta=arrival.meta,
        decoder=new_item.decoder,
        pack=pack,
        raw_start=spot[1] if spot else 0,
        raw_size=spot[2] if spot else 0,
        salt=arrival.salt,
        text=text,
        text_codec=codec,
    )


# --- two copies of one item --------------------------------------------------------------------------------


def is_variant(item: Arrival, arrival: Arrival, authority: Authority) -> bool:
    """Return whether an incoming item has other content than the stored item of its id.

    A device or the owner may report that the item was erased; from another person that is a variant.
    """
    if item.is_erased:
        return False
    if arrival.is_erased:
        return authority == "other"
    return _content(item) != _content(arrival) and not is_decoder_difference(item, arrival)


def _content(copy: Arrival) -> tuple[object, ...]:
    """Return an item's content. A document's time is left out: it is the file's time, which differs by device."""
    it = copy.new_item
    created_at = 0 if it.kind == "document" else it.created_at
    parts = tuple(replace(part, trust=None) for part in it.parts)
    return it.kind, it.role, it.standing, it.author, created_at, it.text, it.raw, parts, dict(it.meta)


def is_decoder_difference(item: Arrival, arrival: Arrival) -> bool:
    """Return whether both have the same bytes, decoded by different versions of a format reader."""
    raw = item.new_item.raw
    return raw is not None and raw == arrival.new_item.raw and item.new_item.decoder != arrival.new_item.decoder


def join_copies(item: Arrival, arrival: Arrival) -> Arrival:
    """Return the joined item of two copies: the place of the first, and the content of an erased copy, if any.

    Place and content are chosen independently, so it does not matter whether an item is erased before or after it is
    joined.
    """
    if not item.is_erased and not arrival.is_erased:
        return _limit_trust(min(item, arrival, key=_order), item, arrival)
    first = min(item, arrival, key=_place)
    if item.is_erased and arrival.is_erased:
        content = _join_erased(item, arrival)
    else:
        content = item if item.is_erased else arrival
    return replace(
        content,
        source=first.source,
        room=first.room,
        recorded_at=first.recorded_at,
        new_item=replace(content.new_item, thread=first.new_item.thread, ordinal=first.new_item.ordinal),
    )


def _limit_trust(first: Arrival, item: Arrival, arrival: Arrival) -> Arrival:
    """Return the first of two copies of the same content, with the lower trust of both."""
    trust = least_trust(item.new_item.trust, arrival.new_item.trust)
    first = replace(first, new_item=replace(first.new_item, trust=trust))
    if item.parts == arrival.parts:
        return first
    parts = tuple(
        replace(part, trust=least_trust(part.trust or item.new_item.trust, same.trust or arrival.new_item.trust))
        for part, same in zip(item.new_item.parts, arrival.new_item.parts, strict=True)
    )
    return replace(first, new_item=replace(first.new_item, parts=parts), parts=items.dump_parts(parts))


def _place(copy: Arrival) -> tuple[int, bytes, bytes, str, int]:
    return copy.recorded_at, copy.source, copy.room, copy.new_item.thread, copy.new_item.ordinal


def _order(copy: Arrival) -> tuple[object, ...]:
    counts = copy.new_item.meta.get("redacted")
    redactions = sum(count for count in counts.values() if isinstance(count, int)) if isinstance(counts, dict) else 0
    return *_place(copy), -redactions, digest(copy)


def _join_erased(item: Arrival, arrival: Arrival) -> Arrival:
    first = min(item, arrival, key=_erased_order)
    text = _join_covered(item.new_item.text, arrival.new_item.text)
    meta = min(item.meta, arrival.meta, key=lambda notes: (len(notes), notes))
    return replace(first, new_item=replace(first.new_item, text=text, meta=json.loads(meta)), meta=meta)


def _erased_order(copy: Arrival) -> tuple[object, ...]:
    it = copy.new_item
    return (
        it.kind,
        it.role,
        it.standing,
        it.author,
        it.created_at,
        it.trust,
        it.branch,
        it.commit,
        it.decoder,
        copy.parts,
    )


def _join_covered(first: str, second: str) -> str:
    """Return a text in which every erased range of either is covered. If the lengths differ, keep the lesser text."""
    if first == second or len(first) != len(second):
        return min(first, second)
    return cover_blanks("".join(COVER if COVER in pair else min(pair) for pair in zip(first, second, strict=True)))
