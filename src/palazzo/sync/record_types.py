"""The truth of a palace as records: one JSON object per line, the same bytes wherever the same is known.

    {"kind":"wing","id":"6f0c…","first_name":"palazzo"}

A record refers to others by their ids and never by a row id. A field that has the value it is left out at is not
written, so that equal records are equal bytes. Times are microseconds since 1970 UTC, ids 32 hexadecimal digits, places
in a text count code points. What the tables call the kind of a row is `type` here: `kind` says what a line is.

`wire` has the order in which they stand: a record refers to kinds before its own, or to its own. From both of them
docs/reference/export-schema.json is made.
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
"""Why a link has no body here: it was erased, another device's copy of the item is kept, or it did not travel."""


@dataclass(frozen=True, slots=True)
class Header:
    """The first line. `filter` is what the export was limited to, by option; empty where it holds everything."""

    format: Literal["palazzo"]
    version: Whole
    written_by: Name = ""
    filter: Detail | None = None


@dataclass(frozen=True, slots=True)
class Device:
    """A device whose chain of links is told."""

    id: Id
    name: Name = ""
    created_at: Time = 0


@dataclass(frozen=True, slots=True)
class Wing:
    """A wing as it was created. What it is called now follows from `arrangement`."""

    id: Id
    first_name: Name


@dataclass(frozen=True, slots=True)
class Room:
    """A room as it was created, in the wing of that id."""

    id: Id
    wing: Id
    first_name: Name


@dataclass(frozen=True, slots=True)
class Project:
    """A project, known by its identity, and the wing it lives in since `changed_at`."""

    identity: Name
    wing: Id
    changed_at: Time = 0


@dataclass(frozen=True, slots=True)
class Source:
    """Where items came from. `uri` is where it was seen, which is another on each device."""

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
    """One archived thing. `raw` are the bytes its source wrote, None where it has none; `salt` is of its link."""

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
    """A row of a source that repeats an item to the byte."""

    source: Id
    ordinal: Whole
    item: Id


@dataclass(frozen=True, slots=True)
class Revision:
    """Which version of a document was current from when on."""

    source: Id
    at: Time
    item: Id


@dataclass(frozen=True, slots=True)
class Link:
    """A link of a device's chain. `absent` says why there is no such item here, or not as the digest has it."""

    device: Id
    seq: Whole
    item: Id
    digest: Digest
    hash: Digest
    absent: Absent | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """What one command did. `undoes` is the group that it took back."""

    id: Id
    actor: Name
    at: Time
    verb: Name
    size: Whole = 0
    summary: Name = ""
    undoes: Id | None = None


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of an item that an act is about, as it was a part of a drawer."""

    item: Id
    start: Whole
    end: Whole
    drawer: Id


@dataclass(frozen=True, slots=True)
class Act:
    """What somebody did to stretches of items. `room` is where a move leads; `detail` has what else its type needs."""

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
    """A name that facts are about."""

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
    """What was declared of a predicate: whether a subject has one object at a time."""

    id: Id
    predicate: Name
    functional: Flag
    recorded_at: Time
    retired_at: Time | None = None


@dataclass(frozen=True, slots=True)
class Fact:
    """What is said of what: the ids of entities, a predicate's name, and the wing in which it holds, if not in all."""

    id: Id
    subject: Id
    predicate: Name
    object: Id
    wing: Id | None = None


@dataclass(frozen=True, slots=True)
class FileCitation:
    """A file that is cited by who states a fact: lines, the digest of their words, git's id of the file."""

    path: Name
    first: Whole = 0
    last: Whole = 0
    digest: Digest = b""
    lines: Whole = 0
    blob: Digest = b""


@dataclass(frozen=True, slots=True)
class Statement:
    """Who states a fact and where that is written, if anywhere: an item, or a stretch of it."""

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
    """A fact as it was believed from `recorded_at` until `retired_at`; the `nth` (from 0) of that moment."""

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
    """One side of a conflict: a fact, or the stretch of an item that says it."""

    fact: Id | None = None
    item: Id | None = None
    start: Whole | None = None
    end: Whole | None = None


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two that cannot both hold. It is dismissed at `dismissed_at`; that was taken back last at `restored_at`."""

    id: Id
    type: Name
    earlier: Side
    later: Side
    found_at: Time
    dismissed_at: Time | None = None
    restored_at: Time | None = None


@dataclass(frozen=True, slots=True)
class Arrangement:
    """What was arranged of a wing or of a room; `target` is a wing, or a room that another is merged into."""

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
    """A tunnel from a room to another, and the drawers that it leads to on each side."""

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
    """Erased words, by hashes under the palace's key."""

    size: Whole
    standing: Whole
    head: Whole
    tail: Whole
    hash: Digest


@dataclass(frozen=True, slots=True)
class Erasure:
    """An erasure: the items that lost bytes by it, and its tombstones, which none but a palace of one key can read."""

    id: Id
    at: Time
    certificate: Text = ""
    items: tuple[Id, ...] = ()
    tombstones: tuple[Tombstone, ...] = ()


@dataclass(frozen=True, slots=True)
class UnwantedFact:
    """A suggested fact that nobody wants, by a hash under the palace's key."""

    id: Id
    at: Time
    retired_at: Time | None = None


@dataclass(frozen=True, slots=True)
class Member:
    """One thing that a group did: the id of what `type` says, or of an `undone` one its number in the other group."""

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
