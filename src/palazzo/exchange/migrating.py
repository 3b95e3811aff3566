"""Taking over another memory's store: what its reader tells, filed by the door and the graph with where it came from.

A store is read to its end before anything is written, so that one that cannot be read leaves nothing behind, and its
own program waits for nobody. Then what it told is filed in short transactions, all in one change group that `palazzo
undo` takes back. Whatever is there already is recognised by what the store calls it, so an interrupted migration is
finished by running it again.
"""

from __future__ import annotations

import pickle
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Self

from palazzo.exchange.migrating_facts import FactFiler
from palazzo.exchange.migrating_notes import NoteFiler
from palazzo.exchange.migration import Change, Tally
from palazzo.exchange.stores import Brought, Fact, StoreReader, Tunnel, Unplaced
from palazzo.model import Micros
from palazzo.store.database import Database

AT_ONCE = 100
"""Things that one transaction files."""
_IN_MEMORY = 64 << 20
"""Bytes from which what a store told is kept in a file."""
Progress = Callable[[str, int, int], None]
"""Told (what is counted, how many are done, of how many)."""


@dataclass(frozen=True, slots=True)
class Count:
    """How much of one sort came: what is `new` here; what was `there` already; what says something else by now, and was
    `changed`; and what was `merged` into something that says the same."""

    what: str
    new: int
    there: int
    changed: int
    merged: int


@dataclass(frozen=True, slots=True)
class Left:
    """What had no place here, how often, why, and what a few of them are called in the store."""

    what: str
    reason: str
    count: int
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Renamed:
    """A wing, a room or an agent that is called otherwise here."""

    what: str
    was: str
    now: str


@dataclass(frozen=True, slots=True)
class Migration:
    """What a migration did, or would do. `change` is what 'palazzo undo' takes back, None where nothing was new."""

    store: str
    title: str
    counts: tuple[Count, ...]
    left: tuple[Left, ...]
    renamed: tuple[Renamed, ...]
    change: str | None


@dataclass(frozen=True, slots=True)
class Taking:
    """How a store is taken over: by whom, and in which wing if not in those that the store names."""

    actor: str = "user"
    wing: str | None = None
    dry_run: bool = False
    progress: Progress | None = field(default=None, compare=False)


def migrate(
    database: Database, reader: StoreReader, path: Path, clock: Callable[[], Micros], taking: Taking
) -> Migration:
    """File what a store holds, and return what came of it. Raises SourceUnreadable before anything is written."""
    with _Heard() as heard:
        heard.listen(reader.read(path), taking.progress)
        tally = Tally()
        change = Change(reader, taking.actor, clock, tally)
        notes = NoteFiler(database, change, taking.wing, heard.cited)
        graph = FactFiler(database, change, taking.wing, notes.row_of)
        done = 0
        for batch in heard.batches():
            if taking.dry_run:
                notes.look(batch)
                graph.look(batch)
            else:
                _file(database, notes, graph, batch)
            for one in batch:
                if isinstance(one, Unplaced):
                    tally.leave(one.what, one.reason, one.key, one.count)
            done += len(batch)
            if taking.progress is not None:
                taking.progress("taking over", done, heard.size)
    return _told(reader, tally, change)


class _Heard:
    """What a store told, kept in memory, or in a file without a name where it is much."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - closed on the way out
        self._cited = set[str]()
        self.size = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    @property
    def cited(self) -> frozenset[str]:
        """Which notes facts and tunnels cite, by their keys."""
        return frozenset(self._cited - {""})

    def listen(self, things: Iterator[Brought], progress: Progress | None) -> None:
        """Hear all of it."""
        while batch := list(islice(things, AT_ONCE)):
            self.size += len(batch)
            for one in batch:
                if isinstance(one, Fact):
                    self._cited.add(one.cites)
                elif isinstance(one, Tunnel):
                    self._cited.update((one.source_cites, one.target_cites))
            pickle.dump(batch, self._file)
            if progress is not None:
                progress("reading", self.size, 0)

    def batches(self) -> Iterator[list[Brought]]:
        """Yield it again, in order."""
        end = self._file.tell()
        self._file.seek(0)
        while self._file.tell() < end:
            yield pickle.load(self._file)  # noqa: S301 - what this process has just written, where nobody else can


def _file(database: Database, notes: NoteFiler, graph: FactFiler, batch: Sequence[Brought]) -> None:
    """File a batch in two short transactions: facts and tunnels cite drawers, which the end of the first one cuts."""
    notes.file(batch)
    database.step()
    graph.file(batch)
    database.step()


def _told(reader: StoreReader, tally: Tally, change: Change) -> Migration:
    left = Counter({(what, reason): size for (what, reason), (size, _) in tally.left.items()})
    return Migration(
        reader.name,
        reader.title,
        tuple(
            Count(what, *(tally.counts[what][how] for how in ("new", "there", "changed", "merged")))
            for what in tally.counts
        ),
        tuple(
            Left(what, reason, size, tuple(tally.left[what, reason][1])) for (what, reason), size in left.most_common()
        ),
        tuple(Renamed(*one) for one in tally.renamed),
        change.uid,
    )
