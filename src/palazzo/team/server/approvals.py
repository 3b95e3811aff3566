"""Approvals: notes that agents wrote after reading untrusted content, and that a person has read and found right.

An approval is of exactly one text: if a note's words change, it counts no more. What a device approves in its own
palace counts for what its person has shared; what a maintainer approves counts for everybody's notes. Worker builds
apply approvals, so a change of one is a change of the wing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import NamedTuple

from palazzo.errors import NotFound, UsageError
from palazzo.team import protocol
from palazzo.team.server import accounts
from palazzo.team.server.accounts import Account, NotAllowed, WingAccess
from palazzo.team.server.team_database import Session, TeamDatabase


class Approval(NamedTuple):
    """Who approved a text: the person, and whether as a maintainer; `digest` identifies the text."""

    person: int
    by_maintainer: bool
    digest: str


class WingApprovals:
    """The approvals of a wing, and the ids of drawers of which one was added or revoked since the wing was built."""

    def __init__(self, key: bytes, by_drawer: Mapping[bytes, Collection[Approval]], changed: Collection[bytes]) -> None:
        self._key, self._by_drawer, self.changed = key, by_drawer, changed

    def cover(self, drawer: bytes, body: str, owner: int) -> bool:
        """Return whether somebody who may has approved this text of a drawer whose items `owner` has shared."""
        approvals = self._by_drawer.get(drawer, ())
        digest = protocol.digest_text(body, self._key) if approvals else ""
        return any(own.digest == digest and (own.by_maintainer or own.person == owner) for own in approvals)


def read_approvals(session: Session, wing: int, key: bytes, built: int) -> WingApprovals:
    """Return the approvals of a wing whose rows were written for its change `built`."""
    by_drawer, changed = defaultdict(list), []
    rows = session.execute(
        "SELECT drawer, person, by_maintainer, digest, is_revoked, change FROM team.approval WHERE wing = %s", (wing,)
    )
    for drawer, person, by_maintainer, digest, is_revoked, change in rows:
        if change > built:
            changed.append(bytes(drawer))
        if not is_revoked:
            by_drawer[bytes(drawer)].append(Approval(person, by_maintainer, bytes(digest).hex()))
    return WingApprovals(key, by_drawer, changed)


def forget_approvals(session: Session, wing: int, drawers: Collection[bytes]) -> None:
    """Delete the approvals of drawers that a wing has no more, in the worker's transaction that removes their rows."""
    session.execute("DELETE FROM team.approval WHERE wing = %s AND drawer = ANY (%b)", (wing, [*drawers]))


def replace_own(
    database: TeamDatabase, account: Account, access: WingAccess, digests: Mapping[str, str], signature: str
) -> int:
    """Let a device's approvals be these, by drawer (hexadecimal, as the digests); return how many have changed.

    They count for what the device's person has shared, so they can be here before it is built.
    Raises NotAllowed for a reader or a wrong signature, UsageError for ids and digests that are none.
    """
    _require(database, account, access, "writer", (signature, digests, protocol.OWN_APPROVALS))
    if len(digests) > protocol.MOST_APPROVALS:
        raise UsageError(f"A device may have at most {protocol.MOST_APPROVALS:,} approvals in a wing.")
    sent_digests = {_bytes16(drawer): _bytes16(digest) for drawer, digest in digests.items()}
    device = account.require_device()
    with database.as_person(account.person) as session:
        rows = session.execute(
            "SELECT drawer, digest FROM team.approval WHERE wing = %s AND device = %s AND NOT by_maintainer"
            " AND NOT is_revoked",
            (access.wing, device),
        ).fetchall()
        stored_digests = {bytes(drawer): bytes(digest) for drawer, digest in rows}
        new_digests = {
            drawer: digest for drawer, digest in sent_digests.items() if stored_digests.get(drawer) != digest
        }
        revoked_drawers = [*(stored_digests.keys() - sent_digests.keys())]
        if new_digests or revoked_drawers:
            change = _note_change(session, access.wing)
            for drawer, digest in new_digests.items():
                _insert(session, account, access.wing, drawer, digest, False, change)
            _revoke(session, access.wing, change, revoked_drawers, device)
    if new_digests or revoked_drawers:
        detail = f"{len(new_digests)} approved, {len(revoked_drawers)} taken back"
        accounts.record(database, account, "approve", access.wing, detail)
    return len(new_digests) + len(revoked_drawers)


def approve(
    database: TeamDatabase, account: Account, access: WingAccess, drawer: str, digest: str | None, signature: str
) -> None:
    """Let a maintainer approve a note of anybody; without a digest, take back what maintainers have approved.

    Raises NotAllowed, NotFound, or UsageError if it is no untrusted note.
    """
    _require(database, account, access, "maintainer", (signature, {drawer: digest}, protocol.MAINTAINER_APPROVAL))
    uid = _bytes16(drawer)
    with database.as_person(account.person) as session:
        if digest is not None:
            _check_note(session, access.wing, uid)
        change = _note_change(session, access.wing)
        if digest is not None:
            _insert(session, account, access.wing, uid, _bytes16(digest), True, change)
        elif not _revoke(session, access.wing, change, [uid], None):
            raise NotFound("No maintainer has approved that entry.")
    accounts.record(database, account, "approve", access.wing, drawer if digest else f"{drawer} taken back")


def _check_note(session: Session, wing: int, uid: bytes) -> None:
    row = session.execute("SELECT kind, trust FROM team.drawer WHERE wing = %s AND uid = %s", (wing, uid)).fetchone()
    if row is None:
        raise NotFound("There is no such entry in that wing.")
    if row != ("note", "external"):
        raise UsageError("Only a note that an agent wrote after reading untrusted content can be approved.")


def _require(
    database: TeamDatabase,
    account: Account,
    access: WingAccess,
    role: str,
    signed: tuple[str, Mapping[str, str | None], bytes],
) -> None:
    """Raise NotAllowed, and write it in the log, without the role or if the device has not signed the approvals."""
    signature, digests, purpose = signed
    try:
        access.require(role)
        key = account.public_key or b""
        if not protocol.are_approvals_signed(key, signature, access.uid.hex(), digests, purpose):
            raise NotAllowed("The approval is not signed with the key of the device to which this token belongs.")
    except NotAllowed as error:
        accounts.record(database, account, "refused", access.wing, f"approve: {error}")
        raise


def _note_change(session: Session, wing: int) -> int:
    """Let workers build the wing again; return the number of this change."""
    row = session.execute(
        "UPDATE team.wing SET changed = changed + 1 WHERE id = %s RETURNING changed", (wing,)
    ).fetchone()
    if row is None:
        raise NotFound("There is no such wing on the team server, or it is not shared with you.")
    return int(row[0])


def _insert(
    session: Session, account: Account, wing: int, drawer: bytes, digest: bytes, by_maintainer: bool, change: int
) -> None:
    session.execute(
        "INSERT INTO team.approval(wing, drawer, device, by_maintainer, person, digest, change)"
        " VALUES (%s, %s, %s, %s, %s, %s, %s) ON CONFLICT (wing, drawer, device, by_maintainer) DO UPDATE"
        " SET person = excluded.person, digest = excluded.digest, is_revoked = false, change = excluded.change",
        (wing, drawer, account.require_device(), by_maintainer, account.person, digest, change),
    )


def _revoke(session: Session, wing: int, change: int, drawers: Collection[bytes], device: bytes | None) -> int:
    """Take back the approvals of a device, or with None those of all maintainers; return how many."""
    return session.execute(
        "UPDATE team.approval SET is_revoked = true, change = %s WHERE wing = %s AND drawer = ANY (%b)"
        " AND NOT is_revoked AND CASE WHEN %s::bytea IS NULL THEN by_maintainer"
        " ELSE device = %s AND NOT by_maintainer END",
        (change, wing, [*drawers], device, device),
    ).rowcount


def _bytes16(digits: str) -> bytes:
    try:
        value = bytes.fromhex(digits)
    except ValueError:
        value = b""
    if len(value) != 16:
        raise UsageError("An id and a digest have 32 hexadecimal digits.")
    return value
