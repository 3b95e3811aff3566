"""sync key: write the key file with which another device joins this palace."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from palazzo.operations.operation import About, Operation

if TYPE_CHECKING:
    from palazzo.operations.context import Context


@dataclass(frozen=True, slots=True)
class SyncKeyRequest:
    """The file to write the key to, and the remote."""

    file: Annotated[Path, About("The new key file; only you can read it.", positional=True)]
    remote: Annotated[str | None, About("Save the key that opens this sealed remote, instead of the palace's key.")] = (
        None
    )


@dataclass(frozen=True, slots=True)
class SyncKeyResult:
    """The file that the key was written to, and what it is the key of."""

    file: str
    of: str


def sync_key(context: Context, request: SyncKeyRequest) -> SyncKeyResult:
    """Save the key that another device needs to join this palace with 'palazzo sync init ADDRESS --key FILE'.

    It also introduces that device to the others. Protect it like a password, and delete it afterwards.
    """
    from palazzo.errors import UsageError
    from palazzo.features.sync.remote_access import select_remotes
    from palazzo.sync import device_pairing, encryption

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


OPERATION = Operation(
    "sync_key",
    SyncKeyRequest,
    SyncKeyResult,
    sync_key,
    scope="admin",
    writes=True,
    steps=True,
    examples=("palazzo sync key palace.key",),
)
