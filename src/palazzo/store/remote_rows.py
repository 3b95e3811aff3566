"""The palace's records of its remotes: their addresses, what was seen there, what was sent, what stays here.

sync_remote     a place where devices exchange data
sync_seen       the last segment of each device there that is also here; for this device, the last one written
sync_chain      the last link of each device's chain that is there, and the last one that the device itself put there
sync_sent       the last sent state of each record that may change: a keyed name of it, a hash of its bytes
sync_withheld   items of which only the link was sent, and why
private_wing    wings whose content never leaves
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from palazzo.frozen_class import frozen
from palazzo.model import Micros
from palazzo.store import device_rows, place_rows
from palazzo.store.database import Connection
from palazzo.store.items import Link

SealKind = Literal["", "passphrase", "key"]
"""How the segments of a remote are encrypted, if they are."""
Kind = Literal["folder", "git"]
"""The kinds of remotes."""

TABLES = (
    "CREATE TABLE sync_remote(id INTEGER PRIMARY KEY, uid BLOB NOT NULL UNIQUE, name TEXT NOT NULL UNIQUE,"
    " kind TEXT NOT NULL, address TEXT NOT NULL, wings TEXT NOT NULL, sealing TEXT NOT NULL, secret TEXT NOT NULL,"
    " automatic INTEGER NOT NULL, erasure INTEGER NOT NULL DEFAULT 0, pushed_at INTEGER, pulled_at INTEGER,"
    " failure TEXT NOT NULL DEFAULT '', failed_at INTEGER)",
    "CREATE TABLE sync_seen(remote INTEGER NOT NULL REFERENCES sync_remote, device BLOB NOT NULL,"
    " epoch INTEGER NOT NULL, n INTEGER NOT NULL, hash BLOB NOT NULL, at INTEGER NOT NULL,"
    " PRIMARY KEY(remote, device)) WITHOUT ROWID",
    "CREATE TABLE sync_chain(remote INTEGER NOT NULL REFERENCES sync_remote, device BLOB NOT NULL,"
    " seq INTEGER NOT NULL, PRIMARY KEY(remote, device)) WITHOUT ROWID",
    "CREATE TABLE sync_sent(remote INTEGER NOT NULL REFERENCES sync_remote, record BLOB NOT NULL, hash BLOB NOT NULL,"
    " PRIMARY KEY(remote, record)) WITHOUT ROWID",
    "CREATE TABLE sync_withheld(remote INTEGER NOT NULL REFERENCES sync_remote, device BLOB NOT NULL,"
    " seq INTEGER NOT NULL, why TEXT NOT NULL, PRIMARY KEY(remote, device, seq)) WITHOUT ROWID",
    "CREATE TABLE private_wing(wing INTEGER PRIMARY KEY REFERENCES wing, at INTEGER NOT NULL)",
)
"""The tables of these that `m013_exchange` creates. Never edit it: a later change is a migration of its own."""


@frozen
class RemoteRow:
    """A remote as this palace knows it. `wings` are those that are pushed there, all if empty.

    `secret` encrypts and decrypts its content, if it is encrypted; it is never shown. `erasure` is the last erasure
    (row id) applied to the content there. `failure` is why the last attempt failed, or why the last pull was
    incomplete; '' if neither.
    """

    row: int
    uid: bytes
    name: str
    kind: Kind
    address: str
    wings: tuple[str, ...]
    sealing: SealKind
    secret: str
    automatic: bool
    erasure: int
    pushed_at: Micros | None
    pulled_at: Micros | None
    failure: str
    failed_at: Micros | None


@frozen
class LastSegment:
    """A device's last segment on a remote that this palace has read or written."""

    epoch: int
    n: int
    hash: str
    at: Micros


_COLUMNS = (
    "id, uid, name, kind, address, wings, sealing, secret, automatic, erasure, pushed_at, pulled_at, failure, failed_at"
)


# --- remotes -----------------------------------------------------------------------------------------------


def remotes(connection: Connection) -> list[RemoteRow]:
    """Return all remotes, oldest first."""
    return [_remote(columns) for columns in connection.execute(f"SELECT {_COLUMNS} FROM sync_remote ORDER BY id")]


def remote(connection: Connection, row: int) -> RemoteRow:
    """Return the remote with that row id."""
    return _remote(next(connection.execute(f"SELECT {_COLUMNS} FROM sync_remote WHERE id = ?", (row,))))


def _remote(columns: tuple[object, ...]) -> RemoteRow:
    row, uid, name, kind, address, wings, seal_kind, secret, automatic, *rest = columns
    return RemoteRow(
        row,  # type: ignore[arg-type]  # as the columns are declared
        bytes(uid),  # type: ignore[call-overload]
        str(name),
        kind,  # type: ignore[arg-type]
        str(address),
        tuple(json.loads(str(wings))),
        seal_kind,  # type: ignore[arg-type]
        str(secret),
        bool(automatic),
        *rest,  # type: ignore[arg-type]
    )


def add_remote(
    connection: Connection,
    uid: bytes,
    name: str,
    kind: Kind,
    address: str,
    wings: Iterable[str],
    seal_kind: SealKind,
    secret: str,
    automatic: bool,
) -> int:
    """Store a remote; return its row id."""
    (row,) = next(
        connection.execute(
            "INSERT INTO sync_remote(uid, name, kind, address, wings, sealing, secret, automatic)"
            " VALUES(?,?,?,?,?,?,?,?) RETURNING id",
            (uid, name, kind, address, json.dumps([*wings]), seal_kind, secret, int(automatic)),
        )
    )
    return int(row)


def change_remote(
    connection: Connection,
    row: int,
    kind: Kind,
    address: str,
    wings: Iterable[str],
    seal_kind: SealKind,
    secret: str,
    automatic: bool,
) -> None:
    """Change a remote's address, filter, key and settings."""
    connection.execute(
        "UPDATE sync_remote SET kind = ?, address = ?, wings = ?, sealing = ?, secret = ?, automatic = ? WHERE id = ?",
        (kind, address, json.dumps([*wings]), seal_kind, secret, int(automatic), row),
    )


def drop_remote(connection: Connection, row: int) -> None:
    """Delete a remote and everything known about it."""
    begin_anew(connection, row)
    device_rows.forget_claims(connection, row)
    connection.execute("DELETE FROM sync_remote WHERE id = ?", (row,))


def note_pushed(connection: Connection, row: int, at: Micros) -> None:
    """Record that everything intended for the remote was pushed. What the last pull could not read is still unread."""
    connection.execute(
        "UPDATE sync_remote SET pushed_at = ?1, failure = iif(failed_at = pulled_at, failure, ''),"
        " failed_at = iif(failed_at = pulled_at, failed_at, NULL) WHERE id = ?2",
        (at, row),
    )


def note_pulled(connection: Connection, row: int, at: Micros, shortfall: str = "") -> None:
    """Record that the remote was read, and the reason if some of it could not be."""
    connection.execute(
        "UPDATE sync_remote SET pulled_at = ?1, failure = ?2, failed_at = iif(?2 = '', NULL, ?1) WHERE id = ?3",
        (at, shortfall, row),
    )


def note_failure(connection: Connection, row: int, why: str, at: Micros) -> None:
    """Record why an unattended sync attempt failed."""
    connection.execute("UPDATE sync_remote SET failure = ?, failed_at = ? WHERE id = ?", (why, at, row))


def note_erasure(connection: Connection, row: int, erasure: int) -> None:
    """Record that the remote knows of all erasures up to that row id."""
    connection.execute("UPDATE sync_remote SET erasure = ? WHERE id = ?", (erasure, row))


# --- what is there -----------------------------------------------------------------------------------------


def read_last_segments(connection: Connection, row: int) -> dict[bytes, LastSegment]:
    """Return, by device, its last segment on the remote that is also here."""
    rows = connection.execute("SELECT device, epoch, n, hash, at FROM sync_seen WHERE remote = ?", (row,))
    return {
        bytes(uid): LastSegment(int(epoch), int(n), bytes(code).hex(), Micros(at)) for uid, epoch, n, code, at in rows
    }


def note_seen(connection: Connection, row: int, device: bytes, segment: LastSegment) -> None:
    """Record a device's last segment."""
    connection.execute(
        "INSERT OR REPLACE INTO sync_seen(remote, device, epoch, n, hash, at) VALUES(?,?,?,?,?,?)",
        (row, device, segment.epoch, segment.n, bytes.fromhex(segment.hash), segment.at),
    )


_BY_ITSELF = b"\x01"
"""Ends the key of a device's row in `sync_chain` that counts only what the device itself put there."""


def chains(connection: Connection, row: int, by_itself: bool = False) -> dict[bytes, int]:
    """Return, by device, the link up to which its chain is on the remote, or was put there by the device itself."""
    rows = connection.execute("SELECT device, seq FROM sync_chain WHERE remote = ?", (row,))
    chains = {bytes(key): int(seq) for key, seq in rows}
    own = {key.removesuffix(_BY_ITSELF): seq for key, seq in chains.items() if len(key) > device_rows.ID_BYTES}
    return own if by_itself else {key: seq for key, seq in chains.items() if len(key) == device_rows.ID_BYTES}


def note_chains(connection: Connection, row: int, chains: Mapping[bytes, int], by_itself: bytes = b"") -> None:
    """Record the link up to which chains are on the remote; an existing higher number stays.

    `by_itself` is the device whose segment the links are from: it put its own chain there.
    """
    if by_itself in chains:
        chains = {**chains, by_itself + _BY_ITSELF: chains[by_itself]}
    connection.executemany(
        "INSERT INTO sync_chain(remote, device, seq) VALUES(?,?,?)"
        " ON CONFLICT DO UPDATE SET seq = max(seq, excluded.seq)",
        ((row, device, seq) for device, seq in chains.items()),
    )


def read_record_hashes(connection: Connection, row: int) -> dict[bytes, bytes]:
    """Return, by record name, the hash of the bytes of the record on the remote."""
    rows = connection.execute("SELECT record, hash FROM sync_sent WHERE remote = ?", (row,))
    return {bytes(name): bytes(code) for name, code in rows}


def note_sent(connection: Connection, row: int, hashes: Iterable[tuple[bytes, bytes]]) -> None:
    """Record (record, hash) of what is on the remote now."""
    connection.executemany(
        "INSERT OR REPLACE INTO sync_sent(remote, record, hash) VALUES(?,?,?)",
        ((row, name, code) for name, code in hashes),
    )


def forget_sent(connection: Connection, row: int) -> None:
    """Delete what is known of this palace's records on the remote, and of withheld items: all are sent again."""
    for table in ("sync_sent", "sync_withheld"):
        connection.execute(f"DELETE FROM {table} WHERE remote = ?", (row,))


def begin_anew(connection: Connection, row: int) -> None:
    """Delete everything known of the remote's content."""
    for table in ("sync_seen", "sync_chain", "sync_sent", "sync_withheld"):
        connection.execute(f"DELETE FROM {table} WHERE remote = ?", (row,))


def forget_device(connection: Connection, row: int, device: bytes) -> None:
    """Delete a device's recorded last segment."""
    connection.execute("DELETE FROM sync_seen WHERE remote = ? AND device = ?", (row, device))


def devices(connection: Connection) -> list[tuple[int, bytes, str]]:
    """Return (row id, id, name) of every known device, this one first."""
    rows = connection.execute("SELECT id, uid, name FROM device ORDER BY id")
    return [(int(row), bytes(uid), str(name or "")) for row, uid, name in rows]


def links_beyond(connection: Connection, device: int, seq: int, extra_seqs: Iterable[int]) -> Iterator[Link]:
    """Yield a device's links after that number, and the given additional links, in order."""
    rows = connection.execute(
        "SELECT seq, item_uid, digest, hash, absent FROM link WHERE device = ?1"
        " AND (seq > ?2 OR seq IN (SELECT value FROM json_each(?3))) ORDER BY seq",
        (device, seq, json.dumps([*extra_seqs])),
    )
    for number, uid, digest, link_hash, absent in rows:
        yield Link(int(number), bytes(uid), bytes(digest), bytes(link_hash), absent)


def become_another(connection: Connection, uid: bytes, at: Micros) -> int:
    """Give this palace a new device identity; return the row id of the former one."""
    former, name, created = next(connection.execute("SELECT uid, name, created_at FROM device WHERE id = 1"))
    connection.execute("UPDATE device SET uid = ?, created_at = ? WHERE id = 1", (uid, at))
    rows = connection.execute(
        "INSERT INTO device(uid, name, created_at) VALUES(?, ?, ?) RETURNING id", (former, name, created)
    )
    return int(next(rows)[0])


def links_of_own(connection: Connection) -> dict[int, bytes]:
    """Return the hashes of this device's links, by number."""
    return {int(seq): bytes(code) for seq, code in connection.execute("SELECT seq, hash FROM link WHERE device = 1")}


def links_of(connection: Connection, device: bytes) -> dict[int, bytes]:
    """Return the hashes of the links that this palace has of a device, by number; none of a device it does not know."""
    rows = connection.execute(
        "SELECT seq, hash FROM link WHERE device = (SELECT id FROM device WHERE uid = ?)", (device,)
    )
    return {int(seq): bytes(code) for seq, code in rows}


# --- what stays here ---------------------------------------------------------------------------------------


def withheld(connection: Connection, row: int) -> dict[tuple[bytes, int], str]:
    """Return, by (device, link number), why the item was not sent to the remote."""
    rows = connection.execute("SELECT device, seq, why FROM sync_withheld WHERE remote = ?", (row,))
    return {(bytes(device), int(seq)): str(why) for device, seq, why in rows}


def withheld_items(connection: Connection, row: int) -> list[tuple[bytes, str]]:
    """Return (item, reason) of the items of which only the link was sent, by reason."""
    rows = connection.execute(
        "SELECT DISTINCT link.item_uid, w.why FROM sync_withheld w JOIN device ON device.uid = w.device"
        " JOIN link ON link.device = device.id AND link.seq = w.seq WHERE w.remote = ? ORDER BY w.why, link.item_uid",
        (row,),
    )
    return [(bytes(item), str(why)) for item, why in rows]


def has_left(connection: Connection, wing: int) -> bool:
    """Whether any item of a wing was sent to a remote."""
    rows = connection.execute(
        "SELECT 1 FROM room JOIN item ON item.room = room.id JOIN link ON link.item_uid = item.uid"
        " JOIN device ON device.id = link.device JOIN sync_chain c ON c.device = device.uid AND c.seq >= link.seq"
        " WHERE room.wing = ?1 AND NOT EXISTS (SELECT 1 FROM sync_withheld w WHERE w.remote = c.remote"
        " AND w.device = device.uid AND w.seq = link.seq) LIMIT 1",
        (wing,),
    )
    return any(True for _ in rows)


def note_withheld(connection: Connection, row: int, items: Mapping[tuple[bytes, int], str]) -> None:
    """Record the items of which only the link was sent."""
    connection.executemany(
        "INSERT OR REPLACE INTO sync_withheld(remote, device, seq, why) VALUES(?,?,?,?)",
        ((row, device, seq, why) for (device, seq), why in items.items()),
    )


def forget_withheld(connection: Connection, row: int, items: Iterable[tuple[bytes, int]]) -> None:
    """Record that these items were sent after all."""
    connection.executemany(
        "DELETE FROM sync_withheld WHERE remote = ? AND device = ? AND seq = ?",
        ((row, device, seq) for device, seq in items),
    )


def private_wings(connection: Connection) -> set[int]:
    """Return the private wings (row ids), whose content is never sent."""
    return {int(wing) for (wing,) in connection.execute("SELECT wing FROM private_wing")}


def make_private(connection: Connection, wing: int, at: Micros) -> None:
    """Make a wing private, so that its content is no longer sent."""
    connection.execute("INSERT OR IGNORE INTO private_wing(wing, at) VALUES(?,?)", (wing, at))


@frozen
class PrivateWing:
    """A wing that is never pushed: its own last name, and the wing (a row id) that it is part of."""

    row: int
    uid: bytes
    name: str
    part_of: int | None


def listed_private(connection: Connection) -> list[PrivateWing]:
    """Return the private wings, including those that are part of another, by name."""
    rows = connection.execute(
        "SELECT id, uid, CASE WHEN merged_into IS NULL THEN name ELSE coalesce((SELECT a.name FROM arrangement a"
        " WHERE a.wing = wing.id AND a.kind = 'name' AND a.retired_at IS NULL ORDER BY a.recorded_at DESC, a.uid DESC"
        " LIMIT 1), first_name) END AS own, merged_into FROM wing WHERE id IN (SELECT wing FROM private_wing)"
        " ORDER BY own, uid"
    )
    return [PrivateWing(int(row), bytes(uid), str(name), into) for row, uid, name, into in rows]


def private_ids(connection: Connection) -> list[tuple[bytes, str]]:
    """Return the private wings (id, name)."""
    return [(wing.uid, wing.name) for wing in listed_private(connection)]


def keep_private(connection: Connection, wings: Iterable[tuple[bytes, str]], at: Micros) -> None:
    """Make these wings (id, name) private, even if the palace does not have them yet."""
    for uid, name in wings:
        rows = connection.execute("SELECT id FROM wing WHERE uid = ?", (uid,))
        row = next((int(own) for (own,) in rows), None)
        make_private(connection, place_rows.wing_id(connection, name) if row is None else row, at)


def make_public(connection: Connection, wing: int) -> None:
    """Make a private wing public again."""
    connection.execute("DELETE FROM private_wing WHERE wing = ?", (wing,))


def private_rooms(connection: Connection) -> set[int]:
    """Return the rooms of private wings: rooms that are, began, or ever were in one.

    A private wing that was merged into another, or whose rooms were moved, still keeps its content private. So does a
    room that was part of such a room. As long as a private wing is part of another, all of that other wing is private:
    its name resolves there, and later content cannot be attributed to either name.
    """
    rows = connection.execute(
        "WITH RECURSIVE named(name) AS (SELECT wing.name FROM private_wing JOIN wing ON wing.id = private_wing.wing),"
        " hidden(wing) AS (SELECT wing FROM private_wing UNION SELECT id FROM wing WHERE name IN named),"
        " own(room) AS ("
        "  SELECT id FROM room WHERE wing IN hidden OR first_wing IN (SELECT wing FROM private_wing)"
        "  UNION SELECT room FROM arrangement WHERE kind = 'move' AND target IN (SELECT wing FROM private_wing)"
        "  UNION SELECT a.room FROM arrangement a JOIN own ON own.room = a.target"
        "   WHERE a.kind = 'merge' AND a.room IS NOT NULL)"
        " SELECT room FROM own"
    )
    return {int(row) for (row,) in rows}
