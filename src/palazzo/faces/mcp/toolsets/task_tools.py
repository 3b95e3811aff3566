"""Tools for to-dos, reminders and agents: what is open, and for whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from palazzo.faces.mcp.entry_lines import LIST, NOTICE, OBJECT, TEXT, minute, rows, shape
from palazzo.faces.mcp.tool import ADDS, READS, Answer, Argument, CallArguments, Tool
from palazzo.features.diary.list_agents import ListAgentsResult
from palazzo.features.tasks.remind import RemindResult
from palazzo.features.tasks.reminders import RemindersResult
from palazzo.features.tasks.task_results import ReminderView, TodoView
from palazzo.features.tasks.todo_add import TodoAddResult
from palazzo.features.tasks.todo_done import TodoDoneResult
from palazzo.features.tasks.todo_list import TodoListResult
from palazzo.model import Micros
from palazzo.text.count_phrases import count_noun

_MOST = 100
_ACTION_SCHEMA = {"type": "string", "enum": ["due", "open", "all"]}
_LONGEST = 1000
"""Maximum characters of one to-do or reminder in a list; `read` shows it in full."""


def told_todo(todo: TodoView) -> dict[str, Any]:
    """Return a to-do as JSON fields."""
    fields = {
        "id": todo.id,
        "text": todo.text if len(todo.text) <= _LONGEST else f"{todo.text[:_LONGEST]}…",
        "state": "overdue" if todo.overdue and todo.state == "open" else todo.state,
        "wing": todo.wing,
        "due": todo.due_at and _until(todo.due_at),
        "by": todo.by,
        "trust": todo.trust if todo.trust == "external" else None,
        "branch": todo.label,
    }
    return {name: value for name, value in fields.items() if value}


def _until(moment: Micros) -> str:
    """Return the end of a due time: a given day is included in it."""
    due_time = minute(moment)
    return f"before {due_time[:10]}" if due_time.endswith("T00:00Z") else due_time


def told_reminder(reminder: ReminderView) -> dict[str, Any]:
    """Return a reminder as JSON fields."""
    fields = {
        "id": reminder.id,
        "text": reminder.text if len(reminder.text) <= _LONGEST else f"{reminder.text[:_LONGEST]}…",
        "state": reminder.state,
        "because": ", ".join(reminder.causes),
        "wing": reminder.wing,
        "at": reminder.at and minute(reminder.at),
        "file": reminder.file,
        "topic": reminder.topic,
        "by": reminder.by,
        "trust": reminder.trust if reminder.trust == "external" else None,
    }
    return {name: value for name, value in fields.items() if value}


def task_line(task: Mapping[str, Any]) -> str:
    """Return a to-do's or reminder's JSON fields as a line."""
    marks = [f"{name} {task[name]}" for name in ("due", "at", "file", "topic", "because") if name in task]
    rest = (task.get(name) for name in ("by", "trust", "branch"))
    about = " · ".join(filter(None, (task["state"], task.get("wing", ""), *marks, *rest)))
    return f"[{task['id']}] {about}: {task['text']}"


def _tasks(notice: str, name: str, tasks: Sequence[Mapping[str, Any]]) -> Answer:
    return rows(notice, name, tasks, task_line)


# --- to-dos ------------------------------------------------------------------------------------------------


def _todo_added(result: TodoAddResult, call: CallArguments) -> Answer:
    todo = told_todo(result.todo)
    return Answer({"todo": todo}, f"Added {task_line(todo)}")


TODO_ADD = Tool(
    name="todo_add",
    operation="todo_add",
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
    place = result.wing or "all wings"
    return _tasks(f"{NOTICE}: {result.open} open in {place}.", "todos", [told_todo(todo) for todo in result.todos])


TODO_LIST = Tool(
    name="todo_list",
    operation="todo_list",
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
    return _answer_done([told_todo(todo) for todo in result.done], [told_todo(todo) for todo in result.before])


def _answer_done(closed_tasks: list[dict[str, Any]], earlier_tasks: list[dict[str, Any]]) -> Answer:
    lines = [f"Done: {task_line(task)}" for task in closed_tasks] + [
        f"Already closed: {task_line(task)}" for task in earlier_tasks
    ]
    return Answer({"done": closed_tasks, "before": earlier_tasks}, "\n".join(lines))


TODO_DONE = Tool(
    name="todo_done",
    operation="todo_done",
    description="Mark to-dos as done.",
    arguments=(Argument("ids", schema={"minItems": 1}),),
    hints=ADDS,
    answer=_todos_done,
    output=shape(done=LIST, before=LIST),
)


# --- reminders ---------------------------------------------------------------------------------------------


def _answer_remind(result: RemindResult, call: CallArguments) -> Answer:
    reminder = told_reminder(result.reminder)
    fields = {"reminder": reminder, "note": result.note} if result.note else {"reminder": reminder}
    return Answer(fields, f"Left {task_line(reminder)} {result.note}".strip())


REMIND = Tool(
    name="remind",
    operation="remind",
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
    return _tasks(notice, "reminders", reminders)


REMINDERS = Tool(
    name="reminders",
    operation="reminders",
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
    closed_tasks, earlier_tasks = (
        [told_reminder(reminder) for reminder in result.reminders],
        [told_reminder(reminder) for reminder in result.before],
    )
    return _answer_done(closed_tasks, earlier_tasks)


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


# --- agents ------------------------------------------------------------------------------------------------


def _agents(result: ListAgentsResult, call: CallArguments) -> Answer:
    agents = [
        {"name": agent.name, "entries": agent.entries, "first": minute(agent.first_at), "last": minute(agent.last_at)}
        for agent in result.agents[:_MOST]
    ]
    lines = [f"{agent['name']}: {agent['entries']} entries, last {agent['last']}" for agent in agents]
    return Answer({"agents": agents}, "\n".join(lines) or "No agent keeps a diary yet.")


LIST_AGENTS = Tool(
    name="list_agents",
    operation="list_agents",
    description="List the agents that keep a diary, the most recent writer first.",
    answer=_agents,
    hints=READS,
    output=shape(agents=LIST),
)
