"""Source formats: bytes in, rows out. One file per source format, none of which knows the palace.

A feeder turns one source into `Row`s that together hold every byte it was given, in order: joining the rows' `raw`
gives the source back. The meaning of a row is its `content`:

    Message      words to archive and to find again
    Noise        a row the host wrote for itself; archived to the byte, never searched
    Unreadable   a row that is not understood; archived to the byte and reported with its reason

A bad row never affects another row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import BinaryIO, Protocol, runtime_checkable

from palazzo.frozen_class import frozen
from palazzo.model import ContentKind, ItemKind, Micros, Part, Role


@frozen
class Message:
    """The content of one row.

    `uuid` is the host's own identity of the message, empty if the format has none. `namespace` is the scope in which it
    is unique: empty for its session, `*` for everywhere, otherwise words that a copy in another session (a fork's) also
    has. `thread` separates conversations that share a file (a sub-agent's side chain). `created_at` is None if the
    source does not state it. `cwd` and `branch` are stated by the row itself, or empty.
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
"""Maximum characters of a reason. The name of a row's kind comes from the row, and a damaged row may contain any
name.
"""


@frozen
class Noise:
    """A row for the host's own use; `reason` names its kind, in at most `LONGEST_REASON` characters."""

    reason: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "reason", _short(self.reason))


@frozen
class Unreadable:
    """A row that could not be understood; `reason` is one clause of at most `LONGEST_REASON` characters."""

    reason: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "reason", _short(self.reason))


def _short(reason: str) -> str:
    return reason if len(reason) <= LONGEST_REASON else reason[: LONGEST_REASON - 1] + "…"


Content = Message | Noise | Unreadable


@frozen
class Row:
    """One row of a source: its exact bytes (line ending included), their position, and their meaning.

    `title` is set by rows that name the whole source (a session's title, a document's first heading).
    """

    position: int
    raw: bytes
    content: Content
    title: str = ""


@frozen
class Identity:
    """The identity of a source, independent of its location: `key` never contains an absolute path.

    `cwd` is the session's directory if it follows from its location on disk and not from its rows. `led_by_agent` says
    that another agent speaks as the user throughout, as with a sub-agent.
    """

    key: tuple[str, ...]
    session_id: str = ""
    parent_session: str = ""
    cwd: str = ""
    led_by_agent: bool = False


class Feeder(Protocol):
    """Reads one source format.

    `kind` is the format's name in results (`claude-code`, `document`). `version` increases whenever the same bytes are
    decoded to a different text. `appends` says that the format only grows at its end, so that reading may resume at a
    byte offset where a row begins.
    """

    kind: str
    version: int
    appends: bool

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether `head` (the first 64 KiB of the file at `path`) is this format."""
        ...

    def identify(self, path: Path, head: bytes) -> Identity:
        """The identity of the source at `path`, from its head and its name."""
        ...

    def rows(self, stream: BinaryIO, start: int = 0) -> Iterator[Row]:
        """Yield the rows from byte `start`, which `stream` is positioned at.

        An incomplete last row that is still being written (no line end) is not yielded: the next read begins there.
        """
        ...


class ResumePoint:
    """What a read gets from the read before it, and what it leaves for the next one.

    `mark` is what the read before left for the byte where this one begins: positions and checksums of ids, never words.
    Only its feeder understands it. It is empty if nothing was left, and all earlier rows have to be read.
    """

    def __init__(self, mark: bytes = b"") -> None:
        self.mark = mark
        self._end = -1
        self._make_mark: Callable[[], bytes] = bytes

    def reach(self, end: int, make_mark: Callable[[], bytes]) -> None:
        """Record that the rows before byte `end` have been read; `make_mark` returns the mark until the next call."""
        self._end, self._make_mark = end, make_mark

    def mark_at(self, end: int) -> bytes:
        """Return the mark for a read that begins at byte `end`; empty unless this read is just there."""
        return self._make_mark() if end == self._end else b""


@runtime_checkable
class ResumableFeeder(Feeder, Protocol):
    """A feeder of a format in which a row may refer to any row before it."""

    def resume(self, stream: BinaryIO, start: int, point: ResumePoint) -> Iterator[Row]:
        """Yield the same rows as `rows`; earlier ones are read only if `point` does not tell enough of them."""
        ...


def rows_from(feeder: Feeder, stream: BinaryIO, start: int, point: ResumePoint) -> Iterator[Row]:
    """Yield the rows from byte `start`, and move `point` along with them if the format needs it."""
    if isinstance(feeder, ResumableFeeder):
        return feeder.resume(stream, start, point)
    return feeder.rows(stream, start)


@frozen
class Session:
    """One conversation of a collection.

    `stamp` changes whenever the conversation does; equal stamps mean that nothing needs to be read. `rows` reads the
    conversation from its beginning; positions count its rows. `updated_at` is when the conversation was last continued,
    None if that is expensive to determine. A conversation that is not `settled` must be checked again even if nothing
    changes: the host may be in the middle of a message.
    """

    identity: Identity
    stamp: str
    rows: Callable[[], Iterator[Row]]
    title: str = ""
    cwd: str = ""
    updated_at: Micros | None = None
    settled: bool = True


class Collection(Protocol):
    """Reads a file or a directory that contains many conversations: a database, an export, a storage tree.

    `raw` of its rows is the source's own bytes if it has rows of bytes, otherwise the record as canonical JSON (sorted
    keys, no spaces, one line). Reading never writes to the source, and accepts that a host may write at the same time.
    """

    kind: str
    version: int

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether the file or directory at `path` is this format; `head` is empty for a directory."""
        ...

    def sessions(self, path: Path) -> Iterator[Session]:
        """Yield the conversations cheaply: their rows are read only on demand.

        Raises SourceUnreadable if the whole cannot be read (locked, half-migrated, not the expected format).
        """
        ...
