"""sync status: show the state of the remotes, and what is not sent to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.features.sync.contract import (
    DeviceStatus,
    RefusalView,
    RemoteStatus,
    SyncStatusRequest,
    SyncStatusResult,
    WithheldItem,
)
from palazzo.features.sync.remote_access import RemoteSession, connect_remote, select_remotes
from palazzo.features.sync.sync_private import list_private_wings
from palazzo.knowledge import conflict_detection
from palazzo.security.device_keys import fingerprint
from palazzo.store import device_rows, remote_rows, tombstones
from palazzo.store import device_rows as sync_devices
from palazzo.sync import device_pairing, pull, push
from palazzo.sync.remotes.git_transport import without_password

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection
    from palazzo.store.remote_rows import RemoteRow


def sync_status(context: Context, request: SyncStatusRequest) -> SyncStatusResult:
    """Show the state of the remotes, what waits to be pushed, and what is not pushed, with the reason."""
    with context.reading().database.snapshot() as connection:
        any_remotes = bool(remote_rows.remotes(connection))
    remotes = select_remotes(context, request.remote) if any_remotes or request.remote else []
    new = {remote.row: _new(connect_remote(context, remote)) for remote in remotes} if request.look else {}
    with context.reading().database.snapshot() as connection:
        private, merged = list_private_wings(connection)
        own = device_pairing.device_id(connection)
        row = device_rows.row(connection, own)
        return SyncStatusResult(
            device_pairing.palace_id(connection),
            device_pairing.device_id(connection).hex(),
            device_pairing.device_name(connection),
            tuple(_status(connection, remote, new.get(remote.row)) for remote in remotes),
            private,
            sum(stands for _, stands in conflict_detection.list_conflicts(connection)),
            merged,
            "" if row is None else fingerprint(row.public_key),
            tuple(
                RefusalView(refusal.remote, refusal.device.hex(), refusal.reason, refusal.at)
                for refusal in device_rows.refusals(connection)
            ),
        )


def _new(at: object) -> int:
    assert isinstance(at, RemoteSession)  # noqa: S101 - named late, so that no library is loaded for a status
    return pull.count_new(at.database, at.remote, at.transport, at.device)


def _status(connection: Connection, remote: RemoteRow, new: int | None) -> RemoteStatus:
    rows = sync_devices.rows(connection)
    device_rows = remote_rows.devices(connection)
    names = {uid: name for _, uid, name in device_rows}
    own = device_rows[0][1]
    pending_counts = push.count_pending(connection, remote, own)
    heads_by_device = remote_rows.read_last_segments(connection, remote.row)
    peer_ids = [uid for uid in sorted(heads_by_device) if uid not in (own, b"")]
    return RemoteStatus(
        remote.name,
        without_password(remote.address),
        remote.sealing,
        remote.wings,
        remote.automatic,
        remote.pushed_at,
        remote.pulled_at,
        pending_counts.items,
        pending_counts.others,
        own in heads_by_device and tombstones.newest_erasure(connection) > remote.erasure,
        new,
        remote.failure or None,
        remote.failed_at,
        tuple(
            DeviceStatus(
                uid.hex(),
                names.get(uid, ""),
                heads_by_device[uid].at,
                fingerprint(rows[uid].public_key) if uid in rows else "",
                rows[uid].may if uid in rows else "",
            )
            for uid in peer_ids
        ),
        tuple(WithheldItem(item.hex(), why) for item, why in remote_rows.withheld_items(connection, remote.row)),
    )
