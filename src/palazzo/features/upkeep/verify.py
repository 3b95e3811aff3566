"""verify: check the palace, changing nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from palazzo.operations.operation import Operation

if TYPE_CHECKING:
    from palazzo.index.integrity_checks import Check
    from palazzo.operations.context import Context


IMPORTS = "imports"
"""The check that fails where nothing is damaged: it says itself what to do."""


@dataclass(frozen=True, slots=True)
class VerifyRequest:
    """Nothing needs to be said."""


@dataclass(frozen=True, slots=True)
class CheckView:
    """One check: what was looked at, whether it is in order, and what was seen."""

    name: str
    ok: bool
    detail: str


@dataclass(frozen=True, slots=True)
class VerifyResult:
    """All checks, and whether all are in order."""

    ok: bool
    checks: tuple[CheckView, ...]


def verify(context: Context, request: VerifyRequest) -> VerifyResult:
    """Check that the palace file is sound, nothing archived is lost, and what is derived is what it should be.

    Changes nothing. 'palazzo repair' mends what is derived.
    """
    return result_of(run_checks(context))


def run_checks(context: Context) -> list[Check]:
    """Run every check on the palace."""
    from palazzo.index.integrity_checks import verify as checks

    palace = context.reading()
    return list(checks(palace.database, palace.embedder, context.report))


def result_of(checks: list[Check]) -> VerifyResult:
    """Return checks as a face shows them."""
    views = tuple(CheckView(check.name, check.ok, check.detail) for check in checks)
    return VerifyResult(all(view.ok for view in views), views)


OPERATION = Operation("verify", VerifyRequest, VerifyResult, verify, failed=lambda result: not result.ok)
