"""verify: check the palace without changing anything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from palazzo.operations.operation import Operation

if TYPE_CHECKING:
    from palazzo.derived.integrity_checks import Check
    from palazzo.operations.context import Context


IMPORTS = "imports"
"""The check that fails without any damage; its detail says what to do."""


@dataclass(frozen=True, slots=True)
class VerifyRequest:
    """No arguments."""


@dataclass(frozen=True, slots=True)
class CheckView:
    """One check: its name, whether it passed, and its detail."""

    name: str
    ok: bool
    detail: str


@dataclass(frozen=True, slots=True)
class VerifyResult:
    """All checks, and whether all passed."""

    ok: bool
    checks: tuple[CheckView, ...]


def verify(context: Context, request: VerifyRequest) -> VerifyResult:
    """Check that the palace file is sound, nothing archived is lost, and derived data is correct.

    Changes nothing. 'palazzo repair' repairs derived data.
    """
    return result_of(run_checks(context))


def run_checks(context: Context) -> list[Check]:
    """Run every check on the palace."""
    from palazzo.derived.integrity_checks import verify as checks

    palace = context.reading()
    return list(checks(palace.database, palace.embedder, context.report))


def result_of(checks: list[Check]) -> VerifyResult:
    """Return checks as views."""
    views = tuple(CheckView(check.name, check.ok, check.detail) for check in checks)
    return VerifyResult(all(view.ok for view in views), views)


OPERATION = Operation(
    "verify",
    VerifyRequest,
    VerifyResult,
    verify,
    scope="admin",
    failed=lambda result: not result.ok,
    examples=("palazzo verify",),
)
