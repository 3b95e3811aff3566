"""The head of this device on a remote: the one that this palace wrote, or one that somebody else put in its place."""

from __future__ import annotations

from palazzo.errors import SegmentUnreadable, WrongKey
from palazzo.store import device_rows, redaction_state, remote_rows
from palazzo.store.database import Database
from palazzo.store.remote_rows import LastSegment, RemoteRow
from palazzo.sync import segments
from palazzo.sync.remotes import Remote, RemoteState, refuse_other
from palazzo.sync.segments import Cipher, Head

PENDING = b""
"""The key in `sync_seen` of this device's next head, while a push makes it visible."""


def own_head(
    database: Database, remote: RemoteRow, device: bytes, remote_state: RemoteState, address: str
) -> Head | None:
    """Return this device's head that this palace wrote to a remote; None if it never wrote one."""
    with database.snapshot() as connection:
        seen_heads = remote_rows.read_last_segments(connection, remote.row)
    head = remote_state.heads.get(device.hex())
    last_own, pending = seen_heads.get(device), seen_heads.get(PENDING)
    if head is not None and pending is not None and _is(head, pending):  # the push was killed after it was visible
        with database.transaction() as connection:
            remote_rows.note_seen(connection, remote.row, device, pending)
        return head
    if head is not None and last_own is not None and _is(head, last_own):
        return head
    expected = None if last_own is None else Head(device.hex(), last_own.epoch, last_own.n, last_own.hash, last_own.at)
    if device.hex() not in remote_state.head_errors:  # a damaged head is written again
        refuse_other(address, device.hex(), head, expected)
    return expected


def forged_head(
    database: Database,
    remote: RemoteRow,
    transport: Remote,
    device: bytes,
    remote_state: RemoteState,
    cipher: Cipher | None,
) -> Head | None:
    """Return the head with which someone without this device's key replaced its own; None if there is none."""
    with database.snapshot() as connection:
        seen_heads = remote_rows.read_last_segments(connection, remote.row)
    head, last_own, pending = remote_state.heads.get(device.hex()), seen_heads.get(device), seen_heads.get(PENDING)
    if head is None or any(own_place is not None and _is(head, own_place) for own_place in (last_own, pending)):
        return None
    return head if is_forged(database, transport, device, head, cipher) else None


def is_forged(database: Database, transport: Remote, device: bytes, head: Head, cipher: Cipher | None) -> bool:
    """Return whether a head names a segment that this device did not sign, although it signs its segments."""
    with database.snapshot() as connection:
        own = device_rows.row(connection, device)
        palace = str(next(connection.execute("SELECT value FROM meta WHERE key = 'palace'"))[0])
        key = redaction_state.fingerprint_key(connection)
    if own is None or own.heard_at is None:
        return False
    try:
        segment = segments.read(transport.read(head.device, head.name), head.name, head.device, palace, cipher, key)
    except (SegmentUnreadable, WrongKey):
        return True
    return segment.card is None or segment.card.public != own.public_key


def last_head(database: Database, remote: RemoteRow, device: bytes) -> Head | None:
    """Return the last head that this palace recorded for a remote."""
    with database.snapshot() as connection:
        last_own = remote_rows.read_last_segments(connection, remote.row).get(device)
    return None if last_own is None else Head(device.hex(), last_own.epoch, last_own.n, last_own.hash, last_own.at)


def _is(head: Head, place: LastSegment) -> bool:
    return (head.epoch, head.n, head.hash) == (place.epoch, place.n, place.hash)
