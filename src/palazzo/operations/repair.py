"""repair: make derived data anew from the archive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from palazzo.operations.background import start_embedding
from palazzo.operations.operation import About, Operation
from palazzo.operations.verify import CheckView, result_of, run_checks

if TYPE_CHECKING:
    from palazzo.derive.verify import Check
    from palazzo.operations.context import Context

Part = Literal["drawers", "fts", "vectors", "all"]

_MENDS: dict[str, Part] = {
    "drawers": "drawers",
    "keywords": "fts",
    "vectors": "vectors",
    "vectors recomputed": "vectors",
}
"""What to make anew when a check has failed. Nothing mends the archive itself but a backup."""


@dataclass(frozen=True, slots=True)
class RepairRequest:
    """What to make anew."""

    rebuild: Annotated[Part | None, About("Make this anew; what the checks find wrong if left out.")] = None
    dry_run: Annotated[bool, About("Only say what would be made anew.")] = False


@dataclass(frozen=True, slots=True)
class RepairResult:
    """What was made anew (or would be), and the checks afterwards."""

    rebuilt: tuple[Part, ...]
    dry_run: bool
    ok: bool
    checks: tuple[CheckView, ...]


def repair(context: Context, request: RepairRequest) -> RepairResult:
    """Make drawers, the keyword index or vectors anew from the archive, and check the palace again.

    What is archived is not touched. Vectors are made in the background afterwards.
    """
    before = run_checks(context) if request.rebuild is None or request.dry_run else []
    parts = (request.rebuild,) if request.rebuild is not None else _broken(before)
    if request.dry_run:
        seen = result_of(before)
        return RepairResult(parts, True, seen.ok, seen.checks)
    for part in parts:
        _rebuild(context, part)
    if parts:
        start_embedding(context)
    after = result_of(run_checks(context) if parts else before)
    return RepairResult(parts, False, after.ok, after.checks)


def _rebuild(context: Context, part: Part) -> None:
    def progress(done: int, total: int) -> None:
        context.report(f"rebuilding {part}", done, total)

    context.writing().rebuild(part, progress)


def _broken(checks: Sequence[Check]) -> tuple[Part, ...]:
    return tuple(dict.fromkeys(_MENDS[check.name] for check in checks if not check.ok and check.name in _MENDS))


OPERATION = Operation(
    "repair", RepairRequest, RepairResult, repair, writes=True, steps=True, failed=lambda result: not result.ok
)
