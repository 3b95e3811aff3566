"""The door: the only way for words into the palace.

    Filing ──prepare──> Prepared ──file──> Receipt
            outside the lock      inside it

`prepare` does what needs no lock: redaction, ids, hashes, compression. `file` appends items, links them to the device's
chain and logs the change, in the caller's transaction. What is already archived is recognised and not stored
twice; a row that repeats an id with other bytes is kept beside the first.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from palazzo.archive import chain, identity, packing
from palazzo.archive.guarding import Guard
from palazzo.archive.packing import NewPack, Spot
from palazzo.model import ItemId, ItemKind, Micros, Part, Place, Role, Source, Standing, Trust
from palazzo.store import changes, foreign_rows, items, places, redaction, sources, tombstones
from palazzo.store.database import Connection, well_formed
from palazzo.store.items import ItemRow
from palazzo.store.packs import PackReader


@dataclass(frozen=True, slots=True)
class Filing:
    """One thing to archive, as its writer knows it. `raw` is the source's own bytes, None where there are none.

    `name` gives the id of a filing whose id follows from its words: it is asked again when words were redacted.
    """

    id: ItemId
    text: str
    kind: ItemKind
    role: Role
    raw: bytes | None = None
    standing: Standing = "said"
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
    name: Callable[[Filing], ItemId] | None = None


@dataclass(frozen=True, slots=True)
class Prepared:
    """Filings without what the guard takes out, their packs made, ready to be written under the lock.

    `came` are the filings as they came. They serve to know again what was archived without the guard.
    """

    guard: Guard
    came: tuple[Filing, ...]
    filings: tuple[Filing, ...]
    packs: tuple[NewPack, ...]
    where: tuple[Spot | None, ...]

    @property
    def is_changed(self) -> bool:
        """Whether the guard took anything out."""
        return any(kept is not came for kept, came in zip(self.filings, self.came, strict=True))


@dataclass(frozen=True, slots=True)
class Receipt:
    """What filing did: the source's row id, row ids by filing (in order), which were new, and how many variants."""

    source: int
    rows: tuple[int, ...]
    new: tuple[bool, ...]
    variants: int

    @property
    def added(self) -> int:
        """How many items were appended."""
        return sum(self.new)


def with_origin(filing: Filing, branch: str, commit: str) -> Filing:
    """Return the filing as written on that branch and commit."""
    return replace(filing, branch=branch, commit=commit)


def prepare(filings: Sequence[Filing], guard: Guard) -> Prepared:
    """Redact `filings` and compress their raw bytes into packs. Needs no lock, and is most of the work."""
    came, filings = filings, guard.filings(filings)
    packs, where = packing.pack([filing.raw for filing in filings])
    return Prepared(guard, tuple(came), tuple(filings), packs, where)


def file(connection: Connection, source: Source, place: Place, prepared: Prepared, now: Micros) -> Receipt:
    """Archive what is new of `prepared` as coming from `source`, filed at `place`, in this transaction."""
    prepared = _up_to_date(connection, prepared)
    source = prepared.guard.source(source)
    source_row = sources.file_source(connection, source, now)
    room = places.room_id(connection, place)
    plan = _Plan(connection, source_row, prepared)
    pack_rows = packing.store(connection, prepared.packs, plan.packs)
    fresh = [n for n, row in enumerate(plan.rows) if row is None]
    rows: list[ItemRow] = []
    entries: list[tuple[bytes, bytes]] = []
    uid_of_source = sources.source_uid(source.kind, source.key)
    for n in fresh:
        filing = plan.filings[n]
        row = _row(filing, source_row, room, pack_rows, prepared.where[n], now)
        rows.append(row)
        entries.append((row.uid, chain.digest(row, uid_of_source, filing.raw or b"", filing.text)))
    inserted = items.insert_items(connection, rows)
    if inserted:
        redaction.note_rules(connection, prepared.guard.rules, inserted[0])
    chain.extend(connection, entries)
    changes.append(connection, "item", inserted)
    by_filing = list(plan.rows)
    for n, item in zip(fresh, inserted, strict=True):
        by_filing[n] = item
    _repeat_within(plan, by_filing)
    items.insert_repetitions(connection, _repetitions(connection, source_row, plan, by_filing, set(fresh)))
    filed = tuple(row for row in by_filing if row is not None)
    return Receipt(source_row, filed, _marks(fresh, len(by_filing)), plan.variants)


def _up_to_date(connection: Connection, prepared: Prepared) -> Prepared:
    """Prepare again what was prepared before somebody erased something: it may hold those words."""
    if prepared.guard.version == tombstones.version(connection):
        return prepared
    return prepare(prepared.came, Guard.at(connection, prepared.guard.redacts))


class _Plan:
    """Which filings are new, which repeat an archived item, and which vary one."""

    def __init__(self, connection: Connection, source: int, prepared: Prepared) -> None:
        self.filings = list(prepared.filings)
        self.variants = 0
        self._guard, self._came = prepared.guard, prepared.came
        ids = [bytes.fromhex(filing.id) for filing in self.filings]
        before = [bytes.fromhex(filing.id) for filing in self._came] if prepared.is_changed else ids
        known = items.known_items(connection, {*ids, *before})
        self.rows: list[int | None] = [known.get(uid) or known.get(was) for uid, was in zip(ids, before, strict=True)]
        if known:
            self._separate_from_foreign(connection)
            self._keep_variants(connection)
        self.first: dict[ItemId, int] = {}
        self.repeats: dict[int, int] = {}
        self._find_repeats_within(prepared)
        self.packs = {
            spot[0] for n, spot in enumerate(prepared.where) if spot and self.rows[n] is None and n not in self.repeats
        }

    def _separate_from_foreign(self, connection: Connection) -> None:
        """Give a filing an id of its own where another person's export took its id for other content."""
        foreign = foreign_rows.marked_rows(connection, "item", (row for row in self.rows if row is not None))
        if not foreign:
            return
        packs, texts = PackReader(connection), items.read_texts(connection, sorted(foreign))
        for n, row in enumerate(self.rows):
            if row is None or row not in foreign:
                continue
            filing, raw = self.filings[n], self.filings[n].raw
            foreign_raw = _stored_raw(connection, packs, row)
            is_same = foreign_raw is None or raw is None or self._guard.is_same(foreign_raw, filing, self._came[n].raw)
            kind = next(connection.execute("SELECT kind, role, standing FROM item WHERE id = ?", (row,)))
            if is_same and kind == (filing.kind, filing.role, filing.standing) and texts[row] == filing.text:
                continue
            content = filing.text.encode("utf-8", "surrogatepass") if raw is None else raw
            own_id = identity.variant_id(filing.id, content)
            self.filings[n] = replace(filing, id=own_id)
            uid = bytes.fromhex(own_id)
            self.rows[n] = items.known_items(connection, [uid]).get(uid)

    def _keep_variants(self, connection: Connection) -> None:
        """A known id with other bytes is another row: keep it, as noise beside the first."""
        packs = PackReader(connection)
        for n, row in enumerate(self.rows):
            raw = self.filings[n].raw
            if row is None or raw is None:
                continue
            stored = _stored_raw(connection, packs, row)
            if stored is None or self._guard.is_same(stored, self.filings[n], self._came[n].raw):
                continue
            self._make_variant(n, raw)
            uid = bytes.fromhex(self.filings[n].id)
            self.rows[n] = items.known_items(connection, [uid]).get(uid)

    def _make_variant(self, n: int, raw: bytes) -> None:
        filing = self.filings[n]
        meta = {**filing.meta, "variant_of": filing.id}
        self.filings[n] = replace(
            filing, id=identity.variant_id(filing.id, raw), kind="noise", standing="meta", meta=meta
        )
        self.variants += 1

    def _find_repeats_within(self, prepared: Prepared) -> None:
        """The same id twice in one batch: the second repeats the first, or varies it."""
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


def _marks(chosen: Sequence[int], size: int) -> tuple[bool, ...]:
    members = set(chosen)
    return tuple(n in members for n in range(size))


def _repeat_within(plan: _Plan, by_filing: list[int | None]) -> None:
    for n, earlier in plan.repeats.items():
        by_filing[n] = by_filing[earlier]


def _repetitions(
    connection: Connection, source: int, plan: _Plan, by_filing: list[int | None], fresh: set[int]
) -> list[tuple[int, int, int]]:
    """Rows of this source that are archived already, at another place than this one."""
    found = []
    for n, item in enumerate(by_filing):
        filing = plan.filings[n]
        if item is None or n in fresh or filing.raw is None:
            continue
        own = next(connection.execute("SELECT source, ordinal FROM item WHERE id = ?", (item,)))
        if own != (source, filing.ordinal):
            found.append((source, filing.ordinal, item))
    return found


def _stored_raw(connection: Connection, packs: PackReader, row: int) -> bytes | None:
    for pack, start, size in connection.execute("SELECT pack, raw_start, raw_size FROM item WHERE id = ?", (row,)):
        return None if pack is None else packs.read(pack, start, size)
    return None


def _telling(parts: tuple[Part, ...], size: int) -> tuple[Part, ...]:
    """Leave out the one part that says what is the case without it: all of the text is text."""
    return () if parts == (Part("text", 0, size),) else parts


def _row(
    filing: Filing,
    source: int,
    room: int,
    packs: Sequence[int | None],
    spot: Spot | None,
    now: Micros,
) -> ItemRow:
    text, codec = items.encode_text(filing.text)
    return ItemRow(
        uid=bytes.fromhex(filing.id),
        source=source,
        kind=filing.kind,
        role=filing.role,
        standing=filing.standing,
        author=well_formed(filing.author),
        thread=well_formed(filing.thread),
        ordinal=filing.ordinal,
        created_at=filing.created_at,
        recorded_at=now,
        trust=filing.trust,
        branch=well_formed(filing.branch),
        commit=well_formed(filing.commit),
        room=room,
        parts=items.dump_parts(_telling(filing.parts, len(filing.text))),
        meta=json.dumps(filing.meta, ensure_ascii=True, separators=(",", ":"), default=str) if filing.meta else "{}",
        decoder=filing.decoder,
        pack=packs[spot[0]] if spot else None,
        raw_start=spot[1] if spot else 0,
        raw_size=spot[2] if spot else 0,
        salt=os.urandom(16),
        text=text,
        text_codec=codec,
    )
