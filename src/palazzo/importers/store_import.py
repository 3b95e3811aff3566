"""Store import: files the records that the reader of another memory's store yields, through ingest, with their origin.

A store is read to its end before anything is written, so that an unreadable store leaves nothing behind, and its own
program never waits. Then the records are filed in short transactions, all in one change group that `palazzo undo`
reverts. Records that are already here are recognised by the store's own ids, so an interrupted import is completed by
running it again.
"""

from __future__ import annotations

import pickle
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from itertools import islice
from pathlib import Path
from typing import Self

from palazzo.frozen_class import frozen
from palazzo.importers import Fact, SkippedRecord, StoreReader, StoreRecord, Tunnel
from palazzo.importers.store_import_facts import FactFiler
from palazzo.importers.store_import_notes import NoteFiler
from palazzo.importers.store_import_state import Change, MigrationSummary
from palazzo.model import Micros
from palazzo.store.database import Database

AT_ONCE = 100
"""Number of things that one transaction files."""
_IN_MEMORY = 64 << 20
"""Bytes above which a store's content is kept in a file."""
Progress = Callable[[str, int, int], None]
"""Called with (what is counted, number done, total)."""


@frozen
class Count:
    """Number of things of one kind.

    Some are `new` here; some were already `existing`; some were `changed`, because the store's text is different now;
    and some were `merged` into something with the same meaning.
    """

    kind: str
    new: int
    existing: int
    changed: int
    merged: int


@frozen
class Omission:
    """Things that could not be imported: their kind, the reason, how many, and the store's names for a few of them."""

    kind: str
    reason: str
    count: int
    keys: tuple[str, ...]


@frozen
class NameChange:
    """A wing, a room or an agent that has another name here."""

    kind: str
    was: str
    new_name: str


@frozen
class Migration:
    """Result of a migration, or of its dry run.

    `change` is the change that 'palazzo undo' reverts, None if nothing was new.
    """

    store: str
    title: str
    counts: tuple[Count, ...]
    omissions: tuple[Omission, ...]
    name_changes: tuple[NameChange, ...]
    change: str | None


@frozen
class MigrationOptions:
    """Parameters of an import: the actor, and the wing if it differs from those that the store names."""

    actor: str = "user"
    wing: str | None = None
    dry_run: bool = False
    progress: Progress | None = field(default=None, compare=False)


def migrate(
    database: Database, reader: StoreReader, path: Path, clock: Callable[[], Micros], options: MigrationOptions
) -> Migration:
    """Import the content of a store, and return the result. Raises SourceUnreadable before anything is written."""
    with _StoreBuffer() as buffer:
        buffer.listen(reader.read(path), options.progress)
        summary = MigrationSummary()
        change = Change(reader, options.actor, clock, summary)
        notes = NoteFiler(database, change, options.wing, buffer.note_keys)
        graph = FactFiler(database, change, options.wing, notes.row_of)
        count = 0
        for batch in buffer.batches():
            if options.dry_run:
                notes.look(batch)
                graph.look(batch)
            else:
                _file(database, notes, graph, batch)
            for thing in batch:
                if isinstance(thing, SkippedRecord):
                    summary.leave(thing.what, thing.reason, thing.key, thing.count)
            count += len(batch)
            if options.progress is not None:
                options.progress("taking over", count, buffer.size)
    return _build_migration(reader, summary, change)


class _StoreBuffer:
    """A store's content, kept in memory, or in an unnamed file if it is large."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - closed on the way out
        self._cited = set[str]()
        self.size = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    @property
    def note_keys(self) -> frozenset[str]:
        """Return the keys of the notes that facts and tunnels cite."""
        return frozenset(self._cited - {""})

    def listen(self, things: Iterator[StoreRecord], progress: Progress | None) -> None:
        """Read all of the store."""
        while batch := list(islice(things, AT_ONCE)):
            self.size += len(batch)
            for thing in batch:
                if isinstance(thing, Fact):
                    self._cited.add(thing.cites)
                elif isinstance(thing, Tunnel):
                    self._cited.update((thing.source_cites, thing.target_cites))
            pickle.dump(batch, self._file)
            if progress is not None:
                progress("reading", self.size, 0)

    def batches(self) -> Iterator[list[StoreRecord]]:
        """Yield the batches again, in order."""
        end = self._file.tell()
        self._file.seek(0)
        while self._file.tell() < end:
            yield pickle.load(self._file)  # noqa: S301 - what this process has just written, where nobody else can


def _file(database: Database, notes: NoteFiler, graph: FactFiler, batch: Sequence[StoreRecord]) -> None:
    """Import a batch in two short transactions: facts and tunnels cite drawers, which are cut after the first."""
    notes.file(batch)
    database.step()
    graph.file(batch)
    database.step()


def _build_migration(reader: StoreReader, summary: MigrationSummary, change: Change) -> Migration:
    omissions = Counter({(kind, reason): size for (kind, reason), (size, _) in summary.left.items()})
    return Migration(
        reader.name,
        reader.title,
        tuple(
            Count(kind, *(summary.counts[kind][outcome] for outcome in ("new", "there", "changed", "merged")))
            for kind in summary.counts
        ),
        tuple(
            Omission(kind, reason, size, tuple(summary.left[kind, reason][1]))
            for (kind, reason), size in omissions.most_common()
        ),
        tuple(NameChange(*names) for names in summary.renamed),
        change.uid,
    )
