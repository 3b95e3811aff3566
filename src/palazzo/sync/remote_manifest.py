"""Remote manifest: which palace a remote belongs to, how it is encrypted, and, if encrypted, the palace's key.

    palazzo.json    {"palazzo": "remote", "version": 1, "palace": "…", "sealing": "passphrase",
                     "closed": "-----BEGIN AGE ENCRYPTED FILE-----…", "key": "<base64>"}

`closed` is the key of the remote, encrypted with the passphrase; `key` is the output of `device_pairing.dump`,
encrypted with the key of the remote. A remote that is not encrypted has neither, since anybody who can read it can read
everything.
"""

from __future__ import annotations

import base64
import binascii
import json

from palazzo.errors import RemoteUnusable
from palazzo.frozen_class import frozen
from palazzo.store.remote_rows import SealKind
from palazzo.sync import device_pairing, encryption
from palazzo.sync.device_pairing import Shared
from palazzo.sync.encryption import Key
from palazzo.sync.remotes import LARGEST_ABOUT

_VERSION = 1
_WORD = "remote"


@frozen
class About:
    """The content of `palazzo.json`."""

    palace: str
    sealing: SealKind = ""
    closed: str = ""
    key: bytes = b""

    def open_secrets(self, key: Key) -> Shared:
        """Return what devices share, from a sealed remote; raise WrongKey if `key` is another's."""
        return device_pairing.load(key.open(self.key), "The sealed key there")


def about(secrets: Shared, key: Key | None, passphrase: str | None) -> About:
    """Return the manifest of a remote, sealed by `key`, or not; the key is in it, closed by `passphrase`."""
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
    """Read `palazzo.json`; raise RemoteUnusable if it is invalid, or was written by a later Palazzo."""
    damage_error = RemoteUnusable(
        f"The palazzo.json in {address} is damaged; restore a copy of it, or start with an empty remote."
    )
    try:
        document = json.loads(raw) if len(raw) <= LARGEST_ABOUT else None
        if not isinstance(document, dict) or document.get("palazzo") != _WORD:
            raise damage_error
        if isinstance(document.get("version"), int) and document["version"] > _VERSION:
            raise RemoteUnusable(f"{address} was created by a newer Palazzo; update this one.")
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
