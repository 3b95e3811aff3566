"""verify: check the palace without changing anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.derived.integrity_checks import verify as checks
from palazzo.features.upkeep.contract import CheckView, VerifyRequest, VerifyResult

if TYPE_CHECKING:
    from palazzo.derived.integrity_checks import Check
    from palazzo.operations.context import Context


def verify(context: Context, request: VerifyRequest) -> VerifyResult:
    """Check that the palace file is sound, nothing archived is lost, and derived data is correct."""
    return result_of(run_checks(context))


def run_checks(context: Context) -> list[Check]:
    """Run every check on the palace."""
    palace = context.reading()
    return list(checks(palace.database, palace.embedder, context.report))


def result_of(checks: list[Check]) -> VerifyResult:
    """Return checks as views."""
    views = tuple(CheckView(check.name, check.ok, check.detail) for check in checks)
    return VerifyResult(all(view.ok for view in views), views)
