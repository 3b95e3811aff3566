"""The device chain: each device links the items that it archived, so that no item can disappear unnoticed.

    digest = H(salt, header, raw, text)         the content of the item
    hash   = H(previous hash, item id, digest)  its place in the chain

If a device withholds an item, other devices get only the link's hash (`blind_link`), since an item's id may reveal when
it was written. The next link follows from that hash. When the item is sent later, the hash proves it.

Links are never erased. A body may be absent only where a link gives the reason: it was erased; another device's copy of
the item was kept instead (`merged`); it stayed on the device that has it (`private`, `withheld`); or the page that held
it was damaged (`damaged`, see `lost_bodies`).
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable, Iterator

import zstandard

from palazzo.frozen_class import frozen
from palazzo.store import chain_links, items
from palazzo.store.database import Connection
from palazzo.store.items import ItemRow, Link
from palazzo.store.packs import PackReader

OWN_DEVICE = 1
"""Row id of this palace's own device. Other devices arrive by sync."""
UNREADABLE = (zlib.error, zstandard.ZstdError, ValueError, TypeError, AttributeError, LookupError, MemoryError)
"""Exceptions that a damaged page can raise: it may contain anything in place of a text, a number or a size."""


def digest(row: ItemRow, source_uid: bytes, raw: bytes, text: str) -> bytes:
    """Return the salted digest of all that an item says. Its room is not included, because that may change."""
    header = "\x1f".join(
        (
            row.kind,
            row.role,
            row.standing,
            row.author,
            row.thread,
            str(row.ordinal),
            str(row.created_at),
            str(row.recorded_at),
            row.trust,
            row.branch,
            row.commit,
            row.parts,
            row.meta,
            str(row.decoder),
        )
    ).encode("utf-8", "surrogatepass")
    state = hashlib.blake2b(digest_size=32)
    for part in (row.salt, source_uid, header, raw, text.encode("utf-8", "surrogatepass")):
        state.update(len(part).to_bytes(8) + part)
    return state.digest()


def extend(connection: Connection, entries: Iterable[tuple[bytes, bytes]]) -> None:
    """Append (item id, digest) pairs to this device's chain, under the caller's write lock."""
    relink(connection, ((uid, body, None) for uid, body in entries))


def relink(connection: Connection, entries: Iterable[tuple[bytes, bytes, str | None]]) -> None:
    """Append (item id, digest, reason of absence) of items of another device to this device's chain."""
    seq, previous = items.last_link(connection, OWN_DEVICE)
    new: list[Link] = []
    for uid, body, absent in entries:
        seq, previous = seq + 1, hash_link(previous, uid, body)
        new.append(Link(seq, uid, body, previous, absent))
    items.insert_links(connection, OWN_DEVICE, new)


@frozen
class Break:
    """A position where the chain and the archive disagree."""

    seq: int
    item: str
    reason: str


def audit(connection: Connection) -> Iterator[Break]:
    """Yield every link that does not follow from the one before it, or whose item is missing or changed.

    For this device's chain every link is expected; for another device's chain only the links that arrived. Items that
    are in no device's chain come last, with the number 0.
    """
    packs = PackReader(connection)
    for device in chain_links.devices(connection):
        yield from _audit(connection, packs, device)
    for uid in items.unlinked_items(connection):
        yield Break(0, uid.hex(), "no chain link records this item")


def _audit(connection: Connection, packs: PackReader, device: int) -> Iterator[Break]:
    expected_seq, previous, is_known = 1, bytes(32), True
    for link in items.links(connection, device):
        if link.seq != expected_seq:
            if device == OWN_DEVICE:
                yield Break(link.seq, link.item_uid.hex(), f"links {expected_seq} to {link.seq - 1} are missing")
        elif is_known and not is_lost(link) and not follows(previous, link):
            yield Break(link.seq, link.item_uid.hex(), "the link does not match the previous link")
        if link.absent is None:
            reason = _compare(connection, packs, link)
            if reason:
                yield Break(link.seq, link.item_uid.hex(), reason)
        expected_seq, previous, is_known = link.seq + 1, link.hash, not is_lost(link)


def _compare(connection: Connection, packs: PackReader, link: Link) -> str:
    rows = connection.execute(
        "SELECT item.uid, item.source, item.kind, role, standing, author, thread, ordinal, created_at, recorded_at,"
        " trust, branch, commit_id, item.room, parts, meta, decoder, pack, raw_start, raw_size, salt, text, text_codec,"
        " source.uid FROM item JOIN source ON source.id = item.source WHERE item.uid = ?",
        (link.item_uid,),
    )
    for values in rows:
        row = ItemRow(*values[:23])
        try:
            text = items.decode_text(row.text, row.text_codec)
            raw = b"" if row.pack is None else packs.read(row.pack, row.raw_start, row.raw_size)
            return "" if digest(row, values[23], raw, text) == link.digest else "its body was changed"
        except UNREADABLE as error:
            return f"its body cannot be read ({error})"
    return "the item is missing"


BLIND = bytes(32)
"""The digest in a blind link. No known BLAKE2b input has this digest."""


def blind_link(link: Link, absent: str) -> Link:
    """Return a link that reveals only its number and its hash; its item id is derived from the hash."""
    return Link(link.seq, _stand_in(link.hash), BLIND, link.hash, absent)


def _stand_in(link_hash: bytes) -> bytes:
    return hashlib.blake2b(b"withheld" + link_hash, digest_size=16).digest()


def is_lost(link: Link) -> bool:
    """Return whether a link was lost on a damaged page and cannot be computed again."""
    return link.absent == chain_links.LOST_BODY and link.digest == BLIND


def is_blind(link: Link) -> bool:
    """Return whether a link reveals only its number and its hash."""
    return link.digest == BLIND and link.item_uid == _stand_in(link.hash)


def follows(previous: bytes, link: Link) -> bool:
    """Return whether a link follows from the previous hash. Blind links reveal too little to check; they pass."""
    return is_blind(link) or link.hash == hash_link(previous, link.item_uid, link.digest)


def hash_link(previous: bytes, uid: bytes, body: bytes) -> bytes:
    """Return a link's hash: of the previous link's hash (zeros for the first), its item and the item's digest."""
    return hashlib.blake2b(previous + uid + body, digest_size=32).digest()
