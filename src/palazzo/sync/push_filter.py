"""What of a palace does not go to a remote: private wings, wings that this remote is not for, and secrets.

Of an item that stays only the hash of its link goes, with the reason, and only when a later link of that chain goes:
neither the item's id nor its time is revealed. Of anything else that stays nothing goes, nor of what is nothing without
it: a room of a private wing, the facts that hold there, the acts on what was said there. What serves others alone (a
source, an entity, a group) goes where something goes that it serves.

A thing was private if it ever was in a private wing: moving it out of one, or merging the wing into another, does not
publish it. As long as a private wing is part of a public one all of both stays: the names of both lead to one place.
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
from palazzo.sync.record_lines import key_of, kind_of
from palazzo.sync.record_references import Name, drop_missing, parts_of
from palazzo.sync.record_types import (
    Act,
    Conflict,
    Entity,
    EntityLink,
    Fact,
    FactVersion,
    Group,
    Item,
    Member,
    PredicateRule,
    Record,
    UnwantedFact,
)

Why = Literal["private", "filtered", "secret", "large"]
"""Private; of wings that a remote is not for; with a secret in it; larger than a reader takes."""
_MEMBERS = {
    "act": "act",
    "note": "item",
    "state": "task_state",
    "arrangement": "arrangement",
    "fact+": "fact_version",
    "fact-": "fact_version",
    "link+": "entity_link",
    "link-": "entity_link",
    "predicate": "predicate_rule",
    "dismissal": "conflict",
    "unwanted": "unwanted_fact",
    "tunnel+": "tunnel",
    "tunnel-": "tunnel",
    "undone": "group",
}
"""What members of groups are, as records."""
_EXEMPT_KINDS = ("item", "unwanted_fact")
"""Kinds that are sifted by others, or not at all."""


_WINGS = "SELECT id, uid, name FROM wing"


@dataclass(slots=True)
class Limits:
    """What stays, as it is in one snapshot. `rooms` and `wings` (ids) are those that stay, `moved` items beside them.

    `only` says that the remote is for some wings alone: then what holds in all wings stays, too.
    """

    wings: dict[str, Why] = field(default_factory=dict)
    rooms: dict[str, Why] = field(default_factory=dict)
    items: dict[str, Why] = field(default_factory=dict)
    is_selective: bool = False

    def __bool__(self) -> bool:
        return bool(self.wings or self.rooms or self.is_selective)

    def of_items(self, connection: Connection, items: Sequence[str]) -> dict[str, Why]:
        """Return which of the items stay, and why."""
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
    """Return what stays of what is for a remote of these wings; of all where none is named."""
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
    """Items that an act moved into a room that stays, ever, where it is private."""
    rows = connection.execute(
        "SELECT item_uid, json_extract(detail, '$.row') FROM act JOIN act_span ON act_span.act = act.id"
        " WHERE act.kind = 'move'"
    )
    for uid, room in rows:
        if room is not None and int(room) in private:
            result.items[bytes(uid).hex()] = "private"


def hidden_sources(connection: Connection, limits: Limits) -> set[str]:
    """Return the sources of which items stay, and none goes: their titles would tell of what stays."""
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


def hidden_references(connection: Connection, limits: Limits, records: Sequence[Record]) -> set[Name]:
    """Return the items and tasks that these records refer to and that stay, even if a remote already has them.

    Also unwanted facts that were suggested only from wings that stay.
    """
    item_ids = {uid for record in records for kind, uid in _told_by(record) if kind in ("item", "task")}
    names: set[Name] = {(kind, uid) for uid in limits.of_items(connection, [*item_ids]) for kind in ("item", "task")}
    unwanted_facts = [record for record in records if isinstance(record, UnwantedFact)]
    if unwanted_facts:
        wings = {str(name) for _, uid, name in connection.execute(_WINGS) if bytes(uid).hex() not in limits.wings}
        suggested_ids = suggestions.ids_of(connection, wings)
        hidden_facts = [record for record in unwanted_facts if record.id not in suggested_ids]
        names.update(name_of(record) for record in hidden_facts)
        names.update(("unwanted_fact", record.id) for record in hidden_facts)
    return names


# --- secrets -----------------------------------------------------------------------------------------------


def only_with_secrets(items: Iterable[Item]) -> Iterator[Item]:
    """Yield those of the items that hold what today's rules find to be a secret.

    As at the door, a row's own bytes stand for its text, which was read from them; both are looked at where they are
    suspected of holding one.
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
    """Return which of the lines of other records hold such."""
    return {n for n in suspects(lines) if _holds_secret(lines[n])}


# --- what is nothing without what stays --------------------------------------------------------------------


@dataclass(slots=True)
class Sieve:
    """Lets through, of the records of a palace that are no items, what goes."""

    limits: Limits
    counts: Counter[str] = field(default_factory=Counter)
    """How many records of each kind stay."""
    stays: set[Name] = field(default_factory=set)
    """What stays, as far as that is known: what refers to it does, too."""

    def sift(self, record_lines: Sequence[tuple[Record, bytes]]) -> Iterator[tuple[Record, bytes]]:
        """Yield what goes of (record, line), in order; what they refer to was sifted before, or is among them."""
        secret = lines_with_secrets([line for _, line in record_lines])
        secret |= {n for n, (_, line) in enumerate(record_lines) if not segments.fits(line)}
        self.stays.update(name_of(record_lines[n][0]) for n in secret)
        self.stays.update(("wing", wing) for wing in self.limits.wings)
        self.stays.update(("room", room) for room in self.limits.rooms)
        if self.limits.is_selective:
            self.stays.update(name_of(fact) for fact, _ in record_lines if isinstance(fact, Fact) and fact.wing is None)
        if not self.stays:
            yield from record_lines
            return
        records_by_name = self._select_records({name_of(record): record for record, _ in record_lines})
        for record, line in record_lines:
            if name_of(record) in records_by_name:
                yield record, line
            else:
                self.counts[kind_of(record)] += 1

    def _select_records(self, records_by_name: dict[Name, Record]) -> dict[Name, Record]:
        """Nothing goes that is a part of what stays; and of what serves others, what serves something."""
        for name in self.stays:
            records_by_name.pop(name, None)
        while dropped_names := self._find_dependents(records_by_name):
            for name in dropped_names:
                del records_by_name[name]
            self.stays.update(dropped_names)
        return _drop_orphans(records_by_name) if self.limits else records_by_name

    def _find_dependents(self, records_by_name: dict[Name, Record]) -> list[Name]:
        """What tells of what stays; and facts of which no version goes: whoever states them is among what stays."""
        dropped_names = [
            name for name, record in records_by_name.items() if not self.stays.isdisjoint(_told_by(record))
        ]
        if dropped_names:
            return dropped_names
        fact_ids = {record.fact for record in records_by_name.values() if isinstance(record, FactVersion)}
        return [
            name for name, record in records_by_name.items() if isinstance(record, Fact) and record.id not in fact_ids
        ]


def _drop_orphans(records_by_name: dict[Name, Record]) -> dict[Name, Record]:
    """Leave out entities and predicates of which no fact goes, and groups of which nothing does."""
    fact_names = {name for record in records_by_name.values() if isinstance(record, Fact) for name in _of_fact(record)}
    linked_names: set[Name] = set()
    for record in records_by_name.values():
        if isinstance(record, EntityLink):
            ends = set(drop_missing(("entity", record.entity), ("entity", record.other)))
            if not fact_names.isdisjoint(ends):
                linked_names |= ends

    def serves(name: Name, record: Record) -> bool:
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
        or all(part in records or part[0] in _EXEMPT_KINDS for part in _told_by(record))
    }
    groups = _groups(records)
    return {
        name: record
        for name, record in records.items()
        if not (isinstance(record, Group) and name not in groups)
        and not (isinstance(record, Member) and ("group", record.group) not in groups)
    }


def _groups(records: dict[Name, Record]) -> set[Name]:
    """The groups that did something that goes, and the groups that undid those."""
    groups = {group for record in records.values() for group in _of_group(record)}
    undoes = {
        name: ("group", record.undoes)
        for name, record in records.items()
        if isinstance(record, Group) and record.undoes
    }
    groups.update(undone_group for name, undone_group in undoes.items() if name in groups)
    return groups | {name for name, undone_group in undoes.items() if undone_group in groups}


def _of_fact(record: Fact) -> Iterator[Name]:
    yield from (("entity", record.subject), ("entity", record.object), ("predicate", record.predicate))


def _of_group(record: Record) -> Iterator[Name]:
    """Yield the group whose act or member a record is."""
    match record:
        case Act():
            yield from drop_missing(("group", record.group))
        case Member() if record.type != "undone":
            yield "group", record.group


def name_of(record: Record) -> Name:
    """Return by what a record is known among all, without its text."""
    kind, *rest = key_of(record)
    return kind, "/".join(rest)


def _told_by(record: Record) -> Iterator[Name]:
    """Yield what a record is nothing without, or would tell of."""
    yield from parts_of(record)
    match record:
        case Act():
            yield from (("item", span.item) for span in record.spans)
        case FactVersion():
            for statement in record.sources:
                yield from drop_missing(("item", statement.item), *(("item", uid) for uid in statement.tainted_by))
        case Conflict():
            yield from drop_missing(("item", record.earlier.item), ("item", record.later.item))
        case Member():
            yield from drop_missing((_MEMBERS[record.type], record.ref))


def count_reasons(reasons: Iterable[Why]) -> dict[str, int]:
    """Return how many stay for each reason."""
    return dict(sorted(Counter(reasons).items()))
