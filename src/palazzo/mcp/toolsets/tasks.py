"""to-dos, reminders and agents: what is open, and for whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from palazzo.mcp.telling import LIST, NOTICE, OBJECT, TEXT, minute, rows, shape
from palazzo.mcp.tools import ADDS, READS, Answer, Argument, Given, Tool
from palazzo.model import Micros
from palazzo.operations.list_agents import ListAgentsResult
from palazzo.operations.remind import RemindResult
from palazzo.operations.reminders import RemindersResult
from palazzo.operations.tasks import ReminderView, TodoView
from palazzo.operations.todo_add import TodoAddResult
from palazzo.operations.todo_done import TodoDoneResult
from palazzo.operations.todo_list import TodoListResult
from palazzo.text.counts import count_noun

_MOST = 100
_WHICH = {"type": "string", "enum": ["due", "open", "all"]}
_LONGEST = 1000
"""Characters of one to-do or reminder that a list shows; `read` shows it whole."""


def told_todo(one: TodoView) -> dict[str, Any]:
    """Return a to-do as JSON has it."""
    told = {
        "id": one.id,
        "text": one.text if len(one.text) <= _LONGEST else f"{one.text[:_LONGEST]}…",
        "state": "overdue" if one.overdue and one.state == "open" else one.state,
        "wing": one.wing,
        "due": one.due_at and _until(one.due_at),
        "by": one.by,
        "trust": one.trust if one.trust == "external" else None,
        "branch": one.label,
    }
    return {name: value for name, value in told.items() if value}


def _until(moment: Micros) -> str:
    """The end of what is due: a day that was named belongs to it."""
    told = minute(moment)
    return f"before {told[:10]}" if told.endswith("T00:00Z") else told


def told_reminder(one: ReminderView) -> dict[str, Any]:
    """Return a reminder as JSON has it."""
    told = {
        "id": one.id,
        "text": one.text if len(one.text) <= _LONGEST else f"{one.text[:_LONGEST]}…",
        "state": one.state,
        "because": ", ".join(one.causes),
        "wing": one.wing,
        "at": one.at and minute(one.at),
        "file": one.file,
        "topic": one.topic,
        "by": one.by,
        "trust": one.trust if one.trust == "external" else None,
    }
    return {name: value for name, value in told.items() if value}


def task_line(told: Mapping[str, Any]) -> str:
    """Return a told to-do or reminder as a line."""
    marks = [f"{name} {told[name]}" for name in ("due", "at", "file", "topic", "because") if name in told]
    rest = (told.get(name) for name in ("by", "trust", "branch"))
    about = " · ".join(filter(None, (told["state"], told.get("wing", ""), *marks, *rest)))
    return f"[{told['id']}] {about}: {told['text']}"


def _tasks(notice: str, name: str, told: Sequence[Mapping[str, Any]]) -> Answer:
    return rows(notice, name, told, task_line)


# --- to-dos ------------------------------------------------------------------------------------------------


def _todo_added(result: TodoAddResult, given: Given) -> Answer:
    told = told_todo(result.todo)
    return Answer({"todo": told}, f"Added {task_line(told)}")


TODO_ADD = Tool(
    name="todo_add",
    operation="todo_add",
    description="Leave something to be done in a project; later sessions are told of it until it is done.",
    arguments=(
        Argument("text"),
        Argument("due", "friday, 2026-03-04, 'in 2 days'."),
        Argument("wing", "Another project than this one."),
    ),
    hints=ADDS,
    fields=lambda given: {"by": given.host},
    answer=_todo_added,
    output=shape(todo=OBJECT),
)


def _todos(result: TodoListResult, given: Given) -> Answer:
    where = result.wing or "all wings"
    return _tasks(f"{NOTICE}: {result.open} open in {where}.", "todos", [told_todo(one) for one in result.todos])


TODO_LIST = Tool(
    name="todo_list",
    operation="todo_list",
    description="To-dos of this project, what is due first.",
    arguments=(
        Argument("wing", "Of another one."),
        Argument("everywhere", "Of all projects."),
        Argument("all", "Also what is done or dropped."),
    ),
    answer=_todos,
    output=shape(notice=TEXT, todos=LIST),
)


def _todos_done(result: TodoDoneResult, given: Given) -> Answer:
    return _closed([told_todo(one) for one in result.done], [told_todo(one) for one in result.before])


def _closed(done: list[dict[str, Any]], before: list[dict[str, Any]]) -> Answer:
    lines = [f"Done: {task_line(one)}" for one in done] + [f"Was closed before: {task_line(one)}" for one in before]
    return Answer({"done": done, "before": before}, "\n".join(lines))


TODO_DONE = Tool(
    name="todo_done",
    operation="todo_done",
    description="Say that to-dos are done.",
    arguments=(Argument("ids", schema={"minItems": 1}),),
    hints=ADDS,
    answer=_todos_done,
    output=shape(done=LIST, before=LIST),
)


# --- reminders ---------------------------------------------------------------------------------------------


def _reminded(result: RemindResult, given: Given) -> Answer:
    told = told_reminder(result.reminder)
    fields = {"reminder": told, "note": result.note} if result.note else {"reminder": told}
    return Answer(fields, f"Left {task_line(told)} {result.note}".strip())


REMIND = Tool(
    name="remind",
    operation="remind",
    description="Leave a reminder for a time, for when a file is opened, or for when a topic comes up.",
    arguments=(
        Argument("text"),
        Argument("at", "'tomorrow 9:00', 'next friday', 2026-03-04."),
        Argument("file", "When this file, or one below this directory, is opened."),
        Argument("topic", "When all of these words come up."),
        Argument("wing", "Another project than this one."),
    ),
    hints=ADDS,
    fields=lambda given: {"by": given.host},
    answer=_reminded,
    output=shape(reminder=OBJECT),
)


def _reminders(result: RemindersResult, given: Given) -> Answer:
    told = [told_reminder(one) for one in (*result.reminders, *result.before)]
    notice = f"{NOTICE}: {count_noun(len(told), 'reminder')} to show; {result.waiting} not due yet."
    return _tasks(notice, "reminders", told)


REMINDERS = Tool(
    name="reminders",
    operation="reminders",
    description="Reminders that are due, or all of them.",
    arguments=(
        Argument("action", "due, open (also those whose time has not come), all (also closed ones).", "action", _WHICH),
        Argument("file", "Due because this file is opened."),
        Argument("topic", "Due because of these words."),
        Argument("wing", "Of another project."),
    ),
    answer=_reminders,
    output=shape(notice=TEXT, reminders=LIST),
)


def _reminders_done(result: RemindersResult, given: Given) -> Answer:
    done, before = [told_reminder(one) for one in result.reminders], [told_reminder(one) for one in result.before]
    return _closed(done, before)


REMIND_DONE = Tool(
    name="remind_done",
    operation="reminders",
    description="Say that reminders are done: nobody is reminded any more.",
    arguments=(Argument("ids", schema={"minItems": 1}, required=True),),
    hints=ADDS,
    fields=lambda given: {"action": "done"},
    answer=_reminders_done,
    output=shape(done=LIST, before=LIST),
)


# --- agents ------------------------------------------------------------------------------------------------


def _agents(result: ListAgentsResult, given: Given) -> Answer:
    told = [
        {"name": one.name, "entries": one.entries, "first": minute(one.first_at), "last": minute(one.last_at)}
        for one in result.agents[:_MOST]
    ]
    lines = [f"{one['name']}: {one['entries']} entries, last {one['last']}" for one in told]
    return Answer({"agents": told}, "\n".join(lines) or "No agent keeps a diary yet.")


LIST_AGENTS = Tool(
    name="list_agents",
    operation="list_agents",
    description="Agents that keep a diary, who wrote last first.",
    answer=_agents,
    hints=READS,
    output=shape(agents=LIST),
)
