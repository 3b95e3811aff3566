"""Taking over another memory's store: what its reader tells, filed by the door and the graph with where it came from.

A store is read to its end before anything is written, so that one that cannot be read leaves nothing behind; then it is
read again and filed in short transactions, all in one change group that `palazzo undo` takes back. Whatever is there
already is recognised by what the store calls it, so an interrupted migration is finished by running it again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from palazzo.exchange.migrating_facts import FactFiler
from palazzo.exchange.migrating_notes import NoteFiler
from palazzo.exchange.migration import Change, Tally
from palazzo.exchange.stores import Brought, Fact, StoreReader, Tunnel, Unplaced
from palazzo.model import Micros
from palazzo.store.database import Database

AT_ONCE = 100
"""Things that one transaction files."""
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
    size, cited = _read_through(reader, path, taking)
    tally = Tally()
    change = Change(reader, taking.actor, clock, tally)
    notes = NoteFiler(database, change, taking.wing, cited)
    graph = FactFiler(database, change, taking.wing, notes.row_of)
    done = 0
    for batch in _batches(reader.read(path)):
        if taking.dry_run:
            notes.look(batch)
            graph.look(batch)
        else:
            _file(database, change, notes, graph, batch)
        for one in batch:
            if isinstance(one, Unplaced):
                tally.leave(one.what, one.reason, one.key, one.count)
        done += len(batch)
        if taking.progress is not None:
            taking.progress("taking over", done, size)
    return _told(reader, tally, change)


def _read_through(reader: StoreReader, path: Path, taking: Taking) -> tuple[int, frozenset[str]]:
    """How many things a store tells, and which notes others cite."""
    size, cited = 0, set[str]()
    for one in reader.read(path):
        size += 1
        if isinstance(one, Fact):
            cited.add(one.cites)
        elif isinstance(one, Tunnel):
            cited.update((one.source_cites, one.target_cites))
        if taking.progress is not None and size % AT_ONCE == 0:
            taking.progress("reading", size, 0)
    return size, frozenset(cited - {""})


def _batches(things: Iterator[Brought]) -> Iterator[list[Brought]]:
    while batch := list(islice(things, AT_ONCE)):
        yield batch


def _file(database: Database, change: Change, notes: NoteFiler, graph: FactFiler, batch: Sequence[Brought]) -> None:
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
