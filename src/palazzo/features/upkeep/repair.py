"""repair: rebuild derived data from the archive, and reassemble a palace that has damaged pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from palazzo.features.service.background_process import EMBEDDING_ACTIVITY, failures, note_success, start_embedding
from palazzo.features.upkeep.verify import CheckView, result_of, run_checks
from palazzo.operations import damage
from palazzo.operations.damage import SalvageView
from palazzo.operations.operation import About, Operation

if TYPE_CHECKING:
    from palazzo.derived.integrity_checks import Check
    from palazzo.operations.context import Context

DerivedPart = Literal["drawers", "fts", "vectors", "all"]
Part = DerivedPart | Literal["file"]

_MENDS: dict[str, DerivedPart] = {
    "drawers": "drawers",
    "keywords": "fts",
    "vectors": "vectors",
    "vectors recomputed": "vectors",
}
"""What to rebuild when a check has failed. Only a backup can repair the archive itself."""


@dataclass(frozen=True, slots=True)
class RepairRequest:
    """What to rebuild."""

    rebuild: Annotated[
        Literal["drawers", "fts", "vectors", "all"] | None,
        About("Rebuild this part. Default: what the checks find wrong."),
    ] = None
    dry_run: Annotated[bool, About("Only show what would be rebuilt.")] = False


@dataclass(frozen=True, slots=True)
class RepairResult:
    """What was rebuilt (or would be), and the results of the checks afterwards."""

    rebuilt: tuple[Part, ...]
    dry_run: bool
    ok: bool
    checks: tuple[CheckView, ...]
    retried_texts: int = 0
    """How many texts that had been set aside were processed again."""
    set_aside: int = 0
    """How many texts are set aside now."""
    unproven: tuple[str, ...] = ()
    """Items whose text is missing without a known erasure. This is recorded now, and `verify` lists them."""
    linked: int = 0
    """How many items got a link in this device's chain because no chain contained them."""
    salvage: SalvageView | None = None
    """What could not be read because pages of the file were damaged; null if none was."""


def repair(context: Context, request: RepairRequest) -> RepairResult:
    """Rebuild drawers, the keyword index or vectors from the archive, and check the palace again.

    Texts that could not be processed are processed again. The archive is not changed. Vectors are computed in the
    background afterwards. If pages of the file are damaged, a new file is made from everything that can be read. It
    replaces the palace in one step; the damaged file is kept beside it, and what is lost is named.
    """
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
    from palazzo.store import device_rows, items, tombstones, unfinished_imports
    from palazzo.sync.records.chain_records import link_unlinked

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
    parts: tuple[Part, ...] = ("file", "fts")
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
    from palazzo.store import dead_letters

    with context.reading().database.snapshot() as connection:
        return dead_letters.count(connection)


def _retry(context: Context) -> None:
    """Process texts again that were set aside, and run failed background activities again."""
    from palazzo.features.mining.mine import embed_now

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


OPERATION = Operation(
    "repair",
    RepairRequest,
    RepairResult,
    repair,
    scope="admin",
    writes=True,
    steps=True,
    failed=lambda result: not result.ok,
    examples=("palazzo repair", "palazzo repair --rebuild fts --dry-run"),
)
