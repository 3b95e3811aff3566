"""A device's card: its statements about itself and other devices, in each segment that it signs.

    {"version":1, "public":"…", "name":"laptop", "invitations_from":0, "introduction":{…},
     "devices":{"<id>": {"public":"…", "may":"erase", "at":…}}, "seen":{"<id>":[1, 7]}}

`devices` lists the devices that it lets write, or no longer lets write, and since when; `seen` is how far it has read
each of the others on this remote. `introduction` shows who invited it: the key file that a person carries to a new
machine holds an invitation, which is a separate key, signed by the device that saved the file. The new device signs its
public key with it. So a device that trusts the first device trusts the second without further confirmation.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field
from typing import Any, Self, cast

from palazzo.frozen_class import frozen
from palazzo.security.device_keys import KEY_BYTES, SIGNATURE_BYTES, DeviceKey, is_signed
from palazzo.store.device_rows import RIGHTS, Right

_VERSION = 1
_INVITATION, _INTRODUCTION = b"invitation", b"introduction"
_ID_BYTES = 16
LARGEST_CARD = 1024 * 1024
"""Maximum bytes of a card: enough for about 5,000 devices."""


@frozen
class Invitation:
    """A key with which a new device introduces itself, signed by the device `by` at a time of that device's clock."""

    key: DeviceKey
    by: bytes
    at: int
    signature: bytes

    @classmethod
    def make(cls, palace: str, by: bytes, signer: DeviceKey, at: int) -> Self:
        """Make an invitation of the device `by`, whose key is `signer`."""
        key = DeviceKey.new()
        return cls(key, by, at, signer.sign(_INVITATION, _invitation_text(palace, by, key.public, at)))

    def dump(self) -> dict[str, object]:
        """Return its form for a key file."""
        return {
            "private": self.key.private.hex(), "by": self.by.hex(), "at": self.at, "signature": self.signature.hex()
        }  # fmt: skip

    @classmethod
    def load(cls, value: Any) -> Self:
        """Read what `dump` returned. Raises ValueError, TypeError, KeyError."""
        return cls(
            DeviceKey.from_private(bytes.fromhex(value["private"])),
            _bytes(value["by"], _ID_BYTES),
            _time(value["at"]),
            _bytes(value["signature"], SIGNATURE_BYTES),
        )

    def introduce(self, palace: str, device: bytes, public: bytes) -> Introduction:
        """Return the introduction of a device."""
        proof = self.key.sign(_INTRODUCTION, _introduction_text(palace, device, public))
        return Introduction(self.by, self.at, self.key.public, self.signature, proof)


@frozen
class Introduction:
    """The proof that a device was invited: the invitation's public key, the inviter's and the device's signatures."""

    by: bytes
    at: int
    invitation: bytes
    signature: bytes
    proof: bytes

    def proves(self, palace: str, device: bytes, public: bytes, inviter: bytes) -> bool:
        """Return whether the device with that public key was invited by the one whose public key is `inviter`."""
        invitation = _invitation_text(palace, self.by, self.invitation, self.at)
        introduction = _introduction_text(palace, device, public)
        return is_signed(inviter, self.signature, _INVITATION, invitation) and is_signed(
            self.invitation, self.proof, _INTRODUCTION, introduction
        )

    def dump(self) -> str:
        """Return it as text."""
        values = {
            "by": self.by.hex(), "at": self.at, "invitation": self.invitation.hex(), "signature": self.signature.hex(),
            "proof": self.proof.hex(),
        }  # fmt: skip
        return json.dumps(values, separators=(",", ":"))

    @classmethod
    def load(cls, text: str) -> Self:
        """Read what `dump` returned. Raises ValueError, TypeError, KeyError."""
        value = json.loads(text)
        return cls(
            _bytes(value["by"], _ID_BYTES),
            _time(value["at"]),
            _bytes(value["invitation"], KEY_BYTES),
            _bytes(value["signature"], SIGNATURE_BYTES),
            _bytes(value["proof"], SIGNATURE_BYTES),
        )


@frozen
class Decision:
    """A device's right, its public key (empty until it signs), and the time of the decision."""

    public: bytes
    may: Right
    at: int


@frozen
class Card:
    """A device's statements about itself and the other devices."""

    public: bytes
    name: str = ""
    invitations_from: int = 0
    introduction: Introduction | None = None
    devices: Mapping[bytes, Decision] = field(default_factory=dict)
    read_positions: Mapping[bytes, tuple[int, int]] = field(default_factory=dict)

    def dump(self) -> bytes:
        """Return it as bytes."""
        value = {
            "version": _VERSION,
            "public": self.public.hex(),
            "name": self.name,
            "invitations_from": self.invitations_from,
            "introduction": "" if self.introduction is None else self.introduction.dump(),
            "devices": {
                uid.hex(): {"public": decision.public.hex(), "may": decision.may, "at": decision.at}
                for uid, decision in sorted(self.devices.items())
            },
            "seen": {uid.hex(): place for uid, place in sorted(self.read_positions.items())},
        }
        return json.dumps(value, separators=(",", ":")).encode()

    @classmethod
    def load(cls, content: bytes) -> Self:
        """Read what `dump` returned. Raises ValueError for anything else; fields of later versions are ignored."""
        try:
            value = json.loads(content)
            text = value["introduction"]
            return cls(
                _bytes(value["public"], KEY_BYTES),
                shown_name(value["name"]),
                _time(value["invitations_from"]),
                Introduction.load(text) if text else None,
                {_bytes(uid, _ID_BYTES): _decision(decision) for uid, decision in value["devices"].items()},
                {_bytes(uid, _ID_BYTES): (_time(n[0]), _time(n[1])) for uid, n in value["seen"].items()},
            )
        except (TypeError, KeyError, IndexError, AttributeError, RecursionError) as error:
            raise ValueError(f"no card ({type(error).__name__})") from None


@frozen
class Signer:
    """The writing device's key, and the card that it puts into each segment."""

    key: DeviceKey
    card: Card


LONGEST_NAME = 100


def shown_name(name: str) -> str:
    """Return a device's name as one line that is safe to show, since another device chose it."""
    return "".join(letter for letter in str(name) if letter.isprintable())[:LONGEST_NAME]


def _decision(value: Any) -> Decision:
    may = cast(Right, value["may"])
    public = bytes.fromhex(value["public"])
    if may not in RIGHTS or len(public) not in (0, KEY_BYTES):
        raise ValueError("no decision")
    return Decision(public, may, _time(value["at"]))


def _bytes(text: str, size: int) -> bytes:
    content = bytes.fromhex(text)
    if len(content) != size:
        raise ValueError(f"{len(content)} bytes, not {size}")
    return content


_LATEST = 10**18


def _time(value: Any) -> int:
    """Return a time in microseconds, or another whole number that SQLite can hold."""
    if type(value) is not int or not 0 <= value < _LATEST:
        raise ValueError("no time")
    return value


def _invitation_text(palace: str, by: bytes, public: bytes, at: int) -> bytes:
    return bytes.fromhex(palace) + by + public + at.to_bytes(8)


def _introduction_text(palace: str, device: bytes, public: bytes) -> bytes:
    return bytes.fromhex(palace) + device + public
