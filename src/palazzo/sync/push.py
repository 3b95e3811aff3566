"""Push: sends what this device has and a remote lacks, as segments after this device's last one.

chains ──> links that the remote lacks, each with its item ┐ other primary data ──> records that are not there in these
same bytes ├──limits, guard──> lines ──> segments ┘ Records that were withheld before and may be sent now go with the
next push. After an erasure here, everything is sent again, in a new epoch, and the earlier segments are removed: they
may hold the erased text.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b

from palazzo.frozen_class import frozen
from palazzo.model import Micros
from palazzo.store import device_rows as sync_devices
from palazzo.store import redaction_state, remote_rows, tombstones
from palazzo.store.database import Connection, Database
from palazzo.store.remote_rows import LastSegment, RemoteRow
from palazzo.sync import device_register, record_reader, segments
from palazzo.sync.device_cards import Signer
from palazzo.sync.own_heads import PENDING, forged_head, last_head, own_head
from palazzo.sync.push_delta import HASH_SIZE, DeltaReader, Progress, PushReport, SyncNotes
from palazzo.sync.records.kind_registry import RECORD_KINDS
from palazzo.sync.remotes import Remote
from palazzo.sync.segments import Cipher, Head, Segment, Series

_LINKS_LOOKED_AT, _OTHERS_LOOKED_AT = 500, 20_000
"""Maximum number of links beyond the existing ones, and of other records, that are counted while a user waits for what
a push would send.
"""


_TELL_THEIR_OWN = ("change", "erase")
"""The rights of devices whose own chains others accept. This device pushes the records of devices with fewer rights."""


def push(
    database: Database,
    remote: RemoteRow,
    transport: Remote,
    palace: str,
    device: bytes,
    clock: Callable[[], Micros],
    *,
    cipher: Cipher | None = None,
    device_name: str = "",
    dry_run: bool = False,
    progress: Progress = lambda what, done, total: None,
) -> PushReport:
    """Send to a remote what is not there. A `dry_run` reports what that would be.

    Raises RemoteUnusable, RemoteRewritten, DeviceCopied. After an interruption, the next push sends the rest.
    """
    remote_state = transport.look()
    false_head = forged_head(database, remote, transport, device, remote_state, cipher)
    own_place = (
        own_head(database, remote, device, remote_state, transport.address)
        if false_head is None
        else last_head(database, remote, device)
    )
    report, notes = PushReport(), SyncNotes()
    signer = None if dry_run else _signer(database, remote, device, device_name)
    with contextlib.closing(Database(database.path, "read")) as reader, reader.snapshot() as connection:
        notes.erasure = tombstones.newest_erasure(connection)
        report.anew = false_head is not None or (own_place is not None and notes.erasure > remote.erasure)
        devices = sync_devices.rows(connection)
        other_devices = frozenset(
            uid
            for uid in map(bytes.fromhex, remote_state.heads)
            if uid in devices and devices[uid].may in _TELL_THEIR_OWN
        ) - {device}
        notes.decisions = _hash_decisions(connection, device)
        is_decided = (
            notes.decisions is not None
            and remote_rows.read_record_hashes(connection, remote.row).get(notes.decisions[0]) != (notes.decisions[1])
        )
        batches = _fill_segments(DeltaReader(connection, remote, other_devices, report, notes, progress).read_batches())
        if dry_run:
            for _ in batches:
                pass
            return report
        series = Series.continue_from(palace, device.hex(), own_place, is_new_epoch=report.anew)
        head = transport.push(
            _segments(
                batches, series, clock, cipher, redaction_state.fingerprint_key(connection), report, signer, is_decided
            ),
            expected=own_place if false_head is None else false_head,
            ready=lambda head: _note_ready(database, remote, head),
            device_name="" if cipher else device_name,
            is_new_epoch=report.anew,
        )
    _note_done(database, remote, device, head, notes, report, clock())
    return report


@frozen
class PendingCounts:
    """What the next push would send: items and other records.

    The number of other records is None if counting them takes long.
    """

    items: int
    others: int | None


def count_pending(connection: Connection, remote: RemoteRow, device: bytes) -> PendingCounts:
    """Count what a push would send, as far as this palace knows the remote's state and can count it quickly.

    If there are too many items to check, their links are counted, so that items that are held back are included.
    """
    heads_by_device = remote_rows.read_last_segments(connection, remote.row)
    report, notes = PushReport(), SyncNotes()
    report.anew = device in heads_by_device and tombstones.newest_erasure(connection) > remote.erasure
    may = sync_devices.rows(connection)
    other_devices = frozenset(uid for uid in heads_by_device if uid in may and may[uid].may in _TELL_THEIR_OWN) - {
        device,
        PENDING,
    }
    news = DeltaReader(connection, remote, other_devices, report, notes, lambda what, done, total: None)
    links = news.links()
    if links > _LINKS_LOOKED_AT or record_reader.count_small(connection) > _OTHERS_LOOKED_AT:
        return PendingCounts(links, None)
    for _ in news.read_batches():
        pass
    items = report.records["item"]
    return PendingCounts(items, report.records.total() - 2 * items)  # each item comes with its link


def _signer(database: Database, remote: RemoteRow, device: bytes, device_name: str) -> Signer:
    """Return this device's key, and its card for this remote."""
    with database.transaction() as connection:
        read_positions = {
            uid: (place.epoch, place.n)
            for uid, place in remote_rows.read_last_segments(connection, remote.row).items()
            if uid not in (device, PENDING)
        }
        return device_register.signer(connection, device, device_name, read_positions)


def _hash_decisions(connection: Connection, device: bytes) -> tuple[bytes, bytes] | None:
    """Return the `sync_sent` key of the user's decisions about devices, and their hash; None without decisions."""
    decisions = device_register.local_decisions(connection, device)
    if not decisions:
        return None
    return tuple(blake2b(part, digest_size=HASH_SIZE).digest() for part in (b"devices", decisions))  # type: ignore[return-value]


def _segments(
    batches: Iterable[list[bytes]],
    series: Series,
    clock: Callable[[], Micros],
    cipher: Cipher | None,
    key: bytes,
    report: PushReport,
    signer: Signer | None,
    is_decided: bool,
) -> Iterator[Segment]:
    """Yield a segment per batch, so that its records stay together, and one for new decisions about devices."""
    is_empty = True
    for lines in batches:
        for segment in segments.write(lines, series, clock, cipher, key, signer):
            series = Series(series.palace, series.device, segment.name, segment.header.epoch)
            report.segments += 1
            report.bytes += len(segment.content)
            report.epoch = segment.header.epoch
            is_empty = False
            yield segment
    if is_empty and (series.last is None or is_decided):  # an epoch without records needs a segment, too
        for segment in segments.write((), series, clock, cipher, key, signer, at_least_one=True):
            report.epoch = segment.header.epoch
            yield segment


def _note_ready(database: Database, remote: RemoteRow, head: Head) -> None:
    with database.transaction() as connection:
        remote_rows.note_seen(connection, remote.row, PENDING, LastSegment(head.epoch, head.n, head.hash, head.at))


def _note_done(
    database: Database,
    remote: RemoteRow,
    device: bytes,
    head: Head | None,
    notes: SyncNotes,
    report: PushReport,
    now: Micros,
) -> None:
    with database.transaction() as connection:
        if report.anew:
            remote_rows.forget_sent(connection, remote.row)
        if head is not None:
            remote_rows.note_seen(connection, remote.row, device, LastSegment(head.epoch, head.n, head.hash, head.at))
            sync_devices.note_heard(connection, device, head.at)
            if notes.decisions is not None:
                notes.fingerprints.append(notes.decisions)
        remote_rows.forget_device(connection, remote.row, PENDING)
        remote_rows.note_sent(connection, remote.row, notes.fingerprints)
        remote_rows.note_chains(connection, remote.row, notes.chains)
        remote_rows.forget_withheld(connection, remote.row, notes.freed_places)
        remote_rows.note_withheld(connection, remote.row, notes.withheld)
        remote_rows.note_erasure(connection, remote.row, notes.erasure)
        remote_rows.note_pushed(connection, remote.row, now)


def _fill_segments(batches: Iterable[list[bytes]]) -> Iterator[list[bytes]]:
    """Yield the records, a segment's worth at a time, in canonical order; related records stay together.

    An item larger than a segment comes after its link, so that a reader never has an item without a link.
    """
    segment_lines: list[bytes] = []
    size = 0
    for lines in batches:
        weight = sum(map(len, lines)) + len(lines)
        if segment_lines and size + weight > segments.FULL:
            yield sorted(segment_lines, key=_rank)
            segment_lines, size = [], 0
        if weight > segments.FULL:
            yield lines
            continue
        segment_lines += lines
        size += weight
    if segment_lines:
        yield sorted(segment_lines, key=_rank)


_BEGINS = len(b'{"kind":"')
_RANKS = {kind.encode(): n for n, kind in enumerate(RECORD_KINDS)}


def _rank(line: bytes) -> int:
    return _RANKS[line[_BEGINS : line.index(b'"', _BEGINS)]]
