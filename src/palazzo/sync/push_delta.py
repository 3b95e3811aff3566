"""The push delta is what this device has and a remote lacks; a reader collects it from one snapshot."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import takewhile
from typing import Literal, cast

from palazzo.archive import device_chain
from palazzo.store import remote_rows
from palazzo.store.chain_links import LOST_BODY
from palazzo.store.database import Connection
from palazzo.store.items import Link as StoredLink
from palazzo.store.items import last_link
from palazzo.store.remote_rows import RemoteRow
from palazzo.sync import push_filter, record_reader, segments
from palazzo.sync.push_filter import Sieve, Why
from palazzo.sync.record_lines import key_of, kind_of, to_line
from palazzo.sync.records.chain_records import Absent, Link
from palazzo.sync.records.erasure_records import Erasure
from palazzo.sync.records.item_records import ITEM, Item, read_items
from palazzo.sync.records.kind_registry import RECORD_KINDS
from palazzo.sync.records.record_kind import Record

_ITEMS_AT_ONCE = 200
"""Items that are read and checked for redaction together."""
HASH_SIZE = 16
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
class SyncNotes:
    """State to record once the push has succeeded."""

    fingerprints: list[tuple[bytes, bytes]] = field(default_factory=list)
    chains: dict[bytes, int] = field(default_factory=dict)
    withheld: dict[Place, str] = field(default_factory=dict)
    freed_places: list[Place] = field(default_factory=list)
    erasure: int = 0
    decisions: tuple[bytes, bytes] | None = None


_WITH_ITEM = (None, "erased")
"""Reasons for absent bytes of links that have an item here (None: not absent). The item of a merged link is sent with
another link.
"""
_FIRST = frozenset(takewhile(lambda kind: kind != ITEM.name, RECORD_KINDS))
"""Kinds before items, to which these refer."""


class DeltaReader:
    """Collects, from one snapshot, what a remote does not have yet."""

    def __init__(
        self,
        connection: Connection,
        remote: RemoteRow,
        other_devices: frozenset[bytes],
        report: PushReport,
        notes: SyncNotes,
        progress: Progress,
    ) -> None:
        self._connection, self._done, self._notes, self._progress = connection, report, notes, progress
        self._limits = push_filter.limits(connection, remote.wings)
        self._sieve = Sieve(self._limits, report.kept)
        chains = remote_rows.chains(connection, remote.row)
        if report.anew:  # the others' own segments stay; what this device's earlier ones held of their chains goes
            own_chains = remote_rows.chains(connection, remote.row, by_itself=True)
            chains = {device: seq for device, seq in own_chains.items() if device in other_devices}
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
        items = {item.id: item for item in read_items(self._connection, item_ids)}
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
    return blake2b(name, digest_size=HASH_SIZE).digest(), blake2b(line, digest_size=HASH_SIZE).digest()


def _in_groups(links: Iterable[Link], most: int) -> Iterator[list[Link]]:
    group: list[Link] = []
    for link in links:
        group.append(link)
        if len(group) == most:
            yield group
            group = []
    if group:
        yield group
