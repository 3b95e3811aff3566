"""Ingest of texts: the only way for texts into the palace.

    NewItem ──prepare──> IngestBatch ──file──> Receipt
            outside the lock         inside it

`prepare` does what needs no lock: redaction, ids, hashes, compression. `file` appends items, links them to the device's
chain and logs the change, in the caller's transaction. An item that is already archived is recognised and not stored
twice. A row that repeats an id with other bytes is kept beside the first one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace

from palazzo.archive import device_chain, identity, pack_writer
from palazzo.archive.ingest_guard import Guard
from palazzo.archive.pack_writer import NewPack, Spot
from palazzo.frozen_class import frozen
from palazzo.model import ContentKind, ItemId, ItemKind, Micros, Part, Place, Role, Source, Trust
from palazzo.store import change_log, foreign_rows, items, place_rows, redaction_state, source_rows, tombstones
from palazzo.store.database import Connection
from palazzo.store.items import ItemRow, StoredValues
from palazzo.store.packs import PackReader
from palazzo.text.surrogates import well_formed

_SALT_SIZE = 16
_META_ENCODER = json.JSONEncoder(separators=(",", ":"), default=str)


@frozen
class NewItem:
    """One item to archive, as its writer describes it. `raw` is the source's own bytes, or None if there are none.

    `name` computes the id of an item whose id depends on its words. It is called again after words were redacted.
    """

    id: ItemId
    text: str
    kind: ItemKind
    role: Role
    raw: bytes | None = None
    standing: ContentKind = "said"
    author: str = ""
    parts: tuple[Part, ...] = ()
    thread: str = ""
    ordinal: int = 0
    created_at: Micros = Micros(0)
    trust: Trust = "user"
    branch: str = ""
    commit: str = ""
    decoder: int = 0
    meta: Mapping[str, object] = field(default_factory=dict)
    name: Callable[[NewItem], ItemId] | None = None


@frozen
class IngestBatch:
    """New items after redaction with their packs, ready to be written under the lock.

    `came` are the items before redaction. They serve to recognize items that were archived without redaction. `values`
    are the columns of `filings` that take time to make, in their order.
    """

    guard: Guard
    came: tuple[NewItem, ...]
    filings: tuple[NewItem, ...]
    packs: tuple[NewPack, ...]
    spots: tuple[Spot | None, ...]
    values: tuple[StoredValues, ...]

    @property
    def is_changed(self) -> bool:
        """Return whether the redaction removed anything."""
        return any(clean_item is not came for clean_item, came in zip(self.filings, self.came, strict=True))

    def select(self, indices: Sequence[int]) -> IngestBatch:
        """Return the batch with only these of its items, in this order."""
        return replace(
            self,
            came=tuple(self.came[n] for n in indices),
            filings=tuple(self.filings[n] for n in indices),
            spots=tuple(self.spots[n] for n in indices),
            values=tuple(self.values[n] for n in indices),
        )


@frozen
class Receipt:
    """Result of an ingest: the source's row id, one row id per new item, which are new, and the number of variants.

    The row ids have the order of the new items.
    """

    source: int
    rows: tuple[int, ...]
    new: tuple[bool, ...]
    variants: int

    @property
    def added(self) -> int:
        """Return how many items were appended."""
        return sum(self.new)


def with_origin(new_item: NewItem, branch: str, commit: str) -> NewItem:
    """Return the new item with that branch and commit."""
    return replace(new_item, branch=branch, commit=commit)


def prepare(filings: Sequence[NewItem], guard: Guard) -> IngestBatch:
    """Redact `filings` and compress their raw bytes into packs. Needs no lock, and is most of the work."""
    came, filings = filings, guard.filings(filings)
    packs, spots = pack_writer.pack([new_item.raw for new_item in filings])
    return IngestBatch(guard, tuple(came), tuple(filings), packs, spots, tuple(map(_make_values, filings)))


def file(connection: Connection, source: Source, place: Place, batch: IngestBatch, now: Micros) -> Receipt:
    """Archive the new items of `batch` as coming from `source`, filed at `place`, in this transaction."""
    batch = _up_to_date(connection, batch)
    source = batch.guard.source(source)
    source_row = source_rows.file_source(connection, source, now)
    room = place_rows.room_id(connection, place)
    plan = _Plan(connection, source_row, batch)
    pack_rows = pack_writer.store(connection, batch.packs, plan.packs)
    fresh = [n for n, row in enumerate(plan.rows) if row is None]
    rows: list[ItemRow] = []
    entries: list[tuple[bytes, bytes]] = []
    uid_of_source = source_rows.source_uid(source.kind, source.key)
    salts = os.urandom(_SALT_SIZE * len(fresh))  # one call of the system, not one for each row
    for number, n in enumerate(fresh):
        new_item = plan.filings[n]
        values = batch.values[n] if new_item is batch.filings[n] else _make_values(new_item)
        salt = salts[_SALT_SIZE * number : _SALT_SIZE * (number + 1)]
        row = _row(new_item, values, source_row, room, pack_rows, batch.spots[n], salt, now)
        rows.append(row)
        entries.append((row.uid, device_chain.digest(row, uid_of_source, new_item.raw or b"", new_item.text)))
    new_rows = items.insert_items(connection, rows)
    if new_rows:
        redaction_state.note_rules(connection, batch.guard.rules, new_rows[0])
    device_chain.extend(connection, entries)
    change_log.append(connection, "item", new_rows)
    by_filing = list(plan.rows)
    for n, item in zip(fresh, new_rows, strict=True):
        by_filing[n] = item
    _repeat_within(plan, by_filing)
    items.insert_repetitions(connection, _repetitions(connection, source_row, plan, by_filing, set(fresh)))
    item_rows = tuple(row for row in by_filing if row is not None)
    return Receipt(source_row, item_rows, _marks(fresh, len(by_filing)), plan.variants)


def _up_to_date(connection: Connection, batch: IngestBatch) -> IngestBatch:
    """Prepare items again if something was erased since: they may hold erased words."""
    if batch.guard.version == tombstones.version(connection):
        return batch
    return prepare(batch.came, Guard.at(connection, batch.guard.redacts))


class _Plan:
    """Decides which new items are new, which repeat an archived item, and which are variants of one."""

    def __init__(self, connection: Connection, source: int, batch: IngestBatch) -> None:
        self.filings = list(batch.filings)
        self.variants = 0
        self._guard, self._came = batch.guard, batch.came
        ids = [bytes.fromhex(new_item.id) for new_item in self.filings]
        original_ids = [bytes.fromhex(new_item.id) for new_item in self._came] if batch.is_changed else ids
        rows_by_uid = items.known_items(connection, {*ids, *original_ids})
        self.rows: list[int | None] = [
            rows_by_uid.get(uid) or rows_by_uid.get(was) for uid, was in zip(ids, original_ids, strict=True)
        ]
        if rows_by_uid:
            self._separate_from_foreign(connection)
            self._keep_variants(connection)
        self.first: dict[ItemId, int] = {}
        self.repeats: dict[int, int] = {}
        self._find_repeats_within(batch)
        self.packs = {
            spot[0] for n, spot in enumerate(batch.spots) if spot and self.rows[n] is None and n not in self.repeats
        }

    def _separate_from_foreign(self, connection: Connection) -> None:
        """Give a new item an id of its own if another person's export used its id for other content."""
        foreign = foreign_rows.marked_rows(connection, "item", (row for row in self.rows if row is not None))
        if not foreign:
            return
        packs, texts = PackReader(connection), items.read_texts(connection, sorted(foreign))
        for n, row in enumerate(self.rows):
            if row is None or row not in foreign:
                continue
            new_item, raw = self.filings[n], self.filings[n].raw
            foreign_raw = _stored_raw(connection, packs, row)
            is_same = (
                foreign_raw is None or raw is None or self._guard.is_same(foreign_raw, new_item, self._came[n].raw)
            )
            kind = next(connection.execute("SELECT kind, role, standing FROM item WHERE id = ?", (row,)))
            if is_same and kind == (new_item.kind, new_item.role, new_item.standing) and texts[row] == new_item.text:
                continue
            content = new_item.text.encode("utf-8", "surrogatepass") if raw is None else raw
            own_id = identity.variant_id(new_item.id, content)
            self.filings[n] = replace(new_item, id=own_id)
            uid = bytes.fromhex(own_id)
            self.rows[n] = items.known_items(connection, [uid]).get(uid)

    def _keep_variants(self, connection: Connection) -> None:
        """Keep an item with a known id but other bytes as another row, as noise beside the first."""
        packs = PackReader(connection)
        for n, row in enumerate(self.rows):
            raw = self.filings[n].raw
            if row is None or raw is None:
                continue
            existing_raw = _stored_raw(connection, packs, row)
            if existing_raw is None or self._guard.is_same(existing_raw, self.filings[n], self._came[n].raw):
                continue
            self._make_variant(n, raw)
            uid = bytes.fromhex(self.filings[n].id)
            self.rows[n] = items.known_items(connection, [uid]).get(uid)

    def _make_variant(self, n: int, raw: bytes) -> None:
        new_item = self.filings[n]
        meta = {**new_item.meta, "variant_of": new_item.id}
        self.filings[n] = replace(
            new_item, id=identity.variant_id(new_item.id, raw), kind="noise", standing="meta", meta=meta
        )
        self.variants += 1

    def _find_repeats_within(self, batch: IngestBatch) -> None:
        """Resolve the same id twice in one batch: the second item repeats the first, or is a variant of it."""
        for n in range(len(self.filings)):
            if self.rows[n] is not None:
                continue
            earlier = self.first.get(self.filings[n].id)
            raw = self.filings[n].raw
            if earlier is not None and raw is not None and raw != self.filings[earlier].raw:
                self._make_variant(n, raw)
                earlier = self.first.get(self.filings[n].id)
            if earlier is None:
                self.first[self.filings[n].id] = n
            else:
                self.repeats[n] = earlier
                self.rows[n] = -1


def _marks(indices: Sequence[int], size: int) -> tuple[bool, ...]:
    members = set(indices)
    return tuple(n in members for n in range(size))


def _repeat_within(plan: _Plan, by_filing: list[int | None]) -> None:
    for n, earlier in plan.repeats.items():
        by_filing[n] = by_filing[earlier]


def _repetitions(
    connection: Connection, source: int, plan: _Plan, by_filing: list[int | None], fresh: set[int]
) -> list[tuple[int, int, int]]:
    """Return the rows of this source that are already archived at another place."""
    repetitions = []
    for n, item in enumerate(by_filing):
        new_item = plan.filings[n]
        if item is None or n in fresh or new_item.raw is None:
            continue
        own = next(connection.execute("SELECT source, ordinal FROM item WHERE id = ?", (item,)))
        if own != (source, new_item.ordinal):
            repetitions.append((source, new_item.ordinal, item))
    return repetitions


def _stored_raw(connection: Connection, packs: PackReader, row: int) -> bytes | None:
    for pack, start, size in connection.execute("SELECT pack, raw_start, raw_size FROM item WHERE id = ?", (row,)):
        return None if pack is None else packs.read(pack, start, size)
    return None


def _drop_trivial_part(parts: tuple[Part, ...], size: int) -> tuple[Part, ...]:
    """Leave out a single part that covers the whole text as text, since that is the default."""
    return () if parts == (Part("text", 0, size),) else parts


def _make_values(new_item: NewItem) -> StoredValues:
    text, codec = items.encode_text(new_item.text)
    meta = _META_ENCODER.encode(new_item.meta) if new_item.meta else "{}"
    return StoredValues(text, codec, items.dump_parts(_drop_trivial_part(new_item.parts, len(new_item.text))), meta)


def _row(
    new_item: NewItem,
    values: StoredValues,
    source: int,
    room: int,
    packs: Sequence[int | None],
    spot: Spot | None,
    salt: bytes,
    now: Micros,
) -> ItemRow:
    return ItemRow(
        uid=bytes.fromhex(new_item.id),
        source=source,
        kind=new_item.kind,
        role=new_item.role,
        standing=new_item.standing,
        author=well_formed(new_item.author),
        thread=well_formed(new_item.thread),
        ordinal=new_item.ordinal,
        created_at=new_item.created_at,
        recorded_at=now,
        trust=new_item.trust,
        branch=well_formed(new_item.branch),
        commit=well_formed(new_item.commit),
        room=room,
        parts=values.parts,
        meta=values.meta,
        decoder=new_item.decoder,
        pack=packs[spot[0]] if spot else None,
        raw_start=spot[1] if spot else 0,
        raw_size=spot[2] if spot else 0,
        salt=salt,
        text=values.text,
        text_codec=values.text_codec,
    )
