"""Storage of items from another palace: they keep their ids, their times and the salt of their links.

    Arrival ──prepare──> ArrivalBatch ──take_in──> IntakeResult
            outside the lock          inside it

Their text goes through the same redaction as every new item. For an item that is already here, `incoming_items` decides
which content is kept, and the place of the other copy becomes a repetition.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from palazzo.archive import pack_writer
from palazzo.archive.erasure_filter import at_moment, bare_notes, cover_erased_items
from palazzo.archive.incoming_items import (
    Arrival,
    Authority,
    digest,
    is_decoder_difference,
    is_variant,
    item_row,
    join_copies,
)
from palazzo.archive.ingest import NewItem
from palazzo.archive.ingest_guard import Guard
from palazzo.archive.pack_writer import NewPack, Spot
from palazzo.frozen_class import frozen
from palazzo.model import ItemId, Micros
from palazzo.store import chain_links, items, redaction_state, tombstones
from palazzo.store.database import Connection
from palazzo.store.packs import PackReader
from palazzo.text.hashed_words import COVER, WHOLE


class Place(NamedTuple):
    """Location of an item: row ids of its source, its thread, its ordinal in the thread, and its kind."""

    source: int
    thread: str
    ordinal: int
    kind: str


@frozen
class ArrivalBatch:
    """Arrivals after redaction, with their digests and packs, and the arrivals that contain words erased here."""

    guard: Guard
    came: tuple[Arrival, ...]
    clean_arrivals: tuple[Arrival, ...]
    digests: tuple[bytes, ...]
    erased_indices: frozenset[int]
    packs: tuple[NewPack, ...]
    spots: tuple[Spot | None, ...]


@dataclass(slots=True)
class IntakeResult:
    """Result of storing incoming items, by row id.

    `moved` are the places that items occupied before and no longer occupy. `variants` are the id and digest of each
    arrival whose content differs from the stored item.
    """

    added: list[int] = field(default_factory=list)
    changed: list[int] = field(default_factory=list)
    same: int = 0
    erased_rows: list[int] = field(default_factory=list)
    bare: list[int] = field(default_factory=list)
    former_places: list[Place] = field(default_factory=list)
    variants: list[tuple[bytes, bytes]] = field(default_factory=list)


# --- outside the lock --------------------------------------------------------------------------------------


def prepare(arrivals: Sequence[Arrival], guard: Guard, archived_uids: Collection[bytes] = ()) -> ArrivalBatch:
    """Redact incoming items, cover text erased here, and compress the bytes of those that are not `archived_uids`."""
    clean_arrivals, erased_indices = _apply_guard(arrivals, guard)
    digests = tuple(map(digest, clean_arrivals))
    packs, spots = pack_writer.pack(
        [None if arrival.uid in archived_uids else arrival.new_item.raw for arrival in clean_arrivals]
    )
    return ArrivalBatch(guard, tuple(arrivals), clean_arrivals, digests, erased_indices, packs, spots)


def _apply_guard(arrivals: Sequence[Arrival], guard: Guard) -> tuple[tuple[Arrival, ...], frozenset[int]]:
    came = [arrival.new_item for arrival in arrivals]
    clean_arrivals = list(arrivals)
    erased_indices = {
        n for n, clean_item in enumerate(cover_erased_items(came, guard.tombstone_finder)) if clean_item is not came[n]
    }
    for n, new_item in enumerate(guard.filings(came)):
        if new_item is not came[n]:
            clean_arrivals[n] = _as_kept(arrivals[n], new_item, n in erased_indices)
    return tuple(clean_arrivals), frozenset(erased_indices)


def _as_kept(came: Arrival, new_item: NewItem, is_covered: bool) -> Arrival:
    """Return an incoming item after redaction. If its text was erased here, it has neither bytes nor salt."""
    if is_covered and not new_item.text.strip(f"{COVER} \n\r\t"):
        meta = bare_notes(new_item.meta)
    elif new_item.meta == came.new_item.meta:
        meta = came.meta
    else:
        meta = json.dumps(dict(new_item.meta), ensure_ascii=True, default=str)
    return replace(
        came,
        new_item=replace(new_item, raw=None if is_covered else new_item.raw, meta=json.loads(meta)),
        salt=b"" if is_covered else came.salt,
        parts=came.parts if new_item.parts == came.new_item.parts else items.dump_parts(new_item.parts),
        meta=meta,
    )


# --- inside the lock ---------------------------------------------------------------------------------------


def take_in(
    connection: Connection,
    batch: ArrivalBatch,
    sources: dict[bytes, int],
    rooms: dict[bytes, int],
    authority: Authority = "device",
) -> IntakeResult:
    """Store prepared items in this transaction; `sources` and `rooms` map ids to row ids."""
    if batch.guard.version != tombstones.version(connection):
        guard = Guard.at(connection, batch.guard.redacts)
        batch = prepare(
            batch.came,
            guard,
            {candidate.uid for candidate in batch.clean_arrivals} & find_archived_uids(connection, batch.came),
        )
    intake = IntakeResult()
    rows_by_uid = items.known_items(connection, {candidate.uid for candidate in batch.clean_arrivals})
    first: dict[bytes, int] = {}
    repeat_indices: list[int] = []
    for n, arrival in enumerate(batch.clean_arrivals):
        if arrival.uid in rows_by_uid or first.setdefault(arrival.uid, n) != n:
            repeat_indices.append(n)
    _insert(connection, batch, [*first.values()], sources, rooms, intake)
    rows_by_uid = items.known_items(connection, {batch.clean_arrivals[n].uid for n in repeat_indices})
    reader = PackReader(connection)
    for n in repeat_indices:
        _join(connection, reader, batch, n, rows_by_uid[batch.clean_arrivals[n].uid], sources, rooms, intake, authority)
    return intake


def find_archived_uids(connection: Connection, arrivals: Iterable[Arrival]) -> set[bytes]:
    """Return the ids of those incoming items that are archived here."""
    return set(items.known_items(connection, {arrival.uid for arrival in arrivals}))


def _insert(
    connection: Connection,
    batch: ArrivalBatch,
    fresh: Sequence[int],
    sources: dict[bytes, int],
    rooms: dict[bytes, int],
    intake: IntakeResult,
) -> None:
    spots = {n: batch.spots[n] for n in fresh}
    pack_numbers = {spot[0] for spot in spots.values() if spot}
    packs = pack_writer.store(connection, batch.packs, pack_numbers)
    rows = []
    for n in fresh:
        arrival, spot = batch.clean_arrivals[n], spots[n]
        if spot is None and arrival.new_item.raw is not None:  # it was here when the packs were made
            pack, spot = _store_raw(connection, arrival)
        else:
            pack = None if spot is None else packs[spot[0]]
        rows.append(item_row(arrival, sources[arrival.source], rooms[arrival.room], pack, spot))
    new_rows = items.insert_items(connection, rows)
    if new_rows:
        redaction_state.note_rules(connection, batch.guard.rules, new_rows[0])
    intake.added += new_rows
    intake.erased_rows += [row for n, row in zip(fresh, new_rows, strict=True) if n in batch.erased_indices]
    for n in fresh:
        if n in batch.erased_indices:
            claim(connection, batch.guard, batch.came[n].new_item)
        _settle_links(connection, batch.clean_arrivals[n], batch.digests[n])


def _store_raw(connection: Connection, arrival: Arrival) -> tuple[int | None, Spot | None]:
    packs, (spot,) = pack_writer.pack([arrival.new_item.raw])
    return (None, None) if spot is None else (pack_writer.store(connection, packs, {0})[0], spot)


# --- archived apart ----------------------------------------------------------------------------------------

_ITEM_QUERY = (
    "SELECT item.uid, item.kind, role, standing, author, thread, ordinal, created_at, recorded_at, trust, branch,"
    " commit_id, parts, meta, decoder, pack, raw_start, raw_size, salt, text, text_codec, source.uid, room.uid,"
    " item.source, item.room FROM item JOIN source ON source.id = item.source JOIN room ON room.id = item.room"
    " WHERE item.id = ?"
)


class _LocalItem(NamedTuple):
    """A stored item in the form in which another palace would receive it, and the row ids of its location."""

    arrival: Arrival
    place: Place
    room: int


def _read_local_item(connection: Connection, reader: PackReader, row: int) -> _LocalItem:
    (
        uid, kind, role, status, author, thread, ordinal, created, record_time, trust, branch, commit, parts, meta,
        decoder, pack, start, size, salt, text, codec, source, room, source_row, room_row,
    ) = next(connection.execute(_ITEM_QUERY, (row,)))  # fmt: skip
    new_item = NewItem(
        ItemId(bytes(uid).hex()), items.decode_text(text, codec), kind, role,
        raw=None if pack is None else reader.read(pack, start, size), standing=status, author=author,
        parts=items.load_parts(parts), thread=thread, ordinal=int(ordinal), created_at=Micros(created), trust=trust,
        branch=branch, commit=commit, decoder=int(decoder), meta=json.loads(meta),
    )  # fmt: skip
    arrival = Arrival(new_item, bytes(source), bytes(room), int(record_time), bytes(salt), parts, meta)
    return _LocalItem(arrival, Place(int(source_row), thread, int(ordinal), kind), int(room_row))


def own_digest(connection: Connection, reader: PackReader, row: int) -> bytes:
    """Return the digest of an item as it is stored here."""
    return digest(_read_local_item(connection, reader, row).arrival)


def _join(
    connection: Connection,
    reader: PackReader,
    batch: ArrivalBatch,
    n: int,
    row: int,
    sources: dict[bytes, int],
    rooms: dict[bytes, int],
    intake: IntakeResult,
    authority: Authority,
) -> None:
    """Join a stored item with an incoming one of the same id: keep its content; the place is the first copy's."""
    arrival = batch.clean_arrivals[n]
    if _is_told_so(connection, arrival, batch.digests[n]):
        intake.same += 1
        return
    local_item = _read_local_item(connection, reader, row)
    item, place = local_item.arrival, local_item.place
    if is_variant(item, arrival, authority):
        intake.variants.append((arrival.uid, batch.digests[n]))
        return
    if authority == "other" or is_decoder_difference(item, arrival):
        intake.same += 1
        return
    result = join_copies(item, arrival)
    if authority == "owner" and not result.is_erased:
        new_item = replace(result.new_item, trust=arrival.new_item.trust, parts=arrival.new_item.parts)
        result = replace(result, new_item=new_item, parts=arrival.parts)
    other_place = Place(sources[arrival.source], arrival.new_item.thread, arrival.new_item.ordinal, "")
    _repeat(connection, row, place, other_place, result, item)
    if result == item:
        intake.same += 1
        return
    source, room = sources.get(result.source, place.source), rooms.get(result.room, local_item.room)
    _write(connection, row, result, item, source, room)
    intake.changed.append(row)
    if result.is_erased and not item.is_erased:
        intake.bare.append(row)
    if n in batch.erased_indices:
        intake.erased_rows.append(row)
        claim(connection, batch.guard, batch.came[n].new_item)
    new_place = Place(source, result.new_item.thread, result.new_item.ordinal, result.new_item.kind)
    if new_place != place:
        intake.former_places.append(place)
    _settle_links(connection, result, digest(result))


def _is_told_so(connection: Connection, came: Arrival, came_digest: bytes) -> bool:
    """Return whether the stored item is identical: a link has its digest, and it was filed in that room."""
    if came.is_erased or not chain_links.is_linked_as(connection, came.uid, came_digest):
        return False
    rows = connection.execute(
        "SELECT 1 FROM item JOIN room ON room.id = item.room WHERE item.uid = ? AND room.uid = ?", (came.uid, came.room)
    )
    return any(True for _ in rows)


def _repeat(
    connection: Connection, row: int, own_place: Place, other_place: Place, result: Arrival, item: Arrival
) -> None:
    """Record every place of the item as a repetition, except the place where it is stored."""
    stands, came = (own_place.source, own_place.ordinal), (other_place.source, other_place.ordinal)
    if stands == came:
        return
    if (result.source, result.new_item.ordinal) == (item.source, item.new_item.ordinal):
        own, repetition = stands, came
    else:
        own, repetition = came, stands
    items.insert_repetitions(connection, [(*repetition, row)])
    items.forget_repetition(connection, *own, row)


def _write(connection: Connection, row: int, result: Arrival, item: Arrival, source: int, room: int) -> None:
    """Replace an item by the joined one. The bytes of erased text are removed by code that rewrites their pack."""
    stays = result.is_erased or result.new_item.raw == item.new_item.raw
    pack, spot = (None, None) if stays or result.new_item.raw is None else _store_raw(connection, result)
    items.replace_item(connection, row, item_row(result, source, room, pack, spot), with_bytes=not stays)


# --- links and erasures ------------------------------------------------------------------------------------


def _settle_links(connection: Connection, item: Arrival, own: bytes) -> None:
    chain_links.settle_links(connection, item.uid, own, item.is_erased)


def claim(connection: Connection, guard: Guard, came: NewItem) -> None:
    """Record which erasure removed text of an incoming item here: the first that knows any of its words."""
    finder = guard.tombstone_finder
    hashes = [finder.hash_words(came.text[start:end]).hash for start, end in finder.find_parts(came.text)]
    for whole in (came.text, at_moment(came.text, came.created_at)):
        if whole and finder.is_whole(whole):
            hashes.append(finder.hash_words(whole, WHOLE).hash)
    erasure = _erasure_of(connection, hashes)
    if erasure is not None:
        tombstones.claim_item(connection, erasure, bytes.fromhex(came.id))


def _erasure_of(connection: Connection, hashes: Sequence[bytes]) -> int | None:
    rows = connection.execute(
        "SELECT erasure.id FROM erasure JOIN tombstone ON tombstone.erasure = erasure.id"
        " WHERE ?1 = '[]' OR lower(hex(tombstone.hash)) IN (SELECT value FROM json_each(?1))"
        " ORDER BY erasure.at, erasure.uid LIMIT 1",
        (json.dumps([word_hash.hex() for word_hash in hashes]),),
    )
    return next((int(row) for (row,) in rows), None)
