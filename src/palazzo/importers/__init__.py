"""Importers of other memories' stores: one reader for each store, in a module of its own.

A reader knows one program's files and nothing of a palace. It yields what it finds as the closed union `StoreRecord`,
in an order that is the same each time, and gives a reason for everything it leaves out (`SkippedRecord`).
`importers/store_import.py` files the records.

A `key` is the store's own id of a thing, and must be unique among all stores of that program: it ensures that a second
import adds nothing. Where a program counts from 1, the reader adds what distinguishes the stores of two machines (a
session's uuid, the time to the microsecond).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Literal, Protocol

from palazzo.frozen_class import frozen
from palazzo.model import Micros, Trust


@frozen
class Note:
    """Text that a person or program filed, or that a program recorded of a session or a file, in full.

    `wing` and `room` are the store's names for its location, as spelled there; "" if there are none. `created_at` is
    when it was written, None if the store does not say. `label` is the kind of note (decision, error, …); `origin` is
    the file or session from which the text comes; `about` is the store's other data about it, to be stored with the
    text. `trust` is agent unless the store says that a person wrote it. `is_gone` says that the store itself treats it
    as obsolete (forgotten, superseded): it is filed, and immediately forgotten.
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


@frozen
class DiaryEntry:
    """An entry of an agent's diary. `wing` is the project that it concerns, "" for none in particular."""

    key: str
    agent: str
    text: str
    topic: str = ""
    wing: str = ""
    created_at: Micros | None = None
    about: Mapping[str, object] = field(default_factory=dict)
    trust: Trust = "agent"


@frozen
class Task:
    """A to-do or a reminder, and its state. `due_at` is a reminder's time; `topic` is another trigger."""

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


@frozen
class Fact:
    """Subject, predicate and object, and the time during which it held (half-open; None: unknown, or not ended).

    `confidence` is from 0 to 1, None if the store states none. `cites` is the key of the note that states it, or "".
    `wing` is "" for a fact that holds everywhere. `stated_at` is when the store learned it.
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


@frozen
class Tunnel:
    """A manually created link between two rooms. `source_cites` and `target_cites` are keys of notes on its sides."""

    key: str
    source_wing: str
    source_room: str
    target_wing: str
    target_room: str
    label: str = ""
    source_cites: str = ""
    target_cites: str = ""
    created_at: Micros | None = None


@frozen
class SkippedRecord:
    """Something in the store that is not imported: what it is (plural: `closets`), and the reason in a few words.

    `key` identifies it; `count` is the number of such things. Reports add them up by `what` and `reason`, so a reason
    names no single thing.
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
        """The name for `--from`, and the kind of the sources that it produces: `mempalace`."""
        ...

    @property
    def title(self) -> str:
        """The program's own name: `MemPalace`."""
        ...

    def recognises(self, path: Path) -> bool:
        """Return whether a path is such a store, by its name and first bytes; False if it is unreadable."""
        ...

    def read(self, path: Path) -> Iterator[StoreRecord]:
        """Yield what the store holds; notes come before the facts and tunnels that cite them.

        A single thing that is not understood is `SkippedRecord`. Raises SourceUnreadable, in one sentence, if the store
        as a whole cannot be read: before anything was yielded, or at the end if it changed meanwhile; so a caller that
        files the results must first read to the end.
        """
        ...
