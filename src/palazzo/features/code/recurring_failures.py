"""friction: what fails again and again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from palazzo.features.code.code_scope import CodeScope, Everywhere, InCodeWing, read_scope, widening_options
from palazzo.features.code.past_failure import PastFailure, past_failures, record_key
from palazzo.model import Micros
from palazzo.operations.filters import External, Since, Until
from palazzo.operations.operation import PERSON_ONLY, About, Operation

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection
    from palazzo.store.failure_lookups import FailureGroup, FailureScope

_LEAST = 2
"""How often something must fail to be shown. Repeated failures in a row count once."""
_MOST_READ = 200
"""Maximum number of groups whose words are read: more than one answer shows."""


@dataclass(frozen=True, slots=True)
class FrictionRequest:
    """Where to look, and for how much."""

    wing: InCodeWing = None
    everywhere: Everywhere = False
    since: Since = None
    until: Until = None
    limit: Annotated[int, About("Maximum number of errors and commands.")] = 10
    external: External = True


@dataclass(frozen=True, slots=True)
class RecurringFailure:
    """An error message that was reported several times, or a command that failed with several errors.

    `fixed` counts the failures after which the same command passed in the same session. `example` is the newest failure
    that was fixed, else the newest one.
    """

    kind: Literal["error", "command"]
    failures: int
    sessions: int
    fixed: int
    first_at: Micros
    last_at: Micros
    example: PastFailure


@dataclass(frozen=True, slots=True)
class FrictionResult:
    """What fails again and again, most frequent first. `wing` is null if all were read; `total` is before the limit."""

    wing: str | None
    groups: tuple[RecurringFailure, ...]
    total: int
    advice: Annotated[str, PERSON_ONLY] = ""


def find_recurring_failures(context: Context, request: FrictionRequest) -> FrictionResult:
    """Show what fails again and again: errors and commands, how often, in how many sessions, and whether fixed.

    An error counts once for each time that it came up; retries in a row count as one.
    """
    from palazzo.store import failure_lookups
    from palazzo.store.failure_lookups import FailureScope

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
    from palazzo.store import failure_lookups

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


OPERATION = Operation(
    "friction",
    FrictionRequest,
    FrictionResult,
    find_recurring_failures,
    scope="read",
    examples=("palazzo friction", "palazzo friction --since 30d --everywhere"),
)
