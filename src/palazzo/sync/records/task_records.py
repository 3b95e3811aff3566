"""To-dos and reminders, and their states."""

from __future__ import annotations

import json

from palazzo.frozen_class import frozen
from palazzo.store.database import Connection
from palazzo.store.task_rows import TaskKind, TaskState
from palazzo.sync.field_codecs import Id, Time
from palazzo.sync.merge_state import Missing, Outcome, Work, ended_by, settle_versions
from palazzo.sync.records.foreign_checks import has_row, is_foreign
from palazzo.sync.records.palace_snapshot import Selection, query_reader
from palazzo.sync.records.record_kind import Record, RecordKind


@frozen
class Task(Record):
    """A note that is a to-do or a reminder."""

    item: Id
    type: TaskKind
    due_at: Time | None = None


@frozen
class State(Record):
    """A state of a task (the note's id) from `recorded_at` until `retired_at`."""

    id: Id
    task: Id
    state: TaskState
    recorded_at: Time
    retired_at: Time | None = None


def _merge_task(work: Work, record: Task) -> Outcome:
    item = work.need("item", record.item)
    rows = work.connection.execute("SELECT id, kind, due_at FROM task WHERE item = ?", (item,))
    for row, kind, due in list(rows):
        came, stored_values = (record.type, record.due_at), (kind, due)
        if json.dumps(came) >= json.dumps(stored_values):
            return "same"
        work.connection.execute("UPDATE task SET kind = ?, due_at = ? WHERE id = ?", (*came, row))
        return "changed"
    work.connection.execute("INSERT INTO task(item, kind, due_at) VALUES(?,?,?)", (item, record.type, record.due_at))
    return "added"


def _judge_task(work: Work, task: Task) -> bool:
    return is_foreign(work, "item", task.item)


TASK = RecordKind(
    "task",
    Task,
    identity=("item",),
    references={"item": "item"},
    read=query_reader(
        Task,
        "item",
        "SELECT item.id, item.uid, task.kind, task.due_at FROM task JOIN item ON item.id = task.item ORDER BY item.uid",
    ),
    merge=_merge_task,
    judge=_judge_task,
)


def _select_states(connection: Connection, selection: Selection) -> None:
    for row, item in connection.execute("SELECT s.id, task.item FROM task_state s JOIN task ON task.id = s.task"):
        if item in selection.rows["item"]:
            selection.rows["task_state"].add(row)


def _merge_state(work: Work, record: State) -> Outcome:
    """Merge a state of a task: a later one ends each earlier one."""
    item = work.need("item", record.task)
    task = next((int(row) for (row,) in work.connection.execute("SELECT id FROM task WHERE item = ?", (item,))), None)
    if task is None:
        raise Missing(f"task {record.task}")
    row = work.find("task_state", record.id)
    is_new = row is None
    if row is None:
        row = work.insert(
            "task_state",
            record.id,
            task=task,
            state=record.state,
            recorded_at=record.recorded_at,
            retired_at=record.recorded_at,
        )
        stated_ends = {row: record.retired_at}
    else:
        stated_ends = ended_by(work, "task_state", row, record.retired_at)
    changed = settle_versions(work.connection, "task_state", "task = ?", (task,), stated_ends)
    return "added" if is_new else "changed" if changed or stated_ends else "same"


def _judge_state(work: Work, state: State) -> bool:
    return is_foreign(work, "item", state.task) and not has_row(
        work,
        "SELECT 1 FROM task_state s JOIN task ON task.id = s.task WHERE task.item = ?"
        " AND NOT EXISTS (SELECT 1 FROM imported_row WHERE kind = 'task_state' AND row = s.id) LIMIT 1",
        work.need("item", state.task),
    )


TASK_STATE = RecordKind(
    "task_state",
    State,
    references={"task": "task"},
    read=query_reader(
        State,
        "task_state",
        "SELECT s.id, s.uid, item.uid, s.state, s.recorded_at, s.retired_at FROM task_state s"
        " JOIN task ON task.id = s.task JOIN item ON item.id = task.item ORDER BY s.uid",
    ),
    select=_select_states,
    merge=_merge_state,
    judge=_judge_state,
)
