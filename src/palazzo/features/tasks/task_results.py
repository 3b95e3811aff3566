"""To-dos and reminders as faces show them and pass them in. The task operations share this module."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from palazzo.errors import UsageError
from palazzo.model import Micros, Trust
from palazzo.operations.arguments import absolute

if TYPE_CHECKING:
    from palazzo.archive.notes import Note
    from palazzo.archive.task_notes import CloseResult
    from palazzo.index.presentation import Hit
    from palazzo.operations.context import Context
    from palazzo.operations.point_in_time import AsOf
    from palazzo.store.task_rows import Task, TaskKind, TaskState

ACTOR = "user"
"""The actor of changes to to-dos and reminders from the command line."""
LONGEST = 10_000
"""The most characters of a to-do or a reminder: a longer text is a note or a document."""


@dataclass(frozen=True, slots=True)
class TodoView:
    """A to-do. `by` is its author, where that is shown; `closed_at` is when it was done or dropped."""

    id: str
    text: str
    state: Literal["open", "done", "dropped"]
    wing: str
    by: str
    created_at: Micros
    due_at: Micros | None
    overdue: bool
    closed_at: Micros | None
    label: str = ""
    """In lists of to-dos: the branch label, if it is not known to be part of the current checkout."""
    trust: Trust = "agent"
    """Its trust level: `external` while it is in quarantine."""


@dataclass(frozen=True, slots=True)
class ReminderView:
    """A reminder. `causes` says why it is due; a `waiting` reminder is not due for any of the requested causes.

    `file` is relative to the root of its wing's project, or absolute.
    """

    id: str
    text: str
    state: Literal["due", "waiting", "done", "dropped"]
    causes: tuple[str, ...]
    wing: str
    at: Micros | None
    file: str
    topic: str
    by: str
    created_at: Micros
    closed_at: Micros | None
    trust: Trust = "agent"


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


def file_task(context: Context, note: Note, kind: TaskKind, due_at: Micros | None, verb: str) -> Task:
    """File a note as a to-do or a reminder, in a change group of its own; return the task."""
    from palazzo.archive import identity, notes, task_notes
    from palazzo.archive.ingest_guard import Guard
    from palazzo.features.service.background_process import start_embedding
    from palazzo.store import change_groups
    from palazzo.store.task_rows import of_items

    palace = context.writing()
    new_note = notes.prepare(note, context.now, Guard.of(palace.database))
    with palace.database.transaction() as connection:
        now = context.now
        group = change_groups.begin(connection, bytes.fromhex(identity.new_id(now)), ACTOR, verb, now, "")
        row = task_notes.file(connection, new_note, kind, due_at, now)
        change_groups.add(connection, group, "note", [row])
        change_groups.count(connection, group, 1)
    start_embedding(context)
    with palace.database.snapshot() as connection:
        (task,) = of_items(connection, [row])
    return task


def close(context: Context, kind: TaskKind, ids: Sequence[str], state: TaskState, verb: str) -> CloseResult:
    """Close tasks in one change group, all or none. Tasks that were closed before are returned separately,
    unchanged.
    """
    from palazzo.archive import identity, task_notes
    from palazzo.store import change_groups

    with context.reading().database.snapshot() as connection:  # a slip creates no palace
        for task_id in ids:
            task_notes.resolve(connection, kind, task_id)
    with context.writing().database.transaction() as connection:
        now = context.now

        def begin() -> int:
            return change_groups.begin(connection, bytes.fromhex(identity.new_id(now)), ACTOR, verb, now, "")

        return task_notes.close(connection, kind, ids, state, now, begin)


def task_states(context: Context, point_in_time: AsOf, hits: Sequence[Hit]) -> dict[str, str]:
    """Return, by drawer, the state of the to-dos and reminders among the hits at the requested time."""
    from palazzo.operations import point_in_time as past
    from palazzo.store import task_rows

    drawer_ids = [bytes.fromhex(hit.drawer.id) for hit in hits if hit.drawer.kind in ("todo", "reminder")]
    if not drawer_ids:
        return {}
    with past.reading(context, point_in_time) as connection:
        rows = task_rows.of_drawers(connection, drawer_ids)
        states = {task.row: task.state for task in task_rows.read(connection, rows.values())}
    return {uid.hex(): states[row] for uid, row in rows.items() if row in states}


def check_text(subject: str, text: str) -> None:
    """Raise UsageError for a text that is empty, or too long for a to-do or a reminder."""
    if not text.strip():
        raise UsageError(f"The {subject} is empty: state in a sentence what is to be done.")
    if len(text) > LONGEST:
        raise UsageError(
            f"The {subject} has {len(text):,} characters, and the limit is {LONGEST:,}; keep the rest with 'palazzo "
            "remember'."
        )


def file_names(context: Context, typed_path: str) -> tuple[tuple[str, str | None], ...]:
    """Return the names by which a reminder may know a file: from the project's root with its wing, and absolute."""
    path = absolute(context, typed_path)
    root = context.project_root
    own = ((path.relative_to(root).as_posix(), context.project_wing),) if path.is_relative_to(root) else ()
    return (*own, (path.as_posix(), None))
