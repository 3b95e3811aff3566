"""Storing items of another palace: they keep their ids, their times and the salt of their links.

    Arrival ──prepare──> Prepared ──take_in──> Taken
            outside the lock      inside it

Their text goes through the same guard as all that is filed. For an item that is here already `incoming_items` decides
what is kept, and the place of the other copy becomes a repetition.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from palazzo.archive import packing
from palazzo.archive.door import Filing
from palazzo.archive.erased_words import at_moment, bare_notes, without_erased
from palazzo.archive.guarding import Guard
from palazzo.archive.incoming_items import (
    Arrival,
    Authority,
    digest,
    is_decoder_difference,
    is_variant,
    item_row,
    join_copies,
)
from palazzo.archive.packing import NewPack, Spot
from palazzo.model import ItemId, Micros
from palazzo.store import items, links, redaction, tombstones
from palazzo.store.database import Connection
from palazzo.store.packs import PackReader
from palazzo.text.hashed import COVER, WHOLE


class Place(NamedTuple):
    """Where an item stands: row ids of its source, its thread, which place it has there, and its kind."""

    source: int
    thread: str
    ordinal: int
    kind: str


@dataclass(frozen=True, slots=True)
class Prepared:
    """Arrivals without what the guard takes out, their digests, their packs; and of which words were erased here."""

    guard: Guard
    came: tuple[Arrival, ...]
    kept: tuple[Arrival, ...]
    digests: tuple[bytes, ...]
    covered: frozenset[int]
    packs: tuple[NewPack, ...]
    where: tuple[Spot | None, ...]


@dataclass(slots=True)
class Taken:
    """What taking in did, by row id. `moved` are the places that items had and have no more.

    `variants` are the id and the digest of each arrival with other content than the item that is here.
    """

    added: list[int] = field(default_factory=list)
    changed: list[int] = field(default_factory=list)
    same: int = 0
    covered: list[int] = field(default_factory=list)
    bare: list[int] = field(default_factory=list)
    moved: list[Place] = field(default_factory=list)
    variants: list[tuple[bytes, bytes]] = field(default_factory=list)


# --- outside the lock --------------------------------------------------------------------------------------


def prepare(arrivals: Sequence[Arrival], guard: Guard, known: Collection[bytes] = ()) -> Prepared:
    """Redact arrivals, cover what was erased here, and compress the bytes of those that are not `known`."""
    kept, covered = _guarded(arrivals, guard)
    digests = tuple(map(digest, kept))
    packs, where = packing.pack([None if one.uid in known else one.filing.raw for one in kept])
    return Prepared(guard, tuple(arrivals), kept, digests, covered, packs, where)


def _guarded(arrivals: Sequence[Arrival], guard: Guard) -> tuple[tuple[Arrival, ...], frozenset[int]]:
    came = [arrival.filing for arrival in arrivals]
    kept = list(arrivals)
    covered = {n for n, one in enumerate(without_erased(came, guard.erased)) if one is not came[n]}
    for n, filing in enumerate(guard.filings(came)):
        if filing is not came[n]:
            kept[n] = _as_kept(arrivals[n], filing, n in covered)
    return tuple(kept), frozenset(covered)


def _as_kept(came: Arrival, filing: Filing, is_covered: bool) -> Arrival:
    """An arrival of which the guard took something out. One that was erased here has neither bytes nor salt."""
    if is_covered and not filing.text.strip(f"{COVER} \n\r\t"):
        meta = bare_notes(filing.meta)
    elif filing.meta == came.filing.meta:
        meta = came.meta
    else:
        meta = json.dumps(dict(filing.meta), ensure_ascii=True, default=str)
    return replace(
        came,
        filing=replace(filing, raw=None if is_covered else filing.raw, meta=json.loads(meta)),
        salt=b"" if is_covered else came.salt,
        parts=came.parts if filing.parts == came.filing.parts else items.dump_parts(filing.parts),
        meta=meta,
    )


# --- inside the lock ---------------------------------------------------------------------------------------


def take_in(
    connection: Connection,
    prepared: Prepared,
    sources: dict[bytes, int],
    rooms: dict[bytes, int],
    authority: Authority = "device",
) -> Taken:
    """Take prepared arrivals in, in this transaction; `sources` and `rooms` lead from ids to row ids."""
    if prepared.guard.version != tombstones.version(connection):
        guard = Guard.at(connection, prepared.guard.redacts)
        prepared = prepare(prepared.came, guard, {one.uid for one in prepared.kept} & known(connection, prepared.came))
    taken = Taken()
    there = items.known_items(connection, {one.uid for one in prepared.kept})
    first: dict[bytes, int] = {}
    again: list[int] = []
    for n, arrival in enumerate(prepared.kept):
        if arrival.uid in there or first.setdefault(arrival.uid, n) != n:
            again.append(n)
    _insert(connection, prepared, [*first.values()], sources, rooms, taken)
    there = items.known_items(connection, {prepared.kept[n].uid for n in again})
    reader = PackReader(connection)
    for n in again:
        _join(connection, reader, prepared, n, there[prepared.kept[n].uid], sources, rooms, taken, authority)
    return taken


def known(connection: Connection, arrivals: Iterable[Arrival]) -> set[bytes]:
    """Return the ids of those arrivals that are archived here."""
    return set(items.known_items(connection, {one.uid for one in arrivals}))


def _insert(
    connection: Connection,
    prepared: Prepared,
    fresh: Sequence[int],
    sources: dict[bytes, int],
    rooms: dict[bytes, int],
    taken: Taken,
) -> None:
    spots = {n: prepared.where[n] for n in fresh}
    wanted = {spot[0] for spot in spots.values() if spot}
    packs = packing.store(connection, prepared.packs, wanted)
    rows = []
    for n in fresh:
        arrival, spot = prepared.kept[n], spots[n]
        if spot is None and arrival.filing.raw is not None:  # it was here when the packs were made
            pack, spot = _packed(connection, arrival)
        else:
            pack = None if spot is None else packs[spot[0]]
        rows.append(item_row(arrival, sources[arrival.source], rooms[arrival.room], pack, spot))
    inserted = items.insert_items(connection, rows)
    if inserted:
        redaction.note_rules(connection, prepared.guard.rules, inserted[0])
    taken.added += inserted
    taken.covered += [row for n, row in zip(fresh, inserted, strict=True) if n in prepared.covered]
    for n in fresh:
        if n in prepared.covered:
            claim(connection, prepared.guard, prepared.came[n].filing)
        _settle_links(connection, prepared.kept[n], prepared.digests[n])


def _packed(connection: Connection, arrival: Arrival) -> tuple[int | None, Spot | None]:
    packs, (spot,) = packing.pack([arrival.filing.raw])
    return (None, None) if spot is None else (packing.store(connection, packs, {0})[0], spot)


# --- archived apart ----------------------------------------------------------------------------------------

_STORED = (
    "SELECT item.uid, item.kind, role, standing, author, thread, ordinal, created_at, recorded_at, trust, branch,"
    " commit_id, parts, meta, decoder, pack, raw_start, raw_size, salt, text, text_codec, source.uid, room.uid,"
    " item.source, item.room FROM item JOIN source ON source.id = item.source JOIN room ON room.id = item.room"
    " WHERE item.id = ?"
)


class _Stored(NamedTuple):
    """An item that is here as another palace would be told of it, and the row ids of where it stands."""

    arrival: Arrival
    place: Place
    room: int


def _stored(connection: Connection, reader: PackReader, row: int) -> _Stored:
    (
        uid, kind, role, standing, author, thread, ordinal, created, recorded, trust, branch, commit, parts, meta,
        decoder, pack, start, size, salt, text, codec, source, room, source_row, room_row,
    ) = next(connection.execute(_STORED, (row,)))  # fmt: skip
    filing = Filing(
        ItemId(bytes(uid).hex()), items.decode_text(text, codec), kind, role,
        raw=None if pack is None else reader.read(pack, start, size), standing=standing, author=author,
        parts=items.load_parts(parts), thread=thread, ordinal=int(ordinal), created_at=Micros(created), trust=trust,
        branch=branch, commit=commit, decoder=int(decoder), meta=json.loads(meta),
    )  # fmt: skip
    arrival = Arrival(filing, bytes(source), bytes(room), int(recorded), bytes(salt), parts, meta)
    return _Stored(arrival, Place(int(source_row), thread, int(ordinal), kind), int(room_row))


def own_digest(connection: Connection, reader: PackReader, row: int) -> bytes:
    """Return the digest of an item as it is here."""
    return digest(_stored(connection, reader, row).arrival)


def _join(
    connection: Connection,
    reader: PackReader,
    prepared: Prepared,
    n: int,
    row: int,
    sources: dict[bytes, int],
    rooms: dict[bytes, int],
    taken: Taken,
    authority: Authority,
) -> None:
    """Join a stored item with an arrival of its id: its content stays, and it gets the place of the first copy."""
    arrival = prepared.kept[n]
    if _is_told_so(connection, arrival, prepared.digests[n]):
        taken.same += 1
        return
    stored = _stored(connection, reader, row)
    item, place = stored.arrival, stored.place
    if is_variant(item, arrival, authority):
        taken.variants.append((arrival.uid, prepared.digests[n]))
        return
    if authority == "other" or is_decoder_difference(item, arrival):
        taken.same += 1
        return
    result = join_copies(item, arrival)
    if authority == "owner" and not result.is_erased:
        filing = replace(result.filing, trust=arrival.filing.trust, parts=arrival.filing.parts)
        result = replace(result, filing=filing, parts=arrival.parts)
    other_place = Place(sources[arrival.source], arrival.filing.thread, arrival.filing.ordinal, "")
    _repeat(connection, row, place, other_place, result, item)
    if result == item:
        taken.same += 1
        return
    source, room = sources.get(result.source, place.source), rooms.get(result.room, stored.room)
    _write(connection, row, result, item, source, room)
    taken.changed.append(row)
    if result.is_erased and not item.is_erased:
        taken.bare.append(row)
    if n in prepared.covered:
        taken.covered.append(row)
        claim(connection, prepared.guard, prepared.came[n].filing)
    new_place = Place(source, result.filing.thread, result.filing.ordinal, result.filing.kind)
    if new_place != place:
        taken.moved.append(place)
    _settle_links(connection, result, digest(result))


def _is_told_so(connection: Connection, came: Arrival, came_digest: bytes) -> bool:
    """Whether the item that is here is the very same: a link has its digest, and it was filed in that room."""
    if came.is_erased or not links.is_linked_as(connection, came.uid, came_digest):
        return False
    rows = connection.execute(
        "SELECT 1 FROM item JOIN room ON room.id = item.room WHERE item.uid = ? AND room.uid = ?", (came.uid, came.room)
    )
    return any(True for _ in rows)


def _repeat(connection: Connection, row: int, here: Place, there: Place, kept: Arrival, stored: Arrival) -> None:
    """Every place at which the item was archived but the one where it stands is a repetition of it."""
    stands, came = (here.source, here.ordinal), (there.source, there.ordinal)
    if stands == came:
        return
    if (kept.source, kept.filing.ordinal) == (stored.source, stored.filing.ordinal):
        own, other = stands, came
    else:
        own, other = came, stands
    items.insert_repetitions(connection, [(*other, row)])
    items.forget_repetition(connection, *own, row)


def _write(connection: Connection, row: int, kept: Arrival, here: Arrival, source: int, room: int) -> None:
    """Let an item be what is kept of it. The bytes of what was erased are taken by who takes them out of their pack."""
    stays = kept.is_erased or kept.filing.raw == here.filing.raw
    pack, spot = (None, None) if stays or kept.filing.raw is None else _packed(connection, kept)
    items.replace_item(connection, row, item_row(kept, source, room, pack, spot), with_bytes=not stays)


# --- links and erasures ------------------------------------------------------------------------------------


def _settle_links(connection: Connection, kept: Arrival, own: bytes) -> None:
    links.settle_links(connection, kept.uid, own, kept.is_erased)


def claim(connection: Connection, guard: Guard, came: Filing) -> None:
    """Say by which erasure an item that came lost words here: the first that knows any of its words."""
    known = guard.erased
    found = [known.hashed(came.text[start:end]).hash for start, end in known.each(came.text)]
    for whole in (came.text, at_moment(came.text, came.created_at)):
        if whole and known.is_whole(whole):
            found.append(known.hashed(whole, WHOLE).hash)
    erasure = _erasure_of(connection, found)
    if erasure is not None:
        tombstones.claim_item(connection, erasure, bytes.fromhex(came.id))


def _erasure_of(connection: Connection, hashes: Sequence[bytes]) -> int | None:
    rows = connection.execute(
        "SELECT erasure.id FROM erasure JOIN tombstone ON tombstone.erasure = erasure.id"
        " WHERE ?1 = '[]' OR lower(hex(tombstone.hash)) IN (SELECT value FROM json_each(?1))"
        " ORDER BY erasure.at, erasure.uid LIMIT 1",
        (json.dumps([one.hex() for one in hashes]),),
    )
    return next((int(row) for (row,) in rows), None)
