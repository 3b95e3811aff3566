"""A failure of an earlier session and its fix, as the answers to `fix` and `friction` show it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from palazzo.features.branches.branch_labels import MERGED, Checkout
from palazzo.features.code.contract import FixOutcome, PastFailure
from palazzo.features.hooks.hook_tool import path_from_root
from palazzo.model import Micros
from palazzo.store import place_rows

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection
    from palazzo.store.failure_fixes import FailureRecord


def record_key(record: FailureRecord) -> tuple[str, Micros, str]:
    """Return what identifies a stored failure, as `PastFailure.key` does."""
    return record.id, record.failed_at, record.command


def fold_failures(failures: Iterable[PastFailure]) -> list[PastFailure]:
    """Fold failures that say the same into the first of them, which counts them."""
    first_by_words: dict[tuple[object, ...], PastFailure] = {}
    for failure in failures:
        key = failure.command, failure.edited, failure.ran, failure.passed_as, failure.outcome
        first = first_by_words.get(key)
        first_by_words[key] = failure if first is None else replace(first, times=first.times + 1)
    return list(first_by_words.values())


def past_failures(context: Context, connection: Connection, records: Iterable[FailureRecord]) -> list[PastFailure]:
    """Return failures for display, in order: with branch labels, and without those that the branch policy hides."""
    records = list(records)
    checkout = Checkout(context)
    standings = checkout.of_ids(connection, [record.id for record in records])
    roots = {
        wing: (str(context.project_root), *place_rows.roots_of_wing(connection, wing))
        for wing in {record.wing for record in records}
    }
    return [
        _view(record, tuple(path_from_root(file, roots[record.wing]) for file in record.edited), status.label)
        for record in records
        for status in [standings.get(record.id, MERGED)]
        if not checkout.hides(status)
    ]


def _view(record: FailureRecord, edited: tuple[str, ...], label: str) -> PastFailure:
    outcome: FixOutcome = "fixed" if record.passed_at is not None else "not fixed" if record.is_known else "unknown"
    return PastFailure(
        id=record.id,
        session=record.session,
        wing=record.wing,
        room=record.room,
        failed_at=record.failed_at,
        passed_at=record.passed_at,
        outcome=outcome,
        command=record.command,
        error=record.lines,
        edited=edited,
        ran=record.ran,
        passed_as=record.passed_as,
        label=label,
    )
