"""todo drop: drop a to-do without doing it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from palazzo.features.tasks.task_results import TodoView
from palazzo.operations.operation import About, Operation
from palazzo.operations.taint_marks import marks_taint

if TYPE_CHECKING:
    from palazzo.operations.context import Context


@dataclass(frozen=True, slots=True)
class TodoDropRequest:
    """The to-dos to drop."""

    ids: Annotated[
        tuple[str, ...],
        About("Ids of to-dos or of their drawers, or id prefixes.", positional=True, option="ID"),
    ]


@dataclass(frozen=True, slots=True)
class TodoDropResult:
    """The to-dos that are dropped now, and those that were already closed, which are unchanged."""

    dropped: tuple[TodoView, ...]
    before: tuple[TodoView, ...]


@marks_taint
def todo_drop(context: Context, request: TodoDropRequest) -> TodoDropResult:
    """Drop to-dos that will not be done.

    If an id matches nothing, none of them is dropped. 'palazzo undo' opens them again.
    """
    from palazzo.features.tasks.task_results import close, todo_view

    outcome = close(context, "todo", request.ids, "dropped", "todo drop")
    now = context.now
    return TodoDropResult(
        tuple(todo_view(task, now) for task in outcome.closed),
        tuple(todo_view(task, now) for task in outcome.closed_earlier),
    )


OPERATION = Operation(
    "todo_drop",
    TodoDropRequest,
    TodoDropResult,
    todo_drop,
    scope="write",
    writes=True,
    examples=("palazzo todo drop 3f2a91",),
)
