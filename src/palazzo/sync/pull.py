"""Pull: merges what other devices have written since the last pull into this palace.

    heads ──follow──> segments of each device, checked ──by their clocks──> one stream ──merge──> here

A segment is read and checked whole before any of it is merged, and is recorded as read when all of it is here. Records
that refer to data that another device has not sent yet are merged again once that data has arrived, in this pull or a
later one.
"""

from __future__ import annotations

import contextlib
import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from palazzo.errors import RemoteRewritten, SegmentRefused, SegmentUnreadable
from palazzo.frozen_class import frozen
from palazzo.model import Micros
from palazzo.store import device_rows, redaction_state, remote_rows
from palazzo.store.database import Connection, Database
from palazzo.store.device_rows import Right
from palazzo.store.remote_rows import LastSegment, RemoteRow
from palazzo.sync import device_rights, hybrid_clock, segment_sequence, segments
from palazzo.sync.device_register import FULL, DeviceRegister
from palazzo.sync.field_codecs import BadRecord
from palazzo.sync.hybrid_clock import Skew
from palazzo.sync.merge import Report, merge
from palazzo.sync.own_heads import PENDING, forged_head, own_head
from palazzo.sync.push_delta import Progress, fingerprint
from palazzo.sync.record_lines import NewerFormat, from_line
from palazzo.sync.records.chain_records import Link, link_unlinked
from palazzo.sync.records.header_record import Header
from palazzo.sync.records.item_records import Item
from palazzo.sync.records.record_kind import Record
from palazzo.sync.remote_erasures import seek
from palazzo.sync.remotes import Remote, RemoteState
from palazzo.sync.segments import Cipher, Head, SegmentContent, SegmentName

_ROUNDS = 3
"""How often records with missing references are merged again in one pull: they may refer to records of a device that is
read later.
"""


@dataclass(slots=True)
class PullOutcome:
    """What was pulled from a remote: segments, and the result of merging all of them.

    `lag_reasons` says, by device id, why the newest records of a device are not here; those in `refusals` were not
    accepted. `missing` is the number of records that refer to something that no device has sent yet, `erasure_count`
    the number of other devices' erasures that were carried out here.
    """

    segments: int = 0
    bytes: int = 0
    devices: set[str] = field(default_factory=set)
    added: Counter[str] = field(default_factory=Counter)
    changed: Counter[str] = field(default_factory=Counter)
    conflicts: list[str] = field(default_factory=list)
    missing: int = 0
    erasure_count: int = 0
    forks: set[str] = field(default_factory=set)
    variants: set[str] = field(default_factory=set)
    lag_reasons: dict[str, str] = field(default_factory=dict)
    refusals: dict[str, str] = field(default_factory=dict)
    skews: dict[str, Skew] = field(default_factory=dict)

    @property
    def unreadable(self) -> dict[str, str]:
        """Return why the newest records of devices could not be read, by device id; a refusal is a decision."""
        return {uid: why for uid, why in sorted(self.lag_reasons.items()) if uid not in self.refusals}

    def take(self, report: Report) -> None:
        """Add the result of one merge."""
        self.added.update(report.added)
        self.changed.update(report.changed)
        self.conflicts += [conflict for conflict in report.conflicts if conflict not in self.conflicts]
        self.forks |= report.forks
        self.variants |= report.variants

    def refuse(self, device: str, reason: str) -> None:
        """Record why a device's segments, or some of its records, were refused."""
        self.lag_reasons[device] = self.refusals[device] = reason


@frozen
class _Read:
    """A segment that was read: its records, their lines, and the records that its device may write."""

    segment: SegmentContent
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
    cipher: Cipher | None = None,
    dry_run: bool = False,
    progress: Progress = lambda what, done, total: None,
) -> PullOutcome:
    """Take in the records of other devices. A `dry_run` reports what would come, and undoes it.

    `wall` is the machine's own clock. Raises RemoteUnusable, RemoteRewritten, WrongKey; segments that were taken in
    before that stay, and are recorded.
    """
    remote_state = transport.look()
    outcome = PullOutcome(lag_reasons=dict(remote_state.head_errors))
    outcome.lag_reasons.pop(device.hex(), None)
    if forged_head(database, remote, transport, device, remote_state, cipher) is None:
        own_head(database, remote, device, remote_state, transport.address)
    else:
        outcome.refuse(device.hex(), _REPLACED_HEAD)
    with database.snapshot() as connection:
        key = redaction_state.fingerprint_key(connection)
        register = DeviceRegister.load(connection, palace, device)
    last_read = _load_last_read(database, remote, device)
    _refuse_emptied(transport.address, remote_state, last_read)
    heads = [head for uid, head in sorted(remote_state.heads.items()) if uid != device.hex()]
    total = _count(remote_state, heads, last_read)
    _heed_heads(transport, heads, last_read, palace, cipher, key, register)
    merger = _SegmentMerger(database, remote, clock, wall, outcome, register)
    for _ in range(_ROUNDS):
        last_read = _load_last_read(database, remote, device)
        streams = [
            _follow_device(transport, remote_state, head, last_read, palace, cipher, key, register, outcome)
            for head in heads
        ]
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
    outcome.erasure_count = seek(database, clock, progress)
    with database.transaction() as connection:
        register.save(connection, remote.row)
        _note_withheld(connection, remote, remote_state, register, outcome)
        refusals = {bytes.fromhex(uid): reason for uid, reason in [*outcome.refusals.items()][:_MOST_REFUSALS]}
        device_rows.keep_refusals(connection, remote.row, refusals, clock())
        remote_rows.note_pulled(connection, remote.row, clock(), " ".join(outcome.unreadable.values()))
    return outcome


def _heed_heads(
    transport: Remote,
    heads: Iterable[Head],
    last_read: Mapping[str, SegmentName],
    palace: str,
    cipher: Cipher | None,
    key: bytes,
    register: DeviceRegister,
) -> None:
    """Read the cards of fully trusted devices first, so that nothing from a removed device is accepted."""
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
    "Someone without this device's key has replaced this device's data on the remote; none of it was pulled, and the "
    "next push uploads everything again. Check who can write to the remote."
)
_MOST_REFUSALS = 20
"""Maximum number of stored refusals of one remote: anyone who can write to it can add any number of devices."""


def _take_admitted(heads: Iterable[Head], register: DeviceRegister, outcome: PullOutcome) -> list[Head]:
    """Return refused devices that may write now, and delete their refusals."""
    admitted_heads = [
        head
        for head in heads
        if head.device in outcome.refusals
        and register.may(bytes.fromhex(head.device)) not in ("", "nothing")
        and bytes.fromhex(head.device) in register.admitted_devices
    ]
    for head in admitted_heads:
        del outcome.refusals[head.device], outcome.lag_reasons[head.device]
        register.admitted_devices.discard(bytes.fromhex(head.device))
    return admitted_heads


def _note_withheld(
    connection: Connection, remote: RemoteRow, remote_state: RemoteState, register: DeviceRegister, outcome: PullOutcome
) -> None:
    """Report devices of which others have read more than the remote now has, and who removed this device."""
    seen_heads = remote_rows.read_last_segments(connection, remote.row)
    for uid, claim in device_rows.claims(connection, remote.row).items():
        head = remote_state.heads.get(uid.hex())
        seen_place = seen_heads.get(uid)
        places = [(0, 0), *((at.epoch, at.n) for at in (head, seen_place) if at is not None)]
        if max(places) < claim[:2] and register.may(uid) != "nothing" and uid.hex() not in remote_state.head_errors:
            outcome.refuse(
                uid.hex(),
                f"Device {register.describe(claim.claimed_by)} has read segment {claim.epoch}-{claim.n} of device "
                f"{register.describe(uid)} on this remote, but it is missing now: the remote was reset to an older "
                "state, or segments were removed. Run 'palazzo sync init ADDRESS --again' and 'palazzo sync push' on "
                f"{register.describe(uid)}.",
            )
    if register.removed_by is not None:
        outcome.refuse(
            register.own.hex(),
            f"Device {register.describe(register.removed_by)} no longer accepts anything from this device; 'palazzo "
            "sync devices trust' on that device changes this.",
        )


def count_new(database: Database, remote: RemoteRow, transport: Remote, device: bytes) -> int:
    """Return how many segments on a remote are not here."""
    remote_state = transport.look()
    heads = [head for uid, head in remote_state.heads.items() if uid != device.hex()]
    return _count(remote_state, heads, _load_last_read(database, remote, device))


def _count(remote_state: RemoteState, heads: Iterable[Head], last_read: Mapping[str, SegmentName]) -> int:
    return sum(
        len(segment_sequence.unread(remote_state.names.get(head.device, ()), head, last_read.get(head.device)))
        for head in heads
    )


def _load_last_read(database: Database, remote: RemoteRow, device: bytes) -> dict[str, SegmentName]:
    """Return the last segment here of each other device."""
    with database.snapshot() as connection:
        progress_by_device = remote_rows.read_last_segments(connection, remote.row)
    device_ids = progress_by_device.keys() - {PENDING, device}
    return {
        device_id.hex(): SegmentName(
            progress_by_device[device_id].epoch, progress_by_device[device_id].n, progress_by_device[device_id].hash
        )
        for device_id in device_ids
    }


def _refuse_emptied(address: str, remote_state: RemoteState, last_read: Mapping[str, SegmentName]) -> None:
    missing_devices = [
        device for device in last_read if device not in remote_state.heads and device not in remote_state.head_errors
    ]
    if missing_devices:
        raise RemoteRewritten(
            f"{address} no longer holds what device {missing_devices[0][:8]} had pushed, so nothing was pulled; if "
            f"that was intended, 'palazzo sync init {address} --again' starts over."
        )


def _follow_device(
    transport: Remote,
    remote_state: RemoteState,
    head: Head,
    last_read: Mapping[str, SegmentName],
    palace: str,
    cipher: Cipher | None,
    key: bytes,
    register: DeviceRegister,
    outcome: PullOutcome,
) -> Iterator[SegmentContent]:
    """Yield the new segments of a device; one that cannot be read to its end does not delay other devices."""

    def fetch(name: SegmentName) -> bytes:
        content = transport.read(head.device, name)
        outcome.bytes += len(content)
        return content

    try:
        yield from segment_sequence.follow(
            fetch,
            remote_state.names.get(head.device, ()),
            head,
            last_read.get(head.device),
            palace,
            cipher,
            key,
            register,
        )
    except SegmentRefused as error:
        outcome.refuse(head.device, str(error))
    except SegmentUnreadable as error:
        outcome.lag_reasons[head.device] = str(error)


class _SegmentMerger:
    """Merges segments one after the other, and records how far each device was read."""

    def __init__(
        self,
        database: Database,
        remote: RemoteRow,
        clock: Callable[[], Micros],
        wall: Callable[[], Micros],
        outcome: PullOutcome,
        register: DeviceRegister,
    ) -> None:
        self._database, self._remote, self._clock, self._wall = database, remote, clock, wall
        self._done, self._register = outcome, register
        self.has_unlinked = False
        """Whether items arrived without their own links, from a device that may only add."""
        self._lacking: list[_Read] = []
        self._stopped: set[str] = set()

    def try_out(self, stream: Iterable[SegmentContent], progress: Progress, total: int) -> None:
        """Report the result of merging all segments, as one, since a segment may refer to records of another."""

        def records() -> Iterator[Record]:
            for segment in stream:
                progress("segments", self._done.segments, total)
                read = self._read(segment)
                yield from () if read is None else read.allowed_records

        report = merge(self._database, records(), self._clock, dry_run=True)
        self._done.take(report)
        self._done.missing = report.missing.total()

    def take(self, segment: SegmentContent) -> None:
        """Take in one segment; after a bad segment, take no later ones of its device."""
        read = self._read(segment)
        if read is None:
            return
        if self._merge(read):
            self._lacking.append(read)
        elif not any(lacking_read.segment.header.device == segment.header.device for lacking_read in self._lacking):
            self._note(read)

    def _read(self, segment: SegmentContent) -> _Read | None:
        """Read a segment's records; None if it, or an earlier one of its device, is bad."""
        device = segment.header.device
        if device in self._done.lag_reasons and device in self._stopped:
            return None
        try:
            records = tuple(_records(segment))
        except SegmentUnreadable as error:
            self._done.lag_reasons[device] = str(error)
            self._stopped.add(device)
            return None
        self._register.heed(segment)
        may = self._register.may(bytes.fromhex(device))
        allowed_records, refused_counts = device_rights.allowed_records(records, device, may)
        self._refuse(device, may, refused_counts)
        read = _Read(segment, records, segment.lines, tuple(allowed_records), may)
        self._done.segments += 1
        self._done.devices.add(device)
        return read

    def finish(self) -> None:
        """Merge incomplete segments again, now that all are here; those still incomplete are read again next time."""
        for _ in range(_ROUNDS):
            if not self._lacking:
                return
            missing = [(read, self._merge(read)) for read in self._lacking]
            unfinished_reads = [read for read, count in missing if count]
            self._done.missing = sum(count for _, count in missing)
            if len(unfinished_reads) == len(self._lacking):
                return
            devices = {entry.segment.header.device for entry in unfinished_reads}
            for read, count in missing:
                if not count and read.segment.header.device not in devices:
                    self._note(read)
            self._lacking = unfinished_reads

    def _merge(self, read: _Read) -> int:
        report = merge(self._database, read.allowed_records, self._clock, origin=device_rights.origin_of(read.may))
        self._done.take(report)
        if read.may == "add":
            self.has_unlinked = True
            self._refuse(read.segment.header.device, read.may, report.refusals)
        return report.missing.total()

    def _refuse(self, device: str, may: Right, refused_counts: Counter[str]) -> None:
        """Report the records that a device had no right to write."""
        kinds = ", ".join(f"{n:,} {kind.replace('_', ' ')}" for kind, n in sorted(refused_counts.items()) if n)
        if kinds:
            device_name = self._register.describe(bytes.fromhex(device))
            self._done.refuse(
                device,
                f"Device {device_name} may only {may}, so these records from it were left out: {kinds}. 'palazzo "
                f"sync devices trust {device[:8]}' grants it more, and the next pull then includes them.",
            )

    def _note(self, read: _Read) -> None:
        """Record that a segment is here, its content, and the time that its device's clock showed."""
        header = read.segment.header
        device = bytes.fromhex(header.device)
        chains: dict[bytes, int] = {}
        fingerprints: list[tuple[bytes, bytes]] = []
        for record, line in zip(read.records, read.lines, strict=True):
            if isinstance(record, Link):
                chain = bytes.fromhex(record.device)
                if chain != self._register.own:  # this device puts its own chain there, whoever has done so before
                    chains[chain] = max(chains.get(chain, 0), record.seq)
            elif not isinstance(record, Item):
                fingerprints.append(fingerprint(record, line))
        with self._database.transaction() as connection:
            skew = hybrid_clock.observe(connection, header.device, header.clock, self._wall())
            if skew is not None:
                self._done.skews[header.device] = skew
            name = read.segment.name
            self._register.save(connection, self._remote.row)
            remote_rows.note_seen(
                connection, self._remote.row, device, LastSegment(name.epoch, name.n, name.hash, header.clock)
            )
            remote_rows.note_chains(connection, self._remote.row, chains, by_itself=device)
            remote_rows.note_sent(connection, self._remote.row, fingerprints)


def _records(segment: SegmentContent) -> Iterable[Record]:
    """Return the checked records of a segment; raise SegmentUnreadable with the line of an invalid one."""
    header = segment.header
    label = f"Segment {header.epoch}-{header.n} of device {header.device[:8]}"
    records: list[Record] = []
    for number, line in enumerate(segment.lines, 2):
        try:
            record = from_line(line)
        except NewerFormat as error:
            raise SegmentUnreadable(f"{label} {error}.") from error
        except BadRecord as error:
            raise SegmentUnreadable(
                f"{label} cannot be pulled: its line {number:,} {error}; nothing of it was accepted. Update Palazzo "
                "here, or push from there with a version that this one understands."
            ) from error
        if isinstance(record, Header):
            raise SegmentUnreadable(f"{label} contains a second header, so nothing of it was pulled.")
        records.append(record)
    return records


def names_of(database: Database) -> dict[str, str]:
    """Return the names of the known devices, by id."""
    with database.snapshot() as connection:
        return {uid.hex(): name for _, uid, name in remote_rows.devices(connection)}
