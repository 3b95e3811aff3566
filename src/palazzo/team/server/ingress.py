"""Ingress: takes a segment of a shared wing into the database, or refuses it as a whole.

    body ──hash, proof, signature──> segment ──records──> no secret ──after the head──> stored, head moved

The signature must be that of the device to which the token was given, so a member can send nothing in another's name.
What is refused changes nothing and is written into the audit log. A segment that is there already is accepted again: a
client that lost the answer sends it twice.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence

from palazzo.errors import PalazzoError, SegmentRefused, SegmentUnreadable
from palazzo.sync import push_filter
from palazzo.sync.record_lines import to_line
from palazzo.sync.records.item_records import Item
from palazzo.sync.records.record_kind import Record
from palazzo.sync.segments import SegmentContent, SegmentName
from palazzo.team import protocol
from palazzo.team.server import accounts, erasures
from palazzo.team.server.accounts import Account, NotAllowed, QuotaExceeded, WingAccess
from palazzo.team.server.team_database import HeldWing, Session, TeamDatabase
from palazzo.text.count_phrases import count_noun

_PATIENCE, _NAP = 300.0, 0.2


class OutOfSequence(PalazzoError):
    """A segment does not continue what the device has sent: the client asks for its head and sends it again."""


def receive(database: TeamDatabase, account: Account, access: WingAccess, name: SegmentName, content: bytes) -> None:
    """Store one segment. Raises NotAllowed, SegmentUnreadable, OutOfSequence, QuotaExceeded."""
    try:
        access.require("writer")
        accounts.charge(database, account, len(content))
        segment = _check_segment(account, access, name, content)
        _append(database, account, access, segment, content)
    except (NotAllowed, SegmentUnreadable, OutOfSequence, QuotaExceeded) as error:
        accounts.record(database, account, "refused", access.wing, str(error))
        raise
    records = count_noun(len(segment.lines), "record")
    accounts.record(database, account, "share", access.wing, f"{name.epoch}-{name.n}: {records}")


def _append(
    database: TeamDatabase, account: Account, access: WingAccess, segment: SegmentContent, content: bytes
) -> None:
    """Store a checked segment after the device's last one; nothing if it is that one."""
    device, name = account.require_device(), segment.name
    with database.as_person(account.person) as session:
        _lock_series(session, access.wing, device)
        head = read_head(session, access.wing, device)
        if head == name:
            return
        if not protocol.is_next(segment, head):
            raise OutOfSequence("The segment does not follow the last one of this device.")
        if head is not None and name.epoch > head.epoch:
            _drop_segments(session, account, access.wing)
        _store(session, account, access.wing, name, content)


def withdraw(database: TeamDatabase, account: Account, access: WingAccess) -> bool:
    """Delete all that a device has sent of a wing; return whether there was anything."""
    device = account.require_device()
    with database.as_person(account.person) as session:
        _lock_series(session, access.wing, device)
        dropped = _drop_segments(session, account, access.wing)
        session.execute("DELETE FROM team.head WHERE wing = %s AND device = %s", (access.wing, device))
    if dropped:
        accounts.record(database, account, "unshare", access.wing)
    return dropped


def withdraw_all(database: TeamDatabase, name: str) -> int:
    """Delete all that a person's devices have sent of any wing; return of how many series."""
    with database.as_server() as session:
        person = accounts.find_person(session, name)
        devices = session.execute("SELECT uid FROM team.device WHERE person = %s", (person,)).fetchall()
        wings = session.execute("SELECT id FROM team.wing ORDER BY id").fetchall()
    account_list = [Account(person, name, bytes(device), None) for (device,) in devices]
    count = 0
    for (wing,) in wings:
        with _waiting_for(database, wing) as held, held.transaction() as session:
            for account in account_list:
                _lock_series(session, wing, account.require_device())
                count += _drop_segments(session, account, wing)
                session.execute("DELETE FROM team.head WHERE wing = %s AND device = %s", (wing, account.device))
    accounts.record(database, Account(person, name, None, None), "withdraw", detail=f"{count} series, by the operator")
    return count


@contextlib.contextmanager
def _waiting_for(database: TeamDatabase, wing: int) -> Iterator[HeldWing]:
    """Hold a wing; a worker that has it is waited for. Raises PalazzoError if it takes too long."""
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until:
        with database.hold_wing(wing) as held:
            if held is not None:
                yield held
                return
        time.sleep(_NAP)
    raise PalazzoError("A worker has been building a wing for minutes; run this again when it is done.")


def head_of(database: TeamDatabase, account: Account, access: WingAccess) -> SegmentName | None:
    """Return the last segment that a device has sent of a wing."""
    with database.as_person(account.person) as session:
        return read_head(session, access.wing, account.require_device())


def read_head(session: Session, wing: int, device: bytes) -> SegmentName | None:
    """Return the last segment of a device in a wing."""
    row = session.execute(
        "SELECT epoch, n, hash FROM team.head WHERE wing = %s AND device = %s", (wing, device)
    ).fetchone()
    return None if row is None else SegmentName(*row)


def _check_segment(account: Account, access: WingAccess, name: SegmentName, content: bytes) -> SegmentContent:
    device = account.require_device()
    segment = protocol.open_segment(content, name, device.hex(), access.uid.hex(), access.key)
    if segment.card is None or segment.card.public != account.public_key:
        raise SegmentRefused("The segment is not signed with the key of the device to which this token belongs.")
    _refuse_secrets(protocol.parse_records(segment))
    return segment


def _refuse_secrets(records: Sequence[Record]) -> None:
    """Refuse what has a secret by the server's rules: the client redacts before, perhaps by older rules."""
    items = [record for record in records if isinstance(record, Item)]
    others = [to_line(record) for record in records if not isinstance(record, Item)]
    if any(True for _ in push_filter.only_with_secrets(items)) or push_filter.lines_with_secrets(others):
        raise SegmentRefused(
            "The segment contains a secret, so nothing of it was stored: update Palazzo, and share again."
        )


def _lock_series(session: Session, wing: int, device: bytes) -> None:
    """Let requests of one device, such as a repeated one, wait for one another."""
    session.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, %s))", (device.hex(), wing))


def _drop_segments(session: Session, account: Account, wing: int) -> bool:
    """Delete a device's segments, and note that; the worker then builds the wing again, without them."""
    rows = session.execute(
        "DELETE FROM team.segment WHERE wing = %s AND device = %s RETURNING epoch, n, hash, length(content)",
        (wing, account.require_device()),
    ).fetchall()
    if rows:
        row = session.execute(
            "UPDATE team.wing SET generation = generation + 1, changed = changed + 1 WHERE id = %s"
            " RETURNING generation",
            (wing,),
        ).fetchone()
        dropped = [(SegmentName(epoch, n, digest), size) for epoch, n, digest, size in rows]
        erasures.record(session, account, wing, row[0] if row else 0, dropped)
    return bool(rows)


def _store(session: Session, account: Account, wing: int, name: SegmentName, content: bytes) -> None:
    device = account.require_device()
    session.execute(
        "INSERT INTO team.segment(wing, device, person, epoch, n, hash, content) VALUES (%s, %s, %s, %s, %s, %s, %s)",
        (wing, device, account.person, name.epoch, name.n, name.hash, content),
    )
    session.execute(
        "INSERT INTO team.head(wing, device, epoch, n, hash) VALUES (%s, %s, %s, %s, %s)"
        " ON CONFLICT (wing, device) DO UPDATE SET epoch = excluded.epoch, n = excluded.n, hash = excluded.hash",
        (wing, device, name.epoch, name.n, name.hash),
    )
    session.execute("UPDATE team.wing SET changed = changed + 1 WHERE id = %s", (wing,))
