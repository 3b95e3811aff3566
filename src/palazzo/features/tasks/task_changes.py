"""Filing and closing of to-dos and reminders, each in a change group. The task operations share this module."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from palazzo.archive import identity, notes, task_notes
from palazzo.archive.ingest_guard import Guard
from palazzo.errors import UsageError
from palazzo.features.service.background_process import start_embedding
from palazzo.operations.caller_taint import change_actor
from palazzo.store import change_groups
from palazzo.store.task_rows import of_items

if TYPE_CHECKING:
    from palazzo.archive.notes import Note
    from palazzo.archive.task_notes import CloseResult
    from palazzo.model import Micros
    from palazzo.operations.context import Context
    from palazzo.store.task_rows import Task, TaskKind, TaskState

LONGEST = 10_000
"""The most characters of a to-do or a reminder: a longer text is a note or a document."""


def file_task(context: Context, note: Note, kind: TaskKind, due_at: Micros | None, verb: str) -> Task:
    """File a note as a to-do or a reminder, in a change group of its own; return the task."""
    palace = context.writing()
    new_note = notes.prepare(note, context.now, Guard.of(palace.database))
    with palace.database.transaction() as connection:
        now = context.now
        group = change_groups.begin(
            connection, bytes.fromhex(identity.new_id(now)), change_actor(context), verb, now, ""
        )
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
    with context.reading().database.snapshot() as connection:  # a slip creates no palace
        for task_id in ids:
            task_notes.resolve(connection, kind, task_id)
    with context.writing().database.transaction() as connection:
        now = context.now

        def begin() -> int:
            return change_groups.begin(
                connection, bytes.fromhex(identity.new_id(now)), change_actor(context), verb, now, ""
            )

        return task_notes.close(connection, kind, ids, state, now, begin)


def check_text(subject: str, text: str) -> None:
    """Raise UsageError for a text that is empty, or too long for a to-do or a reminder."""
    if not text.strip():
        raise UsageError(f"The {subject} is empty: state in a sentence what is to be done.")
    if len(text) > LONGEST:
        raise UsageError(
            f"The {subject} has {len(text):,} characters, and the limit is {LONGEST:,}; keep the rest with 'palazzo "
            "remember'."
        )
