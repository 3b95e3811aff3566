"""Merging: what another palace holds becomes a part of this one.

    records ──guard──> as this palace keeps words ──join──> one of each id ──settle──> what follows from all of them

The result depends on which records there are, never on the order in which they came, nor on how often.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from palazzo.archive.guarding import Guard
from palazzo.model import Micros
from palazzo.store.database import Connection, Database

Progress = Callable[[int], None]
"""Told how many records have been merged."""


@dataclass(slots=True)
class Report:
    """What a merge did, by kind of record.

    `added` was not here, `changed` made something here more than it was, `same` was here. `missing` refers to what neither
    came nor is here, and was left out. `conflicts` are the ids of facts' conflicts that were found by it, `erased` how
    many items lost words to an erasure, `forked` the devices (ids) whose chain was written twice from one place on.
    """

    added: Counter[str] = field(default_factory=Counter)
    changed: Counter[str] = field(default_factory=Counter)
    same: Counter[str] = field(default_factory=Counter)
    missing: Counter[str] = field(default_factory=Counter)
    conflicts: list[str] = field(default_factory=list)
    erased: int = 0
    forked: set[str] = field(default_factory=set)


def merge(
    database: Database,
    records: Iterable[object],
    clock: Callable[[], Micros],
    *,
    progress: Progress | None = None,
    dry_run: bool = False,
) -> Report:
    """Merge records into a palace, in the order of their kinds, in transactions of bounded size.

    The caller has checked them whole. What was interrupted is finished by merging the same again. A `dry_run` changes
    nothing and tells what would have been done.
    """
    raise NotImplementedError


def merge_into(connection: Connection, records: Sequence[object], guard: Guard, now: Micros, report: Report) -> None:
    """Merge a batch of records in the caller's transaction; what they refer to is here or among them."""
    raise NotImplementedError
