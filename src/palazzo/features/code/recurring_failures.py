"""friction: what fails again and again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from palazzo.features.code.code_scope import CodeScope, read_scope, widening_options
from palazzo.features.code.contract import (
    FrictionRequest,
    FrictionResult,
    PastFailure,
    RecurringFailure,
)
from palazzo.features.code.past_failure import past_failures, record_key
from palazzo.store import failure_lookups
from palazzo.store.failure_lookups import FailureScope

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection
    from palazzo.store.failure_lookups import FailureGroup

_LEAST = 2
"""How often something must fail to be shown. Repeated failures in a row count once."""
_MOST_READ = 200
"""Maximum number of groups whose words are read: more than one answer shows."""


def find_recurring_failures(context: Context, request: FrictionRequest) -> FrictionResult:
    """Show what fails again and again: errors and commands, how often, in how many sessions, and whether fixed."""
    scope = read_scope(context, request)
    palace = context.reading()
    palace.follow_failures()
    lookup = FailureScope(scope.wings, scope.trusts, scope.since, scope.until)
    with palace.database.snapshot() as connection:
        errors = failure_lookups.errors_by_frequency(connection, lookup, _LEAST)
        commands = failure_lookups.commands_by_frequency(connection, lookup, _LEAST)
        groups = sorted([*errors, *commands], key=lambda group: (-group.failures, -group.last_at))
        shown = _with_examples(context, connection, groups, lookup)[: request.limit]
    return FrictionResult(scope.wing, tuple(shown), len(groups), "" if shown else _advice(request, scope))


def _with_examples(
    context: Context, connection: Connection, groups: Sequence[FailureGroup], lookup: FailureScope
) -> list[RecurringFailure]:
    """Return groups with an example each; a group of which nothing may be shown is left out."""
    examples = {
        group: next(failure_lookups.failures_of_group(connection, group, lookup), None) for group in groups[:_MOST_READ]
    }
    records = {group: record for group, record in examples.items() if record is not None}
    views = {view.key: view for view in past_failures(context, connection, records.values())}
    return [_view(group, views[record_key(record)]) for group, record in records.items() if record_key(record) in views]


def _view(group: FailureGroup, example: PastFailure) -> RecurringFailure:
    return RecurringFailure(
        kind="error" if group.signature else "command",
        failures=group.failures,
        sessions=group.sessions,
        fixed=group.fixed,
        first_at=group.first_at,
        last_at=group.last_at,
        example=example,
    )


def _advice(request: FrictionRequest, scope: CodeScope) -> str:
    wider = widening_options(request, scope)
    return f"Nothing failed {_LEAST} times or more{f'; try {wider}' if wider else ''}."
