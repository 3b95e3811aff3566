"""event peers: the devices that write to the log, and the remotes between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.features.exchange.contract import EventPeersRequest, EventPeersResult, PeerView, WriterView
from palazzo.store import exchange_rows, remote_rows
from palazzo.sync import device_pairing
from palazzo.sync.remotes.git_transport import without_password

if TYPE_CHECKING:
    from palazzo.operations.context import Context


def event_peers(context: Context, request: EventPeersRequest) -> EventPeersResult:
    """Show this device, all devices with events, and the remotes."""
    with context.reading().database.snapshot() as connection:
        own = device_pairing.device_id(connection).hex()
        names = {uid.hex(): name for _, uid, name in remote_rows.devices(connection)}
        return EventPeersResult(
            own,
            device_pairing.device_name(connection),
            tuple(
                WriterView(device, names.get(device, ""), last)
                for device, last in exchange_rows.last_numbers(connection).items()
            ),
            tuple(
                PeerView(
                    remote.name,
                    without_password(remote.address),
                    remote.pushed_at,
                    remote.pulled_at,
                    remote.failure or None,
                )
                for remote in remote_rows.remotes(connection)
            ),
        )
