"""todo add: add a to-do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.archive import archive_reader, task_notes
from palazzo.archive.notes import Note
from palazzo.features.tasks.contract import TodoAddRequest, TodoAddResult
from palazzo.features.tasks.task_changes import check_text, file_task
from palazzo.features.tasks.task_results import todo_view
from palazzo.model import Place
from palazzo.operations.arguments import speaker, wing_to_file_in
from palazzo.operations.caller_clock import to_come
from palazzo.operations.caller_taint import whom_to_believe

if TYPE_CHECKING:
    from palazzo.operations.context import Context


def todo_add(context: Context, request: TodoAddRequest) -> TodoAddResult:
    """Add a to-do to a project."""
    check_text("to-do", request.text)
    by = speaker(request.by)
    belief = whom_to_believe(context, request.wing)
    due_at = None if request.due is None else to_come(context, "--due", request.due).end
    place = Place(wing_to_file_in(context, request.wing), task_notes.ROOMS["todo"])
    project = context.project
    note = Note(request.text, place, by, belief, branch=project.branch, commit=project.commit, shelf="todo")
    task = file_task(context, note, "todo", due_at, "todo add")
    with context.reading().database.snapshot() as connection:
        return TodoAddResult(todo_view(task, context.now), tuple(archive_reader.drawers_of_item(connection, task.item)))
