"""What other memories keep, as their readers tell it: one reader for each store, in a module of its own.

A reader knows one program's files and nothing of a palace. It yields what it finds as the closed union `Brought`, in an
order that is the same each time, and says of everything it leaves out why (`Unplaced`). `exchange/migrating.py` files
what is yielded.

A `key` is the store's own id of a thing, and has to be its own among all stores of that program: it is what makes a
second import add nothing. Where a program counts from 1, the reader adds what tells one machine's store from
another's (a session's uuid, the time to the microsecond).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from palazzo.model import Micros, Trust


@dataclass(frozen=True, slots=True)
class Note:
    """Words that somebody filed, or that a program kept of a session or a file, whole.

    `wing` and `room` are the store's names for where it was, as they are spelled there; "" where it has none.
    `created_at` is when it was written, None where the store does not say. `label` is what kind of note it is
    (decision, error, …); `origin` the file or session that the words came from; `about` what else the store says of it,
    to be kept beside the words. `trust` is agent unless the store says that a person wrote it. `is_gone` says that the
    store itself no longer counts it (forgotten, superseded): it is filed, and forgotten at once.
    """

    key: str
    text: str
    wing: str = ""
    room: str = ""
    created_at: Micros | None = None
    label: str = ""
    tags: tuple[str, ...] = ()
    author: str = ""
    trust: Trust = "agent"
    branch: str = ""
    commit: str = ""
    origin: str = ""
    title: str = ""
    about: Mapping[str, object] = field(default_factory=dict)
    is_gone: bool = False


@dataclass(frozen=True, slots=True)
class DiaryEntry:
    """An entry of an agent's diary. `wing` is the project that it is about, "" for none in particular."""

    key: str
    agent: str
    text: str
    topic: str = ""
    wing: str = ""
    created_at: Micros | None = None
    about: Mapping[str, object] = field(default_factory=dict)
    trust: Trust = "agent"


@dataclass(frozen=True, slots=True)
class Task:
    """A to-do or a reminder, and how it stands. `due_at` is a reminder's time; `topic` what else brings it up."""

    key: str
    kind: Literal["todo", "reminder"]
    text: str
    state: Literal["open", "done", "dropped"] = "open"
    wing: str = ""
    due_at: Micros | None = None
    topic: str = ""
    created_at: Micros | None = None
    tags: tuple[str, ...] = ()
    author: str = ""
    trust: Trust = "agent"
    about: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Fact:
    """Subject, predicate and object, and from when until when that held (half-open; None: not known, or has not ended).

    `confidence` is from 0 to 1, None where the store says none. `cites` is the key of the note that says it, or "".
    `wing` is "" for what holds everywhere. `stated_at` is when the store learned it.
    """

    key: str
    subject: str
    predicate: str
    object: str
    wing: str = ""
    valid_from: Micros | None = None
    valid_to: Micros | None = None
    confidence: float | None = None
    stated_by: str = ""
    stated_at: Micros | None = None
    trust: Trust = "agent"
    cites: str = ""


@dataclass(frozen=True, slots=True)
class Tunnel:
    """A link between two rooms that somebody made. `source_cites` and `target_cites` are keys of notes on its sides."""

    key: str
    source_wing: str
    source_room: str
    target_wing: str
    target_room: str
    label: str = ""
    source_cites: str = ""
    target_cites: str = ""
    created_at: Micros | None = None


@dataclass(frozen=True, slots=True)
class SkippedRecord:
    """Something of the store that does not come over: what it is (plural: `closets`), and why in a few words.

    `key` says which one it is; `count` how many at once. Reports add them up by `what` and `reason`, so a reason names
    no single thing.
    """

    what: str
    reason: str
    key: str = ""
    count: int = 1


StoreRecord = Note | DiaryEntry | Task | Fact | Tunnel | SkippedRecord


class StoreReader(Protocol):
    """The reader of one program's store."""

    @property
    def name(self) -> str:
        """What `--from` calls it, and the kind of the sources that come of it: `mempalace`."""
        ...

    @property
    def title(self) -> str:
        """The program's own name: `MemPalace`."""
        ...

    def recognises(self, path: Path) -> bool:
        """Whether a file or directory is such a store, by its name and first bytes; False for what is unreadable."""
        ...

    def read(self, path: Path) -> Iterator[StoreRecord]:
        """Yield what the store holds; notes come before the facts and tunnels that cite them.

        A single thing that is not understood is `Unplaced`. Raises SourceUnreadable, in one sentence, where the store
        as a whole cannot be read: before anything was yielded, or at the end where it changed meanwhile; so who files
        what is read reads to the end first.
        """
        ...
