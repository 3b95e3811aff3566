"""todo done: mark a to-do as done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.features.tasks.contract import TodoDoneRequest, TodoDoneResult
from palazzo.features.tasks.task_changes import close
from palazzo.features.tasks.task_results import todo_view
from palazzo.operations.taint_marks import marks_taint

if TYPE_CHECKING:
    from palazzo.operations.context import Context


@marks_taint
def todo_done(context: Context, request: TodoDoneRequest) -> TodoDoneResult:
    """Mark to-dos as done."""
    outcome = close(context, "todo", request.ids, "done", "todo done")
    now = context.now
    return TodoDoneResult(
        tuple(todo_view(task, now) for task in outcome.closed),
        tuple(todo_view(task, now) for task in outcome.closed_earlier),
    )
