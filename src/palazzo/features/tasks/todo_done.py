"""todo done: mark a to-do as done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from palazzo.features.tasks.task_results import TodoView
from palazzo.operations.operation import About, Operation
from palazzo.operations.taint_marks import marks_taint

if TYPE_CHECKING:
    from palazzo.operations.context import Context


@dataclass(frozen=True, slots=True)
class TodoDoneRequest:
    """The to-dos to close."""

    ids: Annotated[
        tuple[str, ...],
        About("Ids of to-dos or of their drawers, or id prefixes.", positional=True, option="ID"),
    ]


@dataclass(frozen=True, slots=True)
class TodoDoneResult:
    """The to-dos that are done now, and those that were already closed, which are unchanged."""

    done: tuple[TodoView, ...]
    before: tuple[TodoView, ...]


@marks_taint
def todo_done(context: Context, request: TodoDoneRequest) -> TodoDoneResult:
    """Mark to-dos as done.

    If an id matches nothing, none of them is marked. 'palazzo undo' opens them again.
    """
    from palazzo.features.tasks.task_results import close, todo_view

    outcome = close(context, "todo", request.ids, "done", "todo done")
    now = context.now
    return TodoDoneResult(
        tuple(todo_view(task, now) for task in outcome.closed),
        tuple(todo_view(task, now) for task in outcome.closed_earlier),
    )


OPERATION = Operation(
    "todo_done",
    TodoDoneRequest,
    TodoDoneResult,
    todo_done,
    scope="write",
    writes=True,
    examples=("palazzo todo done 3f2a91",),
)
