"""Merge of items through the archive's ingest, their other places, document versions, chain links, and erasures."""

from __future__ import annotations

import json
from collections.abc import Sequence

from palazzo.archive import device_chain, erasure, incoming_storage
from palazzo.archive.incoming_items import Arrival
from palazzo.archive.incoming_storage import ArrivalBatch, IntakeResult
from palazzo.archive.ingest import NewItem
from palazzo.archive.ingest_guard import Guard
from palazzo.derived.cutter import Cutter, recut_thread
from palazzo.index.act_overlay import ActsOnItems
from palazzo.index.consumer import follow
from palazzo.index.cut_material import from_segment
from palazzo.index.drawer_diff import Comparison
from palazzo.model import ItemId, Micros
from palazzo.store import chain_links, change_log, drawers, foreign_rows, items, tombstones
from palazzo.store.database import Connection
from palazzo.store.packs import PackReader
from palazzo.sync import foreign_records
from palazzo.sync.merge_state import Outcome, Work
from palazzo.sync.record_types import Erasure, Item, Link, Repetition, Revision
from palazzo.text.hashed_words import HashedWords


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
        accepted_items = foreign_records.accepted_items(work, came)
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
        work.change.add(work.connection, "item", result.added)
    if work.authority == "other":
        foreign_rows.mark(work.connection, "item", result.added)
    elif work.authority == "owner":
        for item in came:
            foreign_records.note_vouched(work, item)


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


def merge_repetition(work: Work, record: Repetition) -> Outcome:
    """Merge a source's repetition of an item at a place; the place where the item is stored is no repetition."""
    source, item = work.need("source", record.source), work.need("item", record.item)
    rows = work.connection.execute(
        "SELECT 1 FROM item WHERE id = ?1 AND source = ?2 AND ordinal = ?3"
        " UNION ALL SELECT 1 FROM repetition WHERE source = ?2 AND ordinal = ?3 AND item = ?1",
        (item, source, record.ordinal),
    )
    if any(True for _ in rows):
        return "same"
    items.insert_repetitions(work.connection, [(source, record.ordinal, item)])
    return "added"


def merge_revision(work: Work, record: Revision) -> Outcome:
    """Merge which version of a document was current, and from when on."""
    source, item = work.need("source", record.source), work.need("item", record.item)
    rows = work.connection.execute(
        "SELECT 1 FROM revision WHERE source = ? AND at = ? AND item = ?", (source, record.at, item)
    )
    if any(True for _ in rows):
        return "same"
    created = work.connection.execute(
        "INSERT INTO revision(source, item, at) VALUES(?,?,?) RETURNING id", (source, item, record.at)
    )
    change_log.append(work.connection, "revision", [int(next(created)[0])])
    work.documents.add(source)  # versions may end by it that are long over
    return "added"


# --- chains ------------------------------------------------------------------------------------------------


def merge_link(work: Work, record: Link) -> Outcome:
    """Merge a link of a device's chain. What is stored about its body is the state here."""
    device = work.need("device", record.device)
    uid, absent = bytes.fromhex(record.item), _absent(work, record)
    link = items.Link(record.seq, uid, record.digest, record.hash, absent)
    stored_link = chain_links.link_at(work.connection, device, record.seq)
    if stored_link == link:
        return "same"
    if stored_link is None and _joins(work, device, link):
        items.insert_links(work.connection, device, [link])
        return "added"
    if (
        stored_link is not None
        and stored_link.hash == link.hash
        and (device_chain.is_blind(stored_link) or device_chain.is_blind(link))
    ):
        if device_chain.is_blind(link) or not _joins(work, device, link):
            return "same"
        chain_links.replace_link(work.connection, device, link)
        return "changed"
    if stored_link is None or stored_link[1:4] != link[1:4]:
        work.report.forks.add(record.device)
        return "same"
    chain_links.replace_link(work.connection, device, link)
    return "changed"


def _joins(work: Work, device: int, link: items.Link) -> bool:
    """Return whether a link fits its neighbours in the chain. A copied palace's do not, from some place on."""
    previous_link = chain_links.link_at(work.connection, device, link.seq - 1)
    next_link = chain_links.link_at(work.connection, device, link.seq + 1)
    start = bytes(32) if link.seq == 1 else None if previous_link is None else previous_link.hash
    if device == device_chain.OWN_DEVICE and start is None:
        return False
    return (start is None or device_chain.follows(start, link)) and (
        next_link is None or device_chain.follows(link.hash, next_link)
    )


def _absent(work: Work, record: Link) -> str | None:
    """Return why the body of a link is not here as stated; None if it is."""
    row = work.find("item", record.item)
    if row is None:
        return record.absent or "withheld"
    if items.is_bare(work.connection, row):
        return tombstones.ERASED_BODY
    return None if incoming_storage.own_digest(work.connection, work.reader, row) == record.digest else "merged"


def link_unlinked(connection: Connection) -> int:
    """Add items without a link to this device's chain; return their number."""
    reader = PackReader(connection)
    uids = list(items.unlinked_items(connection))
    rows = items.known_items(connection, uids)
    bodies = [(uid, incoming_storage.own_digest(connection, reader, rows[uid])) for uid in sorted(uids)]
    device_chain.extend(connection, bodies)
    for uid, digest in bodies:
        chain_links.settle_links(connection, uid, digest, items.is_bare(connection, rows[uid]))
    return len(bodies)


# --- erasures ----------------------------------------------------------------------------------------------


def merge_erasure(work: Work, record: Erasure) -> Outcome:
    """Merge an erasure: its items, and its words, belong to the earliest erasure that removed text from them.

    Other copies of the words here are looked for later (`sync/remote_erasures`).
    """
    row = work.find("erasure", record.id)
    is_new = row is None
    if row is None:
        row = tombstones.file_foreign(work.connection, bytes.fromhex(record.id), Micros(record.at))
        if work.authority == "other":  # it has no tombstones, so there is nothing to look for
            tombstones.note_sought(work.connection, row)
    (certificate,) = next(work.connection.execute("SELECT certificate FROM erasure WHERE id = ?", (row,)))
    least_certificate = min(filter(None, (certificate, record.certificate)), default="")
    if least_certificate != certificate:
        tombstones.certify(work.connection, row, least_certificate)
    item_count = sum(tombstones.claim_item(work.connection, row, bytes.fromhex(item)) for item in record.items)
    words = [HashedWords(it.size, it.standing, it.head, it.tail, it.hash) for it in record.tombstones]  # type: ignore[arg-type]
    word_count = sum(tombstones.claim_words(work.connection, row, it) for it in words)
    if word_count:
        work.guard = Guard.at(work.connection, work.guard.redacts)
    return "added" if is_new else "changed" if item_count or word_count or least_certificate != certificate else "same"
