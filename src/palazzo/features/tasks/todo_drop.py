"""todo drop: give something up."""

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
    """Which to-dos."""

    ids: Annotated[
        tuple[str, ...],
        About("Ids of to-dos, or their beginnings; also of their drawers.", positional=True, option="ID"),
    ]


@dataclass(frozen=True, slots=True)
class TodoDropResult:
    """The to-dos that are dropped now, and those that were closed before, which stay as they were."""

    dropped: tuple[TodoView, ...]
    before: tuple[TodoView, ...]


@marks_taint
def todo_drop(context: Context, request: TodoDropRequest) -> TodoDropResult:
    """Drop to-dos that will not be done.

    All of them or, where an id names none, none of them. 'palazzo undo' opens them again.
    """
    from palazzo.features.tasks.task_results import close, todo_view

    outcome = close(context, "todo", request.ids, "dropped", "todo drop")
    now = context.now
    return TodoDropResult(
        tuple(todo_view(task, now) for task in outcome.closed),
        tuple(todo_view(task, now) for task in outcome.closed_earlier),
    )


OPERATION = Operation("todo_drop", TodoDropRequest, TodoDropResult, todo_drop, writes=True)
