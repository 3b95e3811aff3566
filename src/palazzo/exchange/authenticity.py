"""Proof that this palace wrote a stream: a keyed hash of its bytes, which only who has the palace's key can make.

All devices of a palace have its key (`joining`). Whoever has a copy of an export can read it, and cannot change it and
keep the proof.
"""

from __future__ import annotations

import hmac
from hashlib import blake2b

MAC_BYTES = 32


class Proof:
    """The keyed hash of the lines of one stream; `purpose` keeps streams of different kinds apart."""

    def __init__(self, key: bytes, purpose: bytes) -> None:
        own = blake2b(purpose, key=key, digest_size=32).digest()
        self._state = blake2b(key=own, digest_size=MAC_BYTES)

    def add(self, line: bytes) -> None:
        """Take in a line, without its end."""
        self._state.update(len(line).to_bytes(8) + line)

    @property
    def mac(self) -> bytes:
        """The keyed hash of what was taken in so far."""
        return self._state.digest()

    def proves(self, mac: bytes) -> bool:
        """Whether a keyed hash is the one of what was taken in so far."""
        return hmac.compare_digest(self._state.digest(), mac)
