"""The agenda: open to-dos, reminders that are due, and an agent's latest diary entries.

Wake-up texts and hand-overs show it. On a snapshot as of a day, it is the agenda of that day.
"""

from __future__ import annotations

from itertools import islice

from palazzo.archive import diary_entries, task_notes
from palazzo.archive.diary_entries import Entry
from palazzo.archive.task_notes import Due, Moment
from palazzo.frozen_class import frozen
from palazzo.store.database import Connection
from palazzo.store.task_rows import Task

ENTRIES = 3


@frozen
class Agenda:
    """To-dos and reminders by due time, and diary entries with the newest first."""

    todos: tuple[Task, ...]
    due: tuple[Due, ...]
    entries: tuple[Entry, ...]


def agenda(
    connection: Connection, moment: Moment, wing: str | None, agent: str | None = None, entries: int = ENTRIES
) -> Agenda:
    """Return what is open in a wing (None: everywhere) and for an agent (None: for all agents).

    Entries are the agent's own about the wing's project. An agent without a diary has none; this is not an error. The
    caller takes as many to-dos as it has room for.
    """
    own = None if agent is None else diary_entries.agent_called(connection, agent)
    if agent is not None and own is None:
        return Agenda(*_open(connection, moment, wing), ())
    rows = islice(diary_entries.entries(connection, own, project=wing), entries)
    return Agenda(*_open(connection, moment, wing), tuple(diary_entries.read(connection, row) for row in rows))


def _open(connection: Connection, moment: Moment, wing: str | None) -> tuple[tuple[Task, ...], tuple[Due, ...]]:
    return tuple(task_notes.open_todos(connection, wing)), tuple(task_notes.due(connection, moment, wing))
