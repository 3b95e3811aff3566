"""Links of devices' chains, by device and by item: the data that merging reads and writes."""

from __future__ import annotations

from palazzo.store.database import Connection
from palazzo.store.items import Link
from palazzo.store.salvage_rules import LOST_BODY as LOST_BODY


def link_at(connection: Connection, device: int, seq: int) -> Link | None:
    """Return a link of a device's chain."""
    rows = connection.execute(
        "SELECT seq, item_uid, digest, hash, absent FROM link WHERE device = ? AND seq = ?", (device, seq)
    )
    for own, uid, digest, link_hash, absent in rows:
        return Link(int(own), bytes(uid), bytes(digest), bytes(link_hash), absent)
    return None


def replace_link(connection: Connection, device: int, link: Link) -> None:
    """Replace a link of another device's chain by this one."""
    connection.execute(
        "UPDATE link SET item_uid = ?, digest = ?, hash = ?, absent = ? WHERE device = ? AND seq = ?",
        (*link[1:], device, link.seq),
    )


def settle_links(connection: Connection, uid: bytes, digest: bytes, is_erased: bool) -> None:
    """Set in all links of an item whether it is present with their digest; `digest` is its own."""
    connection.execute(
        "UPDATE link SET absent = CASE WHEN ?3 THEN 'erased' WHEN digest = ?2 THEN NULL ELSE 'merged' END"
        " WHERE item_uid = ?1",
        (uid, digest, is_erased),
    )


def is_linked_as(connection: Connection, uid: bytes, digest: bytes) -> bool:
    """Whether a link states that the item with that id is present with that digest."""
    rows = connection.execute(
        "SELECT 1 FROM link WHERE item_uid = ? AND digest = ? AND absent IS NULL LIMIT 1", (uid, digest)
    )
    return any(True for _ in rows)


def absent_links(connection: Connection) -> dict[str, int]:
    """Return the number of links by the stated reason for their missing body; '' counts links whose body is here."""
    rows = connection.execute("SELECT coalesce(absent, ''), count(*) FROM link GROUP BY 1 ORDER BY 1")
    return {str(why): int(number) for why, number in rows}


def devices(connection: Connection) -> list[int]:
    """Return the devices whose chains have links, this device first."""
    return [int(row) for (row,) in connection.execute("SELECT DISTINCT device FROM link ORDER BY device")]


def note_lost(connection: Connection, uid: bytes) -> None:
    """Mark the links of an item whose body was lost to damage."""
    connection.execute("UPDATE link SET absent = ? WHERE item_uid = ? AND absent IS NULL", (LOST_BODY, uid))


def lost_items(connection: Connection) -> list[str]:
    """Return the ids of items whose body was lost, fully or in part, to damage."""
    rows = connection.execute("SELECT DISTINCT item_uid FROM link WHERE absent = ? ORDER BY item_uid", (LOST_BODY,))
    return [bytes(uid).hex() for (uid,) in rows]
