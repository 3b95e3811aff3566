"""Signing keys of devices (Ed25519, RFC 8032). A signature proves which device wrote a segment.

A device's private key is in its palace's file alone. Others know the public key, which people compare as words.
`cryptography` is imported when a key is used, never at start-up: it takes some 30 ms.
"""

from __future__ import annotations

from dataclasses import field
from hashlib import blake2b
from typing import Self

from palazzo.frozen_class import frozen
from palazzo.security.fingerprint_words import WORDS

KEY_BYTES = 32
SIGNATURE_BYTES = 64
WORD_COUNT = 8
"""Words of a fingerprint: 64 bits. Finding another key with the same words takes some 2^64 attempts."""


@frozen
class DeviceKey:
    """A signing key. `private` is never shown."""

    private: bytes = field(repr=False)
    public: bytes

    @classmethod
    def new(cls) -> Self:
        """Create a new key."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return cls.from_private(Ed25519PrivateKey.generate().private_bytes_raw())

    @classmethod
    def from_private(cls, private: bytes) -> Self:
        """Return the key with these private bytes. Raises ValueError unless there are 32 bytes."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return cls(private, Ed25519PrivateKey.from_private_bytes(private).public_key().public_bytes_raw())

    def sign(self, purpose: bytes, message: bytes) -> bytes:
        """Return the signature of a message; `purpose` prevents reuse of the signature for another kind of message."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return Ed25519PrivateKey.from_private_bytes(self.private).sign(_frame(purpose, message))


def is_signed(public: bytes, signature: bytes, purpose: bytes, message: bytes) -> bool:
    """Whether the key with these public bytes signed this message for this purpose."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    if len(public) != KEY_BYTES or len(signature) != SIGNATURE_BYTES:
        return False
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, _frame(purpose, message))
    except (InvalidSignature, ValueError):
        return False
    return True


def _frame(purpose: bytes, message: bytes) -> bytes:
    return b"palazzo " + purpose + b"\x00" + message


def fingerprint(public: bytes) -> str:
    """Return the words with which people compare a public key; '' for an empty key."""
    if not public:
        return ""
    return " ".join(WORDS[byte] for byte in blake2b(public, digest_size=WORD_COUNT, person=b"palazzo words").digest())
