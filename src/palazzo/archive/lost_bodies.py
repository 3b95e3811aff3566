"""State of the chain after a salvage: lost links are computed again, lost bodies are recorded as absent.

A link follows from the link before it and from its item, so the link after a lost one proves it. A link that cannot be
computed stays as a link marked `damaged`, and `verify` counts it, so nothing disappears unnoticed.
"""

from __future__ import annotations

import os
import time
from typing import NamedTuple

from palazzo.archive import device_chain, incoming_storage
from palazzo.model import Micros
from palazzo.store import chain_links, items, tombstones, uids, unreadable_items
from palazzo.store.chain_links import LOST_BODY
from palazzo.store.database import Connection
from palazzo.store.items import Link
from palazzo.store.packs import PackReader


class SettledArchive(NamedTuple):
    """Ids of items that are lost or altered, and the number of links that could not be recomputed."""

    items: tuple[str, ...]
    links: int


def settle(connection: Connection) -> SettledArchive:
    """Make the chain match the items that are here. Only for a palace that was salvaged after damage."""
    reader = PackReader(connection)
    unreadable_items.mend(connection)
    _forget_unreadable_bytes(connection, reader)
    lost_links = _compute_links(connection, reader)
    _claim_erased(connection)
    lost_items: set[str] = set()
    for broken_link in list(device_chain.audit(connection)):
        if broken_link.seq:
            lost_items.add(broken_link.item)
    for uid in lost_items:
        chain_links.note_lost(connection, bytes.fromhex(uid))
    unlinked_items = list(items.unlinked_items(connection))
    rows = items.known_items(connection, unlinked_items)
    device_chain.extend(
        connection,
        [(uid, incoming_storage.own_digest(connection, reader, rows[uid])) for uid in sorted(unlinked_items)],
    )
    return SettledArchive(tuple(sorted(lost_items)), lost_links)


def _claim_erased(connection: Connection) -> None:
    """Assign items that their links call erased to the newest erasure, if their own erasure is lost."""
    unexplained_items = list(tombstones.find_unproven_items(connection))
    if not unexplained_items:
        return
    newest = next(connection.execute("SELECT max(id) FROM erasure"))[0]
    if newest is None:
        newest = tombstones.file_erasure(connection, os.urandom(uids.ID_BYTES), Micros(time.time_ns() // 1000))
    for uid in unexplained_items:
        tombstones.claim_item(connection, int(newest), uid)


def _forget_unreadable_bytes(connection: Connection, reader: PackReader) -> None:
    """Remove bytes that cannot be unpacked from their items; the items keep their text."""
    rows = connection.execute(
        "SELECT id, pack, raw_start, raw_size FROM item WHERE pack IS NOT NULL OR raw_size > 0 ORDER BY pack"
    )
    items.forget_bytes(connection, [row for row, *place in list(rows) if not _is_readable(reader, *place)])


def _is_readable(reader: PackReader, pack: int | None, start: int, size: int) -> bool:
    try:
        return pack is not None and len(reader.read(pack, start, size)) == size
    except device_chain.UNREADABLE:
        return False


def _compute_links(connection: Connection, reader: PackReader) -> int:
    """Compute the lost links of this device again; return how many could not be computed."""
    links_by_number = {link.seq: link for link in items.links(connection, device_chain.OWN_DEVICE)}
    unknown_count = 0
    previous = bytes(32)
    for seq in range(1, max(links_by_number, default=0) + 1):
        link = links_by_number.get(seq)
        if link is None or (link.absent == LOST_BODY and link.digest == device_chain.BLIND):
            link, is_known = _compute_link(connection, reader, previous, seq, link)
            unknown_count += not is_known
            if seq in links_by_number:
                chain_links.replace_link(connection, device_chain.OWN_DEVICE, link)
            else:
                items.insert_links(connection, device_chain.OWN_DEVICE, [link])
        previous = link.hash
    return unknown_count


def _compute_link(
    connection: Connection, reader: PackReader, previous: bytes, seq: int, stored_link: Link | None
) -> tuple[Link, bool]:
    rows = items.known_items(connection, [stored_link.item_uid]) if stored_link is not None else {}
    if stored_link is None or not rows or previous == device_chain.BLIND:
        uid = stored_link.item_uid if stored_link is not None else bytes(16)
        return Link(seq, uid, device_chain.BLIND, device_chain.BLIND, LOST_BODY), False
    body = incoming_storage.own_digest(connection, reader, rows[stored_link.item_uid])
    return Link(
        seq, stored_link.item_uid, body, device_chain.hash_link(previous, stored_link.item_uid, body), None
    ), True
