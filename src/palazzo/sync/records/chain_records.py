"""Devices, and the links of their chains."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from palazzo.archive import device_chain, incoming_storage
from palazzo.frozen_class import frozen
from palazzo.store import chain_links, items, tombstones
from palazzo.store.database import Connection
from palazzo.store.packs import PackReader
from palazzo.sync.field_codecs import Digest, Id, Name, Time, Whole, require
from palazzo.sync.merge_state import Outcome, Work
from palazzo.sync.records.palace_snapshot import PalaceSnapshot, Selection, hex_id, query_reader
from palazzo.sync.records.record_kind import Record, RecordKind

Absent = Literal["erased", "merged", "private", "withheld"]
"""Why a link has no body here: it was erased, another device's copy of the item is kept, or it was not sent."""
_HASH_BYTES = 32
"""Bytes of each hash in a link."""


@frozen
class Device(Record):
    """A device whose chain of links is exported."""

    id: Id
    name: Name = ""
    created_at: Time = 0


@frozen
class Link(Record):
    """A link of a device's chain. `absent` says why the item does not exist here, or differs from the digest."""

    device: Id
    seq: Whole
    item: Id
    digest: Digest
    hash: Digest
    absent: Absent | None = None


# --- devices -----------------------------------------------------------------------------------------------


def _select_devices(connection: Connection, selection: Selection) -> None:
    for device, item in connection.execute("SELECT device, item_uid FROM link"):
        if bytes(item) in selection.item_ids:
            selection.rows["device"].add(device)


def _merge_device(work: Work, record: Device) -> Outcome:
    """Merge a device: of two names, the one with the later creation counts, then the greater one."""
    name = work.name(record.name)
    row = work.find("device", record.id)
    if row is None:
        work.insert("device", record.id, name=name, created_at=record.created_at)
        return "added"
    (stored_name, created) = next(work.connection.execute("SELECT name, created_at FROM device WHERE id = ?", (row,)))
    if (record.created_at, name) <= (created or 0, stored_name or ""):
        return "same"
    work.connection.execute("UPDATE device SET name = ?, created_at = ? WHERE id = ?", (name, record.created_at, row))
    return "changed"


DEVICE = RecordKind(
    "device",
    Device,
    read=query_reader(  # other devices known here have written nothing yet
        Device,
        "device",
        "SELECT id, uid, coalesce(name, ''), coalesce(created_at, 0) FROM device"
        " WHERE EXISTS (SELECT 1 FROM link WHERE device = device.id) ORDER BY uid",
    ),
    select=_select_devices,
    merge=_merge_device,
    judge="dropped",  # its links have digests of items as they are there; here items get links of ours
)


# --- links -------------------------------------------------------------------------------------------------


def _check_link(record: Link) -> None:
    require(len(record.digest) == len(record.hash) == _HASH_BYTES, "'digest' and 'hash' must have 32 bytes")
    require(record.seq > 0, "'seq' must be at least 1")


def _read_links(snapshot: PalaceSnapshot) -> Iterator[Link]:
    for device, seq, item, digest, link_hash, absent in snapshot.connection.execute(
        "SELECT device.uid, seq, item_uid, digest, hash, absent FROM device CROSS JOIN link"
        " ON link.device = device.id ORDER BY device.uid, seq"
    ):
        if absent == chain_links.LOST_BODY and bytes(digest) == device_chain.BLIND:
            continue  # nothing is known of it
        if snapshot.selection is None or bytes(item) in snapshot.selection.item_ids:
            why: Absent | None = "withheld" if absent == chain_links.LOST_BODY else absent
            yield Link(hex_id(device), seq, hex_id(item), bytes(digest), bytes(link_hash), why)


def _merge_link(work: Work, record: Link) -> Outcome:
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


LINK = RecordKind(
    "link",
    Link,
    identity=("device", "seq"),
    references={"device": "device"},
    check=_check_link,
    read=_read_links,
    merge=_merge_link,
    judge="dropped",
)
