"""To-dos, and the projects that they are of."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from palazzo.errors import UsageError
from palazzo.mcp.profiles.shodh.shaping import TEXTS
from palazzo.mcp.profiles.shodh.todo_rows import (
    OPEN,
    PRIORITIES,
    STATUSES,
    answer_of,
    choice_of,
    identifier,
    row_of,
    text_of,
)
from palazzo.mcp.telling import FLAG, LIST, NUMBER, TEXT, shape
from palazzo.mcp.tools import ADDS, CHANGES, Answer, Argument, Given, Step, Tool
from palazzo.operations.search import SearchResult
from palazzo.operations.tasks import TodoView
from palazzo.operations.todo_add import TodoAddResult
from palazzo.operations.todo_done import TodoDoneResult
from palazzo.operations.todo_drop import TodoDropResult
from palazzo.operations.todo_list import TodoListResult
from palazzo.operations.wing_list import WingListResult
from palazzo.text.counts import counted

_DAY, _WEEK = 86_400_000_000, 7 * 86_400_000_000


# --- adding, listing ---------------------------------------------------------------------------------------


def _added(result: TodoAddResult, given: Given) -> Answer:
    row = row_of(result.todo)
    recurs = f" It does not come back {given['recurrence']} by itself." if given["recurrence"] else ""
    return Answer(row, f"Added {row['id']} to {row['project']}.{recurs}")


ADD_TODO = Tool(
    name="add_todo",
    operation="todo_add",
    description="Leave something to be done; later sessions are told of it until it is done.",
    arguments=(
        Argument("content", "", "text"),
        Argument("status", "", None, choice_of(*OPEN), "todo"),
        Argument("priority", "", None, choice_of(*PRIORITIES, "none"), "medium"),
        Argument("project", "The project's wing; this one's if left out.", "wing"),
        Argument("contexts", "@computer, @phone, …", None, TEXTS),
        Argument("due_date", "2026-03-04, friday, 'in 2 days'.", "due"),
        Argument("tags", "", None, TEXTS),
        Argument("blocked_on", "Who or what it waits for.", None, TEXT),
        Argument("notes", "", None, TEXT),
        Argument("recurrence", "Kept as a word; nothing recurs.", None, choice_of("daily", "weekly", "monthly")),
        Argument("parent_id", "The to-do that it is a part of.", None, TEXT),
        Argument("blocked_by", "To-dos that come first.", None, TEXTS),
        Argument("related_memory_ids", "", None, TEXTS),
    ),
    hints=ADDS,
    fields=lambda given: {"text": text_of(given), "by": given.host},
    answer=_added,
    output=shape(id=TEXT, content=TEXT, status=TEXT),
)  # fmt: skip


def _wanted(given: Given) -> Sequence[Step]:
    project = given["project"]
    listing = Step("todo_list", {"wing": project, "everywhere": project is None, "all": True})
    if given["query"] is None:
        return [listing]
    found = {
        "query": given["query"],
        "kind": "todo",
        "wing": project,
        "limit": 100,
        "external": False,
        "budget": 100_000,
    }
    return [listing, Step("search", found)]


def _listed(results: Sequence[Any], given: Given) -> Answer:
    listing: TodoListResult = results[0]
    views = [view for view in listing.todos if _fits(view, given)]
    if len(results) > 1:
        found: SearchResult = results[1]
        texts = [hit.text for hit in found.hits]  # of a long to-do, a part of its words
        ranks = [next((n for n, text in enumerate(texts) if text in view.text), None) for view in views]
        ranked = sorted((rank, n) for n, rank in enumerate(ranks) if rank is not None)
        views = [views[n] for _, n in ranked]
    page = views[given["offset"] :][: given["limit"]]
    return answer_of([row_of(view) for view in page], len(views))


def _fits(view: TodoView, given: Given) -> bool:
    row = row_of(view)
    statuses = given["status"] or OPEN
    context, priority = given["context"], given["priority"]
    return (
        row["status"] in statuses
        and (context is None or context in row.get("contexts", ()))
        and (priority is None or priority == row["priority"])
        and _is_due(view, given["due"])
    )


def _is_due(view: TodoView, when: str | None) -> bool:
    if when in (None, "all"):
        return True
    if view.due_at is None:
        return False
    now = time.time_ns() // 1000
    ends = {"overdue": now, "today": now - now % _DAY + _DAY, "this_week": now + _WEEK}
    return view.due_at <= ends[str(when)]


LIST_TODOS = Tool(
    name="list_todos",
    operation="todo_list",
    description="To-dos of all projects or of one, what is due first; by default those that are open.",
    arguments=(
        Argument("query", "Only what this finds, best first.", None, TEXT),
        Argument("status", "Open ones if left out.", None, {"type": "array", "items": choice_of(*STATUSES)}),
        Argument("project", "Only of this one.", None, TEXT),
        Argument("context", "", None, TEXT),
        Argument("priority", "", None, choice_of(*PRIORITIES)),
        Argument("due", "Until then.", None, choice_of("today", "overdue", "this_week", "all")),
        Argument("limit", "", None, {"type": "integer", "minimum": 1, "maximum": 1000}, 50),
        Argument("offset", "How many to skip.", None, {"type": "integer", "minimum": 0}, 0),
    ),
    steps=_wanted,
    answer=_listed,
    output=shape(notice=TEXT, todos=LIST, count=NUMBER),
    nowhere=lambda given: answer_of([], 0),
)


def _parts(result: TodoListResult, given: Given) -> Answer:
    rows = [row_of(view) for view in result.todos]
    parts = [row for row in rows if str(row.get("parent_id", "")).startswith(given["parent_id"])]
    return answer_of(parts, len(parts), "subtasks", parent_id=given["parent_id"])


LIST_SUBTASKS = Tool(
    name="list_subtasks",
    operation="todo_list",
    description="To-dos that were added as parts of another.",
    arguments=(identifier("parent_id"),),
    fields=lambda given: {"everywhere": True, "all": True},
    answer=_parts,
    output=shape(subtasks=LIST, count=NUMBER),
)


# --- changing ----------------------------------------------------------------------------------------------


def _done(result: TodoDoneResult, given: Given) -> Answer:
    return _closed(result.done, result.before, "Done")


def _dropped(result: TodoDropResult, given: Given) -> Answer:
    return _closed(result.dropped, result.before, "Dropped; the archive keeps its words")


def _closed(closed: Sequence[TodoView], before: Sequence[TodoView], verb: str) -> Answer:
    (view,) = (*closed, *before)
    row = row_of(view)
    said = verb if closed else f"Nothing was done, since it was {row['status']} before"
    return Answer({**row, "changed": bool(closed)}, f"{said}: {row['id']}.")


def _which(given: Given) -> Mapping[str, Any]:
    return {"ids": (given["todo_id"],)}


COMPLETE_TODO = Tool(
    name="complete_todo",
    operation="todo_done",
    description="Say that a to-do is done.",
    arguments=(identifier(),),
    hints=ADDS,
    fields=_which,
    answer=_done,
    output=shape(id=TEXT, status=TEXT, changed=FLAG),
)

DELETE_TODO = Tool(
    name="delete_todo",
    operation="todo_drop",
    description="Drop a to-do that will not be done. Its words stay in the archive; 'palazzo undo' opens it again.",
    arguments=(identifier(),),
    hints=CHANGES,
    fields=_which,
    answer=_dropped,
    output=shape(id=TEXT, status=TEXT, changed=FLAG),
)

_CLOSING = {"done": "todo_done", "cancelled": "todo_drop"}


def _update(given: Given) -> Sequence[Step]:
    others = [name for name in _CHANGES if given[name] is not None]
    if given["status"] not in _CLOSING or others:
        raise UsageError(
            "A to-do is not edited here: it is closed, with status 'done' or 'cancelled' and nothing else. Cancel this"
            " one, and add_todo the new words."
        )
    return [Step(_CLOSING[given["status"]], {"ids": (given["todo_id"],)})]


def _updated(results: Sequence[Any], given: Given) -> Answer:
    return (_done if given["status"] == "done" else _dropped)(results[0], given)


_CHANGES: Mapping[str, Mapping[str, Any]] = {
    "content": TEXT,
    "priority": choice_of(*PRIORITIES, "none"),
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
UPDATE_TODO = Tool(
    name="update_todo",
    operation="todo_done",
    description="Close a to-do with status done or cancelled. Its words are not edited: add another instead.",
    arguments=(
        identifier(),
        Argument("status", "", None, choice_of(*STATUSES)),
        *(Argument(name, "", None, kind) for name, kind in _CHANGES.items()),
    ),
    hints=CHANGES,
    steps=_update,
    answer=_updated,
    output=shape(id=TEXT, status=TEXT, changed=FLAG),
)


# --- counting ----------------------------------------------------------------------------------------------


def _count(views: Sequence[TodoView]) -> dict[str, int]:
    counts = Counter(row_of(view)["status"] for view in views)
    return {"total": len(views), **{name: counts[name] for name in STATUSES}}


def _counted(result: TodoListResult, given: Given) -> Answer:
    told = {
        **_count(result.todos),
        "overdue": sum(view.overdue and view.state == "open" for view in result.todos),
        "due_today": sum(view.state == "open" and not view.overdue and _is_due(view, "today") for view in result.todos),
        "projects": len({view.wing for view in result.todos}),
    }
    return Answer(told, ", ".join(f"{name} {n}" for name, n in told.items()))


TODO_STATS = Tool(
    name="todo_stats",
    operation="todo_list",
    description="How many to-dos there are, by status.",
    fields=lambda given: {"everywhere": True, "all": True},
    answer=_counted,
    output=shape(total=NUMBER),
)


def _projects(results: Sequence[Any], given: Given) -> Answer:
    wings: WingListResult = results[0]
    listing: TodoListResult = results[1]
    rows: list[dict[str, Any]] = [
        {
            "id": wing.wing,
            "name": wing.wing,
            "status": "active",
            "memories": wing.drawers,
            "stats": _count([view for view in listing.todos if view.wing == wing.wing]),
        }
        for wing in wings.wings[:100]
    ]
    lines = [
        f"{row['name']}: {counted(row['stats']['total'], 'to-do')}, {counted(row['memories'], 'memory')}"
        for row in rows
    ]
    return Answer({"projects": rows, "count": len(rows)}, "\n".join(lines) or "There are none.")


LIST_PROJECTS = Tool(
    name="list_projects",
    operation="wing_list",
    description="The wings, one for each project, person or agent; with how many to-dos each has.",
    steps=lambda given: [Step("wing_list", {}), Step("todo_list", {"everywhere": True, "all": True})],
    answer=_projects,
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
