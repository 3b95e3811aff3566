"""repair: rebuild derived data from the archive, and reassemble a palace that has damaged pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from palazzo.features.mining.mine import embed_now
from palazzo.features.service.background_process import EMBEDDING_ACTIVITY, failures, note_success, start_embedding
from palazzo.features.upkeep.contract import CheckView, DerivedPart, RepairPart, RepairRequest, RepairResult
from palazzo.features.upkeep.verify import result_of, run_checks
from palazzo.operations import damage
from palazzo.store import dead_letters, device_rows, items, tombstones, unfinished_imports
from palazzo.sync.records.chain_records import link_unlinked

if TYPE_CHECKING:
    from palazzo.derived.integrity_checks import Check
    from palazzo.operations.context import Context


_MENDS: dict[str, DerivedPart] = {
    "drawers": "drawers",
    "keywords": "fts",
    "vectors": "vectors",
    "vectors recomputed": "vectors",
}
"""What to rebuild when a check has failed. Only a backup can repair the archive itself."""


def repair(context: Context, request: RepairRequest) -> RepairResult:
    """Rebuild drawers, the keyword index or vectors from the archive, and check the palace again."""
    if damage.is_damaged(context):
        return _repair_file(context, request)
    count_before = _count_set_aside(context)
    if not request.dry_run:
        _retry(context)
    unproven, linked_count = ((), 0) if request.dry_run else _settle_provenance(context)
    initial_checks = run_checks(context) if request.rebuild is None or request.dry_run else []
    parts: tuple[DerivedPart, ...] = (request.rebuild,) if request.rebuild is not None else _mended_by(initial_checks)
    if request.dry_run:
        dry_result = result_of(initial_checks)
        return RepairResult(parts, True, dry_result.ok, dry_result.checks, 0, count_before)
    for part in parts:
        _rebuild(context, part)
    start_embedding(context)
    final_result = result_of(run_checks(context) if parts else initial_checks)
    return RepairResult(
        parts,
        False,
        final_result.ok,
        final_result.checks,
        count_before,
        _count_set_aside(context),
        unproven,
        linked_count,
    )


def _settle_provenance(context: Context) -> tuple[tuple[str, ...], int]:
    """Record items whose text a remote's records removed, and link items that are in no chain.

    The text is lost and cannot be restored. The record says that no known erasure removed it.
    """
    palace = context.writing()
    with palace.database.snapshot() as connection:
        is_whole = not unfinished_imports.paths(connection)
        if not is_whole or not (tombstones.find_unproven_items(connection) or any(items.unlinked_items(connection))):
            return (), 0
    with palace.database.transaction() as connection:
        unproven = tombstones.find_unproven_items(connection)
        device_rows.note_unproven(connection, unproven, palace.clock())
        return tuple(uid.hex() for uid in unproven), link_unlinked(connection)


def _repair_file(context: Context, request: RepairRequest) -> RepairResult:
    """Replace the palace by its salvage, and rebuild all derived data."""
    if request.dry_run:
        with damage.open_salvage(context) as (_, view):
            return RepairResult(("file", "fts"), True, view.is_whole, (), salvage=view)
    view = damage.replace_damaged(context)
    _rebuild(context, "fts")
    parts: tuple[RepairPart, ...] = ("file", "fts")
    if request.rebuild in ("vectors", "all"):
        _rebuild(context, "vectors")
        parts += ("vectors",)
    start_embedding(context)
    checks_after = result_of(run_checks(context))
    if broken_parts := tuple(part for part in _mended_by(checks_after.checks) if part not in parts):
        for part in broken_parts:
            _rebuild(context, part)
        parts += broken_parts
        checks_after = result_of(run_checks(context))
    return RepairResult(parts, False, checks_after.ok, checks_after.checks, 0, _count_set_aside(context), salvage=view)


def _count_set_aside(context: Context) -> int:
    with context.reading().database.snapshot() as connection:
        return dead_letters.count(connection)


def _retry(context: Context) -> None:
    """Process texts again that were set aside, and run failed background activities again."""
    palace = context.writing()
    palace.retry_set_aside()
    for activity, _ in list(failures(context.variables)):
        if activity == EMBEDDING_ACTIVITY:
            embed_now(context)
        else:
            palace.follow_consumer(activity)
            note_success(activity, context.variables)


def _rebuild(context: Context, part: DerivedPart) -> None:
    def progress(count: int, total: int) -> None:
        context.report(f"rebuilding {part}", count, total)

    context.writing().rebuild(part, progress)


def _mended_by(checks: Sequence[Check | CheckView]) -> tuple[DerivedPart, ...]:
    return tuple(dict.fromkeys(_MENDS[check.name] for check in checks if not check.ok and check.name in _MENDS))
