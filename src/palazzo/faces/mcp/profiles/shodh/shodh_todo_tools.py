"""Tools for to-dos, and the projects that they belong to."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from palazzo.errors import UsageError
from palazzo.faces.mcp.profiles.shodh.shodh_shapes import (
    CLOSING_OUTPUT,
    TEXTS,
    answer_closing,
    answer_list,
    enum_schema,
    unbound_argument,
)
from palazzo.faces.mcp.profiles.shodh.todo_rows import (
    OPEN,
    PRIORITIES,
    STATUSES,
    answer_todos,
    id_argument,
    todo_row,
    todo_text,
)
from palazzo.features.places.contract import WingListResult
from palazzo.features.search.contract import SearchResult
from palazzo.features.tasks.contract import TodoAddResult, TodoDoneResult, TodoDropResult, TodoListResult
from palazzo.operations.agent_tools.tool import ADDS, CHANGES, Answer, Argument, CallArguments, Step, Tool
from palazzo.operations.agent_tools.tool_answers import LIST, NUMBER, TEXT, shape
from palazzo.operations.shared_views import TodoView
from palazzo.operations.validation import Schema
from palazzo.text.count_phrases import count_noun

_DAY, _WEEK = 86_400_000_000, 7 * 86_400_000_000
_EVERY_TODO: Mapping[str, Any] = {"everywhere": True, "all": True}
"""The request for the to-dos of all projects, including closed ones."""


# --- adding, listing ---------------------------------------------------------------------------------------


def _answer_add(result: TodoAddResult, call: CallArguments) -> Answer:
    row = todo_row(result.todo)
    recurrence = f" It does not recur: '{call['recurrence']}' is only noted." if call["recurrence"] else ""
    return Answer(row, f"Added {row['id']} to {row['project']}.{recurrence}")


ADD_TODO = Tool(
    name="add_todo",
    operation="todo_add",
    description="Add a to-do; later sessions see it until it is done.",
    arguments=(
        Argument("content", "", "text"),
        unbound_argument("status", enum_schema(*OPEN), default="todo"),
        unbound_argument("priority", enum_schema(*PRIORITIES, "none"), default="medium"),
        Argument("project", "Defaults to this project's wing.", "wing"),
        unbound_argument("contexts", TEXTS, "@computer, @phone, …"),
        Argument("due_date", "2026-03-04, friday, 'in 2 days'.", "due"),
        unbound_argument("tags", TEXTS),
        unbound_argument("blocked_on", TEXT, "The person or thing that it waits for."),
        unbound_argument("notes", TEXT),
        unbound_argument("recurrence", enum_schema("daily", "weekly", "monthly"), "Only recorded; nothing recurs."),
        unbound_argument("parent_id", TEXT, "The to-do that this is part of."),
        unbound_argument("blocked_by", TEXTS, "To-dos to finish first."),
        unbound_argument("related_memory_ids", TEXTS),
    ),
    hints=ADDS,
    fields=lambda call: {"text": todo_text(call), "by": call.host},
    answer=_answer_add,
    output=shape(id=TEXT, content=TEXT, status=TEXT),
)


def _plan_list(call: CallArguments) -> Sequence[Step]:
    project, query = call["project"], call["query"]
    listing = Step("todo_list", {"wing": project, "everywhere": project is None, "all": True})
    if query is None:
        return [listing]
    request = {"query": query, "kind": "todo", "wing": project, "limit": 100, "external": False, "budget": 100_000}
    return [listing, Step("search", request)]


def _answer_list(results: Sequence[Any], call: CallArguments) -> Answer:
    listing: TodoListResult = results[0]
    views = [view for view in listing.todos if _matches(view, call)]
    if len(results) > 1:
        views = _rank(views, results[1])
    page = views[call["offset"] :][: call["limit"]]
    return answer_todos([todo_row(view) for view in page], len(views))


def _rank(views: Sequence[TodoView], search: SearchResult) -> list[TodoView]:
    """Return the to-dos that a search found, best first. A hit holds only part of a long to-do's text."""
    return list({view.id: view for hit in search.hits for view in views if hit.text in view.text}.values())


def _matches(view: TodoView, call: CallArguments) -> bool:
    row = todo_row(view)
    context, priority = call["context"], call["priority"]
    return (
        row["status"] in (call["status"] or OPEN)
        and (context is None or context in row.get("contexts", ()))
        and (priority is None or priority == row["priority"])
        and _is_due(view, call["due"])
    )


def _is_due(view: TodoView, period: str | None) -> bool:
    if period in (None, "all"):
        return True
    if view.due_at is None:
        return False
    moment = time.time_ns() // 1000
    ends = {"overdue": moment, "today": moment - moment % _DAY + _DAY, "this_week": moment + _WEEK}
    return view.due_at <= ends[str(period)]


LIST_TODOS = Tool(
    name="list_todos",
    operation="todo_list",
    description="List to-dos of all projects or of one, earliest due first; open ones by default.",
    arguments=(
        unbound_argument("query", TEXT, "Search query; the best match comes first."),
        unbound_argument("status", {"type": "array", "items": enum_schema(*STATUSES)}, "Defaults to the open ones."),
        unbound_argument("project", TEXT, "Only this project."),
        unbound_argument("context", TEXT),
        unbound_argument("priority", enum_schema(*PRIORITIES)),
        unbound_argument("due", enum_schema("today", "overdue", "this_week", "all"), "Only those due by then."),
        unbound_argument("limit", {"type": "integer", "minimum": 1, "maximum": 1000}, default=50),
        unbound_argument("offset", {"type": "integer", "minimum": 0}, "How many to skip.", 0),
    ),
    steps=_plan_list,
    answer=_answer_list,
    output=shape(notice=TEXT, todos=LIST, count=NUMBER),
    nowhere=lambda call: answer_todos([], 0),
)


def _answer_subtasks(result: TodoListResult, call: CallArguments) -> Answer:
    rows = [todo_row(view) for view in result.todos]
    subtasks = [row for row in rows if str(row.get("parent_id", "")).startswith(call["parent_id"])]
    return answer_todos(subtasks, len(subtasks), "subtasks", parent_id=call["parent_id"])


LIST_SUBTASKS = Tool(
    name="list_subtasks",
    operation="todo_list",
    description="List the to-dos that are parts of another.",
    arguments=(id_argument("parent_id"),),
    fields=lambda call: _EVERY_TODO,
    answer=_answer_subtasks,
    output=shape(subtasks=LIST, count=NUMBER),
)


# --- closing -----------------------------------------------------------------------------------------------


def _answer_done(result: TodoDoneResult, call: CallArguments) -> Answer:
    (view,) = (*result.done, *result.before)
    return answer_closing(todo_row(view), bool(result.done), "Done")


def _answer_drop(result: TodoDropResult, call: CallArguments) -> Answer:
    (view,) = (*result.dropped, *result.before)
    return answer_closing(todo_row(view), bool(result.dropped), "Dropped; the archive keeps its text")


def _request_close(call: CallArguments) -> Mapping[str, Any]:
    return {"ids": (call["todo_id"],)}


COMPLETE_TODO = Tool(
    name="complete_todo",
    operation="todo_done",
    description="Mark a to-do as done.",
    arguments=(id_argument(),),
    hints=ADDS,
    fields=_request_close,
    answer=_answer_done,
    output=CLOSING_OUTPUT,
)

DELETE_TODO = Tool(
    name="delete_todo",
    operation="todo_drop",
    description="Drop a to-do that will not be done. The archive keeps its text; 'palazzo undo' reopens it.",
    arguments=(id_argument(),),
    hints=CHANGES,
    fields=_request_close,
    answer=_answer_drop,
    output=CLOSING_OUTPUT,
)

_CLOSING_TOOLS = {"done": COMPLETE_TODO, "cancelled": DELETE_TODO}
_EDITS: Mapping[str, Schema] = {
    "content": TEXT,
    "priority": enum_schema(*PRIORITIES, "none"),
    "project": TEXT,
    "contexts": TEXTS,
    "due_date": TEXT,
    "blocked_on": TEXT,
    "notes": TEXT,
    "tags": TEXTS,
    "parent_id": TEXT,
    "blocked_by": TEXTS,
    "related_memory_ids": TEXTS,
}
"""Arguments that would edit a to-do, which is not possible."""


def _plan_update(call: CallArguments) -> Sequence[Step]:
    if call["status"] not in _CLOSING_TOOLS or any(call[name] is not None for name in _EDITS):
        raise UsageError(
            "A to-do cannot be edited; it can only be closed, with status 'done' or 'cancelled' and no other argument."
            " Cancel this to-do, and add the new text with add_todo."
        )
    return [Step(_CLOSING_TOOLS[call["status"]].operation, _request_close(call))]


def _answer_update(results: Sequence[Any], call: CallArguments) -> Answer:
    return _CLOSING_TOOLS[call["status"]].answer(results[0], call)


UPDATE_TODO = Tool(
    name="update_todo",
    operation="todo_done",
    description="Close a to-do, with status done or cancelled. Its text cannot be edited: add a new to-do instead.",
    arguments=(
        id_argument(),
        unbound_argument("status", enum_schema(*STATUSES)),
        *(unbound_argument(name, schema) for name, schema in _EDITS.items()),
    ),
    hints=CHANGES,
    steps=_plan_update,
    answer=_answer_update,
    output=CLOSING_OUTPUT,
)


# --- counting ----------------------------------------------------------------------------------------------


def _count_statuses(views: Sequence[TodoView]) -> dict[str, int]:
    counts = Counter(todo_row(view)["status"] for view in views)
    return {"total": len(views), **{name: counts[name] for name in STATUSES}}


def _answer_stats(result: TodoListResult, call: CallArguments) -> Answer:
    counts = {
        **_count_statuses(result.todos),
        "overdue": sum(view.overdue and view.state == "open" for view in result.todos),
        "due_today": sum(view.state == "open" and not view.overdue and _is_due(view, "today") for view in result.todos),
        "projects": len({view.wing for view in result.todos}),
    }
    return Answer(counts, ", ".join(f"{name} {count}" for name, count in counts.items()))


TODO_STATS = Tool(
    name="todo_stats",
    operation="todo_list",
    description="Count the to-dos by status.",
    fields=lambda call: _EVERY_TODO,
    answer=_answer_stats,
    output=shape(total=NUMBER),
)


def _answer_projects(results: Sequence[Any], call: CallArguments) -> Answer:
    wings: WingListResult = results[0]
    listing: TodoListResult = results[1]
    rows = [
        {
            "id": wing.wing,
            "name": wing.wing,
            "status": "active",
            "memories": wing.drawers,
            "stats": _count_statuses([view for view in listing.todos if view.wing == wing.wing]),
        }
        for wing in wings.wings[:100]
    ]
    return answer_list("projects", rows, _render_project)


def _render_project(row: Mapping[str, Any]) -> str:
    return f"{row['name']}: {count_noun(row['stats']['total'], 'to-do')}, {count_noun(row['memories'], 'memory')}"


LIST_PROJECTS = Tool(
    name="list_projects",
    operation="wing_list",
    description="List the wings, one for each project, person or agent, and count their to-dos.",
    steps=lambda call: [Step("wing_list", {}), Step("todo_list", _EVERY_TODO)],
    answer=_answer_projects,
    output=shape(projects=LIST, count=NUMBER),
)

TOOLS = (
    ADD_TODO,
    LIST_TODOS,
    UPDATE_TODO,
    COMPLETE_TODO,
    DELETE_TODO,
    TODO_STATS,
    LIST_SUBTASKS,
    LIST_PROJECTS,
)
