"""Device register: from which devices a palace accepts segments, and which records it accepts from each.

    segment ──MAC──> from a holder of the palace's key ──signature──> from this device ──may──> its rights

A device may write if a person here allowed it, if it shows an invitation of a device that has all rights, or if such a
device says so in its card. All others wait for the person, who compares the words. Devices from before signatures
existed are known from then, and stay readable until each has signed once; after that, nothing of theirs counts without
a signature.

A decision counts until a later one. A device that was removed here stays removed until somebody trusts it here again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from palazzo.errors import PalazzoError, SegmentRefused
from palazzo.model import Micros
from palazzo.security.device_keys import DeviceKey, fingerprint
from palazzo.store import device_rows
from palazzo.store.database import Connection
from palazzo.store.device_rows import RIGHTS, Claim, DeviceRow, Right
from palazzo.sync.device_cards import Card, Decision, Introduction, Invitation, Signer
from palazzo.sync.segments import SegmentContent

FULL: Right = "erase"
"""The right of a device that the user introduced: full access. The user can limit a device."""


@dataclass(slots=True)
class DeviceRegister:
    """The devices that one palace knows, while it reads segments. `save` stores the changes."""

    palace: str
    own: bytes
    rows: dict[bytes, DeviceRow]
    claims: dict[bytes, Claim] = field(default_factory=dict)
    """The position up to which other devices have read each device on this remote, as they report it."""
    admitted_devices: set[bytes] = field(default_factory=set)
    """Devices that received more rights from the segments that were read."""
    removed_by: bytes | None = None
    """The device that no longer accepts segments from this one."""
    _changed: set[bytes] = field(default_factory=set)

    @classmethod
    def load(cls, connection: Connection, palace: str, own: bytes) -> DeviceRegister:
        """Return the register of a palace's stored devices."""
        return cls(palace, own, device_rows.rows(connection))

    def may(self, device: bytes) -> Right:
        """Return what a device may do."""
        row = self.rows.get(device)
        return "" if row is None else row.may

    def describe(self, device: bytes) -> str:
        """Return a device's name and id for use in a sentence."""
        row = self.rows.get(device)
        return f"'{row.name}' ({device.hex()[:8]})" if row is not None and row.name else device.hex()[:8]

    # --- one segment -------------------------------------------------------------------------------------------

    def is_proven(self, segment: SegmentContent) -> bool:
        """Return whether the segment is its device's; False if only a later one can prove it. Raises SegmentRefused."""
        uid = bytes.fromhex(segment.header.device)
        row = self.rows.get(uid)
        if row is not None and row.may == "nothing":
            raise SegmentRefused(_removed(self.describe(uid)))
        if segment.card is None:
            return self._is_from_before(uid, row)
        if row is None or row.may == "":
            row = self._meet(uid, segment.card)
        elif not row.public_key:
            row.public_key = segment.card.public
            self._changed.add(uid)
        elif row.public_key != segment.card.public:
            raise SegmentRefused(
                f"Device {self.describe(uid)} signs with a key ({fingerprint(segment.card.public)}) that differs "
                f"from the one known here ({fingerprint(row.public_key)}), so nothing from it was pulled. Someone "
                "else may be writing in its name; if it is your device, run 'palazzo sync init ADDRESS --new-device' "
                "on it."
            )
        if segment.card.name and row.name != segment.card.name:
            row.name = segment.card.name
            self._changed.add(uid)
        return True

    def _is_from_before(self, uid: bytes, row: DeviceRow | None) -> bool:
        """Return whether an unsigned segment may be from before its device had a key."""
        if row is None or row.may == "":
            raise SegmentRefused(
                f"Device {self.describe(uid)} is unknown here and does not sign what it writes, so nothing from it "
                "was pulled. Update Palazzo on it, push from there, and run 'palazzo sync devices' here."
            )
        return not row.public_key

    def _meet(self, uid: bytes, card: Card) -> DeviceRow:
        """Admit a new device if it was invited; raise SegmentRefused otherwise. The user may trust its key later."""
        row = self.rows.setdefault(uid, DeviceRow(uid))
        row.public_key, row.name = card.public, card.name
        self._changed.add(uid)
        introduction = card.introduction
        if introduction is None or not self._is_invited(uid, card.public, introduction):
            why = "has no invitation" if introduction is None else "has an invitation that is no longer valid"
            raise SegmentRefused(
                f"Device {self.describe(uid)} is new and {why}, so nothing from it was pulled. If 'palazzo sync "
                f"devices' on that device shows these words too, run 'palazzo sync devices trust {uid.hex()[:8]}' "
                f"here: {fingerprint(card.public)}. Otherwise run 'palazzo sync devices forget {uid.hex()[:8]}'."
            )
        row.may, row.decided_at, row.decided_by = FULL, introduction.at, introduction.by
        self.admitted_devices.add(uid)
        return row

    def _is_invited(self, uid: bytes, public: bytes, introduction: Introduction) -> bool:
        inviter = self.rows.get(introduction.by)
        return (
            inviter is not None
            and inviter.may == FULL
            and introduction.at >= invitations_from(self.rows)
            and introduction.proves(self.palace, uid, public, inviter.public_key)
        )

    def heed(self, segment: SegmentContent) -> None:
        """Apply the card of an admitted device: its statements about itself and the others."""
        uid, card = bytes.fromhex(segment.header.device), segment.card
        row = self.rows.get(uid)
        if row is None or card is None:
            return
        row.heard_at = max(row.heard_at or 0, segment.header.clock)
        row.invitations_from = max(row.invitations_from, card.invitations_from)
        self._changed.add(uid)
        for device, (epoch, n) in card.read_positions.items():
            if device not in self.claims or self.claims[device][:2] < (epoch, n):
                self.claims[device] = Claim(epoch, n, uid)
        if row.may == FULL:
            for device, decision in card.devices.items():
                self._heed_decision(device, decision, uid)

    def _heed_decision(self, device: bytes, decision: Decision, by: bytes) -> None:
        if decision.may == "":
            return
        if device == self.own:
            self.removed_by = by if decision.may == "nothing" else self.removed_by
            return
        row = self.rows.get(device)
        if row is None or row.may == "":
            name = "" if row is None else row.name
            self.rows[device] = DeviceRow(device, name, decision.public, decision.may, decision.at, by)
            self.admitted_devices.add(device)
        else:
            row.public_key = row.public_key or decision.public
            is_removed_here = row.may == "nothing" and row.decided_by == self.own
            if decision.at <= row.decided_at or decision.may == row.may or is_removed_here:
                return
            if RIGHTS.index(decision.may) > RIGHTS.index(row.may):
                self.admitted_devices.add(device)
            row.may, row.decided_at, row.decided_by = decision.may, decision.at, by
        self._changed.add(device)

    # --- storing -----------------------------------------------------------------------------------------------

    def save(self, connection: Connection, remote: int) -> None:
        """Store the changes that the segments of a remote brought."""
        for uid in self._changed:
            device_rows.keep(connection, self.rows[uid])
        self._changed.clear()
        device_rows.keep_claims(connection, remote, self.claims)


def invitations_from(rows: Mapping[bytes, DeviceRow]) -> int:
    """Return the time before which all invitations are void: a removed device may have kept a key file."""
    return max((row.invitations_from for row in rows.values() if row.may == FULL), default=0)


def _removed(device: str) -> str:
    return (
        f"Device {device} was removed, so nothing that it has written since was pulled; 'palazzo sync devices trust' "
        "lets it write again."
    )


# --- this device -------------------------------------------------------------------------------------------


def own_row(connection: Connection, uid: bytes, name: str) -> DeviceRow:
    """Return this device with its key; make the key if there is none. Raises PalazzoError if the key is lost."""
    row = device_rows.row(connection, uid)
    if row is None:
        row = DeviceRow(uid, name, may=FULL, decided_by=uid)
    if row.private_key is None:
        if row.public_key and row.heard_at is not None:
            raise PalazzoError(
                "This palace was restored from a backup, and backups contain no signing key. Run 'palazzo sync init "
                "ADDRESS --new-device' here, and trust the device on another device ('palazzo sync devices trust')."
            )
        key = DeviceKey.new()
        row.private_key, row.public_key, row.may = key.private, key.public, FULL
    row.name = name
    device_rows.keep(connection, row)
    return row


def signer(connection: Connection, uid: bytes, name: str, read_positions: Mapping[bytes, tuple[int, int]]) -> Signer:
    """Return this device's key, and its signing card; `seen` is how far it has read others on a remote."""
    own = own_row(connection, uid, name)
    assert own.private_key is not None  # noqa: S101 - `own_row` makes it
    decisions = {
        row.uid: Decision(row.public_key, row.may, row.decided_at)
        for row in device_rows.rows(connection).values()
        if row.uid != uid and row.may != ""
    }
    introduction = None
    with contextlib.suppress(ValueError, TypeError, KeyError):
        introduction = Introduction.load(own.introduction) if own.introduction else None
    card = Card(own.public_key, name, own.invitations_from, introduction, decisions, read_positions)
    return Signer(DeviceKey(own.private_key, own.public_key), card)


def local_decisions(connection: Connection, uid: bytes) -> bytes:
    """Return the user's decisions on this device, as bytes that change with them; empty without decisions."""
    rows = device_rows.rows(connection)
    own = rows.pop(uid, None)
    decisions = [f"{row.uid.hex()} {row.may} {row.decided_at}" for row in rows.values() if row.decided_by == uid]
    if own is not None and own.invitations_from:
        decisions.append(f"invitations from {own.invitations_from}")
    return "\n".join(sorted(decisions)).encode()


def invite(connection: Connection, palace: str, uid: bytes, name: str, invited_at: Micros) -> Invitation:
    """Return an invitation of this device, for a key file."""
    own = own_row(connection, uid, name)
    assert own.private_key is not None  # noqa: S101 - `own_row` makes it
    return Invitation.make(
        palace,
        uid,
        DeviceKey(own.private_key, own.public_key),
        max(invited_at, invitations_from(device_rows.rows(connection))),
    )


def accept_invitation(
    connection: Connection,
    palace: str,
    uid: bytes,
    name: str,
    invitation: Invitation | None,
    named_devices: Mapping[bytes, DeviceRow],
) -> None:
    """Store an invitation for this device, and trust the devices that the key file names."""
    own = own_row(connection, uid, name)
    if invitation is not None:
        own.introduction = invitation.introduce(palace, uid, own.public_key).dump()
        device_rows.keep(connection, own)
    stored_devices = device_rows.rows(connection)
    for device, row in named_devices.items():
        if device != uid and (device not in stored_devices or stored_devices[device].may == ""):
            device_rows.keep(connection, row)


def trust_unsigned(connection: Connection, devices: Mapping[bytes, str]) -> None:
    """Trust the devices (id, name) on a remote when an old key file, which names none, is used to join."""
    stored_devices = device_rows.rows(connection)
    for device, name in devices.items():
        if device not in stored_devices:
            device_rows.keep(connection, DeviceRow(device, name, may=FULL))


def become_another(connection: Connection, former: bytes, uid: bytes, name: str, palace: str, time: Micros) -> None:
    """Give a copied palace its own key as device `uid`, introduced by `former`, which it or a copy of it was."""
    former_row = device_rows.row(connection, former)
    if former_row is None:
        return
    private = former_row.private_key
    former_row.private_key, former_row.introduction = None, ""
    device_rows.keep(connection, former_row)
    if private is not None and former_row.may == FULL:
        invitation = Invitation.make(
            palace,
            former,
            DeviceKey(private, former_row.public_key),
            max(time, invitations_from(device_rows.rows(connection))),
        )
        accept_invitation(connection, palace, uid, name, invitation, {})
