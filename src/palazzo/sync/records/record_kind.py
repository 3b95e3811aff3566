"""Record kinds: all that export and sync know about one kind of record, in one descriptor.

    {"kind":"wing","id":"6f0c…","first_name":"palazzo"}

A record is a frozen dataclass, and one JSON object per line, with the same bytes wherever the same is known. It refers
to others by their ids and never by a row id. A field that has its default value is not written, so that equal records
are equal bytes. Times are microseconds since 1970 UTC, ids 32 hexadecimal digits, and places in a text count code
points. The column that the tables call the kind of a row is `type` here: `kind` is the kind of the line.

The engines of export and sync know no kinds: they ask the descriptors that `kind_registry` lists.
docs/reference/export-schema.json is generated from them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Generic, Literal, TypeVar

from palazzo.model import Trust
from palazzo.store.change_groups import MemberKind
from palazzo.store.database import Connection
from palazzo.sync.merge_state import Outcome, Work
from palazzo.sync.records.palace_snapshot import PalaceSnapshot, Selection

Verdict = Literal["take", "there", "refused", "dropped"]
"""On another person's record. `there`: the record exists here and stays unchanged. `dropped`: the record means nothing
outside the palace from which it comes.
"""
RecordName = tuple[str, str]
"""A kind of record, and a record's identity. Predicates have their names in place of ids."""


class Record:
    """A record of any kind. Each kind is a frozen dataclass whose annotations `field_codecs` defines."""

    __slots__ = ()


R = TypeVar("R", bound=Record)


def _accept_all(record: Record) -> None:
    pass


def _name_nothing(record: Record) -> tuple[RecordName, ...]:
    return ()


def _belong_to_no_group(record: Record) -> str | None:
    return None


def _read_nothing(snapshot: PalaceSnapshot) -> tuple[()]:
    return ()


def _select_nothing(connection: Connection, selection: Selection) -> None:
    pass


def _keep_unchanged(record: R, trust: Trust) -> R:
    return record


@dataclass(frozen=True, slots=True, eq=False)
class RecordKind(Generic[R]):
    """A kind of record. Whatever is not stated holds for a record with an `id` that refers to nothing."""

    name: str
    """The `kind` of its lines."""
    record_class: type[R]
    identity: tuple[str, ...] = ("id",)
    """The fields that identify a record."""
    table: str = ""
    """The table with the id as `uid`, if it is not called like the kind."""
    references: Mapping[str, str] = field(default_factory=dict)
    """The fields with ids of records without which a record means nothing, and the kinds of those."""
    check: Callable[[R], None] = _accept_all
    """Raises BadRecord, with half a sentence, if a record lacks required fields or has impossible values."""

    # --- export ---

    read: Callable[[PalaceSnapshot], Iterable[R]] = _read_nothing
    """Yields the records of a palace in their order, by default that of their ids."""
    select: Callable[[Connection, Selection], None] = _select_nothing
    """Adds to a limited export the rows of this kind that concern only what it holds, and what these rows need. The
    kinds are asked in their order.
    """

    # --- push ---

    reveals: Callable[[R], Iterable[RecordName]] = _name_nothing
    """Yields what a record would reveal besides its references: it is withheld together with any of these."""
    group: Callable[[R], str | None] = _belong_to_no_group
    """Returns the change group of which a record is a part; a group is pushed if any part of it is."""

    # --- merge ---

    merge: Callable[[Work, R], Outcome] | None = None
    """Joins a record with the local one, whatever the order in which they come. None if `merge` does it by itself."""
    undo_member: MemberKind | None = None
    """The kind of member by which undoing an import reverts a new record; None if another record reverts it."""
    limit: Callable[[R, Trust], R] = _keep_unchanged
    """Returns a record as another person may state it: with at most that trust."""
    judge: Verdict | Callable[[Work, R], Verdict | bool] = "refused"
    """Whether a merge accepts a record of another person: the verdict on all of them, or the rule for each."""

    @property
    def uid_table(self) -> str | None:
        """The table that has records of this kind by id; None if something other than an id identifies them."""
        return (self.table or self.name) if self.identity == ("id",) else None

    def key(self, record: R) -> tuple[str, ...]:
        """Return the identity of a record: its kind, and its id or what replaces one."""
        return (self.name, *(str(getattr(record, name)) for name in self.identity))

    def name_record(self, record: R) -> RecordName:
        """Return the identity of a record as one text."""
        return self.name, "/".join(self.key(record)[1:])

    def refers_to(self, record: R) -> Iterator[RecordName]:
        """Yield the records without which a record means nothing."""
        for name, kind in self.references.items():
            uid = attrgetter(name)(record)
            if uid is not None:
                yield kind, uid

    def predecessors(self, record: R) -> Iterator[RecordName]:
        """Yield the records that come before a record in an export: its group, and those to which it refers."""
        group = self.group(record)
        if group is not None:
            yield "group", group
        yield from self.refers_to(record)
