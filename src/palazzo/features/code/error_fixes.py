"""fix: what mended an error before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from palazzo.errors import UsageError
from palazzo.features.code.code_scope import CodeScope, Everywhere, InCodeWing, read_scope, widening_options
from palazzo.features.code.past_failure import PastFailure, fold_failures, past_failures
from palazzo.operations.filters import External, Since, Until
from palazzo.operations.operation import PERSON_ONLY, About, Operation

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection
    from palazzo.store.failure_fixes import FailureRecord
    from palazzo.store.failure_lookups import FailureScope

_LONGEST_PASTE = 100_000
"""Maximum characters of a pasted error that are read, from its end: the outcome is there."""
_MOST_COMPARED = 1_000
"""Maximum number of recorded failures that are compared by their words, the newest: about half a second."""


@dataclass(frozen=True, slots=True)
class FixRequest:
    """The error, and where to look for it."""

    error: Annotated[
        str,
        About(
            "The error message, of one or several lines; - reads it from standard input.", positional=True, stdin=True
        ),
    ]
    wing: InCodeWing = None
    everywhere: Everywhere = False
    since: Since = None
    until: Until = None
    limit: Annotated[int, About("Maximum number of earlier failures.")] = 5
    external: External = True


@dataclass(frozen=True, slots=True)
class FixResult:
    """Earlier failures with this error, fixed ones first, then the newest. `wing` is null if all were searched.

    `match` is `same` if they report the same error apart from numbers and paths, `similar` if they only share its
    words. `total` counts the failures before the limit.
    """

    wing: str | None
    match: Literal["same", "similar", "none"]
    failures: tuple[PastFailure, ...]
    total: int
    advice: Annotated[str, PERSON_ONLY] = ""


def find_fixes(context: Context, request: FixRequest) -> FixResult:
    """Show what mended an error before: the failure, the command, and what was changed before it passed.

    Compares the lines of the error with those that failed commands reported in earlier sessions.
    """
    from palazzo.features.code.error_matching import pasted_lines

    lines = pasted_lines(request.error[-_LONGEST_PASTE:])
    if not lines:
        raise UsageError("The error is empty: paste its message, or give - and pipe it in.")
    scope = read_scope(context, request)
    palace = context.reading()
    palace.follow_failures()
    with palace.database.snapshot() as connection:
        match: Literal["same", "similar", "none"] = "same"
        records = _same_errors(connection, lines, scope)
        if not records:
            match, records = "similar", _similar_errors(connection, lines, scope)
        failures = fold_failures(past_failures(context, connection, records))
    if not failures:
        return FixResult(scope.wing, "none", (), 0, _advice(request, scope))
    return FixResult(scope.wing, match, tuple(failures[: request.limit]), len(failures))


def _same_errors(connection: Connection, lines: Sequence[str], scope: CodeScope) -> list[FailureRecord]:
    from palazzo.derived import fix_consumer
    from palazzo.features.code.error_matching import signatures_in
    from palazzo.store import failure_lookups

    marks = [fix_consumer.marks(connection, None, signature)[1] for signature in signatures_in(lines)]
    return list(failure_lookups.find_by_signatures(connection, marks, _lookup_scope(scope)))


def _similar_errors(connection: Connection, lines: Sequence[str], scope: CodeScope) -> list[FailureRecord]:
    from palazzo.features.code.error_matching import are_similar
    from palazzo.store import failure_lookups

    newest = failure_lookups.newest_failures(connection, _lookup_scope(scope), _MOST_COMPARED)
    return [record for record in newest if are_similar(lines, record.lines)]


def _lookup_scope(scope: CodeScope) -> FailureScope:
    from palazzo.store.failure_lookups import FailureScope

    return FailureScope(scope.wings, scope.trusts, scope.since, scope.until)


def _advice(request: FixRequest, scope: CodeScope) -> str:
    wider = widening_options(request, scope)
    suggestion = f"try {wider}, or " if wider else ""
    return f"No earlier failure reports this error: {suggestion}search for it with 'palazzo search'."


OPERATION = Operation(
    "fix",
    FixRequest,
    FixResult,
    find_fixes,
    scope="read",
    warm=True,
    examples=("palazzo fix \"ModuleNotFoundError: No module named 'yaml'\"", "make 2>&1 | palazzo fix -"),
)
