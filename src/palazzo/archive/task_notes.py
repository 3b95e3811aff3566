"""To-dos and reminders: notes with a state. Files, finds and closes them, and determines which are due.

A reminder becomes due at a time, when a file is opened, or when a topic comes up: whichever of its conditions occurs
first. It stays due until it is done or dropped, so that it is not lost with the session that it was shown to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from difflib import SequenceMatcher
from typing import Literal

from palazzo.archive import notes
from palazzo.archive.archive_reader import id_bounds
from palazzo.archive.notes import PreparedNote
from palazzo.errors import AmbiguousId, NotFound
from palazzo.frozen_class import frozen
from palazzo.model import Micros
from palazzo.store import change_groups, task_rows
from palazzo.store.database import Connection
from palazzo.store.task_rows import Task, TaskKind, TaskState
from palazzo.text.stopwords import STOP_WORDS
from palazzo.text.word_forms import index_form, terms

ROOMS: Mapping[TaskKind, str] = {"todo": "todos", "reminder": "reminders"}
NAMES: Mapping[TaskKind, str] = {"todo": "to-do", "reminder": "reminder"}
_LISTS: Mapping[TaskKind, str] = {"todo": "palazzo todo list", "reminder": "palazzo reminders all"}
_SUGGESTION_LIMIT, _LABEL_LENGTH = 5, 60
Cause = Literal["time", "file", "topic"]


@frozen
class Moment:
    """What can make a reminder due: the time, the opened file if any, and the words of a prompt if any.

    `files` are all names of the file: relative to the root of its project, with that project's wing, and absolute.
    """

    now: Micros
    files: tuple[tuple[str, str | None], ...] = ()
    words: str = ""


@frozen
class Due:
    """A due reminder, and what made it due."""

    task: Task
    causes: tuple[Cause, ...]


@frozen
class CloseResult:
    """Result of closing: the tasks that it closed, and the tasks that were closed before, in their current state."""

    closed: tuple[Task, ...]
    closed_earlier: tuple[Task, ...] = field(default=())


def file(connection: Connection, note: PreparedNote, kind: TaskKind, due_at: Micros | None, now: Micros) -> int:
    """Archive a prepared note as a task; return the row id of the note."""
    row = notes.file(connection, note, now)
    task_rows.create(connection, row, kind, due_at)
    return row


def close(
    connection: Connection,
    kind: TaskKind,
    prefixes: Sequence[str],
    state: TaskState,
    now: Micros,
    begin: Callable[[], int],
) -> CloseResult:
    """Close tasks by their ids, or the beginnings of them; all or none. Raises NotFound or AmbiguousId.

    `begin` begins the change group; it is called if any of the tasks is open.
    """
    tasks_by_row = {task.row: task for task in (resolve(connection, kind, prefix) for prefix in prefixes)}
    to_close = [task.row for task in tasks_by_row.values() if task.state == "open"]
    closed_tasks = tuple(task for task in tasks_by_row.values() if task.state != "open")
    if to_close:
        group = begin()
        change_groups.add(
            connection, group, "state", [task_rows.set_state(connection, row, state, now) for row in to_close]
        )
        change_groups.count(connection, group, len(to_close))
    return CloseResult(tuple(task_rows.read(connection, to_close)), closed_tasks)


def resolve(connection: Connection, kind: TaskKind, prefix: str) -> Task:
    """Return the task with that id (its own, its note's drawer's, or the beginning of either)."""
    try:
        low, high = id_bounds(prefix)
    except NotFound:
        raise NotFound(_not_there(connection, kind, prefix)) from None
    matches = [
        task for task in task_rows.read(connection, task_rows.find(connection, low, high, 9)) if task.kind == kind
    ]
    if len(matches) > 1:
        raise AmbiguousId(prefix, [f"{task.uid} ({_format_task(task)})" for task in matches])
    if not matches:
        raise NotFound(_not_there(connection, kind, prefix))
    return matches[0]


def _not_there(connection: Connection, kind: TaskKind, name: str) -> str:
    """Return an error text that suggests open tasks: those with similar words first, then the newest."""
    candidates = task_rows.tasks(connection, kind)
    alike = sorted(candidates, key=lambda task: (-_likeness(name, task.text), -task.created_at))[:_SUGGESTION_LIMIT]
    if not candidates:
        return f"No {NAMES[kind]} has the id '{name[:_LABEL_LENGTH]}', and none is open."
    suggestions = "; ".join(f"{task.uid} ({_format_task(task)})" for task in alike)
    return (
        f"No {NAMES[kind]} has the id '{name[:_LABEL_LENGTH]}'. Open ones: {suggestions}. '{_LISTS[kind]}' lists them."
    )


def _likeness(name: str, text: str) -> float:
    return SequenceMatcher(
        None, name.casefold()[:_LABEL_LENGTH], text.casefold()[:_LABEL_LENGTH], autojunk=False
    ).ratio()


def _format_task(task: Task) -> str:
    words = " ".join(task.text.split())
    return words if len(words) <= _LABEL_LENGTH else f"{words[:_LABEL_LENGTH]}…"


# --- what is due -------------------------------------------------------------------------------------------


def due(connection: Connection, moment: Moment, wing: str | None = None) -> list[Due]:
    """Return the open reminders that are due, those with a time first, the earliest first.

    With a `wing`, return only its own reminders, and those of any wing that match the opened file.
    """
    stems = _stem_words(connection, moment.words) if moment.words else frozenset()
    due_reminders = []
    for task in task_rows.tasks(connection, "reminder", wing):
        causes = causes_of(connection, task, moment, stems)
        if causes:
            due_reminders.append(Due(task, causes))
    return due_reminders


def causes_of(connection: Connection, task: Task, moment: Moment, stems: frozenset[str]) -> tuple[Cause, ...]:
    """Return what makes a reminder due; `stems` are the stems of the words in the current text."""
    causes: list[Cause] = []
    if task.due_at is not None and task.due_at <= moment.now:
        causes.append("time")
    if task.file and any(_opens(task, name, wing) for name, wing in moment.files):
        causes.append("file")
    if task.topic and stems and _comes_up(connection, task.topic, stems):
        causes.append("topic")
    return tuple(causes)


def topic_words(connection: Connection, topic: str) -> list[tuple[frozenset[str], frozenset[str]]]:
    """Return for each word of a topic the stems that match it: the word, or all its parts (`http`, `client`).

    Words without meaning of their own are left out, unless there are no others.
    """
    word_stems = []
    for word in topic.split():
        parts = [part for part in terms(word) if part not in STOP_WORDS]
        whole = frozenset(connection.stems(word))
        if parts and whole:
            word_stems.append((whole, frozenset(stem for part in parts for stem in connection.stems(part)) - whole))
    every = frozenset(connection.stems(topic))
    return word_stems or ([(every, frozenset())] if every else [])


def _comes_up(connection: Connection, topic: str, stems: frozenset[str]) -> bool:
    words = topic_words(connection, topic)
    return bool(words) and all(whole <= stems or (parts and parts <= stems) for whole, parts in words)


def _stem_words(connection: Connection, text: str) -> frozenset[str]:
    return frozenset(connection.stems(index_form(text)))


def _opens(task: Task, name: str, wing: str | None) -> bool:
    """Return whether a file is the one that the reminder names, or lies in the directory that it names."""
    if wing is None:
        at_root = False  # an absolute name, which is of no project's root
    elif wing != task.wing:
        return False
    else:
        at_root = task.file == "."
    return at_root or name == task.file or name.startswith(f"{task.file.rstrip('/')}/")


def open_todos(connection: Connection, wing: str | None, authors: Iterable[str] = ()) -> list[Task]:
    """Return the open to-dos of a wing (None: all), and to-dos that one of the authors wrote in any wing."""
    own = task_rows.tasks(connection, "todo", wing)
    author_names = frozenset(authors)
    if wing is None or not author_names:
        return own
    rows = {task.row for task in own}
    return own + [
        task for task in task_rows.tasks(connection, "todo") if task.author in author_names and task.row not in rows
    ]
