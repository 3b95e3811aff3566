"""The nouns, as frozen dataclasses. This module knows no storage and no source format.

Times are integers: microseconds since 1970-01-01 UTC. Ids are 32 lower-case hexadecimal digits.
Spans count code points of an item's text, half-open.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NewType, get_args

ItemId = NewType("ItemId", str)
DrawerId = NewType("DrawerId", str)
Micros = NewType("Micros", int)

Role = Literal["user", "assistant", "tool", "system", "author"]
"""Who speaks. `author` is whoever wrote a document or a note."""

Trust = Literal["user", "agent", "repo", "tool", "external"]
"""Where words came from, most trusted first."""
_TRUSTS: tuple[Trust, ...] = get_args(Trust)


def least_trust(*trusts: Trust) -> Trust:
    """Return the least of some trusts."""
    return max(trusts, key=_TRUSTS.index)


ItemKind = Literal["message", "document", "note", "noise"]
"""`noise` is a row that a host wrote for itself: archived to the byte, never cut into drawers."""

PartKind = Literal["text", "thinking", "tool_call", "tool_result", "image", "attachment"]

ContentKind = Literal["said", "meta", "summary"]
"""`said` is conversation; `meta` is what the host inserted; `summary` replaces what was compacted."""

Visibility = Literal["merged", "unmerged", "parked", "unknown"]
"""Whether what was written on a branch is part of what is checked out: `parked` is unmerged, and the branch is gone."""

Freshness = Literal["fresh", "moved", "changed", "gone", "unknown"]
"""Whether the lines that words cite still stand in the files at hand (`git/freshness`)."""

USERS_WING = "user"
"""The wing of what is the person's own: every project is told of it."""

MAIN_LINES = frozenset(["", "main", "master", "trunk"])
"""Branches whose words concern everybody. "" is what was written outside a repository, or on no branch."""

DrawerKind = Literal["exchange", "message", "tool", "attachment", "section", "note", "diary", "todo", "reminder"]


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of an item's text with one kind: prose, a tool call, a tool's output.

    `name` is the tool's name for calls and results; `call` ties a result to its call; `failed` marks an
    error result. `trust` overrides the item's trust for this stretch.
    """

    kind: PartKind
    start: int
    end: int
    name: str = ""
    call: str = ""
    failed: bool = False
    trust: Trust | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Where something is filed."""

    wing: str
    room: str


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of one item's text."""

    item: ItemId
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Source:
    """Where items came from: a transcript, a document, or the person and agent themselves.

    `key` is the stable identity (session, or project identity and relative path), never an absolute path;
    `uri` is where it was last seen.
    """

    key: tuple[str, ...]
    kind: str
    uri: str
    session_id: str = ""
    title: str = ""
    project: str = ""


@dataclass(frozen=True, slots=True)
class Item:
    """One archived thing, kept whole."""

    id: ItemId
    kind: ItemKind
    role: Role
    standing: ContentKind
    author: str
    text: str
    parts: tuple[Part, ...]
    thread: str
    ordinal: int
    created_at: Micros
    recorded_at: Micros
    trust: Trust
    branch: str
    commit: str
    place: Place
    source: Source
    meta: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Drawer:
    """The unit that search returns: exact spans of archived text, and where they are filed."""

    id: DrawerId
    kind: DrawerKind
    spans: tuple[Span, ...]
    text: str
    place: Place
    role: str
    author: str
    title: str
    created_at: Micros
    recorded_at: Micros
    retired_at: Micros | None
    trust: Trust
    branch: str
    commit: str
    locator: str
    source: Source
    tags: tuple[str, ...] = ()


AnchorKind = Literal["stated", "read", "edited", "mentioned"]
"""How a drawer or a fact came to cite a file: somebody said so, a tool read or changed it, or it was spoken of."""

UNKNOWN_LINE = -1
"""What stands for the lines of a cited stretch that is known by its words alone."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """A file, or a stretch of one, that is cited, as it was then.

    `path` is named from the root of the wing's project, with `/`; it is absolute where the file is in no project.
    `first` and `last` are lines, from 1 and both cited; 0 is the whole file, `UNPLACED` a stretch of which nobody said
    where it stood. `digest` is of the cited words (`text/cited_lines`), empty where they were not seen; `lines` is how many
    it is of. `blob` is git's id of the whole file then, in hexadecimal, empty where that is not known.
    """

    path: str
    first: int = 0
    last: int = 0
    digest: bytes = b""
    lines: int = 0
    blob: str = ""
    how: AnchorKind = "stated"


@dataclass(frozen=True, slots=True)
class ErasedItem:
    """An item of which words or bytes went: its id, and the stretches of its text (code points, half-open)."""

    id: str
    spans: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Certificate:
    """What one erase did. It holds no words: `tombstones` are hashes under a key that never leaves the palace.

    `names` are rows with names that held words, by table; `looked` how many items and packs were looked at, and
    `unreadable` packs that were damaged. `left` are texts at erased places that many other sources hold too, which
    kept them. The chain's newest link tells which state of the palace this is about.
    """

    palace: str
    erasure: str
    at: Micros
    items: tuple[ErasedItem, ...]
    names: Mapping[str, int]
    packs: int
    tombstones: tuple[str, ...]
    left: int
    looked: Mapping[str, int]
    unreadable: tuple[int, ...]
    chain_seq: int
    chain_head: str
