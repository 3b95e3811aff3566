"""todo list: list open to-dos."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from palazzo.errors import UsageError
from palazzo.features.branches.branch_labels import Checkout
from palazzo.features.tasks.contract import TodoListRequest, TodoListResult
from palazzo.features.tasks.task_results import todo_view
from palazzo.operations import point_in_time as past
from palazzo.operations.arguments import check_place
from palazzo.store import task_rows
from palazzo.text.times import to_iso

if TYPE_CHECKING:
    from palazzo.operations.context import Context


def todo_list(context: Context, request: TodoListRequest) -> TodoListResult:
    """List the to-dos of a project, in the order in which they are due."""
    if request.everywhere and request.wing is not None:
        raise UsageError("Give --wing for one wing, or --everywhere for all; not both.")
    point_in_time = past.as_of(request.as_of, context.now)
    with past.reading(context, point_in_time) as connection:
        wing_name, _ = check_place(connection, request.wing, None, context.notice)
        wing = None if request.everywhere else wing_name or context.home
        todos = task_rows.tasks(connection, "todo", wing, includes_closed=request.all)
        standings = Checkout(context).of_ids(connection, [task.uid for task in todos])
    views = tuple(
        replace(todo_view(task, point_in_time.end_time or context.now), label=standings[task.uid].label)
        for task in todos
    )
    as_of_text = None if point_in_time.requested_time is None else to_iso(point_in_time.requested_time)
    return TodoListResult(wing, views, sum(view.state == "open" for view in views), as_of_text)
