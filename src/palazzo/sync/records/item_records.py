"""Items: read from their packs, and merged in batches through the archive's ingest."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from palazzo.archive import erasure, incoming_storage
from palazzo.archive.incoming_items import Arrival
from palazzo.archive.incoming_storage import ArrivalBatch, IntakeResult
from palazzo.archive.ingest import NewItem
from palazzo.archive.ingest_guard import Guard
from palazzo.derived.cutter import Cutter, recut_thread
from palazzo.frozen_class import frozen
from palazzo.index.act_overlay import ActsOnItems
from palazzo.index.consumer import follow
from palazzo.index.cut_material import from_segment
from palazzo.index.drawer_diff import Comparison
from palazzo.model import ContentKind, ItemId, ItemKind, Micros, Role, Trust, least_trust
from palazzo.store import change_log, drawers, foreign_rows, items
from palazzo.store.database import Connection
from palazzo.store.packs import PackReader
from palazzo.sync.field_codecs import Digest, Id, Long, Meta, Name, Parts, Raw, Time, Whole, require
from palazzo.sync.merge_state import Work
from palazzo.sync.records.foreign_checks import has_row, is_foreign_source
from palazzo.sync.records.palace_snapshot import PalaceSnapshot, hex_id
from palazzo.sync.records.record_kind import Record, RecordKind

_AT_ONCE = 500


@frozen
class Item(Record):
    """One archived item.

    `raw` are the bytes that its source wrote, None if there are none; `salt` belongs to its link.
    """

    id: Id
    source: Id
    room: Id
    type: ItemKind
    role: Role
    recorded_at: Time
    trust: Trust
    standing: ContentKind = "said"
    author: Name = ""
    thread: Name = ""
    ordinal: Whole = 0
    created_at: Time = 0
    branch: Name = ""
    commit: Name = ""
    decoder: Whole = 0
    parts: Parts = ""
    meta: Meta = "{}"
    text: Long = ""
    raw: Raw | None = None
    salt: Digest = b""


def _check(record: Item) -> None:
    if record.type == "message":  # a note stands at its time, which may be before 1970
        require(record.ordinal >= 0, "'ordinal' of a message must be at least 0")


# --- reading -----------------------------------------------------------------------------------------------

_COLUMNS = (
    "SELECT item.id, item.uid, source.uid, room.uid, item.kind, role, item.recorded_at, trust, standing, author,"
    " thread, ordinal, created_at, branch, commit_id, decoder, parts, meta, text, text_codec, pack, raw_start,"
    " raw_size, salt FROM "
)
_BY_SOURCE = f"{_COLUMNS} source CROSS JOIN item ON item.source = source.id JOIN room ON room.id = item.room"
_BY_ID = f"{_COLUMNS} item CROSS JOIN source ON source.id = item.source JOIN room ON room.id = item.room"


def _read(snapshot: PalaceSnapshot) -> Iterator[Item]:
    """Yield items by source, thread and place in it, so that each pack is read once."""
    packs = PackReader(snapshot.connection)
    query = f"{_BY_SOURCE} ORDER BY source.uid, thread, ordinal, item.uid"
    for row, *columns in snapshot.connection.execute(query):
        if snapshot.includes("item", row):
            yield _item(packs, *columns)


def read_items(connection: Connection, ids: Sequence[str]) -> Iterator[Item]:
    """Yield those of these items that are here, in the order in which they were archived."""
    packs = PackReader(connection)
    for start in range(0, len(ids), _AT_ONCE):
        rows = connection.execute(  # the plus keeps it from going through all items in that order
            f"{_BY_ID} WHERE item.uid IN (SELECT unhex(value) FROM json_each(?)) ORDER BY +item.id",
            (json.dumps(ids[start : start + _AT_ONCE]),),
        )
        for _, *columns in rows:
            yield _item(packs, *columns)


def _item(packs: PackReader, *columns: Any) -> Item:
    uid, source, room, *values, text, codec, pack, start, size, salt = columns
    raw = None if pack is None else packs.read(pack, start, size)
    fields: list[Any] = [
        *map(hex_id, (uid, source, room)),
        *values,
        items.decode_text(text, codec),
        raw,
        bytes(salt or b""),
    ]
    return Item(*fields)


# --- merging -----------------------------------------------------------------------------------------------


def arrival(record: Item) -> Arrival:
    """Return an item's record in the form that the ingest takes."""
    new_item = NewItem(
        ItemId(record.id),
        record.text,
        record.type,
        record.role,
        raw=record.raw if record.salt else None,
        standing=record.standing,
        author=record.author,
        parts=items.load_parts(record.parts),
        thread=record.thread,
        ordinal=record.ordinal,
        created_at=Micros(record.created_at),
        trust=record.trust,
        branch=record.branch,
        commit=record.commit,
        decoder=record.decoder,
        meta=json.loads(record.meta),
    )
    return Arrival(
        new_item,
        bytes.fromhex(record.source),
        bytes.fromhex(record.room),
        record.recorded_at,
        record.salt,
        record.parts,
        record.meta,
    )


def prepare(came: Sequence[Item], guard: Guard, connection: Connection) -> ArrivalBatch:
    """Prepare items for storing; `connection` says which are already here. Needs no lock."""
    arrivals = [arrival(record) for record in came]
    return incoming_storage.prepare(arrivals, guard, incoming_storage.find_archived_uids(connection, arrivals))


def merge_items(work: Work, came: Sequence[Item], arrival_batch: ArrivalBatch | None) -> list[Item]:
    """Merge items; return those whose source or room is not here. `arrival_batch` are all of them, already prepared."""
    if work.authority == "other":
        accepted_items = _accept_foreign(work, came)
        work.report.refusals["item"] += len(came) - len(accepted_items)
        arrival_batch = arrival_batch if len(accepted_items) == len(came) else None
        came = accepted_items
    missing: list[Item] = []
    sources: dict[bytes, int] = {}
    rooms: dict[bytes, int] = {}
    for item in came:
        source, room = work.find("source", item.source), work.find("room", item.room)
        if source is None or room is None:
            missing.append(item)
        else:
            sources[bytes.fromhex(item.source)], rooms[bytes.fromhex(item.room)] = source, room
    missing_ids = {item.id for item in missing}
    merged_items = [item for item in came if item.id not in missing_ids]
    if arrival_batch is None or missing:
        arrival_batch = prepare(merged_items, work.guard, work.connection)
    result = incoming_storage.take_in(work.connection, arrival_batch, sources, rooms, work.authority)
    _note_origin(work, merged_items, result)
    work.report.note("item", "added", len(result.added))
    work.report.note("item", "changed", len(result.changed))
    work.report.note("item", "same", result.same + len(result.variants))
    _follow_up(work.connection, result)
    work.report.erasure_count += len(result.erased_rows) + len(result.bare)
    return missing


def _note_origin(work: Work, came: Sequence[Item], result: IntakeResult) -> None:
    """Record variants, and which items came from another person."""
    foreign_rows.note_variants(work.connection, result.variants, work.now)
    work.report.variants.update(uid.hex() for uid, _ in result.variants)
    if work.change is not None:
        work.change.add(work.connection, "note", result.added)
    if work.authority == "other":
        foreign_rows.mark(work.connection, "item", result.added)
    elif work.authority == "owner":
        rows = [work.find("item", item.id) for item in came]
        foreign_rows.unmark(work.connection, "item", [row for row in rows if row is not None])


def _follow_up(connection: Connection, result: IntakeResult) -> None:
    """Log the items, so that derived data is updated; remove all traces of items that lost words here."""
    change_log.append(connection, "item", result.added)
    for row in result.changed:
        _lead(connection, row)
    if result.bare:
        erasure.take_bodies(connection, result.bare)
        erasure.forget_traces(connection, result.bare)
    change_log.append(connection, "erased", result.changed)
    if result.former_places:
        follow(connection, Cutter())
    for place in result.former_places:
        if place.kind == "message":
            _recut(connection, place.source, place.thread, place.ordinal)


def _lead(connection: Connection, row: int) -> None:
    """Give the drawers that begin with an item its place and times, since the kept copy may be another's."""
    connection.execute(
        "UPDATE drawer SET source = i.source, thread = i.thread, ordinal = i.ordinal, created_at = i.created_at,"
        " branch = i.branch, commit_id = i.commit_id FROM item i JOIN drawer_span s ON s.item = i.id AND s.n = 0"
        " WHERE i.id = ? AND drawer.id = s.drawer",
        (row,),
    )
    connection.execute(
        "UPDATE drawer SET recorded_at = (SELECT max(i.recorded_at) FROM drawer_span s JOIN item i ON i.id = s.item"
        " WHERE s.drawer = drawer.id) WHERE id IN (SELECT drawer FROM drawer_span WHERE item = ?)",
        (row,),
    )


def _recut(connection: Connection, source: int, thread: str, ordinal: int) -> None:
    """Cut a thread again after an item was moved away from it."""
    if from_segment(connection, source, thread, ordinal):
        recut_thread(connection, source, thread, ordinal)
        return
    stored_drawers = drawers.drawers_between(connection, source, thread, -1, None)
    Comparison(connection, source, ActsOnItems([]), stored_drawers).finish(0)


# --- items of another person -------------------------------------------------------------------------------


def _limit(item: Item, trust: Trust) -> Item:
    parts = tuple(
        part if part.trust is None else replace(part, trust=least_trust(part.trust, trust))
        for part in items.load_parts(item.parts)
    )
    return replace(item, trust=least_trust(item.trust, trust), parts=items.dump_parts(parts))


def _accept_foreign(work: Work, arrivals: Sequence[Item]) -> list[Item]:
    """Return the items that are here, and the new ones whose source was not here before."""
    foreign_sources: dict[str, bool] = {}
    return [
        item
        for item in arrivals
        if work.find("item", item.id) is not None or _may_join_source(work, item, foreign_sources)
    ]


def _may_join_source(work: Work, item: Item, foreign_sources: dict[str, bool]) -> bool:
    """Return whether a new item may join its source: not a session or document archived here; notes may."""
    if item.source not in foreign_sources:
        row = work.find("source", item.source)
        foreign_sources[item.source] = row is None or is_foreign_source(work, row)
    if foreign_sources[item.source]:
        return True
    query = "SELECT 1 FROM source WHERE uid = ? AND kind = 'note'"
    return item.type == "note" and has_row(work, query, bytes.fromhex(item.source))


ITEM = RecordKind(
    "item",
    Item,
    references={"source": "source", "room": "room"},
    check=_check,
    read=_read,
    limit=_limit,
)
"""`merge_items` merges items, and judges those of another person."""
