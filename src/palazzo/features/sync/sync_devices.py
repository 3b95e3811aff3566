"""sync devices: manage which devices may write to this palace through its remotes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.errors import AmbiguousId, NotFound, UsageError
from palazzo.features.sync.contract import SyncDevice, SyncDevicesRequest, SyncDevicesResult
from palazzo.model import Micros
from palazzo.security.device_keys import fingerprint
from palazzo.store import device_rows as store
from palazzo.sync import device_pairing, device_register

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection
    from palazzo.store.device_rows import DeviceRow, Right


def sync_devices(context: Context, request: SyncDevicesRequest) -> SyncDevicesResult:
    """List the devices that write to this palace, trust one, or refuse everything new from one."""
    if request.action == "list":
        if request.device is not None or request.may is not None:
            raise UsageError("Name an action for the device: 'palazzo sync devices trust NAME' or 'forget NAME'.")
        with context.reading().database.snapshot() as connection:
            return SyncDevicesResult(list_devices(connection))
    if request.device is None:
        raise UsageError(f"Name the device: 'palazzo sync devices {request.action} NAME'.")
    if request.action == "forget" and request.may is not None:
        raise UsageError("A forgotten device may do nothing; leave out --may.")
    palace = context.writing()
    with palace.database.transaction() as connection:
        row = _find_device(connection, request.device)
        may: Right = "nothing" if request.action == "forget" else request.may or "erase"
        _decide(connection, row, may, palace.clock())
        devices = list_devices(connection)
    device_name = row.name or row.uid.hex()
    return SyncDevicesResult(devices, *((None, device_name) if may == "nothing" else (device_name, None)))


def list_devices(connection: Connection) -> tuple[SyncDevice, ...]:
    """Return all known or refused devices, this one first."""
    own = device_pairing.device_id(connection)
    reasons = {refusal.device: refusal.reason for refusal in store.refusals(connection)}
    rows = {uid: store.DeviceRow(uid) for uid in reasons} | store.rows(connection)
    rows.setdefault(own, store.DeviceRow(own, may="erase"))
    rows[own].name = device_pairing.device_name(connection)
    return tuple(
        SyncDevice(
            row.uid.hex(),
            row.name,
            fingerprint(row.public_key),
            row.may or "waits",
            None if row.heard_at is None else Micros(row.heard_at),
            row.uid == own,
            reasons.get(row.uid),
        )
        for row in sorted(rows.values(), key=lambda row: (row.uid != own, row.name, row.uid))
    )


def _find_device(connection: Connection, name: str) -> DeviceRow:
    """Return the other device with that name or id prefix."""
    own = device_pairing.device_id(connection)
    rows_by_id = {refusal.device: store.DeviceRow(refusal.device) for refusal in store.refusals(connection)}
    rows_by_id |= store.rows(connection)
    rows = [row for row in rows_by_id.values() if row.uid != own]
    matches = [row for row in rows if row.name == name] or [row for row in rows if row.uid.hex().startswith(name)]
    if len(matches) > 1:
        raise AmbiguousId(name, [f"{row.uid.hex()} ({row.name or 'unnamed'})" for row in matches])
    if not matches:
        if own.hex().startswith(name) or name == device_pairing.device_name(connection):
            raise UsageError("That is this device itself; run the command on another device.")
        raise NotFound(f"No other device is named '{name}'; 'palazzo sync devices' lists them.")
    return matches[0]


def _decide(connection: Connection, row: DeviceRow, may: Right, decided_at: Micros) -> None:
    """Set what a device may do from now on, as a person decided."""
    own = device_pairing.device_id(connection)
    own_row = device_register.own_row(connection, own, device_pairing.device_name(connection))
    former_right = row.may
    row.may, row.decided_by, row.decided_at = may, own, max(decided_at, row.decided_at + 1)
    store.keep(connection, row)
    store.forget_refusals(connection, row.uid)
    if may == "nothing":
        own_row.invitations_from = max(decided_at, device_register.invitations_from(store.rows(connection))) + 1
        store.keep(connection, own_row)
        store.tell_again(connection, row.uid)
    elif store.RIGHTS.index(may) > store.RIGHTS.index(former_right):
        store.read_anew(connection, row.uid)
