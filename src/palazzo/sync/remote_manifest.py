"""What stands at a remote for whoever comes there: whose it is, how it is sealed, and, sealed, the palace's key.

    palazzo.json    {"palazzo": "remote", "version": 1, "palace": "…", "sealing": "passphrase",
                     "closed": "-----BEGIN AGE ENCRYPTED FILE-----…", "key": "<base64>"}

`closed` is the key of the remote, closed by the passphrase; `key` what `joining.dump` says, sealed by that key. On a
remote that is not sealed neither stands, since whoever reads it reads all.
"""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass

from palazzo.errors import RemoteUnusable
from palazzo.store.remote_rows import SealKind
from palazzo.sync import device_pairing, encryption
from palazzo.sync.device_pairing import Shared
from palazzo.sync.encryption import Key
from palazzo.sync.remotes import LARGEST_ABOUT

_VERSION = 1
_WORD = "remote"


@dataclass(frozen=True, slots=True)
class About:
    """What `palazzo.json` says."""

    palace: str
    sealing: SealKind = ""
    closed: str = ""
    key: bytes = b""

    def open_secrets(self, key: Key) -> Shared:
        """Return what devices share, from a sealed remote; WrongKey where `key` is another's."""
        return device_pairing.load(key.open(self.key), "What is sealed there")


def about(secrets: Shared, key: Key | None, passphrase: str | None) -> About:
    """Return what a remote is to say that is sealed by `key`, or not; the key lies there, closed by `passphrase`."""
    if key is None:
        return About(secrets.palace)
    locked_key = "" if passphrase is None else encryption.close_with(passphrase, key)
    return About(
        secrets.palace,
        "key" if passphrase is None else "passphrase",
        locked_key,
        key.seal(device_pairing.dump(secrets)),
    )


def dump(info: About) -> bytes:
    """Return the bytes of `palazzo.json`."""
    document = {"palazzo": _WORD, "version": _VERSION, "palace": info.palace, "sealing": info.sealing}
    if info.sealing:
        document |= {"closed": info.closed, "key": base64.b64encode(info.key).decode()}
    return json.dumps(document, indent=1).encode() + b"\n"


def load(raw: bytes, address: str) -> About:
    """Read `palazzo.json`; RemoteUnusable where it is none, or a later Palazzo wrote it."""
    damage_error = RemoteUnusable(
        f"{address} holds a palazzo.json that is damaged; put a copy of it back, or begin with an empty remote."
    )
    try:
        document = json.loads(raw) if len(raw) <= LARGEST_ABOUT else None
        if not isinstance(document, dict) or document.get("palazzo") != _WORD:
            raise damage_error
        if isinstance(document.get("version"), int) and document["version"] > _VERSION:
            raise RemoteUnusable(f"{address} was begun by a later Palazzo; update this one.")
        info = About(
            bytes.fromhex(document["palace"]).hex(),
            document["sealing"],
            str(document.get("closed", "")),
            base64.b64decode(document.get("key", ""), validate=True),
        )
    except (ValueError, KeyError, TypeError, RecursionError, binascii.Error):
        raise damage_error from None
    if len(info.palace) != 32 or info.sealing not in ("", "passphrase", "key"):
        raise damage_error
    return info
