"""Merge: the content of another palace becomes a part of this one.

    records ──guard──> redacted by this palace ──join──> one per id ──settle──> consequences of all records

The result depends only on which records exist, never on the order in which they arrived, nor on how often. What was
recorded stays as it was recorded. If two records of one id differ, a rule keeps one of them without regard to which
came first (`archive/incoming_storage` for items; `merge` of its kind's descriptor in `records/` for the rest).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from palazzo.archive.incoming_items import Authority
from palazzo.archive.incoming_storage import ArrivalBatch
from palazzo.archive.ingest_guard import Guard
from palazzo.derived.cutter import Cutter, recut_document
from palazzo.frozen_class import frozen
from palazzo.index.consumer import follow
from palazzo.knowledge import conflict_detection
from palazzo.model import Micros, Trust
from palazzo.store import arrangements, unfinished_imports
from palazzo.store.database import Connection, Database
from palazzo.store.unfinished_imports import Import
from palazzo.sync import foreign_records
from palazzo.sync.merge_state import ImportChange, Missing, Report, Work
from palazzo.sync.records.chain_records import link_unlinked
from palazzo.sync.records.erasure_records import ERASURE, Erasure
from palazzo.sync.records.item_records import ITEM, Item, merge_items, prepare
from palazzo.sync.records.kind_registry import RECORD_KINDS, descriptor_of
from palazzo.sync.records.record_kind import Record, RecordKind

__all__ = ["OWN_DEVICE", "Origin", "Progress", "Report", "merge", "merge_into"]

Progress = Callable[[int], None]
"""Called with the number of merged records."""
RECORDS_AT_ONCE, CHARACTERS_AT_ONCE = 250, 512 * 1024
"""Maximum size of one transaction, except for a single longer record: others may write in between."""

_ORDER = {kind.name: n for n, kind in enumerate(RECORD_KINDS.values())} | {ERASURE.name: -1}
"""Erasures come first, so that they are known before any words arrive."""


@frozen
class Origin:
    """Who vouches for the merged records; records of another person get at most `trust`."""

    authority: Authority
    trust: Trust = "user"

    def limit(self, record: Record) -> Record:
        """Return a record as this origin may state it."""
        return foreign_records.limit_record(record, self.trust) if self.authority == "other" else record


OWN_DEVICE = Origin("device")


class _TakeBack(Exception):
    """Ends a merge that is only a dry run."""


def merge(
    database: Database,
    records: Iterable[Record],
    clock: Callable[[], Micros],
    *,
    progress: Progress | None = None,
    dry_run: bool = False,
    vouch: bool = False,
    import_record: Import | None = None,
    origin: Origin = OWN_DEVICE,
    change: ImportChange | None = None,
) -> Report:
    """Merge records into a palace, in the order in which they come, in transactions of bounded size.

    The caller has checked all of them. An interrupted merge is finished by merging the same records again. A `dry_run`
    changes nothing and reports what would have been done. With `vouch`, items without a link get one of this device at
    the end. The palace records that a file is being `import_record` until all of it is here. New records are added to
    `change`.
    """
    on_progress = progress or (lambda done: None)
    records = map(origin.limit, records)
    if not dry_run:
        return _merge(database, records, clock, on_progress, vouch, import_record, origin.authority, change)
    reports: list[Report] = []
    with contextlib.suppress(_TakeBack), database.transaction() as connection:
        guard = Guard.at(connection, database.redacts)
        reports.append(_merge_within(connection, records, guard, clock(), on_progress, origin.authority))
        raise _TakeBack
    return reports[0]


def merge_into(connection: Connection, records: Sequence[Record], guard: Guard, now: Micros, report: Report) -> None:
    """Merge a batch of records in the caller's transaction, whatever their order.

    Records that refer to something neither here nor in the batch are left out and counted as missing.
    """
    known_rows: dict[tuple[str, str], int] = {}
    later = _merge_batch(Work(connection, guard, now, report, known_rows), records, None)
    _finish(Work(connection, guard, now, report, known_rows), later)


def _merge(
    database: Database,
    records: Iterable[Record],
    clock: Callable[[], Micros],
    on_progress: Progress,
    vouch: bool,
    import_record: Import | None,
    authority: Authority,
    change: ImportChange | None,
) -> Report:
    report, count = Report(), 0
    known_rows: dict[tuple[str, str], int] = {}
    later: list[Record] = []
    for batch in _batches(records):
        guard = Guard.of(database)
        arrival_batch = _prepare_items(database, batch, guard)
        with database.transaction() as connection:
            if import_record is not None and not count:
                unfinished_imports.begin(connection, import_record)
            work = Work(connection, guard, clock(), report, known_rows, authority, change)
            later += _merge_batch(work, batch, arrival_batch)
        database.step()
        count += len(batch)
        on_progress(count)
    with database.transaction() as connection:
        guard = Guard.at(connection, database.redacts)
        _finish(Work(connection, guard, clock(), report, known_rows, authority, change), later)
        if vouch:
            link_unlinked(connection)
        if import_record is not None:
            unfinished_imports.end(connection, import_record)
    return report


def _merge_within(
    connection: Connection,
    records: Iterable[Record],
    guard: Guard,
    at: Micros,
    on_progress: Progress,
    authority: Authority,
) -> Report:
    report, count = Report(), 0
    known_rows: dict[tuple[str, str], int] = {}
    later: list[Record] = []
    for batch in _batches(records):
        later += _merge_batch(Work(connection, guard, at, report, known_rows, authority), batch, None)
        count += len(batch)
        on_progress(count)
    _finish(Work(connection, guard, at, report, known_rows, authority), later)
    return report


def _batches(records: Iterable[Record]) -> Iterator[list[Record]]:
    batch: list[Record] = []
    size = 0
    for record in records:
        own = _size(record)
        if batch and (len(batch) >= RECORDS_AT_ONCE or size + own > CHARACTERS_AT_ONCE):
            yield batch
            batch, size = [], 0
        batch.append(record)
        size += own
    if batch:
        yield batch


def _size(record: Record) -> int:
    return len(record.text) + len(record.raw or b"") if isinstance(record, Item) else 100


def _prepare_items(database: Database, batch: Sequence[Record], guard: Guard) -> ArrivalBatch | None:
    came = [record for record in batch if isinstance(record, Item)]
    if not came or any(isinstance(record, Erasure) for record in batch):
        return None
    with database.snapshot() as connection:
        return prepare(came, guard, connection)


def _merge_batch(work: Work, records: Sequence[Record], arrival_batch: ArrivalBatch | None) -> list[Record]:
    """Merge records by kind; return those that refer to records not here."""
    later: list[Record] = []
    if work.authority == "other" and not work.is_ending:  # an erasure is limited to the items that come with it
        later = [record for record in records if isinstance(record, Erasure)]
        records = [record for record in records if not isinstance(record, Erasure)]
    sorted_records = sorted(records, key=lambda record: _ORDER[descriptor_of(record).name])
    for kind, group in groupby(sorted_records, key=descriptor_of):
        if kind is ITEM:
            later += merge_items(work, list(group), arrival_batch)  # type: ignore[arg-type]
        else:
            later += _merge_each(work, kind, group)
    settle(work)
    return later


def _merge_each(work: Work, kind: RecordKind[Any], came: Iterable[Record]) -> list[Record]:
    later = []
    for record in came:
        try:
            _merge_record(work, kind, record)
        except Missing:
            later.append(record)
    return later


def _merge_record(work: Work, kind: RecordKind[Any], record: Record) -> None:
    """Merge a record; one of another person only if it is accepted."""
    if kind.merge is None:
        return
    if work.authority == "other":
        verdict = foreign_records.judge(work, record)
        if verdict == "refused":
            work.report.refusals[kind.name] += 1
        elif verdict == "there":
            work.report.note(kind.name, "same")
        if verdict != "take":
            return
    outcome = kind.merge(work, record)
    work.report.note(kind.name, outcome)
    if outcome == "added":
        foreign_records.note_change(work, record)
        if work.authority == "other":
            foreign_records.note_added(work, record)
    if work.authority == "owner":
        foreign_records.note_vouched(work, record)


def settle(work: Work) -> None:
    """Update what depends on a batch: names of wings and rooms, ended versions of documents."""
    if work.arranged:
        arrangements.settle(work.connection)
    if work.documents:
        follow(work.connection, Cutter())
        for source in work.documents:
            recut_document(work.connection, source, whole=True)


def _finish(work: Work, later: list[Record]) -> None:
    """Merge records that came before what they refer to, which may be a conflict that is found only now."""
    work.is_ending = True
    later = _retry_records(work, later)
    work.report.conflicts += conflict_detection.find_everywhere(work.connection)
    for record in _retry_records(work, later):
        work.report.missing[descriptor_of(record).name] += 1


def _retry_records(work: Work, later: list[Record]) -> list[Record]:
    while later:
        remainder = _merge_batch(work, later, None)
        if len(remainder) == len(later):
            break
        later = remainder
    return later
