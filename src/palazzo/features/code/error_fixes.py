"""fix: what fixed an error before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from palazzo.derived import fix_consumer
from palazzo.errors import UsageError
from palazzo.features.code.code_scope import CodeScope, read_scope, widening_options
from palazzo.features.code.contract import FixRequest, FixResult
from palazzo.features.code.error_matching import are_similar, pasted_lines, signatures_in
from palazzo.features.code.past_failure import fold_failures, past_failures
from palazzo.store import failure_lookups
from palazzo.store.failure_lookups import FailureScope

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection
    from palazzo.store.failure_fixes import FailureRecord

_LONGEST_PASTE = 100_000
"""Maximum characters of a pasted error that are read, from its end: the outcome is there."""
_MOST_COMPARED = 1_000
"""Maximum number of recorded failures that are compared by their words, the newest: about half a second."""


def find_fixes(context: Context, request: FixRequest) -> FixResult:
    """Show what fixed an error before: the failure, the command, and what was changed before it passed."""
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
    marks = [fix_consumer.marks(connection, None, signature)[1] for signature in signatures_in(lines)]
    return list(failure_lookups.find_by_signatures(connection, marks, _lookup_scope(scope)))


def _similar_errors(connection: Connection, lines: Sequence[str], scope: CodeScope) -> list[FailureRecord]:
    newest = failure_lookups.newest_failures(connection, _lookup_scope(scope), _MOST_COMPARED)
    return [record for record in newest if are_similar(lines, record.lines)]


def _lookup_scope(scope: CodeScope) -> FailureScope:
    return FailureScope(scope.wings, scope.trusts, scope.since, scope.until)


def _advice(request: FixRequest, scope: CodeScope) -> str:
    wider = widening_options(request, scope)
    suggestion = f"try {wider}, or " if wider else ""
    return f"No earlier failure reports this error: {suggestion}search for it with 'palazzo search'."
