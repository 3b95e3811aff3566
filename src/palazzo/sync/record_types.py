"""Record types: the primary data of a palace, one JSON object per line, with the same bytes wherever the same is known.

    {"kind":"wing","id":"6f0c…","first_name":"palazzo"}

A record refers to others by their ids and never by a row id. A field that has its default value is not written, so that
equal records are equal bytes. Times are microseconds since 1970 UTC, ids 32 hexadecimal digits, and places in a text
count code points. The column that the tables call the kind of a row is `type` here: `kind` is the kind of the line.

`record_lines` defines the order of the kinds: a record refers to kinds before its own, or to its own kind.
docs/reference/export-schema.json is generated from both modules.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from palazzo.model import ContentKind, ItemKind, Role, Trust
from palazzo.store.act_rows import ActKind
from palazzo.store.arrangements import ArrangementKind
from palazzo.store.change_groups import MemberKind
from palazzo.store.entity_rows import LinkKind
from palazzo.store.task_rows import TaskKind, TaskState
from palazzo.sync.field_codecs import Detail, Digest, Flag, Id, Long, Meta, Name, Parts, Raw, Share, Text, Time, Whole

FORMAT: Literal["palazzo"] = "palazzo"
VERSION = 1
Absent = Literal["erased", "merged", "private", "withheld"]
"""Why a link has no body here: it was erased, another device's copy of the item is kept, or it was not sent."""


@dataclass(frozen=True, slots=True)
class Header:
    """The first line. `filter` is the restriction of the export, by option; empty if it contains everything."""

    format: Literal["palazzo"]
    version: Whole
    written_by: Name = ""
    filter: Detail | None = None


@dataclass(frozen=True, slots=True)
class Device:
    """A device whose chain of links is exported."""

    id: Id
    name: Name = ""
    created_at: Time = 0


@dataclass(frozen=True, slots=True)
class Wing:
    """A wing as it was created. Its current name follows from `arrangement`."""

    id: Id
    first_name: Name


@dataclass(frozen=True, slots=True)
class Room:
    """A room as it was created, in the wing with that id."""

    id: Id
    wing: Id
    first_name: Name


@dataclass(frozen=True, slots=True)
class Project:
    """A project, identified by its identity, and its wing since `changed_at`."""

    identity: Name
    wing: Id
    changed_at: Time = 0


@dataclass(frozen=True, slots=True)
class Source:
    """The origin of items. `uri` is where it was seen; it differs between devices."""

    id: Id
    type: Name
    key: tuple[Name, ...]
    uri: Name = ""
    session: Name = ""
    title: Name = ""
    project: Name = ""
    changed_at: Time = 0


@dataclass(frozen=True, slots=True)
class Item:
    """One archived item.

    `raw` are the bytes that its source wrote, None if there are none; `salt` belongs to its link.
    """

    id: Id
    source: Id
    room: Id
    type: ItemKind
    role: Role
    recorded_at: Time
    trust: Trust
    standing: ContentKind = "said"
    author: Name = ""
    thread: Name = ""
    ordinal: Whole = 0
    created_at: Time = 0
    branch: Name = ""
    commit: Name = ""
    decoder: Whole = 0
    parts: Parts = ""
    meta: Meta = "{}"
    text: Long = ""
    raw: Raw | None = None
    salt: Digest = b""


@dataclass(frozen=True, slots=True)
class Repetition:
    """A row of a source that repeats an item byte for byte."""

    source: Id
    ordinal: Whole
    item: Id


@dataclass(frozen=True, slots=True)
class Revision:
    """The version of a document that was current from a time on."""

    source: Id
    at: Time
    item: Id


@dataclass(frozen=True, slots=True)
class Link:
    """A link of a device's chain. `absent` says why the item does not exist here, or differs from the digest."""

    device: Id
    seq: Whole
    item: Id
    digest: Digest
    hash: Digest
    absent: Absent | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """The changes of one command. `undoes` is the group that it reverted."""

    id: Id
    actor: Name
    at: Time
    verb: Name
    size: Whole = 0
    summary: Name = ""
    undoes: Id | None = None


@dataclass(frozen=True, slots=True)
class Span:
    """A range of an item that an act concerns, as a part of a drawer."""

    item: Id
    start: Whole
    end: Whole
    drawer: Id


@dataclass(frozen=True, slots=True)
class Act:
    """An action on ranges of items.

    `room` is the target of a move; `detail` contains the other data that its type needs.
    """

    id: Id
    type: ActKind
    actor: Name
    at: Time
    detail: Detail
    room: Id | None = None
    group: Id | None = None
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Task:
    """A note that is a to-do or a reminder."""

    item: Id
    type: TaskKind
    due_at: Time | None = None


@dataclass(frozen=True, slots=True)
class State:
    """A state of a task (the note's id) from `recorded_at` until `retired_at`."""

    id: Id
    task: Id
    state: TaskState
    recorded_at: Time
    retired_at: Time | None = None


@dataclass(frozen=True, slots=True)
class Entity:
    """A name to which facts refer."""

    id: Id
    name: Name
    recorded_at: Time


@dataclass(frozen=True, slots=True)
class EntityLink:
    """An alias (`name` means `entity`), or a merge (`other` is `entity`)."""

    id: Id
    type: LinkKind
    entity: Id
    recorded_at: Time
    name: Name = ""
    other: Id | None = None
    retired_at: Time | None = None


@dataclass(frozen=True, slots=True)
class PredicateRule:
    """A declaration about a predicate: whether a subject has one object at a time."""

    id: Id
    predicate: Name
    functional: Flag
    recorded_at: Time
    retired_at: Time | None = None


@dataclass(frozen=True, slots=True)
class Fact:
    """A triple: the ids of its entities, a predicate's name, and the wing in which it holds, if not in all."""

    id: Id
    subject: Id
    predicate: Name
    object: Id
    wing: Id | None = None


@dataclass(frozen=True, slots=True)
class FileCitation:
    """A file cited by the author of a fact: lines, the digest of their words, and git's id of the file."""

    path: Name
    first: Whole = 0
    last: Whole = 0
    digest: Digest = b""
    lines: Whole = 0
    blob: Digest = b""


@dataclass(frozen=True, slots=True)
class Statement:
    """The author of a fact and the place where it is written, if any: an item, or a range of it."""

    stated_by: Name
    item: Id | None = None
    start: Whole | None = None
    end: Whole | None = None
    trust: Trust = "agent"
    tainted_by: tuple[Id, ...] = ()
    branch: Name = ""
    commit: Name = ""
    anchors: tuple[FileCitation, ...] = ()


@dataclass(frozen=True, slots=True)
class FactVersion:
    """A version of a fact, valid from `recorded_at` until `retired_at`; the `nth` (from 0) of that moment."""

    id: Id
    fact: Id
    confidence: Share
    recorded_at: Time
    valid_from: Time | None = None
    valid_to: Time | None = None
    superseded_by: Id | None = None
    retired_at: Time | None = None
    sources: tuple[Statement, ...] = ()
    nth: Whole = 0


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a conflict: a fact, or the range of an item that states it."""

    fact: Id | None = None
    item: Id | None = None
    start: Whole | None = None
    end: Whole | None = None


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two statements that cannot both be true.

    It was dismissed at `dismissed_at`; the dismissal was last reverted at `restored_at`.
    """

    id: Id
    type: Name
    earlier: Side
    later: Side
    found_at: Time
    dismissed_at: Time | None = None
    restored_at: Time | None = None


@dataclass(frozen=True, slots=True)
class Arrangement:
    """A change to a wing or a room; `target` is a wing, or the room into which another is merged."""

    id: Id
    type: ArrangementKind
    recorded_at: Time
    wing: Id | None = None
    room: Id | None = None
    name: Name = ""
    target: Id | None = None
    retired_at: Time | None = None


@dataclass(frozen=True, slots=True)
class Tunnel:
    """A tunnel from one room to another, and the drawers to which it leads on each side."""

    id: Id
    source: Id
    target: Id
    label: Name
    actor: Name
    recorded_at: Time
    retired_at: Time | None = None
    restored_at: Time | None = None
    source_drawers: tuple[Id, ...] = ()
    target_drawers: tuple[Id, ...] = ()


@dataclass(frozen=True, slots=True)
class Tombstone:
    """Erased words, as hashes under the palace's key."""

    size: Whole
    standing: Whole
    head: Whole
    tail: Whole
    hash: Digest


@dataclass(frozen=True, slots=True)
class Erasure:
    """An erasure: the items that lost bytes, and its tombstones, which only palaces with the same key can read."""

    id: Id
    at: Time
    certificate: Text = ""
    items: tuple[Id, ...] = ()
    tombstones: tuple[Tombstone, ...] = ()


@dataclass(frozen=True, slots=True)
class UnwantedFact:
    """A suggested fact that was rejected, as a hash under the palace's key."""

    id: Id
    at: Time
    retired_at: Time | None = None


@dataclass(frozen=True, slots=True)
class Member:
    """One change of a group: the id of what `type` names, or for an `undone` one its number in the other group."""

    group: Id
    n: Whole
    type: MemberKind
    ref: Id | None = None
    number: Whole | None = None


Record = (
    Header
    | Device
    | Wing
    | Room
    | Project
    | Source
    | Item
    | Repetition
    | Revision
    | Link
    | Group
    | Act
    | Task
    | State
    | Entity
    | EntityLink
    | PredicateRule
    | Fact
    | FactVersion
    | Conflict
    | Arrangement
    | Tunnel
    | Erasure
    | UnwantedFact
    | Member
)
