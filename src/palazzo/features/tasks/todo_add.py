"""todo add: add a to-do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from palazzo.features.tasks.task_results import TodoView
from palazzo.operations.operation import About, Operation

if TYPE_CHECKING:
    from palazzo.operations.context import Context


@dataclass(frozen=True, slots=True)
class TodoAddRequest:
    """The task, its wing, and its due time."""

    text: Annotated[str, About("The task; - reads it from standard input.", positional=True, stdin=True)]
    wing: Annotated[str | None, About("File it in this wing. Default: the project's.")] = None
    due: Annotated[
        str | None, About("The due time: friday, 2026-03-04, 'tomorrow 17:00', 'in 2 days'.", metavar="WHEN")
    ] = None
    by: Annotated[str, About("The author: an agent's or a person's name.", metavar="NAME")] = ""


@dataclass(frozen=True, slots=True)
class TodoAddResult:
    """The saved to-do, and its drawer in the search index."""

    todo: TodoView
    drawers: tuple[str, ...]


def todo_add(context: Context, request: TodoAddRequest) -> TodoAddResult:
    """Add a to-do to a project.

    Search finds it like a note, and wake-up shows it until it is done. A named day is included: a to-do due on Friday
    is overdue on Saturday.
    """
    from palazzo.archive import archive_reader, task_notes
    from palazzo.archive.notes import Note
    from palazzo.features.tasks.task_results import check_text, file_task, todo_view
    from palazzo.model import Place
    from palazzo.operations.arguments import speaker, wing_to_file_in
    from palazzo.operations.caller_clock import to_come
    from palazzo.operations.caller_taint import whom_to_believe

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


OPERATION = Operation(
    "todo_add",
    TodoAddRequest,
    TodoAddResult,
    todo_add,
    scope="write",
    writes=True,
    examples=('palazzo todo add "Renew the certificate" --due friday',),
)
