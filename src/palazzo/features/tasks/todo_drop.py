"""todo drop: drop a to-do without doing it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.features.tasks.contract import TodoDropRequest, TodoDropResult
from palazzo.features.tasks.task_changes import close
from palazzo.features.tasks.task_results import todo_view
from palazzo.operations.taint_marks import marks_taint

if TYPE_CHECKING:
    from palazzo.operations.context import Context


@marks_taint
def todo_drop(context: Context, request: TodoDropRequest) -> TodoDropResult:
    """Drop to-dos that will not be done."""
    outcome = close(context, "todo", request.ids, "dropped", "todo drop")
    now = context.now
    return TodoDropResult(
        tuple(todo_view(task, now) for task in outcome.closed),
        tuple(todo_view(task, now) for task in outcome.closed_earlier),
    )
