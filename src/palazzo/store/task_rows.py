"""To-dos and reminders: which notes are tasks, when each is due, and its state.

The words are the note's. States are only added: a change retires the previous one, and an open task has none, so that
the state at any moment can be queried. Forgotten tasks are left out, as in searches.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, Literal

from palazzo.frozen_class import frozen
from palazzo.model import Micros, Trust
from palazzo.store import place_rows, uids
from palazzo.store.database import Connection
from palazzo.store.items import decode_text

TaskKind = Literal["todo", "reminder"]
TaskState = Literal["open", "done", "dropped"]

_SELECT = (
    "SELECT task.id, item.id, item.uid, task.kind, task.due_at, coalesce(s.state, 'open'), s.recorded_at,"
    " item.text, item.text_codec, item.author, item.created_at, item.meta, wing.name, room.name,"
    " drawer.trust"
    " FROM task LEFT JOIN task_state s ON s.task = task.id AND {live}"
    " JOIN item ON item.id = task.item"
    " JOIN drawer ON drawer.id = (SELECT own.id FROM drawer_span JOIN drawer own ON own.id = drawer_span.drawer"
    " WHERE drawer_span.item = item.id AND own.retired_at IS NULL ORDER BY own.id LIMIT 1)"
    " JOIN room ON room.id = drawer.room JOIN wing ON wing.id = room.wing"
)
_CURRENT_CONDITION = "s.retired_at IS NULL"
_AS_OF_CONDITION = "s.recorded_at <= {at} AND (s.retired_at IS NULL OR s.retired_at > {at})"


@frozen
class Task:
    """A to-do or a reminder in its current state. `state_at` is when it was closed, None while it is open.

    `file` (relative to the root of its wing's project, or absolute) and `topic` are other triggers of a reminder.
    """

    row: int
    item: int
    uid: str
    kind: TaskKind
    text: str
    state: TaskState
    state_at: Micros | None
    due_at: Micros | None
    author: str
    created_at: Micros
    wing: str
    room: str
    file: str = ""
    topic: str = ""
    trust: Trust = "agent"


def create(connection: Connection, item: int, kind: TaskKind, due_at: Micros | None) -> int:
    """Make a note a task; return the task's row id."""
    (row,) = next(
        connection.execute("INSERT INTO task(item, kind, due_at) VALUES(?, ?, ?) RETURNING id", (item, kind, due_at))
    )
    return int(row)


def tasks(
    connection: Connection, kind: TaskKind, wing: str | None = None, *, includes_closed: bool = False
) -> list[Task]:
    """Return open tasks (with `includes_closed`, all) of a wing (also by a former name) or of all wings; earliest due
    first.

    On a snapshot as of a day, the tasks are those of that day.
    """
    wing_row = None if wing is None else place_rows.wing_led_to(connection, wing)
    wing = wing if wing_row is None else place_rows.wing_name(connection, wing_row)
    rows = connection.execute(
        f"{_select(connection)} WHERE task.kind = ?1 AND (?2 IS NULL OR wing.name = ?2) AND (?3 OR s.id IS NULL)"
        " ORDER BY s.id IS NOT NULL, task.due_at IS NULL, task.due_at, item.created_at, item.id",
        (kind, wing, includes_closed),
    )
    return [_task(row) for row in rows]


def read(connection: Connection, rows: Iterable[int]) -> Iterator[Task]:
    """Yield the tasks with these row ids that are not forgotten."""
    for row in rows:
        yield from map(_task, connection.execute(f"{_select(connection)} WHERE task.id = ?", (row,)))


def of_items(connection: Connection, items: Iterable[int]) -> list[Task]:
    """Return the tasks of the notes with these row ids, in order."""
    rows = [row for item in items for (row,) in connection.execute("SELECT id FROM task WHERE item = ?", (item,))]
    return list(read(connection, map(int, rows)))


def find(connection: Connection, low: bytes, high: bytes, limit: int) -> list[int]:
    """Return the tasks whose note or its drawer has an id within [low, high], at most `limit`, by row id."""
    rows = connection.execute(
        "SELECT task.id FROM task JOIN item ON item.id = task.item WHERE item.uid BETWEEN ?1 AND ?2"
        " UNION SELECT task.id FROM drawer JOIN drawer_span ON drawer_span.drawer = drawer.id"
        " JOIN task ON task.item = drawer_span.item WHERE drawer.uid BETWEEN ?1 AND ?2 LIMIT ?3",
        (low, high, limit),
    )
    return [int(row) for (row,) in rows]


def of_drawers(connection: Connection, drawers: Iterable[bytes]) -> dict[bytes, int]:
    """Return the task's row id for each of the drawers (by id) that belongs to one."""
    tasks_by_drawer = {}
    for uid in drawers:
        rows = connection.execute(
            "SELECT task.id FROM drawer JOIN drawer_span ON drawer_span.drawer = drawer.id"
            " JOIN task ON task.item = drawer_span.item WHERE drawer.uid = ? LIMIT 1",
            (uid,),
        )
        for (row,) in rows:
            tasks_by_drawer[uid] = int(row)
    return tasks_by_drawer


def set_state(connection: Connection, task: int, state: TaskState, at: Micros) -> int:
    """Close an open task; return the row id of the state."""
    ((note,),) = connection.execute(
        "SELECT item.uid FROM task JOIN item ON item.id = task.item WHERE task.id = ?", (task,)
    )
    uid = uids.free(lambda number: uids.of_state(bytes(note), state, at, number), partial(_is_state, connection))
    (row,) = next(
        connection.execute(
            "INSERT INTO task_state(uid, task, state, recorded_at) VALUES(?, ?, ?, ?) RETURNING id",
            (uid, task, state, at),
        )
    )
    return int(row)


def _is_state(connection: Connection, uid: bytes) -> bool:
    return any(True for _ in connection.execute("SELECT 1 FROM task_state WHERE uid = ?", (uid,)))


def retire_state(connection: Connection, row: int, at: Micros) -> None:
    """Retire a state: the task is open again."""
    connection.execute("UPDATE task_state SET retired_at = ? WHERE id = ? AND retired_at IS NULL", (at, row))


def was_closed(connection: Connection, task: int) -> bool:
    """Whether a task was ever closed, even if it is open again."""
    return any(True for _ in connection.execute("SELECT 1 FROM task_state WHERE task = ? LIMIT 1", (task,)))


def count_open(connection: Connection, kind: TaskKind) -> int:
    """Return the number of open tasks."""
    return len(tasks(connection, kind))


def _select(connection: Connection) -> str:
    return _SELECT.format(
        live=_CURRENT_CONDITION if connection.as_of is None else _AS_OF_CONDITION.format(at=int(connection.as_of))
    )


def _task(row: tuple[Any, ...]) -> Task:
    own, item, uid, kind, due, state, state_at, text, codec, author, created, meta, wing, room, trust = row
    details = json.loads(meta)
    return Task(
        row=int(own),
        item=int(item),
        uid=bytes(uid).hex(),
        kind=kind,
        text=decode_text(text, codec),
        state=state,
        state_at=None if state_at is None else Micros(state_at),
        due_at=None if due is None else Micros(due),
        author=author,
        created_at=Micros(created),
        wing=wing,
        room=room,
        file=str(details.get("file") or ""),
        topic=str(details.get("topic") or ""),
        trust=trust,
    )
