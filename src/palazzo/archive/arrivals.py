"""Items as another palace has them, and what is kept of two of one id. Pure.

An item that is here keeps its words, whatever another palace says under its id: what differs is a variant. Where two
devices archived the same words apart from each other, the one that was recorded first says where the item stands,
whichever of them is here, and the item is worth the lesser trust of the two. Where either lost words to an erase, it
stays lost.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Literal

from palazzo.archive import chain
from palazzo.archive.door import Filing
from palazzo.archive.packing import Spot
from palazzo.model import least_trust
from palazzo.store import items
from palazzo.store.items import ItemRow
from palazzo.text.hashed import COVER, settled

Authority = Literal["device", "owner", "other"]
"""Who says what arrives: a device of the same palace, its owner, who states the trust of it, or somebody else."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """An item as another palace has it. `source` and `room` are ids; `parts` and `meta` as they are stored.

    Without a salt words of it were erased, and it has no bytes.
    """

    filing: Filing
    source: bytes
    room: bytes
    recorded_at: int
    salt: bytes
    parts: str = ""
    meta: str = "{}"

    @property
    def uid(self) -> bytes:
        """Its id."""
        return bytes.fromhex(self.filing.id)

    @property
    def is_erased(self) -> bool:
        """Whether words of it were erased."""
        return not self.salt


def digest(arrival: Arrival) -> bytes:
    """Return the digest of an arrival as its link should have it."""
    row = item_row(arrival, 0, 0, None, None)
    return chain.digest(row, arrival.source, arrival.filing.raw or b"", arrival.filing.text)


def item_row(arrival: Arrival, source: int, room: int, pack: int | None, spot: Spot | None) -> ItemRow:
    """Return an arrival as it goes into the table of items; `pack` and `spot` say where its bytes are."""
    filing = arrival.filing
    text, codec = items.encode_text(filing.text)
    return ItemRow(
        uid=arrival.uid,
        source=source,
        kind=filing.kind,
        role=filing.role,
        standing=filing.standing,
        author=filing.author,
        thread=filing.thread,
        ordinal=filing.ordinal,
        created_at=filing.created_at,
        recorded_at=arrival.recorded_at,
        trust=filing.trust,
        branch=filing.branch,
        commit=filing.commit,
        room=room,
        parts=arrival.parts,
        meta=arrival.meta,
        decoder=filing.decoder,
        pack=pack,
        raw_start=spot[1] if spot else 0,
        raw_size=spot[2] if spot else 0,
        salt=arrival.salt,
        text=text,
        text_codec=codec,
    )


# --- two of one id -----------------------------------------------------------------------------------------


def is_variant(here: Arrival, came: Arrival, authority: Authority) -> bool:
    """Whether an arrival says something else than the item of its id. Only who owns both may say that it was erased."""
    if here.is_erased:
        return False
    if came.is_erased:
        return authority == "other"
    return _said(here) != _said(came) and not is_only_read_otherwise(here, came)


def _said(one: Arrival) -> tuple[object, ...]:
    """What an item says. A document's time is that of its file, which each device has from its own copy."""
    it = one.filing
    created = 0 if it.kind == "document" else it.created_at
    parts = tuple(replace(part, trust=None) for part in it.parts)
    return it.kind, it.role, it.standing, it.author, created, it.text, it.raw, parts, dict(it.meta)


def is_only_read_otherwise(here: Arrival, came: Arrival) -> bool:
    """Whether two are the same bytes, which different versions of a feeder read differently."""
    raw = here.filing.raw
    return raw is not None and raw == came.filing.raw and here.filing.decoder != came.filing.decoder


def joined(one: Arrival, other: Arrival) -> Arrival:
    """What is kept of an item that two have: where it stands from the first, what it says from what was erased, if any.

    The two are decided apart from each other, so that it does not matter whether it was erased before it was joined.
    """
    if not one.is_erased and not other.is_erased:
        return _least_trusted(min(one, other, key=_order), one, other)
    first = min(one, other, key=_standing)
    said = _both_erased(one, other) if one.is_erased and other.is_erased else one if one.is_erased else other
    return replace(
        said,
        source=first.source,
        room=first.room,
        recorded_at=first.recorded_at,
        filing=replace(said.filing, thread=first.filing.thread, ordinal=first.filing.ordinal),
    )


def _least_trusted(kept: Arrival, one: Arrival, other: Arrival) -> Arrival:
    """What is kept of two that say the same, worth no more than either."""
    trust = least_trust(one.filing.trust, other.filing.trust)
    kept = replace(kept, filing=replace(kept.filing, trust=trust))
    if one.parts == other.parts:
        return kept
    parts = tuple(
        replace(part, trust=least_trust(part.trust or one.filing.trust, same.trust or other.filing.trust))
        for part, same in zip(one.filing.parts, other.filing.parts, strict=True)
    )
    return replace(kept, filing=replace(kept.filing, parts=parts), parts=items.dump_parts(parts))


def _standing(one: Arrival) -> tuple[int, bytes, bytes, str, int]:
    return one.recorded_at, one.source, one.room, one.filing.thread, one.filing.ordinal


def _order(one: Arrival) -> tuple[object, ...]:
    told = one.filing.meta.get("redacted")
    redacted = sum(count for count in told.values() if isinstance(count, int)) if isinstance(told, dict) else 0
    return *_standing(one), -redacted, digest(one)


def _both_erased(one: Arrival, other: Arrival) -> Arrival:
    first = min(one, other, key=_telling)
    text = _both_covered(one.filing.text, other.filing.text)
    meta = min(one.meta, other.meta, key=lambda notes: (len(notes), notes))
    return replace(first, filing=replace(first.filing, text=text, meta=json.loads(meta)), meta=meta)


def _telling(one: Arrival) -> tuple[object, ...]:
    it = one.filing
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
        one.parts,
    )


def _both_covered(one: str, other: str) -> str:
    """A text without what either lacks, so that nothing comes back. Of two different lengths the smaller is kept."""
    if one == other or len(one) != len(other):
        return min(one, other)
    return settled("".join(COVER if COVER in both else min(both) for both in zip(one, other, strict=True)))
