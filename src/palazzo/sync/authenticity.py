"""Proof that this palace wrote a stream: a keyed hash of its bytes, which only the palace's key can make.

All devices of a palace have its key (`device_pairing`). Without the key, a copy of an export cannot be changed so that
the proof stays valid.
"""

from __future__ import annotations

import hmac
from hashlib import blake2b

MAC_BYTES = 32


class Proof:
    """The keyed hash of the lines of one stream; `purpose` gives each kind of stream its own key."""

    def __init__(self, key: bytes, purpose: bytes) -> None:
        stream_key = blake2b(purpose, key=key, digest_size=32).digest()
        self._state = blake2b(key=stream_key, digest_size=MAC_BYTES)

    def add(self, line: bytes) -> None:
        """Add a line, without its end."""
        self._state.update(len(line).to_bytes(8) + line)

    @property
    def mac(self) -> bytes:
        """Return the keyed hash of the lines so far."""
        return self._state.digest()

    def proves(self, mac: bytes) -> bool:
        """Return whether a keyed hash is that of the lines so far."""
        return hmac.compare_digest(self._state.digest(), mac)
