"""To-dos and reminders as faces show them and name their files. The task operations share this module."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from palazzo.model import Micros
from palazzo.operations import point_in_time as past
from palazzo.operations.arguments import absolute
from palazzo.operations.shared_views import ReminderView, TodoView
from palazzo.store import task_rows

if TYPE_CHECKING:
    from palazzo.index.presentation import Hit
    from palazzo.operations.context import Context
    from palazzo.operations.point_in_time import AsOf
    from palazzo.store.task_rows import Task


def todo_view(task: Task, now: Micros) -> TodoView:
    """Return a to-do as a view."""
    return TodoView(
        id=task.uid,
        text=task.text,
        state=task.state,
        wing=task.wing,
        by=task.author,
        created_at=task.created_at,
        due_at=task.due_at,
        overdue=task.state == "open" and task.due_at is not None and task.due_at <= now,
        closed_at=task.state_at,
        trust=task.trust,
    )


def reminder_view(task: Task, causes: Sequence[str] = ()) -> ReminderView:
    """Return a reminder as a view; `causes` say why it is due."""
    return ReminderView(
        id=task.uid,
        text=task.text,
        state=("due" if causes else "waiting") if task.state == "open" else task.state,
        causes=tuple(causes),
        wing=task.wing,
        at=task.due_at,
        file=task.file,
        topic=task.topic,
        by=task.author,
        created_at=task.created_at,
        closed_at=task.state_at,
        trust=task.trust,
    )


def task_states(context: Context, point_in_time: AsOf, hits: Sequence[Hit]) -> dict[str, str]:
    """Return, by drawer, the state of the to-dos and reminders among the hits at the requested time."""
    drawer_ids = [bytes.fromhex(hit.drawer.id) for hit in hits if hit.drawer.kind in ("todo", "reminder")]
    if not drawer_ids:
        return {}
    with past.reading(context, point_in_time) as connection:
        rows = task_rows.of_drawers(connection, drawer_ids)
        states = {task.row: task.state for task in task_rows.read(connection, rows.values())}
    return {uid.hex(): states[row] for uid, row in rows.items() if row in states}


def file_names(context: Context, typed_path: str) -> tuple[tuple[str, str | None], ...]:
    """Return the names by which a reminder may know a file: from the project's root with its wing, and absolute."""
    path = absolute(context, typed_path)
    root = context.project_root
    own = ((path.relative_to(root).as_posix(), context.project_wing),) if path.is_relative_to(root) else ()
    return (*own, (path.as_posix(), None))
