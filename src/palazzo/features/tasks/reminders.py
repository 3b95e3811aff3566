"""reminders: list due reminders, and close them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from palazzo.errors import UsageError
from palazzo.features.tasks.task_results import ReminderView
from palazzo.operations import point_in_time as past
from palazzo.operations.operation import About, Operation

if TYPE_CHECKING:
    from palazzo.archive.task_notes import Moment
    from palazzo.model import Micros
    from palazzo.operations.context import Context


@dataclass(frozen=True, slots=True)
class RemindersRequest:
    """`due` lists due reminders, `all` also closed ones; `done` and `drop` close the given ids."""

    action: Annotated[
        Literal["due", "open", "all", "done", "drop"],
        About("What to show, or what to do with the ids.", positional=True),
    ] = "due"
    ids: Annotated[
        tuple[str, ...],
        About("Ids of reminders or of their drawers, or id prefixes.", positional=True, option="ID"),
    ] = ()
    wing: Annotated[str | None, About("Only reminders of this wing. Default: all wings.")] = None
    file: Annotated[
        str | None, About("Also reminders for when this file is opened.", option="--on-file", metavar="PATH")
    ] = None
    topic: Annotated[
        str | None, About("Also reminders whose topic comes up in this text.", option="--on-topic", metavar="WORDS")
    ] = None
    as_of: Annotated[str | None, About(past.HELP)] = None


@dataclass(frozen=True, slots=True)
class RemindersResult:
    """Reminders, due ones first. For `done` and `drop`: those that were closed now, and those closed `before`."""

    action: str
    reminders: tuple[ReminderView, ...]
    before: tuple[ReminderView, ...]
    waiting: int
    """How many of the requested reminders are open and not due."""


def reminders(context: Context, request: RemindersRequest) -> RemindersResult:
    """List the reminders that are due, or all; mark some as done or dropped.

    A reminder is due if its time has come, or if it waits for the given file or topic.
    """
    if request.action in ("done", "drop"):
        return _close_reminders(context, request)
    if request.ids:
        raise UsageError(f"To list reminders, give no ids: palazzo reminders {request.action}.")
    from palazzo.archive import task_notes as engine
    from palazzo.features.tasks.task_results import reminder_view
    from palazzo.operations.arguments import check_place
    from palazzo.store import task_rows

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
    from palazzo.archive.task_notes import Moment
    from palazzo.features.tasks.task_results import file_names

    files = file_names(context, request.file) if request.file else ()
    return Moment(now, files, request.topic or "")


def _close_reminders(context: Context, request: RemindersRequest) -> RemindersResult:
    from palazzo.features.tasks.task_results import close, reminder_view

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


OPERATION = Operation(
    "reminders",
    RemindersRequest,
    RemindersResult,
    reminders,
    scope="write",
    writes=True,
    examples=("palazzo reminders", "palazzo reminders done 3f2a91"),
)
