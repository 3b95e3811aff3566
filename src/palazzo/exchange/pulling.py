"""Pulling: what other devices have told since the last time becomes a part of this palace.

    heads ──follow──> segments of each device, checked ──by their clocks──> one stream ──merge──> here

A segment is read and checked whole before anything of it is merged, and is noted as read when all of it is here. What
refers to what another device has yet to tell is merged again once that has come, in this pull or a later one.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from palazzo.errors import RemoteRewritten, SegmentUnreadable
from palazzo.exchange import clock as clocks
from palazzo.exchange import segments
from palazzo.exchange.clock import Skew
from palazzo.exchange.erased_elsewhere import seek
from palazzo.exchange.forms import BadRecord
from palazzo.exchange.merging import Report, merge
from palazzo.exchange.pushing import PENDING, Progress, fingerprint, own_head
from palazzo.exchange.records import Header, Item, Link, Record
from palazzo.exchange.remotes import Remote, There
from palazzo.exchange.segments import Head, Opened, Sealing, SegmentName
from palazzo.exchange.wire import NewerFormat, from_line
from palazzo.model import Micros
from palazzo.store import redaction, syncing
from palazzo.store.database import Database
from palazzo.store.syncing import RemoteRow, Seen

_ROUNDS = 3
"""How often what lacks something is merged again in one pull: a device told, another had not yet."""


@dataclass(slots=True)
class Pulled:
    """What came from a remote: segments, and what merging them did, over all of them.

    `behind` says of devices, by id, why what they told last is not here. `missing` is how many records refer to what
    no device has told yet. `erased` is how many erasures of other devices were carried out here.
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
    skews: dict[str, Skew] = field(default_factory=dict)

    def take(self, report: Report) -> None:
        """Add what one merge did."""
        self.added.update(report.added)
        self.changed.update(report.changed)
        self.conflicts += [one for one in report.conflicts if one not in self.conflicts]
        self.forked |= report.forked
        self.variants |= report.variants


@dataclass(frozen=True, slots=True)
class _Read:
    """A segment that was read: its records, and by what they are known."""

    opened: Opened
    records: tuple[Record, ...]
    lines: tuple[bytes, ...]


def pull(
    database: Database,
    remote: RemoteRow,
    transport: Remote,
    palace: str,
    device: bytes,
    clock: Callable[[], Micros],
    wall: Callable[[], Micros],
    *,
    sealing: Sealing | None = None,
    dry_run: bool = False,
    progress: Progress = lambda what, done, total: None,
) -> Pulled:
    """Take in what other devices have told. A `dry_run` says what would come, and takes it back.

    `wall` is the machine's own clock. Raises RemoteUnusable, RemoteRewritten, WrongKey; segments that were taken in
    before that stay, and are noted.
    """
    there = transport.look()
    own_head(database, remote, device, there, transport.address)
    known = _known(database, remote, device)
    with database.snapshot() as connection:
        key = redaction.fingerprint_key(connection)
    _refuse_emptied(transport.address, there, known)
    heads = [head for uid, head in sorted(there.heads.items()) if uid != device.hex()]
    total = _count(there, heads, known)
    done = Pulled(behind=dict(there.damaged))
    done.behind.pop(device.hex(), None)
    taking = _Taking(database, remote, clock, wall, done)
    streams = [_told(transport, there, head, known, palace, sealing, key, done) for head in heads]
    told = heapq.merge(*streams, key=lambda one: (one.header.clock, one.header.device))
    if dry_run:
        taking.try_out(told, progress, total)
        return done
    for opened in told:
        progress("segments", done.segments, total)
        taking.take(opened)
    taking.finish()
    done.erased = seek(database, clock, progress)
    with database.transaction() as connection:
        syncing.note_pulled(connection, remote.row, clock())
    return done


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
    sealing: Sealing | None,
    key: bytes,
    done: Pulled,
) -> Iterator[Opened]:
    """Yield what a device has told since; one that cannot be read to its end does not keep others back."""

    def fetch(name: SegmentName) -> bytes:
        content = transport.read(head.device, name)
        done.bytes += len(content)
        return content

    try:
        yield from segments.follow(
            fetch, there.names.get(head.device, ()), head, known.get(head.device), palace, sealing, key
        )
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
    ) -> None:
        self._database, self._remote, self._clock, self._wall = database, remote, clock, wall
        self._done = done
        self._lacking: list[_Read] = []
        self._stopped: set[str] = set()

    def try_out(self, told: Iterable[Opened], progress: Progress, total: int) -> None:
        """Say what taking all of it in would do; all in one, since one segment may refer to what another tells."""

        def records() -> Iterator[Record]:
            for opened in told:
                progress("segments", self._done.segments, total)
                read = self._read(opened)
                yield from () if read is None else read.records

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
            read = _Read(opened, tuple(_records(opened)), opened.lines)
        except SegmentUnreadable as error:
            self._done.behind[device] = str(error)
            self._stopped.add(device)
            return None
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
        report = merge(self._database, read.records, self._clock)
        self._done.take(report)
        return report.missing.total()

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
