"""One palace on several devices: they share its id and its key, so that each knows again what another erased.

The first device of a remote gives both, in a file that the person carries over, or sealed on the remote. A device that
joins takes them over, which changes nothing it holds but what is derived by the key.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from palazzo.archive import chain
from palazzo.derive import lagging, rebuild
from palazzo.derive.anchoring import ANCHORING
from palazzo.derive.mending import MENDING
from palazzo.errors import PalazzoError, UsageError
from palazzo.model import Micros
from palazzo.store import items, redaction, syncing
from palazzo.store.database import Connection, Database

_FORMAT, _VERSION = "palazzo key", 1
_LARGEST = 4_096


@dataclass(frozen=True, slots=True)
class Shared:
    """What devices of one palace have in common: its id (hex), and the key of its marks and tombstones."""

    palace: str
    key: bytes


def shared(connection: Connection) -> Shared:
    """Return what other devices need to join this palace."""
    return Shared(palace_id(connection), redaction.fingerprint_key(connection))


def palace_id(connection: Connection) -> str:
    """Return the palace's id."""
    return str(next(connection.execute("SELECT value FROM meta WHERE key = 'palace'"))[0])


def device_id(connection: Connection) -> bytes:
    """Return this device's id."""
    return bytes(next(connection.execute("SELECT uid FROM device WHERE id = 1"))[0])


def device_name(connection: Connection) -> str:
    """Return what this device is called."""
    return str(next(connection.execute("SELECT name FROM device WHERE id = 1"))[0] or "")


def dump(what: Shared) -> bytes:
    """Return it as bytes: for a file that is its owner's alone, or to be sealed."""
    told = {"format": _FORMAT, "version": _VERSION, "palace": what.palace, "key": what.key.hex()}
    return json.dumps(told, separators=(",", ":")).encode()


def load(raw: bytes, where: str) -> Shared:
    """Return what `dump` wrote; UsageError where `where` (a file's name) holds something else."""
    try:
        told = json.loads(raw)
        if told["format"] != _FORMAT or told["version"] != _VERSION:
            raise ValueError(told["version"])
        found = Shared(bytes.fromhex(told["palace"]).hex(), bytes.fromhex(told["key"]))
        if len(found.palace) != 32 or len(found.key) != redaction.KEY_BYTES:
            raise ValueError("its key")
    except (ValueError, TypeError, KeyError, RecursionError):
        raise UsageError(
            f"{where} is not the key of a palace; name the file that 'palazzo sync init --save-key FILE' wrote."
        ) from None
    return found


def save(what: Shared, path: Path) -> None:
    """Write the key to a new file that its owner alone can read."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(dump(what) + b"\n")
    except FileExistsError:
        raise UsageError(f"{path} is there already; name a new file for the key.") from None
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


def adopt(database: Database, what: Shared) -> bool:
    """Make this palace a part of that one; say whether anything changed. Raises PalazzoError where it cannot be."""
    with database.transaction() as connection:
        own = shared(connection)
        if own == what:
            return False
        if own.key != what.key:
            used = redaction.is_key_used(connection)
            if used:
                raise PalazzoError(
                    f"This palace holds {used}, which it knows by a key of its own, so it cannot become a device of "
                    "another palace; export it, join with a new palace, and import the export there."
                )
            redaction.adopt_fingerprint_key(connection, what.key)
        connection.execute("UPDATE meta SET value = ? WHERE key = 'palace'", (what.palace,))
        has_words = items.has_items(connection)
    if own.key != what.key and has_words:
        rebuild.rebuild(database, "drawers")  # what came from outside is known by keyed hashes of names
        lagging.make_anew(database, MENDING)
        lagging.make_anew(database, ANCHORING)
    return True


def become_another_device(database: Database, now: Micros, theirs: Mapping[int, bytes]) -> None:
    """Give a copied palace a device's id of its own. `theirs` are the links (number, hash) of the other copy's chain.

    What both have stays the former device's; what this one has linked since is linked anew, as the new device's first.
    """
    with database.transaction() as connection:
        own = syncing.links_of_own(connection)
        kept = 0
        while kept + 1 in own and own[kept + 1] == theirs.get(kept + 1):
            kept += 1
        former = syncing.become_another(connection, os.urandom(16), now)
        chain.relink(connection, items.hand_over_links(connection, chain.OWN_DEVICE, former, kept))
