"""reminders: list due reminders, and close them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from palazzo.archive import task_notes as engine
from palazzo.archive.task_notes import Moment
from palazzo.errors import UsageError
from palazzo.features.tasks.contract import RemindersRequest, RemindersResult
from palazzo.features.tasks.task_changes import close
from palazzo.features.tasks.task_results import file_names, reminder_view
from palazzo.operations import point_in_time as past
from palazzo.operations.arguments import check_place
from palazzo.store import task_rows

if TYPE_CHECKING:
    from palazzo.model import Micros
    from palazzo.operations.context import Context


def reminders(context: Context, request: RemindersRequest) -> RemindersResult:
    """List the reminders that are due, or all; mark some as done or dropped."""
    if request.action in ("done", "drop"):
        return _close_reminders(context, request)
    if request.ids:
        raise UsageError(f"To list reminders, give no ids: palazzo reminders {request.action}.")

    point_in_time = past.as_of(request.as_of, context.now)
    with past.reading(context, point_in_time) as connection:
        wing, _ = check_place(connection, request.wing, None, context.notice)
        task_list = task_rows.tasks(connection, "reminder", wing, includes_closed=request.action == "all")
        due = engine.due(connection, _moment(context, request, point_in_time.end_time or context.now), wing)
    causes = {due_task.task.row: due_task.causes for due_task in due}
    views = [reminder_view(task, causes.get(task.row, ())) for task in task_list]
    views.sort(key=lambda view: ("due", "waiting").index(view.state) if view.closed_at is None else 2)
    visible_views = [view for view in views if view.state == "due" or request.action != "due"]
    pending_count = sum(view.state == "waiting" for view in views)
    return RemindersResult(request.action, tuple(visible_views), (), pending_count)


def _moment(context: Context, request: RemindersRequest, now: Micros) -> Moment:
    files = file_names(context, request.file) if request.file else ()
    return Moment(now, files, request.topic or "")


def _close_reminders(context: Context, request: RemindersRequest) -> RemindersResult:
    if not request.ids:
        raise UsageError(f"Name the reminders: palazzo reminders {request.action} ID…")
    if request.wing or request.file or request.topic or request.as_of:
        raise UsageError("The ids already select reminders: leave out --wing, --on-file, --on-topic and --as-of.")
    state: Literal["done", "dropped"] = "done" if request.action == "done" else "dropped"
    result = close(context, "reminder", request.ids, state, f"reminders {request.action}")
    views, earlier_views = (
        tuple(map(reminder_view, task_group)) for task_group in (result.closed, result.closed_earlier)
    )
    return RemindersResult(request.action, views, earlier_views, 0)
