"""Feeders: bytes in, rows out. One file per source format, none of which knows the palace.

A feeder turns one source into `Row`s that together hold every byte it was given, in order: joining the
rows' `raw` gives the source back. What a row means is its `content`:

    Message      words to archive and to find again
    Noise        a row the host wrote for itself; archived to the byte, never searched
    Unreadable   a row that is not understood; archived to the byte and reported with its reason

A row that is bad never costs another row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Protocol

from palazzo.model import ContentKind, ItemKind, Micros, Part, Role


@dataclass(frozen=True, slots=True)
class Message:
    """What one row says.

    `uuid` is the host's own identity of the message, empty where the format has none. `namespace` is what it
    is unique in: empty for its session, `*` for everywhere, else words that a copy in another session (a
    fork's) has too. `thread` separates conversations that share a file (a sub-agent's side chain).
    `created_at` is None where the source does not say. `cwd` and `branch` are what the row itself states;
    empty when it does not.
    """

    text: str
    role: Role
    kind: ItemKind = "message"
    standing: ContentKind = "said"
    author: str = ""
    parts: tuple[Part, ...] = ()
    uuid: str = ""
    namespace: str = ""
    parent: str = ""
    thread: str = ""
    created_at: Micros | None = None
    cwd: str = ""
    branch: str = ""
    commit: str = ""
    meta: Mapping[str, object] = field(default_factory=dict)


LONGEST_REASON = 120
"""Characters of a reason. What names a row's kind comes from the row, and a damaged one may name anything."""


@dataclass(frozen=True, slots=True)
class Noise:
    """A row for the host's own use; `reason` names its kind, in `LONGEST_REASON` characters at most."""

    reason: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "reason", _short(self.reason))


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A row that could not be understood; `reason` is one clause of `LONGEST_REASON` characters at most."""

    reason: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "reason", _short(self.reason))


def _short(reason: str) -> str:
    return reason if len(reason) <= LONGEST_REASON else reason[: LONGEST_REASON - 1] + "…"


Content = Message | Noise | Unreadable


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a source: its exact bytes (line ending included), where they began, what they mean.

    `title` is set by rows that name the whole source (a session's title, a document's first heading).
    """

    position: int
    raw: bytes
    content: Content
    title: str = ""


@dataclass(frozen=True, slots=True)
class Identity:
    """What a source is, independent of where it lies: `key` never holds an absolute path.

    `cwd` is the session's directory where its rows do not say it but its place on the disk does. `led_by_agent` says
    that another agent speaks as the user throughout, as it does to a sub-agent.
    """

    key: tuple[str, ...]
    session_id: str = ""
    parent_session: str = ""
    cwd: str = ""
    led_by_agent: bool = False


class Feeder(Protocol):
    """Reads one source format.

    `kind` is the format's name in results (`claude-code`, `document`). `version` goes up whenever the same
    bytes decode to other text. `appends` says that the format only ever grows at its end, so that reading
    may resume at a byte offset where a row began.
    """

    kind: str
    version: int
    appends: bool

    def recognises(self, path: Path, head: bytes) -> bool:
        """Whether `head` (the first 64 KiB of the file at `path`) is this format."""
        ...

    def identify(self, path: Path, head: bytes) -> Identity:
        """The identity of the source at `path`, from its head and its name."""
        ...

    def rows(self, stream: BinaryIO, start: int = 0) -> Iterator[Row]:
        """Yield the rows from byte `start`, which `stream` is positioned at.

        A last row that is still being written (no line end, and not yet whole) is not yielded: the next
        read begins there.
        """
        ...


@dataclass(frozen=True, slots=True)
class Session:
    """One conversation of a collection.

    `stamp` changes whenever the conversation does; equal stamps mean that nothing needs to be read. `rows` reads
    the conversation from its beginning; positions count its rows. `updated_at` is when it was last gone on with,
    None where that is not cheaply known. One that is not `settled` is to be looked at again even if nothing changes:
    the host may be in the middle of a message.
    """

    identity: Identity
    stamp: str
    rows: Callable[[], Iterator[Row]]
    title: str = ""
    cwd: str = ""
    updated_at: Micros | None = None
    settled: bool = True


class Collection(Protocol):
    """Reads a file, or a directory, that holds many conversations: a database, an export, a storage tree.

    `raw` of its rows is the source's own bytes where it has rows of bytes, else the record as canonical JSON
    (sorted keys, no spaces, one line). Reading never writes to what it reads, and takes a host that writes
    meanwhile as it finds it.
    """

    kind: str
    version: int

    def recognises(self, path: Path, head: bytes) -> bool:
        """Whether the file or directory at `path` is this format; `head` is empty for a directory."""
        ...

    def sessions(self, path: Path) -> Iterator[Session]:
        """Yield the conversations, cheaply: their rows are read only when asked for.

        Raises SourceUnreadable when the whole cannot be read (locked, half-migrated, not what it seemed).
        """
        ...
