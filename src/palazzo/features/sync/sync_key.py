"""sync key: write the key file with which another device joins this palace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.errors import UsageError
from palazzo.features.sync.contract import SyncKeyRequest, SyncKeyResult
from palazzo.features.sync.remote_access import select_remotes
from palazzo.sync import device_pairing, encryption

if TYPE_CHECKING:
    from palazzo.operations.context import Context


def sync_key(context: Context, request: SyncKeyRequest) -> SyncKeyResult:
    """Save the key that another device needs to join this palace with 'palazzo sync init ADDRESS --key FILE'."""
    target = context.led_to(request.file).absolute()
    if request.remote is not None:
        (remote,) = select_remotes(context, request.remote)
        if not remote.secret:
            raise UsageError(f"The remote '{remote.name}' is not sealed; leave out --remote.")
        encryption.save(encryption.Key.parse(remote.secret), target)
        return SyncKeyResult(str(target), remote.name)
    palace = context.writing()
    with palace.database.transaction() as connection:
        shared = device_pairing.invitation(connection, palace.clock())
    device_pairing.save(shared, target)
    return SyncKeyResult(str(target), shared.palace)
