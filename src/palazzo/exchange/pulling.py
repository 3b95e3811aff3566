"""Pulling: what other devices have told since the last time becomes a part of this palace.

    heads ──follow──> segments of each device, checked ──by their clocks──> one stream ──merge──> here

A segment is read and checked whole before anything of it is merged, and is noted as read when all of it is here. What
refers to what another device has yet to tell is merged again once that has come, in this pull or a later one.
"""

from __future__ import annotations

import contextlib
import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from palazzo.errors import RemoteRewritten, SegmentRefused, SegmentUnreadable
from palazzo.exchange import clock as clocks
from palazzo.exchange import device_rights, segments
from palazzo.exchange.clock import Skew
from palazzo.exchange.device_register import FULL, DeviceRegister
from palazzo.exchange.erased_elsewhere import seek
from palazzo.exchange.forms import BadRecord
from palazzo.exchange.merging import Report, merge
from palazzo.exchange.merging_items import link_unlinked
from palazzo.exchange.own_heads import PENDING, forged_head, own_head
from palazzo.exchange.pushing import Progress, fingerprint
from palazzo.exchange.records import Header, Item, Link, Record
from palazzo.exchange.remotes import Remote, There
from palazzo.exchange.segments import Head, Opened, Sealing, SegmentName
from palazzo.exchange.wire import NewerFormat, from_line
from palazzo.model import Micros
from palazzo.store import redaction, sync_devices, syncing
from palazzo.store.database import Connection, Database
from palazzo.store.sync_devices import Right
from palazzo.store.syncing import RemoteRow, Seen

_ROUNDS = 3
"""How often what lacks something is merged again in one pull: a device told, another had not yet."""


@dataclass(slots=True)
class Pulled:
    """What came from a remote: segments, and what merging them did, over all of them.

    `behind` says of devices, by id, why what they told last is not here. `missing` is how many records refer to what
    no device has told yet. `erased` is how many erasures of other devices were carried out here. `refused` says why of
    devices nothing was taken in, or not all; these are in `behind`, too.
    """

    segments: int = 0
    bytes: int = 0
    devices: set[str] = field(default_factory=set)
    added: Counter[str] = field(default_factory=Counter)
    changed: Counter[str] = field(default_factory=Counter)
    conflicts: list[str] = field(default_factory=list)
    missing: int = 0
    erased: int = 0
    forked: set[str] = field(default_factory=set)
    variants: set[str] = field(default_factory=set)
    behind: dict[str, str] = field(default_factory=dict)
    refusals: dict[str, str] = field(default_factory=dict)
    skews: dict[str, Skew] = field(default_factory=dict)

    def take(self, report: Report) -> None:
        """Add what one merge did."""
        self.added.update(report.added)
        self.changed.update(report.changed)
        self.conflicts += [one for one in report.conflicts if one not in self.conflicts]
        self.forked |= report.forked
        self.variants |= report.variants

    def refuse(self, device: str, reason: str) -> None:
        """Record why a device's segments, or some of its records, were refused."""
        self.behind[device] = self.refusals[device] = reason


@dataclass(frozen=True, slots=True)
class _Read:
    """A segment that was read: its records, their lines, and the records that its device may write."""

    opened: Opened
    records: tuple[Record, ...]
    lines: tuple[bytes, ...]
    allowed_records: tuple[Record, ...]
    may: Right


def pull(
    database: Database,
    remote: RemoteRow,
    transport: Remote,
    palace: str,
    device: bytes,
    clock: Callable[[], Micros],
    wall: Callable[[], Micros],
    *,
    cipher: Sealing | None = None,
    dry_run: bool = False,
    progress: Progress = lambda what, done, total: None,
) -> Pulled:
    """Take in what other devices have told. A `dry_run` says what would come, and takes it back.

    `wall` is the machine's own clock. Raises RemoteUnusable, RemoteRewritten, WrongKey; segments that were taken in
    before that stay, and are noted.
    """
    there = transport.look()
    outcome = Pulled(behind=dict(there.damaged))
    outcome.behind.pop(device.hex(), None)
    if forged_head(database, remote, transport, device, there, cipher) is None:
        own_head(database, remote, device, there, transport.address)
    else:
        outcome.refuse(device.hex(), _REPLACED_HEAD)
    with database.snapshot() as connection:
        key = redaction.fingerprint_key(connection)
        register = DeviceRegister.load(connection, palace, device)
    last_read = _known(database, remote, device)
    _refuse_emptied(transport.address, there, last_read)
    heads = [head for uid, head in sorted(there.heads.items()) if uid != device.hex()]
    total = _count(there, heads, last_read)
    _heed_heads(transport, heads, last_read, palace, cipher, key, register)
    merger = _Taking(database, remote, clock, wall, outcome, register)
    for _ in range(_ROUNDS):
        last_read = _known(database, remote, device)
        streams = [_told(transport, there, head, last_read, palace, cipher, key, register, outcome) for head in heads]
        stream = heapq.merge(*streams, key=lambda one: (one.header.clock, one.header.device))
        if dry_run:
            merger.try_out(stream, progress, total)
            return outcome
        for segment in stream:
            progress("segments", outcome.segments, total)
            merger.take(segment)
        heads = _take_admitted(heads, register, outcome)  # other devices may have given these the right to write
    merger.finish()
    if merger.has_unlinked:
        with database.transaction() as connection:
            link_unlinked(connection)
    outcome.erased = seek(database, clock, progress)
    with database.transaction() as connection:
        register.save(connection, remote.row)
        _note_withheld(connection, remote, there, register, outcome)
        refusals = {bytes.fromhex(uid): reason for uid, reason in [*outcome.refusals.items()][:_MOST_REFUSALS]}
        sync_devices.keep_refusals(connection, remote.row, refusals, clock())
        syncing.note_pulled(connection, remote.row, clock())
    return outcome


def _heed_heads(
    transport: Remote,
    heads: Iterable[Head],
    last_read: Mapping[str, SegmentName],
    palace: str,
    cipher: Sealing | None,
    key: bytes,
    register: DeviceRegister,
) -> None:
    """Read the cards of fully trusted devices first, so that nothing of a removed device is accepted."""
    for head in heads:
        uid = bytes.fromhex(head.device)
        if last_read.get(head.device) == head.name or register.may(uid) != FULL or not register.rows[uid].public_key:
            continue
        with contextlib.suppress(SegmentUnreadable):  # the reading in order reports it
            content = transport.read(head.device, head.name)
            segment = segments.read(content, head.name, head.device, palace, cipher, key)
            if register.is_proven(segment):
                register.heed(segment)


_REPLACED_HEAD = (
    "Somebody without this device's key has replaced on the remote what this device told there; nothing of it was "
    "taken in, and the next push tells all anew. Look who can write to the remote."
)
_MOST_REFUSALS = 20
"""How many refusals of one remote are stored: whoever can write to it can add any number of devices."""


def _take_admitted(heads: Iterable[Head], register: DeviceRegister, outcome: Pulled) -> list[Head]:
    """Return refused devices that may write now, and delete their refusals."""
    admitted_heads = [
        head
        for head in heads
        if head.device in outcome.refusals
        and register.may(bytes.fromhex(head.device)) not in ("", "nothing")
        and bytes.fromhex(head.device) in register.admitted_devices
    ]
    for head in admitted_heads:
        del outcome.refusals[head.device], outcome.behind[head.device]
        register.admitted_devices.discard(bytes.fromhex(head.device))
    return admitted_heads


def _note_withheld(
    connection: Connection, remote: RemoteRow, remote_state: There, register: DeviceRegister, outcome: Pulled
) -> None:
    """Report devices that others have read further than the remote now reaches, and who removed this device."""
    seen_heads = syncing.seen(connection, remote.row)
    for uid, claim in sync_devices.claims(connection, remote.row).items():
        head = remote_state.heads.get(uid.hex())
        seen_place = seen_heads.get(uid)
        places = [(0, 0), *((at.epoch, at.n) for at in (head, seen_place) if at is not None)]
        if max(places) < claim[:2] and register.may(uid) != "nothing" and uid.hex() not in remote_state.damaged:
            outcome.refuse(
                uid.hex(),
                f"Device {register.describe(claim.claimed_by)} has read segment {claim.epoch}-{claim.n} of device "
                f"{register.describe(uid)} on this remote, and it is not there now: an older state of the remote was "
                "put back, or segments were removed. "
                "Run 'palazzo sync init ADDRESS --again' and 'palazzo sync push' on "
                f"{register.describe(uid)}.",
            )
    if register.removed_by is not None:
        outcome.refuse(
            register.own.hex(),
            f"Device {register.describe(register.removed_by)} takes nothing from this device any more; "
            "'palazzo sync devices trust' on that device changes it.",
        )


def count_new(database: Database, remote: RemoteRow, transport: Remote, device: bytes) -> int:
    """Return how many segments stand at a remote that are not here."""
    there = transport.look()
    heads = [head for uid, head in there.heads.items() if uid != device.hex()]
    return _count(there, heads, _known(database, remote, device))


def _count(there: There, heads: Iterable[Head], known: Mapping[str, SegmentName]) -> int:
    return sum(len(segments.unread(there.names.get(one.device, ()), one, known.get(one.device))) for one in heads)


def _known(database: Database, remote: RemoteRow, device: bytes) -> dict[str, SegmentName]:
    """The last segment that is here of each other device."""
    with database.snapshot() as connection:
        seen = syncing.seen(connection, remote.row)
    others = seen.keys() - {PENDING, device}
    return {one.hex(): SegmentName(seen[one].epoch, seen[one].n, seen[one].hash) for one in others}


def _refuse_emptied(address: str, there: There, known: Mapping[str, SegmentName]) -> None:
    gone = [one for one in known if one not in there.heads and one not in there.damaged]
    if gone:
        raise RemoteRewritten(
            f"{address} no longer holds what device {gone[0][:8]} had told, so nothing was taken in; if that "
            f"was on purpose, 'palazzo sync init {address} --again' begins anew."
        )


def _told(
    transport: Remote,
    there: There,
    head: Head,
    known: Mapping[str, SegmentName],
    palace: str,
    cipher: Sealing | None,
    key: bytes,
    register: DeviceRegister,
    done: Pulled,
) -> Iterator[Opened]:
    """Yield what a device has told since; one that cannot be read to its end does not keep others back."""

    def fetch(name: SegmentName) -> bytes:
        content = transport.read(head.device, name)
        done.bytes += len(content)
        return content

    try:
        yield from segments.follow(
            fetch, there.names.get(head.device, ()), head, known.get(head.device), palace, cipher, key, register
        )
    except SegmentRefused as error:
        done.refuse(head.device, str(error))
    except SegmentUnreadable as error:
        done.behind[head.device] = str(error)


class _Taking:
    """Merges segments one after the other, and notes how far each device was read."""

    def __init__(
        self,
        database: Database,
        remote: RemoteRow,
        clock: Callable[[], Micros],
        wall: Callable[[], Micros],
        done: Pulled,
        register: DeviceRegister,
    ) -> None:
        self._database, self._remote, self._clock, self._wall = database, remote, clock, wall
        self._done, self._register = done, register
        self.has_unlinked = False
        """Whether items came without links of their own, from a device that may only add."""
        self._lacking: list[_Read] = []
        self._stopped: set[str] = set()

    def try_out(self, told: Iterable[Opened], progress: Progress, total: int) -> None:
        """Say what taking all of it in would do; all in one, since one segment may refer to what another tells."""

        def records() -> Iterator[Record]:
            for opened in told:
                progress("segments", self._done.segments, total)
                read = self._read(opened)
                yield from () if read is None else read.allowed_records

        report = merge(self._database, records(), self._clock, dry_run=True)
        self._done.take(report)
        self._done.missing = report.missing.total()

    def take(self, opened: Opened) -> None:
        """Take in one segment; of a device one of whose segments is bad, none behind it."""
        read = self._read(opened)
        if read is None:
            return
        if self._merge(read):
            self._lacking.append(read)
        elif not any(one.opened.header.device == opened.header.device for one in self._lacking):
            self._note(read)

    def _read(self, opened: Opened) -> _Read | None:
        """Read a segment's records; None where it, or one of its device's before it, is bad."""
        device = opened.header.device
        if device in self._done.behind and device in self._stopped:
            return None
        try:
            records = tuple(_records(opened))
        except SegmentUnreadable as error:
            self._done.behind[device] = str(error)
            self._stopped.add(device)
            return None
        self._register.heed(opened)
        may = self._register.may(bytes.fromhex(device))
        allowed_records, refused_counts = device_rights.allowed_records(records, device, may)
        self._refuse(device, may, refused_counts)
        read = _Read(opened, records, opened.lines, tuple(allowed_records), may)
        self._done.segments += 1
        self._done.devices.add(device)
        return read

    def finish(self) -> None:
        """Merge again what lacked something, now that all has come; what still does is read again the next time."""
        for _ in range(_ROUNDS):
            if not self._lacking:
                return
            missing = [(read, self._merge(read)) for read in self._lacking]
            left = [read for read, count in missing if count]
            self._done.missing = sum(count for _, count in missing)
            if len(left) == len(self._lacking):
                return
            behind = {one.opened.header.device for one in left}
            for read, count in missing:
                if not count and read.opened.header.device not in behind:
                    self._note(read)
            self._lacking = left

    def _merge(self, read: _Read) -> int:
        report = merge(self._database, read.allowed_records, self._clock, origin=device_rights.origin_of(read.may))
        self._done.take(report)
        if read.may == "add":
            self.has_unlinked = True
            self._refuse(read.opened.header.device, read.may, report.refused)
        return report.missing.total()

    def _refuse(self, device: str, may: Right, refused_counts: Counter[str]) -> None:
        """Report the records that a device had no right to write."""
        kinds = ", ".join(f"{n:,} {kind.replace('_', ' ')}" for kind, n in sorted(refused_counts.items()) if n)
        if kinds:
            device_name = self._register.describe(bytes.fromhex(device))
            self._done.refuse(
                device,
                f"Device {device_name} may only {may}, so these records of it were left out: {kinds}. "
                f"'palazzo sync devices trust {device[:8]}' lets it do more, and takes it in with the next pull.",
            )

    def _note(self, read: _Read) -> None:
        """Note that a segment is here, what it held, and what its device's clock showed."""
        header = read.opened.header
        device = bytes.fromhex(header.device)
        chains: dict[bytes, int] = {}
        sent: list[tuple[bytes, bytes]] = []
        for record, line in zip(read.records, read.lines, strict=True):
            if isinstance(record, Link):
                chain = bytes.fromhex(record.device)
                chains[chain] = max(chains.get(chain, 0), record.seq)
            elif not isinstance(record, Item):
                sent.append(fingerprint(record, line))
        with self._database.transaction() as connection:
            skew = clocks.observe(connection, header.device, header.clock, self._wall())
            if skew is not None:
                self._done.skews[header.device] = skew
            name = read.opened.name
            self._register.save(connection, self._remote.row)
            syncing.note_seen(connection, self._remote.row, device, Seen(name.epoch, name.n, name.hash, header.clock))
            syncing.note_chains(connection, self._remote.row, chains)
            syncing.note_sent(connection, self._remote.row, sent)


def _records(opened: Opened) -> Iterable[Record]:
    """The records of a segment, all of them checked; SegmentUnreadable names the line that is none."""
    header = opened.header
    what = f"Segment {header.epoch}-{header.n} of device {header.device[:8]}"
    found: list[Record] = []
    for number, line in enumerate(opened.lines, 2):
        try:
            record = from_line(line)
        except NewerFormat as error:
            raise SegmentUnreadable(f"{what} {error}.") from error
        except BadRecord as error:
            raise SegmentUnreadable(
                f"{what} cannot be taken in: its line {number:,} {error}; nothing of it was. Update Palazzo here, or "
                "push from there with a version that this one understands."
            ) from error
        if isinstance(record, Header):
            raise SegmentUnreadable(f"{what} holds a second header, and nothing of it was taken in.")
        found.append(record)
    return found


def names_of(database: Database) -> dict[str, str]:
    """Return what the devices that are known are called, by id."""
    with database.snapshot() as connection:
        return {uid.hex(): name for _, uid, name in syncing.devices(connection)}
