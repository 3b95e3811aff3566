"""Push filter: what of a palace does not go to a remote: private wings, wings that this remote excludes, and secrets.

Of an item that stays, only the hash of its link is sent, with the reason, and only when a later link of that chain is
sent: neither the item's id nor its time is revealed. Of any other record that stays, nothing is sent, and neither is
anything that is meaningless without it: a room of a private wing, the facts that hold there, the acts on what was said
there. Records that only serve others (a source, an entity, a group) are sent if a record that they serve is sent.

A thing is private if it was ever in a private wing: moving it out of one, or merging the wing into another, does not
publish it. As long as a private wing is part of a public one, everything of both stays: the names of both lead to one
place.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from palazzo.knowledge import suggestions
from palazzo.security.secret_prescan import suspects
from palazzo.security.secret_scanner import find_secrets
from palazzo.store import remote_rows
from palazzo.store.database import Connection
from palazzo.sync import segments
from palazzo.sync.records.entity_records import Entity, EntityLink, PredicateRule
from palazzo.sync.records.fact_records import Fact, FactVersion, UnwantedFact
from palazzo.sync.records.group_records import Group, Member
from palazzo.sync.records.item_records import Item
from palazzo.sync.records.kind_registry import descriptor_of
from palazzo.sync.records.record_kind import Record, RecordName

Why = Literal["private", "filtered", "secret", "large"]
"""Private; in wings that a remote does not receive; with a secret in it; larger than a reader accepts."""
_EXEMPT_KINDS = ("item", "unwanted_fact")
"""Kinds that are filtered elsewhere, or not at all."""


_WINGS = "SELECT id, uid, name FROM wing"


@dataclass(slots=True)
class Limits:
    """The items and places that are withheld, in one snapshot.

    `rooms` and `wings` (ids) are withheld, and `items` are additional items. `is_selective` says that the remote
    receives only some wings: then facts that hold in all wings are withheld, too.
    """

    wings: dict[str, Why] = field(default_factory=dict)
    rooms: dict[str, Why] = field(default_factory=dict)
    items: dict[str, Why] = field(default_factory=dict)
    is_selective: bool = False

    def __bool__(self) -> bool:
        return bool(self.wings or self.rooms or self.is_selective)

    def of_items(self, connection: Connection, items: Sequence[str]) -> dict[str, Why]:
        """Return which of the items are withheld, and why."""
        if not self:
            return {}
        reasons = {item: self.items[item] for item in items if item in self.items}
        rows = connection.execute(
            "SELECT item.uid, room.uid FROM item JOIN room ON room.id = item.room"
            " WHERE item.uid IN (SELECT unhex(value) FROM json_each(?))",
            (json.dumps([*items]),),
        )
        for item, room in rows:
            why = self.rooms.get(bytes(room).hex())
            if why is not None:
                reasons.setdefault(bytes(item).hex(), why)
        return reasons


def limits(connection: Connection, wings: Sequence[str]) -> Limits:
    """Return what is withheld from a remote of these wings; of all wings if none is named."""
    private = remote_rows.private_wings(connection)
    result = Limits(is_selective=bool(wings))
    if not private and not wings:
        return result
    own = remote_rows.private_rooms(connection)
    wings_by_row = {int(row): (bytes(uid).hex(), str(name)) for row, uid, name in connection.execute(_WINGS)}
    private_names = {wings_by_row[row][1] for row in private if row in wings_by_row}
    for row, (uid, name) in wings_by_row.items():
        if row in private or name in private_names:
            result.wings[uid] = "private"
        elif wings and name not in wings:
            result.wings[uid] = "filtered"
    for row, uid, wing in connection.execute("SELECT id, uid, wing FROM room"):
        if int(row) in own:
            result.rooms[bytes(uid).hex()] = "private"
        elif wings and wings_by_row[int(wing)][1] not in wings:
            result.rooms[bytes(uid).hex()] = "filtered"
    _add_moves(connection, result, own)
    first = connection.execute("SELECT uid, first_wing FROM room")
    for uid, wing in first:  # a room that goes takes the wing that it was created in with it
        if bytes(uid).hex() not in result.rooms and result.wings.get(wings_by_row[int(wing)][0]) == "filtered":
            del result.wings[wings_by_row[int(wing)][0]]
    return result


def _add_moves(connection: Connection, result: Limits, private: set[int]) -> None:
    """Find items that an act ever moved into a private room that is withheld."""
    rows = connection.execute(
        "SELECT item_uid, json_extract(detail, '$.row') FROM act JOIN act_span ON act_span.act = act.id"
        " WHERE act.kind = 'move'"
    )
    for uid, room in rows:
        if room is not None and int(room) in private:
            result.items[bytes(uid).hex()] = "private"


def hidden_sources(connection: Connection, limits: Limits) -> set[str]:
    """Return the sources with withheld items only: their titles would reveal what is withheld."""
    rooms = {int(row): bytes(uid).hex() for row, uid in connection.execute("SELECT id, uid FROM room")}
    uids = {int(row): bytes(uid).hex() for row, uid in connection.execute("SELECT id, uid FROM source")}
    shared_counts: Counter[str] = Counter()
    private_sources: set[str] = set()
    for source, room, count in connection.execute("SELECT source, room, count(*) FROM item GROUP BY source, room"):
        if rooms[int(room)] in limits.rooms:
            private_sources.add(uids[int(source)])
        else:
            shared_counts[uids[int(source)]] += int(count)
    for item in limits.items:
        rows = connection.execute("SELECT source, room FROM item WHERE uid = ?", (bytes.fromhex(item),))
        for source, room in rows:
            private_sources.add(uids[int(source)])
            shared_counts[uids[int(source)]] -= rooms[int(room)] not in limits.rooms
    return {uid for uid in private_sources if shared_counts[uid] <= 0}


def hidden_references(connection: Connection, limits: Limits, records: Sequence[Record]) -> set[RecordName]:
    """Return the items and tasks that these records refer to and that are withheld, even if a remote already has them.

    Also unwanted facts that were suggested only from withheld wings.
    """
    item_ids = {uid for record in records for kind, uid in _named_in(record) if kind in ("item", "task")}
    names: set[RecordName] = {
        (kind, uid) for uid in limits.of_items(connection, [*item_ids]) for kind in ("item", "task")
    }
    unwanted_facts = [record for record in records if isinstance(record, UnwantedFact)]
    if unwanted_facts:
        wings = {str(name) for _, uid, name in connection.execute(_WINGS) if bytes(uid).hex() not in limits.wings}
        suggested_ids = suggestions.ids_of(connection, wings)
        hidden_facts = [record for record in unwanted_facts if record.id not in suggested_ids]
        names.update(_name_of(record) for record in hidden_facts)
        names.update(("unwanted_fact", record.id) for record in hidden_facts)
    return names


# --- secrets -----------------------------------------------------------------------------------------------


def only_with_secrets(items: Iterable[Item]) -> Iterator[Item]:
    """Yield those of the items that contain a secret by today's rules.

    As at ingest, a row's own bytes stand for its text, which was read from them; both are examined if they are
    suspected of containing one.
    """
    came = list(items)
    texts = [item.text.encode("utf-8", "surrogatepass") for item in came]
    contents = [
        text if item.raw is None or item.type == "document" else item.raw
        for item, text in zip(came, texts, strict=True)
    ]
    metadata = ["\n".join((item.meta, item.author, item.branch)).encode("utf-8", "surrogatepass") for item in came]
    for n in sorted({n % len(came) for n in suspects([*contents, *metadata])}):
        if any(_holds_secret(words) for words in (texts[n], contents[n], metadata[n])):
            yield came[n]


def _holds_secret(words: bytes) -> bool:
    return any(True for _ in find_secrets(words.decode("utf-8", "surrogateescape")))


def lines_with_secrets(lines: Sequence[bytes]) -> set[int]:
    """Return which lines of other records contain secrets."""
    return {n for n in suspects(lines) if _holds_secret(lines[n])}


# --- what is nothing without what stays --------------------------------------------------------------------


@dataclass(slots=True)
class Sieve:
    """Selects, of the records of a palace other than items, those that are sent."""

    limits: Limits
    counts: Counter[str] = field(default_factory=Counter)
    """Number of withheld records of each kind."""
    stays: set[RecordName] = field(default_factory=set)
    """The withheld records known so far: records that refer to them are withheld, too."""

    def sift(self, record_lines: Sequence[tuple[Record, bytes]]) -> Iterator[tuple[Record, bytes]]:
        """Yield the (record, line) pairs to send, in order; their references were sifted before or are among them."""
        secret = lines_with_secrets([line for _, line in record_lines])
        secret |= {n for n, (_, line) in enumerate(record_lines) if not segments.fits(line)}
        self.stays.update(_name_of(record_lines[n][0]) for n in secret)
        self.stays.update(("wing", wing) for wing in self.limits.wings)
        self.stays.update(("room", room) for room in self.limits.rooms)
        if self.limits.is_selective:
            self.stays.update(
                _name_of(fact) for fact, _ in record_lines if isinstance(fact, Fact) and fact.wing is None
            )
        if not self.stays:
            yield from record_lines
            return
        records_by_name = self._select_records({_name_of(record): record for record, _ in record_lines})
        for record, line in record_lines:
            if _name_of(record) in records_by_name:
                yield record, line
            else:
                self.counts[descriptor_of(record).name] += 1

    def _select_records(self, records_by_name: dict[RecordName, Record]) -> dict[RecordName, Record]:
        """Drop records that are part of a withheld one, and dependent records that serve nothing sent."""
        for name in self.stays:
            records_by_name.pop(name, None)
        while dropped_names := self._find_dependents(records_by_name):
            for name in dropped_names:
                del records_by_name[name]
            self.stays.update(dropped_names)
        return _drop_orphans(records_by_name) if self.limits else records_by_name

    def _find_dependents(self, records_by_name: dict[RecordName, Record]) -> list[RecordName]:
        """Return records that reveal withheld ones, and facts without a sent version (their sources are withheld)."""
        dropped_names = [
            name for name, record in records_by_name.items() if not self.stays.isdisjoint(_named_in(record))
        ]
        if dropped_names:
            return dropped_names
        fact_ids = {record.fact for record in records_by_name.values() if isinstance(record, FactVersion)}
        return [
            name for name, record in records_by_name.items() if isinstance(record, Fact) and record.id not in fact_ids
        ]


def _drop_orphans(records_by_name: dict[RecordName, Record]) -> dict[RecordName, Record]:
    """Drop entities and predicates without any sent fact, and groups without any sent member."""
    fact_names: set[RecordName] = set()
    for record in records_by_name.values():
        if isinstance(record, Fact):
            fact_names |= {*descriptor_of(record).refers_to(record), ("predicate", record.predicate)}
    linked_names: set[RecordName] = set()
    for record in records_by_name.values():
        if isinstance(record, EntityLink):
            ends = set(descriptor_of(record).refers_to(record))
            if not fact_names.isdisjoint(ends):
                linked_names |= ends

    def serves(name: RecordName, record: Record) -> bool:
        match record:
            case Entity():
                return name in fact_names or name in linked_names
            case EntityLink():
                return ("entity", record.entity) in fact_names | linked_names
            case PredicateRule():
                return ("predicate", record.predicate) in fact_names
        return True

    records = {name: record for name, record in records_by_name.items() if serves(name, record)}
    records = {
        name: record
        for name, record in records.items()
        if not isinstance(record, Member)
        or all(part in records or part[0] in _EXEMPT_KINDS for part in _named_in(record))
    }
    groups = _groups(records)
    return {
        name: record
        for name, record in records.items()
        if not (isinstance(record, Group) and name not in groups)
        and not (isinstance(record, Member) and ("group", record.group) not in groups)
    }


def _groups(records: dict[RecordName, Record]) -> set[RecordName]:
    """Return the groups that made a sent change, and the groups that undid those."""
    groups = {("group", uid) for record in records.values() if (uid := descriptor_of(record).group(record)) is not None}
    undoes = {
        name: ("group", record.undoes)
        for name, record in records.items()
        if isinstance(record, Group) and record.undoes
    }
    groups.update(undone_group for name, undone_group in undoes.items() if name in groups)
    return groups | {name for name, undone_group in undoes.items() if undone_group in groups}


def _name_of(record: Record) -> RecordName:
    return descriptor_of(record).name_record(record)


def _named_in(record: Record) -> Iterator[RecordName]:
    """Yield the records on which a record depends, or which it would reveal."""
    kind = descriptor_of(record)
    yield from kind.refers_to(record)
    yield from kind.reveals(record)


def count_reasons(reasons: Iterable[Why]) -> dict[str, int]:
    """Return the number withheld for each reason."""
    return dict(sorted(Counter(reasons).items()))
