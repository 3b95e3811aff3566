"""Device pairing: several devices share one palace's id and key, so that each recognises what another has erased.

The first device of a remote provides both, in a file that the person carries over, or encrypted on the remote. A device
that joins adopts them; of its own data, this changes only what is derived with the key.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from palazzo.archive import device_chain
from palazzo.derived import async_consumer, rebuild
from palazzo.derived.citation_consumer import ANCHOR_CONSUMER
from palazzo.derived.fix_consumer import FAILURE_CONSUMER
from palazzo.errors import PalazzoError, UsageError
from palazzo.frozen_class import frozen
from palazzo.model import Micros
from palazzo.store import device_rows, items, redaction_state, remote_rows
from palazzo.store.database import Connection, Database
from palazzo.store.device_rows import DeviceRow
from palazzo.sync import device_register
from palazzo.sync.device_cards import Invitation, shown_name

_FORMAT, _VERSION = "palazzo key", 1
_LARGEST = 64 * 1024
_MOST_DEVICES = 20
"""Maximum number of devices in a key file: an older Palazzo cannot read a file of more than about 4,000 bytes."""


@frozen
class Shared:
    """The secrets that a palace's devices share: its id (hex), and the key of its marks and tombstones.

    A key file also contains an invitation for the joining device, and the devices that it must trust. `devices` is None
    in a file of an older Palazzo.
    """

    palace: str
    key: bytes
    invitation: Invitation | None = field(default=None, compare=False)
    devices: Mapping[bytes, DeviceRow] | None = field(default=None, compare=False)


def shared(connection: Connection) -> Shared:
    """Return what other devices need to join this palace."""
    return Shared(palace_id(connection), redaction_state.fingerprint_key(connection))


def invitation(connection: Connection, invited_at: Micros) -> Shared:
    """Return what another device needs to join this palace and to be trusted by its devices."""
    own, palace = device_id(connection), palace_id(connection)
    new_invitation = device_register.invite(connection, palace, own, device_name(connection), invited_at)
    rows = device_rows.rows(connection)
    devices = {uid: row for uid, row in rows.items() if row.may not in ("", "nothing") and uid != own}
    invited_devices = sorted(devices)[: _MOST_DEVICES - 1]
    return Shared(
        palace,
        redaction_state.fingerprint_key(connection),
        new_invitation,
        {uid: devices.get(uid, rows[uid]) for uid in (own, *invited_devices)},
    )


def palace_id(connection: Connection) -> str:
    """Return the palace's id."""
    return str(next(connection.execute("SELECT value FROM meta WHERE key = 'palace'"))[0])


def device_id(connection: Connection) -> bytes:
    """Return this device's id."""
    return bytes(next(connection.execute("SELECT uid FROM device WHERE id = 1"))[0])


def device_name(connection: Connection) -> str:
    """Return this device's name."""
    return str(next(connection.execute("SELECT name FROM device WHERE id = 1"))[0] or "")


def dump(secrets: Shared) -> bytes:
    """Return it as bytes: for a file that only its owner can read, or to be sealed."""
    document: dict[str, Any] = {
        "format": _FORMAT,
        "version": _VERSION,
        "palace": secrets.palace,
        "key": secrets.key.hex(),
    }
    if secrets.invitation is not None:
        document["invitation"] = secrets.invitation.dump()
    if secrets.devices is not None:
        document["devices"] = {
            uid.hex(): {"name": row.name, "public": row.public_key.hex(), "may": row.may, "at": row.decided_at}
            for uid, row in secrets.devices.items()
        }
    return json.dumps(document, separators=(",", ":")).encode()


def load(raw: bytes, source_name: str) -> Shared:
    """Return what `dump` wrote; raise UsageError if `source_name` (a file's name) holds something else."""
    try:
        document = json.loads(raw)
        if document["format"] != _FORMAT or document["version"] != _VERSION:
            raise ValueError(document["version"])
        shared = Shared(
            bytes.fromhex(document["palace"]).hex(),
            bytes.fromhex(document["key"]),
            Invitation.load(document["invitation"]) if "invitation" in document else None,
            {bytes.fromhex(uid): _device(uid, row) for uid, row in document["devices"].items()}
            if "devices" in document
            else None,
        )
        if len(shared.palace) != 32 or len(shared.key) != redaction_state.KEY_BYTES:
            raise ValueError("its key")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise UsageError(
            f"{source_name} is not the key of a palace; name the file that 'palazzo sync init --save-key FILE' wrote."
        ) from None
    return shared


def _device(uid: str, row: Any) -> DeviceRow:
    may = row["may"]
    if may not in device_rows.RIGHTS or type(row["at"]) is not int:
        raise ValueError("its devices")
    return DeviceRow(bytes.fromhex(uid), shown_name(row["name"]), bytes.fromhex(row["public"]), may, row["at"])


def save(secrets: Shared, path: Path) -> None:
    """Write the key to a new file that only its owner can read."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(dump(secrets) + b"\n")
    except FileExistsError:
        raise UsageError(f"{path} already exists; name a new file for the key.") from None
    except OSError as error:
        raise UsageError(f"The key cannot be written to {path} ({error.strerror}); name another file.") from None


def read(path: Path) -> Shared:
    """Read the key that `save` wrote."""
    try:
        with path.open("rb") as file:
            raw = file.read(_LARGEST + 1)
    except OSError as error:
        raise UsageError(f"The key {path} cannot be read ({error.strerror}); name the file that holds it.") from None
    return load(raw[:_LARGEST], str(path))


def adopt(database: Database, secrets: Shared) -> bool:
    """Join this palace to that one; return whether anything changed. Raises PalazzoError if it cannot be joined."""
    with database.transaction() as connection:
        own = shared(connection)
        if own == secrets:
            return False
        if own.key != secrets.key:
            used = redaction_state.is_key_used(connection)
            if used:
                raise PalazzoError(
                    f"This palace has {used}, which it recognises only with its own key, so it cannot become a device "
                    "of another palace; export it, join with a new palace, and import the export there."
                )
            redaction_state.adopt_fingerprint_key(connection, secrets.key)
        connection.execute("UPDATE meta SET value = ? WHERE key = 'palace'", (secrets.palace,))
        has_words = items.has_items(connection)
    if own.key != secrets.key and has_words:
        rebuild.rebuild(database, "drawers")  # what came from outside is known by keyed hashes of names
        async_consumer.make_anew(database, FAILURE_CONSUMER)
        async_consumer.make_anew(database, ANCHOR_CONSUMER)
    return True


def become_another_device(
    database: Database, now: Micros, theirs: Mapping[int, bytes], introducer: bytes | None = None
) -> None:
    """Give a copied palace a device id of its own. `theirs` are the links (number, hash) of the other copy's chain.

    The device `introducer`, whose key the palace has, introduces it; without one the former device does. Shared links
    remain those of the former device; links made since by this copy are linked again, as the first of the new device.
    """
    with database.transaction() as connection:
        own, former_uid = remote_rows.links_of_own(connection), device_id(connection)
        common_count = 0
        while common_count + 1 in own and own[common_count + 1] == theirs.get(common_count + 1):
            common_count += 1
        former = remote_rows.become_another(connection, os.urandom(16), now)
        device_register.become_another(
            connection,
            introducer or former_uid,
            device_id(connection),
            device_name(connection),
            palace_id(connection),
            now,
        )
        device_chain.relink(
            connection, items.hand_over_links(connection, device_chain.OWN_DEVICE, former, common_count)
        )
