"""Push: sends what this device has and a remote lacks, as segments after this device's last one.

chains ──> links that the remote lacks, each with its item ┐ other primary data ──> records that are not there in these
same bytes ├──limits, guard──> lines ──> segments ┘ Records that were withheld before and may be sent now go with the
next push. After an erasure here, everything is sent again, in a new epoch, and the earlier segments are removed: they
may hold the erased text.
"""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Literal, cast

from palazzo.archive import device_chain
from palazzo.model import Micros
from palazzo.store import device_rows as sync_devices
from palazzo.store import redaction_state, remote_rows, tombstones
from palazzo.store.chain_links import LOST_BODY
from palazzo.store.database import Connection, Database
from palazzo.store.items import Link as StoredLink
from palazzo.store.items import last_link
from palazzo.store.remote_rows import LastSegment, RemoteRow
from palazzo.sync import device_register, push_filter, record_reader, segments
from palazzo.sync.device_cards import Signer
from palazzo.sync.own_heads import PENDING, forged_head, last_head, own_head
from palazzo.sync.push_filter import Sieve, Why
from palazzo.sync.record_lines import KINDS, key_of, kind_of, to_line
from palazzo.sync.record_types import Absent, Erasure, Item, Link, Record
from palazzo.sync.remotes import Remote
from palazzo.sync.segments import Cipher, Head, Segment, Series

_ITEMS_AT_ONCE = 200
"""Items that are read and checked for redaction together."""
_HASH = 16
_LINKS_LOOKED_AT, _OTHERS_LOOKED_AT = 500, 20_000
"""Maximum number of links beyond the existing ones, and of other records, that are counted while a user waits for what
a push would send.
"""
Progress = Callable[[str, int, int], None]
Place = tuple[bytes, int]
"""A link: its device's id, and its number."""


@dataclass(slots=True)
class PushReport:
    """Records pushed to a remote, or to be pushed: records by kind, withheld items by reason, segments and their bytes.

    `kept` are other withheld records, by kind. `anew` says that everything was sent again, in epoch `epoch`.
    """

    records: Counter[str] = field(default_factory=Counter)
    withheld: Counter[str] = field(default_factory=Counter)
    kept: Counter[str] = field(default_factory=Counter)
    segments: int = 0
    bytes: int = 0
    anew: bool = False
    epoch: int = 0


@dataclass(slots=True)
class _SyncNotes:
    """State to record once the push has succeeded."""

    fingerprints: list[tuple[bytes, bytes]] = field(default_factory=list)
    chains: dict[bytes, int] = field(default_factory=dict)
    withheld: dict[Place, str] = field(default_factory=dict)
    freed_places: list[Place] = field(default_factory=list)
    erasure: int = 0
    decisions: tuple[bytes, bytes] | None = None


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
    report, notes = PushReport(), _SyncNotes()
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
        batches = _fill_segments(
            _DeltaReader(connection, remote, other_devices, report, notes, progress).read_batches()
        )
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


@dataclass(frozen=True, slots=True)
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
    report, notes = PushReport(), _SyncNotes()
    report.anew = device in heads_by_device and tombstones.newest_erasure(connection) > remote.erasure
    may = sync_devices.rows(connection)
    other_devices = frozenset(uid for uid in heads_by_device if uid in may and may[uid].may in _TELL_THEIR_OWN) - {
        device,
        PENDING,
    }
    news = _DeltaReader(connection, remote, other_devices, report, notes, lambda what, done, total: None)
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
    return tuple(blake2b(part, digest_size=_HASH).digest() for part in (b"devices", decisions))  # type: ignore[return-value]


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
    notes: _SyncNotes,
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


_WITH_ITEM = (None, "erased")
"""Reasons for absent bytes of links that have an item here (None: not absent). The item of a merged link is sent with
another link.
"""
_FIRST = frozenset(["device", "wing", "room", "project", "source"])
"""Kinds to which items refer."""


class _DeltaReader:
    """Collects, from one snapshot, what a remote does not have yet."""

    def __init__(
        self,
        connection: Connection,
        remote: RemoteRow,
        other_devices: frozenset[bytes],
        report: PushReport,
        notes: _SyncNotes,
        progress: Progress,
    ) -> None:
        self._connection, self._done, self._notes, self._progress = connection, report, notes, progress
        self._limits = push_filter.limits(connection, remote.wings)
        self._sieve = Sieve(self._limits, report.kept)
        chains = remote_rows.chains(connection, remote.row)
        if report.anew:  # the others tell their own chains
            chains = {device: seq for device, seq in chains.items() if device in other_devices}
        self._chains = chains
        self._sent = {} if report.anew else remote_rows.read_record_hashes(connection, remote.row)
        self._before = {} if report.anew else remote_rows.withheld(connection, remote.row)

    def links(self) -> int:
        """Return how many links are not on the remote yet."""
        device_rows = remote_rows.devices(self._connection)
        return sum(last_link(self._connection, row)[0] - self._chains.get(uid, 0) for row, uid, _ in device_rows)

    def read_batches(self) -> Iterator[list[bytes]]:
        """Yield lines that belong together: what items refer to, items with their links, all the rest."""
        yield from self._small(first=True)
        for row, device, _ in remote_rows.devices(self._connection):
            yield from self._chain(device, row)
        yield from self._small(first=False)

    # --- items -----------------------------------------------------------------------------------------------

    def _chain(self, device: bytes, row: int) -> Iterator[list[bytes]]:
        """Yield the lines of each new link. A blind link goes just before a later link that is not blind.

        A segment that holds only a blind link would reveal when its item was written.
        """
        last_sent = self._chains.get(device, 0)
        withheld = [seq for chain, seq in self._before if chain == device]
        total, _ = last_link(self._connection, row)
        blind_lines: list[list[bytes]] = []
        for links in _in_groups(self._links(device, row, last_sent, withheld), _ITEMS_AT_ONCE):
            self._progress("items", links[-1].seq, total)
            for link, lines in self._lines_of_links(device, links, last_sent):
                if lines is None:
                    blind_lines.append([_blind_line(link)])
                    continue
                for batch in (*blind_lines, lines):
                    self._done.records["link"] += 1
                    yield batch
                blind_lines.clear()
                self._notes.chains[device] = max(link.seq, last_sent)

    def _links(self, device: bytes, row: int, last_sent: int, withheld_seqs: Sequence[int]) -> Iterator[Link]:
        uid = device.hex()
        for stored_link in remote_rows.links_beyond(self._connection, row, last_sent, withheld_seqs):
            absent = cast(Absent | None, "withheld" if stored_link.absent == LOST_BODY else stored_link.absent)
            yield Link(uid, stored_link.seq, stored_link.item_uid.hex(), stored_link.digest, stored_link.hash, absent)

    def _lines_of_links(
        self, device: bytes, links: Sequence[Link], last_sent: int
    ) -> Iterator[tuple[Link, list[bytes] | None]]:
        """Yield each link with its own line and its item's line, if there is one; None if the item is held back."""
        stays = self._limits.of_items(self._connection, [link.item for link in links])
        item_ids = [link.item for link in links if link.absent in _WITH_ITEM and link.item not in stays]
        items = {item.id: item for item in record_reader.items(self._connection, item_ids)}
        stays.update((item.id, "secret") for item in push_filter.only_with_secrets(items.values()))
        stays.update((item.id, "secret") for item in items.values() if self._lacks(item))
        stays.update(self._tainted_items(items.values()))
        item_lines = {uid: to_line(item).rstrip() for uid, item in items.items() if uid not in stays}
        stays.update((uid, "large") for uid, line in item_lines.items() if not segments.fits(line))
        for link in links:
            place, why = (device, link.seq), stays.get(link.item)
            if why is not None:
                self._withhold(place, link, why)
                if link.seq > last_sent:
                    yield replace(link, absent=_ABSENT[why]), None
                continue
            if place in self._before:
                self._notes.freed_places.append(place)
            lines = [to_line(link).rstrip()]
            if link.absent in _WITH_ITEM and link.item in item_lines:
                self._done.records["item"] += 1
                lines.append(item_lines[link.item])
            yield link, lines

    def _lacks(self, item: Item) -> bool:
        """Return whether a record that an item refers to is held back because of a secret."""
        return not self._sieve.stays.isdisjoint([("source", item.source), ("room", item.room)])

    def _tainted_items(self, items: Iterable[Item]) -> Iterator[tuple[str, Why]]:
        """Yield items whose taint names an item that is held back: they would reveal its id."""
        if not self._limits:
            return
        for item in items:
            tainting_ids = json.loads(item.meta).get("tainted_by") or ()
            yield from ((item.id, why) for why in self._limits.of_items(self._connection, tainting_ids).values())

    def _withhold(self, place: Place, link: Link, why: Why) -> None:
        self._done.withheld[why] += link.absent in _WITH_ITEM
        self._sieve.stays.add(("item", link.item))
        self._notes.withheld[place] = why

    # --- the rest --------------------------------------------------------------------------------------------

    def _without_withheld(self, record: Record) -> Record:
        """Return an erasure without the items held back, and without its certificate, which names them."""
        if not isinstance(record, Erasure):
            return record
        item_ids = tuple(uid for uid in record.items if ("item", uid) not in self._sieve.stays)
        return record if item_ids == record.items else replace(record, items=item_ids, certificate="")

    def _small(self, first: bool) -> Iterator[list[bytes]]:
        """Yield the lines of records that the remote does not have with the same bytes."""
        record_lines = [
            (record, to_line(record).rstrip())
            for record in map(self._without_withheld, record_reader.small(self._connection))
            if (kind_of(record) in _FIRST) is first
        ]
        if first and self._limits:
            source_ids = push_filter.hidden_sources(self._connection, self._limits)
            self._sieve.stays.update(("source", uid) for uid in source_ids)
        elif self._limits:  # of items that were sent before their wing became private, no link is read again
            records = [record for record, _ in record_lines]
            self._sieve.stays.update(push_filter.hidden_references(self._connection, self._limits, records))
        for record, line in self._sieve.sift(record_lines):
            name, code = fingerprint(record, line)
            if self._sent.get(name) != code:
                self._notes.fingerprints.append((name, code))
                self._done.records[kind_of(record)] += 1
                yield [line]


def _blind_line(link: Link) -> bytes:
    """Return the blind link's line for an item held back: its number, its hash and the reason of absence."""
    stored_link = StoredLink(link.seq, bytes.fromhex(link.item), link.digest, link.hash, link.absent)
    blind = device_chain.blind_link(stored_link, link.absent or "withheld")
    return to_line(replace(link, item=blind.item_uid.hex(), digest=blind.digest)).rstrip()


_ABSENT: dict[Why, Literal["private", "withheld"]] = {
    "private": "private",
    "filtered": "private",
    "secret": "withheld",
    "large": "withheld",
}


def fingerprint(record: Record, line: bytes) -> tuple[bytes, bytes]:
    """Return the key of a record in `sync_sent`, and the hash of its bytes."""
    name = "/".join(key_of(record)).encode()
    return blake2b(name, digest_size=_HASH).digest(), blake2b(line, digest_size=_HASH).digest()


def _in_groups(links: Iterable[Link], most: int) -> Iterator[list[Link]]:
    group: list[Link] = []
    for link in links:
        group.append(link)
        if len(group) == most:
            yield group
            group = []
    if group:
        yield group


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
_RANKS = {kind.encode(): n for n, kind in enumerate(KINDS)}


def _rank(line: bytes) -> int:
    return _RANKS[line[_BEGINS : line.index(b'"', _BEGINS)]]
