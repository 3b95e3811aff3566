"""The devices that may write to this palace through its remotes, and the keys that prove who wrote a segment.

sync_device       devices: their public keys, their rights, who decided that and when; this one's private key
sync_claim        how far a device says that it has read another on a remote: later devices see what is missing
sync_refusal      why the segments of a device on a remote were refused at the last pull
unproven_erasure  items that lost their words without a known erasure; `repair` found them
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from palazzo.model import Micros
from palazzo.store.database import Connection

Right = Literal["", "nothing", "add", "change", "erase"]
"""A device's rights. Each includes those before it. '' is undecided: nothing of the device is accepted."""
ID_BYTES = 16
"""The length of a device's id."""
RIGHTS: tuple[Right, ...] = ("", "nothing", "add", "change", "erase")

TABLES = (
    "CREATE TABLE sync_device(device BLOB PRIMARY KEY, name TEXT NOT NULL DEFAULT '', public_key BLOB NOT NULL,"
    " private_key BLOB, may TEXT NOT NULL, decided_at INTEGER NOT NULL DEFAULT 0, decided_by BLOB, heard_at INTEGER,"
    " invitations_from INTEGER NOT NULL DEFAULT 0, introduction TEXT NOT NULL DEFAULT '') WITHOUT ROWID",
    "CREATE TABLE sync_claim(remote INTEGER NOT NULL REFERENCES sync_remote, device BLOB NOT NULL,"
    " epoch INTEGER NOT NULL, n INTEGER NOT NULL, claimed_by BLOB NOT NULL,"
    " PRIMARY KEY(remote, device)) WITHOUT ROWID",
    "CREATE TABLE sync_refusal(remote INTEGER NOT NULL REFERENCES sync_remote, device BLOB NOT NULL,"
    " reason TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY(remote, device)) WITHOUT ROWID",
    "CREATE TABLE unproven_erasure(item_uid BLOB PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID",
    # Devices that were read before devices had keys stay readable, until each has signed once.
    "INSERT INTO sync_device(device, public_key, may)"
    " SELECT DISTINCT device, x'', 'erase' FROM sync_seen WHERE device NOT IN (SELECT uid FROM device WHERE id = 1)"
    " AND device <> x''",
)
"""The changes of `m016_sync_devices`. Never edit it: a later change is a migration of its own."""


@dataclass(slots=True)
class DeviceRow:
    """A device. `public_key` is empty until it has signed; `decided_by` is None until a person decides.

    `invitations_from`: its invitations from before that time are void. `introduction` is its proof of who invited it.
    """

    uid: bytes
    name: str = ""
    public_key: bytes = b""
    may: Right = ""
    decided_at: int = 0
    decided_by: bytes | None = None
    heard_at: int | None = None
    invitations_from: int = 0
    introduction: str = ""
    private_key: bytes | None = field(default=None, repr=False)


_COLUMNS = (
    "device, name, public_key, may, decided_at, decided_by, heard_at, invitations_from, introduction, private_key"
)


def rows(connection: Connection) -> dict[bytes, DeviceRow]:
    """Return all devices, by id."""
    return {bytes(row[0]): _row(row) for row in connection.execute(f"SELECT {_COLUMNS} FROM sync_device")}


def row(connection: Connection, uid: bytes) -> DeviceRow | None:
    """Return a device; None if it is unknown."""
    rows = connection.execute(f"SELECT {_COLUMNS} FROM sync_device WHERE device = ?", (uid,))
    return next((_row(columns) for columns in rows), None)


def _row(values: tuple[object, ...]) -> DeviceRow:
    uid, name, public, may, decided_at, decided_by, heard_at, since, introduction, private = values
    return DeviceRow(
        bytes(uid),  # type: ignore[call-overload]  # as the columns are declared
        str(name),
        bytes(public),  # type: ignore[call-overload]
        may,  # type: ignore[arg-type]
        int(decided_at),  # type: ignore[call-overload]
        None if decided_by is None else bytes(decided_by),  # type: ignore[call-overload]
        heard_at,  # type: ignore[arg-type]
        int(since),  # type: ignore[call-overload]
        str(introduction),
        None if private is None else bytes(private),  # type: ignore[call-overload]
    )


def keep(connection: Connection, device: DeviceRow) -> None:
    """Store a device's row."""
    connection.execute(
        f"INSERT OR REPLACE INTO sync_device({_COLUMNS}) VALUES(?,?,?,?,?,?,?,?,?,?)",
        (
            device.uid, device.name, device.public_key, device.may, device.decided_at, device.decided_by,
            device.heard_at, device.invitations_from, device.introduction, device.private_key,
        ),
    )  # fmt: skip


def note_heard(connection: Connection, device: bytes, at: Micros) -> None:
    """Record the time, by the device's own clock, of its last known segment."""
    connection.execute("UPDATE sync_device SET heard_at = ? WHERE device = ?", (at, device))


def drop_private_keys(connection: Connection) -> None:
    """Delete the private key, as in a copy of the palace that must not be a device."""
    connection.execute("UPDATE sync_device SET private_key = NULL WHERE private_key IS NOT NULL")


# --- what stands on remotes --------------------------------------------------------------------------------


class Claim(NamedTuple):
    """The position (epoch, number) to which `claimed_by` has read a device on a remote."""

    epoch: int
    n: int
    claimed_by: bytes


def claims(connection: Connection, remote: int) -> dict[bytes, Claim]:
    """Return the furthest claimed position of each device on a remote."""
    rows = connection.execute("SELECT device, epoch, n, claimed_by FROM sync_claim WHERE remote = ?", (remote,))
    return {bytes(uid): Claim(int(epoch), int(n), bytes(by)) for uid, epoch, n, by in rows}


def keep_claims(connection: Connection, remote: int, new_claims: Mapping[bytes, Claim]) -> None:
    """Store claims on a remote; of two claims about one device, keep the further one."""
    stored_claims = claims(connection, remote)
    connection.executemany(
        "INSERT OR REPLACE INTO sync_claim(remote, device, epoch, n, claimed_by) VALUES(?,?,?,?,?)",
        (
            (remote, uid, *claim)
            for uid, claim in new_claims.items()
            if uid not in stored_claims or stored_claims[uid][:2] < claim[:2]
        ),
    )


def forget_claims(connection: Connection, remote: int) -> None:
    """Delete the claims and refusals of a remote that is set up again."""
    for table in ("sync_claim", "sync_refusal"):
        connection.execute(f"DELETE FROM {table} WHERE remote = ?", (remote,))


class Refusal(NamedTuple):
    """The reason why a remote's segments of a device are refused, and since when."""

    remote: str
    device: bytes
    reason: str
    at: Micros


def refusals(connection: Connection) -> list[Refusal]:
    """Return the refusals at the last pull of each remote."""
    rows = connection.execute(
        "SELECT r.name, f.device, f.reason, f.at FROM sync_refusal f JOIN sync_remote r ON r.id = f.remote"
        " ORDER BY r.id, f.device"
    )
    return [Refusal(str(name), bytes(uid), str(reason), Micros(at)) for name, uid, reason, at in rows]


def keep_refusals(connection: Connection, remote: int, reasons: Mapping[bytes, str], at: Micros) -> None:
    """Replace a remote's refusals; one with the same reason as before keeps its time."""
    uids = ",".join("?" * len(reasons)) or "NULL"
    connection.execute(f"DELETE FROM sync_refusal WHERE remote = ? AND device NOT IN ({uids})", (remote, *reasons))
    connection.executemany(
        "INSERT INTO sync_refusal(remote, device, reason, at) VALUES(?,?,?,?)"
        " ON CONFLICT DO UPDATE SET reason = excluded.reason, at = excluded.at WHERE reason <> excluded.reason",
        ((remote, uid, reason, at) for uid, reason in reasons.items()),
    )


def forget_refusals(connection: Connection, device: bytes) -> None:
    """Delete the refusals of a device about which the user has decided."""
    connection.execute("DELETE FROM sync_refusal WHERE device = ?", (device,))


def read_anew(connection: Connection, device: bytes) -> None:
    """Read all segments of a device again at the next pull, because it has more rights now."""
    connection.execute("DELETE FROM sync_seen WHERE device = ?", (device,))


def tell_again(connection: Connection, device: bytes) -> None:
    """Push a device's records again: other devices may no longer accept that device."""
    connection.execute(f"DELETE FROM sync_chain WHERE substr(device, 1, {ID_BYTES}) = ?", (device,))
    connection.execute("DELETE FROM sync_sent")


# --- erasures that nobody proves ---------------------------------------------------------------------------


def note_unproven(connection: Connection, items: Iterable[bytes], at: Micros) -> None:
    """Record items that lost their words without a known erasure."""
    connection.executemany(
        "INSERT OR IGNORE INTO unproven_erasure(item_uid, at) VALUES(?,?)", ((uid, at) for uid in items)
    )


def unproven(connection: Connection) -> list[bytes]:
    """Return the items that lost their words without a known erasure, as recorded by `repair`."""
    rows = connection.execute("SELECT item_uid FROM unproven_erasure ORDER BY item_uid")
    return [bytes(uid) for (uid,) in rows]
