"""Tools for to-dos, reminders and agents: what is open, and for whom."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from palazzo.features.tasks.contract import RemindersResult, RemindResult, TodoAddResult, TodoDoneResult, TodoListResult
from palazzo.model import Micros
from palazzo.operations.agent_tools.tool import ADDS, Answer, Argument, CallArguments, Tool
from palazzo.operations.agent_tools.tool_answers import (
    LIST,
    NOTICE,
    OBJECT,
    TEXT,
    minute,
    present_fields,
    rows,
    shape,
    shorten,
)
from palazzo.operations.shared_views import ReminderView, TodoView
from palazzo.text.count_phrases import count_noun

_ACTION_SCHEMA = {"type": "string", "enum": ["due", "open", "all"]}


def told_todo(todo: TodoView) -> dict[str, Any]:
    """Return a to-do as JSON fields."""
    return present_fields(
        id=todo.id,
        text=shorten(todo.text),
        state="overdue" if todo.overdue and todo.state == "open" else todo.state,
        wing=todo.wing,
        due=_until(todo.due_at) if todo.due_at else None,
        by=todo.by,
        trust=todo.trust if todo.trust == "external" else None,
        branch=todo.label,
    )


def _until(moment: Micros) -> str:
    """Return the end of a due time: a given day is included in it."""
    due_time = minute(moment)
    return f"before {due_time[:10]}" if due_time.endswith("T00:00Z") else due_time


def told_reminder(reminder: ReminderView) -> dict[str, Any]:
    """Return a reminder as JSON fields."""
    return present_fields(
        id=reminder.id,
        text=shorten(reminder.text),
        state=reminder.state,
        because=", ".join(reminder.causes),
        wing=reminder.wing,
        at=minute(reminder.at) if reminder.at else None,
        file=reminder.file,
        topic=reminder.topic,
        by=reminder.by,
        trust=reminder.trust if reminder.trust == "external" else None,
    )


def task_line(task: Mapping[str, Any]) -> str:
    """Return a to-do's or reminder's JSON fields as a line."""
    marks = [f"{name} {task[name]}" for name in ("due", "at", "file", "topic", "because") if name in task]
    rest = (task.get(name) for name in ("by", "trust", "branch"))
    about = " · ".join(filter(None, (task["state"], task.get("wing", ""), *marks, *rest)))
    return f"[{task['id']}] {about}: {task['text']}"


def _todo_added(result: TodoAddResult, call: CallArguments) -> Answer:
    todo = told_todo(result.todo)
    return Answer({"todo": todo}, f"Added {task_line(todo)}")


TODO_ADD = Tool(
    name="todo_add",
    description="Add a to-do to a project; later sessions see it until it is done.",
    arguments=(
        Argument("text"),
        Argument("due", "friday, 2026-03-04, 'in 2 days'."),
        Argument("wing", "A project other than this one."),
    ),
    hints=ADDS,
    fields=lambda given: {"by": given.host},
    answer=_todo_added,
    output=shape(todo=OBJECT),
)


def _todos(result: TodoListResult, call: CallArguments) -> Answer:
    notice = f"{NOTICE}: {result.open} open in {result.wing or 'all wings'}."
    return rows(notice, "todos", [told_todo(todo) for todo in result.todos], task_line)


TODO_LIST = Tool(
    name="todo_list",
    description="List the to-dos of this project, earliest due first.",
    arguments=(
        Argument("wing", "The to-dos of this wing."),
        Argument("everywhere", "The to-dos of all projects."),
        Argument("all", "Include done and dropped ones."),
    ),
    answer=_todos,
    output=shape(notice=TEXT, todos=LIST),
)


def _todos_done(result: TodoDoneResult, call: CallArguments) -> Answer:
    return _answer_done(map(told_todo, result.done), map(told_todo, result.before))


def _answer_done(closed_tasks: Iterable[Mapping[str, Any]], earlier_tasks: Iterable[Mapping[str, Any]]) -> Answer:
    fields = {"done": list(closed_tasks), "before": list(earlier_tasks)}
    lines = [f"Done: {task_line(task)}" for task in fields["done"]]
    lines += [f"Already closed: {task_line(task)}" for task in fields["before"]]
    return Answer(fields, "\n".join(lines))


TODO_DONE = Tool(
    name="todo_done",
    description="Mark to-dos as done.",
    arguments=(Argument("ids", schema={"minItems": 1}),),
    hints=ADDS,
    answer=_todos_done,
    output=shape(done=LIST, before=LIST),
)


def _answer_remind(result: RemindResult, call: CallArguments) -> Answer:
    reminder = told_reminder(result.reminder)
    fields = {"reminder": reminder, "note": result.note} if result.note else {"reminder": reminder}
    return Answer(fields, f"Left {task_line(reminder)} {result.note}".strip())


REMIND = Tool(
    name="remind",
    description="Add a reminder for a time, for when a file is opened, or for when a topic comes up.",
    arguments=(
        Argument("text"),
        Argument("at", "'tomorrow 9:00', 'next friday', 2026-03-04."),
        Argument("file", "When this file, or one below this directory, is opened."),
        Argument("topic", "When all these words come up."),
        Argument("wing", "A project other than this one."),
    ),
    hints=ADDS,
    fields=lambda given: {"by": given.host},
    answer=_answer_remind,
    output=shape(reminder=OBJECT),
)


def _reminders(result: RemindersResult, call: CallArguments) -> Answer:
    reminders = [told_reminder(reminder) for reminder in (*result.reminders, *result.before)]
    notice = f"{NOTICE}: {count_noun(len(reminders), 'reminder')} to show; {result.waiting} not due yet."
    return rows(notice, "reminders", reminders, task_line)


REMINDERS = Tool(
    name="reminders",
    description="List the due reminders, or all reminders.",
    arguments=(
        Argument(
            "action",
            "due, open (including those not due yet), all (including closed ones).",
            "action",
            _ACTION_SCHEMA,
        ),
        Argument("file", "Reminders triggered by opening this file."),
        Argument("topic", "Reminders triggered by these words."),
        Argument("wing", "The reminders of this wing."),
    ),
    answer=_reminders,
    output=shape(notice=TEXT, reminders=LIST),
)


def _reminders_done(result: RemindersResult, call: CallArguments) -> Answer:
    return _answer_done(map(told_reminder, result.reminders), map(told_reminder, result.before))


REMIND_DONE = Tool(
    name="remind_done",
    operation="reminders",
    description="Mark reminders as done, so that they are no longer shown.",
    arguments=(Argument("ids", schema={"minItems": 1}, is_required=True),),
    hints=ADDS,
    fields=lambda given: {"action": "done"},
    answer=_reminders_done,
    output=shape(done=LIST, before=LIST),
)


FULL = (
    TODO_ADD,
    TODO_LIST,
    TODO_DONE,
    REMIND,
    REMINDERS,
    REMIND_DONE,
)
