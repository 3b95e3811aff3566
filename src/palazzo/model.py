"""The domain types, as frozen dataclasses. This module knows no storage and no source format.

Times are integers: microseconds since 1970-01-01 UTC. Ids are 32 lower-case hexadecimal digits. Spans count code points
of an item's text, half-open.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Literal, NewType, get_args

from palazzo.frozen_class import frozen

ItemId = NewType("ItemId", str)
DrawerId = NewType("DrawerId", str)
Micros = NewType("Micros", int)

Role = Literal["user", "assistant", "tool", "system", "author"]
"""The speaker. `author` is the writer of a document or a note."""

Trust = Literal["user", "agent", "repo", "tool", "external"]
"""The origin of words, most trusted first."""
_TRUSTS: tuple[Trust, ...] = get_args(Trust)


def least_trust(*trusts: Trust) -> Trust:
    """Return the least of some trusts."""
    return max(trusts, key=_TRUSTS.index)


ItemKind = Literal["message", "document", "note", "noise"]
"""`noise` is a row that a host wrote for itself: archived byte for byte, never cut into drawers."""

PartKind = Literal["text", "thinking", "tool_call", "tool_result", "image", "attachment"]

ContentKind = Literal["said", "meta", "summary"]
"""`said` is conversation; `meta` was inserted by the host; `summary` replaces compacted messages."""

Visibility = Literal["merged", "unmerged", "parked", "unknown"]
"""Whether words written on a branch are part of the checked-out branch: `parked` is unmerged, and the branch is
gone.
"""

Freshness = Literal["fresh", "moved", "changed", "gone", "unknown"]
"""Whether the cited lines are still present in the current files (`git/freshness`)."""

USERS_WING = "user"
"""The wing of the user's own memories, which are shown in every project."""

MAIN_LINES = frozenset(["", "main", "master", "trunk"])
"""Branches whose words concern every branch. "" is for words written outside a repository, or on no branch."""

DrawerKind = Literal[
    "exchange", "message", "tool", "attachment", "section", "note", "diary", "todo", "reminder", "commit", "reasoning"
]  # fmt: skip
"""`reasoning` is what an agent thought before it spoke: it stands outside the sequence of the conversation."""


@frozen
class Part:
    """A range of an item's text with one kind: prose, a tool call, a tool's output.

    `name` is the tool's name for calls and results; `call` links a result to its call; `failed` marks an error result.
    `trust` overrides the item's trust for this range.
    """

    kind: PartKind
    start: int
    end: int
    name: str = ""
    call: str = ""
    failed: bool = False
    trust: Trust | None = None


@frozen
class Place:
    """The wing and room in which something is filed."""

    wing: str
    room: str


@frozen
class Span:
    """A range of one item's text."""

    item: ItemId
    start: int
    end: int


@frozen
class Source:
    """The origin of items: a transcript, a document, or the user and agent themselves.

    `key` is the stable identity (session, or project identity and relative path), never an absolute path; `uri` is
    where it was last seen.
    """

    key: tuple[str, ...]
    kind: str
    uri: str
    session_id: str = ""
    title: str = ""
    project: str = ""


@frozen
class Item:
    """One archived item, kept in full."""

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


@frozen
class Drawer:
    """The unit that search returns: exact spans of archived text, and their place."""

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
"""How a drawer or a fact came to cite a file: someone stated it, a tool read or changed the file, or it was
mentioned.
"""

UNKNOWN_LINE = -1
"""Stands for the line numbers of a cited range that is known only by its words."""


@frozen
class Anchor:
    """A cited file, or a range of one, in its state at that time.

    `path` is relative to the root of the wing's project, with `/`; it is absolute if the file is in no project. `first`
    and `last` are line numbers from 1, both inclusive; 0 means the whole file, `UNKNOWN_LINE` a range whose position
    was not stated. `digest` is that of the cited words (`text/cited_lines`), empty if they were not seen; `lines` is
    the number of lines that it covers. `blob` is git's id of the whole file at that time, in hexadecimal, empty if it
    is not known.
    """

    path: str
    first: int = 0
    last: int = 0
    digest: bytes = b""
    lines: int = 0
    blob: str = ""
    how: AnchorKind = "stated"


@frozen
class ErasedItem:
    """An item that lost words or bytes: its id, and the ranges of its text (code points, half-open)."""

    id: str
    spans: tuple[tuple[int, int], ...]


@frozen
class Certificate:
    """Result of one erase. It contains no words: `tombstones` are hashes under a key that never leaves the palace.

    `names` are rows with names that contained words, by table; `looked` is the number of items and packs that were
    searched, and `unreadable` lists damaged packs. `left` are texts at erased places that many other sources also
    contain and that were kept there. The chain's newest link identifies the state of the palace that this certificate
    describes.
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
