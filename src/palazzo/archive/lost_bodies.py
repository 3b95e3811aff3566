"""What a salvage left of the chain: lost links are computed again, lost bodies are absent by record.

A link follows from the one before it and from its item, so a lost one is proved by the link behind it. What cannot be
computed stays as a link that says `damaged`, and `verify` counts it: nothing goes missing unseen.
"""

from __future__ import annotations

import os
import time
from typing import NamedTuple

from palazzo.archive import arriving, chain
from palazzo.model import Micros
from palazzo.store import items, links, tombstones, uids
from palazzo.store.database import Connection
from palazzo.store.items import Link
from palazzo.store.links import LOST
from palazzo.store.packs import PackReader


class Settled(NamedTuple):
    """Ids of items that are gone or are no longer as they were archived, and how many links are known no more."""

    items: tuple[str, ...]
    links: int


def settle(connection: Connection) -> Settled:
    """Let the chain tell the truth about what is here. Only for a palace that was put together after damage."""
    reader = PackReader(connection)
    _forget_unreadable_bytes(connection, reader)
    lost_links = _compute_links(connection, reader)
    _claim_erased(connection)
    lost: set[str] = set()
    for broken in list(chain.audit(connection)):
        if broken.seq:
            lost.add(broken.item)
    for uid in lost:
        links.note_lost(connection, bytes.fromhex(uid))
    unlinked = list(items.unlinked_items(connection))
    rows = items.known_items(connection, unlinked)
    chain.extend(connection, [(uid, arriving.own_digest(connection, reader, rows[uid])) for uid in sorted(unlinked)])
    return Settled(tuple(sorted(lost)), lost_links)


def _claim_erased(connection: Connection) -> None:
    """Items that their links say were erased belong to the newest erasure, where it is not known any more to which."""
    unexplained = list(tombstones.unexplained(connection))
    if not unexplained:
        return
    newest = next(connection.execute("SELECT max(id) FROM erasure"))[0]
    if newest is None:
        newest = tombstones.file_erasure(connection, os.urandom(uids.ID_BYTES), Micros(time.time_ns() // 1000))
    for uid in unexplained:
        tombstones.claim_item(connection, int(newest), uid)


def _forget_unreadable_bytes(connection: Connection, reader: PackReader) -> None:
    """An item whose source's own bytes cannot be unpacked keeps its text."""
    rows = connection.execute(
        "SELECT id, pack, raw_start, raw_size FROM item WHERE pack IS NOT NULL OR raw_size > 0 ORDER BY pack"
    )
    items.forget_bytes(connection, [row for row, *place in list(rows) if not _is_readable(reader, *place)])


def _is_readable(reader: PackReader, pack: int | None, start: int, size: int) -> bool:
    try:
        return pack is not None and len(reader.read(pack, start, size)) == size
    except chain.UNREADABLE:
        return False


def _compute_links(connection: Connection, reader: PackReader) -> int:
    """Put lost links of this device in their places; return how many are not known again."""
    there = {link.seq: link for link in items.links(connection, chain.OWN_DEVICE)}
    unknown = 0
    previous = bytes(32)
    for seq in range(1, max(there, default=0) + 1):
        link = there.get(seq)
        if link is None or (link.absent == LOST and link.digest == chain.BLIND):
            link, is_known = _computed(connection, reader, previous, seq, link)
            unknown += not is_known
            if seq in there:
                links.replace_link(connection, chain.OWN_DEVICE, link)
            else:
                items.insert_links(connection, chain.OWN_DEVICE, [link])
        previous = link.hash
    return unknown


def _computed(
    connection: Connection, reader: PackReader, previous: bytes, seq: int, known: Link | None
) -> tuple[Link, bool]:
    rows = items.known_items(connection, [known.item_uid]) if known is not None else {}
    if known is None or not rows or previous == chain.BLIND:
        uid = known.item_uid if known is not None else bytes(16)
        return Link(seq, uid, chain.BLIND, chain.BLIND, LOST), False
    body = arriving.own_digest(connection, reader, rows[known.item_uid])
    return Link(seq, known.item_uid, body, chain.chained(previous, known.item_uid, body), None), True
