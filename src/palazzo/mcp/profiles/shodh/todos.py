"""To-dos: what shodh keeps of one beside its words stands in lines below them here, where search and people see it."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from palazzo.errors import UsageError
from palazzo.mcp.profiles.days import last_day
from palazzo.mcp.profiles.notes import id_of
from palazzo.mcp.profiles.shodh.shaping import NO_DRAWERS, TEXTS, fitted, iso, reading
from palazzo.mcp.telling import FLAG, LIST, NOTICE, NUMBER, TEXT, shape
from palazzo.mcp.tools import ADDS, CHANGES, Answer, Argument, Given, Step, Tool
from palazzo.operations.forget import ForgetResult
from palazzo.operations.list_drawers import ListDrawersResult
from palazzo.operations.remember import RememberResult
from palazzo.operations.search import SearchResult
from palazzo.operations.tasks import TodoView
from palazzo.operations.todo_add import TodoAddResult
from palazzo.operations.todo_done import TodoDoneResult
from palazzo.operations.todo_drop import TodoDropResult
from palazzo.operations.todo_list import TodoListResult
from palazzo.operations.update_drawer import UpdateDrawerResult
from palazzo.operations.wing_list import WingListResult

_OPEN = ("backlog", "todo", "in_progress", "blocked")
_STATUSES = (*_OPEN, "done", "cancelled")
_PRIORITIES = ("urgent", "high", "medium", "low")
_DETAILS = (
    "status", "priority", "contexts", "tags", "blocked_on", "blocked_by", "recurrence", "parent_id",
    "related_memory_ids",
)  # fmt: skip
_LISTS = ("contexts", "tags", "blocked_by", "related_memory_ids")
_USUAL = {"status": "todo", "priority": "medium"}
_DETAIL = re.compile(rf"({'|'.join(_DETAILS)}): (.+)")
_DAY, _WEEK = 86_400_000_000, 7 * 86_400_000_000
_WHOLE_ID = re.compile(r"[0-9a-f]{32}")
_MOST_COMMENTS = 100


def _enum(*names: str) -> Mapping[str, Any]:
    return {"type": "string", "enum": list(names)}


def _todo_id(name: str = "todo_id") -> Argument:
    return Argument(name, "", None, TEXT, required=True)


# --- a to-do's text ----------------------------------------------------------------------------------------


def _text(given: Given) -> str:
    """The words of a to-do, its notes, and a line for each detail that is not the usual one."""
    details = {name: given[name] for name in _DETAILS if given[name] and given[name] != _USUAL.get(name)}
    lines = [
        f"{name}: {', '.join(value) if isinstance(value, list) else ' '.join(value.split())}"
        for name, value in details.items()
    ]
    return "\n\n".join(filter(None, [given["content"], given["notes"], "\n".join(lines)]))


def _details(text: str) -> tuple[str, dict[str, Any]]:
    """The words of a to-do without its lines of details, and the details."""
    words, _, tail = text.rpartition("\n\n")
    matches = [_DETAIL.fullmatch(line) for line in tail.splitlines()]
    if not words or not matches or not all(matches):
        return text, {}
    values = {match[1]: match[2] for match in matches if match}
    return words, {name: value.split(", ") if name in _LISTS else value for name, value in values.items()}


def _status(view: TodoView, details: Mapping[str, Any]) -> str:
    closed = {"done": "done", "dropped": "cancelled"}
    return closed.get(view.state) or str(details.get("status", "todo"))


def _row(view: TodoView) -> dict[str, Any]:
    content, details = _details(view.text)
    told = {
        "id": view.id,
        "content": content,
        "priority": "medium",
        **details,
        "status": _status(view, details),
        "project": view.wing,
        "created_at": iso(view.created_at),
        "due_date": last_day(iso(view.due_at)),
        "overdue": view.overdue and view.state == "open",
    }
    return {name: value for name, value in told.items() if value not in (None, False)}


def _line(row: Mapping[str, Any]) -> str:
    due = f"due {row['due_date']}" if "due_date" in row else ""
    head = (
        f"[{row['id']}]",
        row["status"],
        row["priority"],
        row["project"],
        due,
        "overdue" if "overdue" in row else "",
    )
    words = "\n".join(f"  {line}" for line in str(row["content"]).splitlines())
    return f"{' · '.join(filter(None, head))}\n{words}"


def _listing(rows: Sequence[Mapping[str, Any]], total: int, name: str = "todos", **others: Any) -> Answer:
    shown = fitted(rows)
    fields = {name: shown, "count": len(shown), "total": total, **others}
    if not shown:
        return Answer({"notice": "There are none.", **fields}, "There are none.")
    notice = f"{NOTICE}: {len(shown)} of {total} to-dos."
    return Answer({"notice": notice, **fields}, reading(notice, map(_line, shown)))


# --- adding, listing ---------------------------------------------------------------------------------------


def _added(result: TodoAddResult, given: Given) -> Answer:
    row = _row(result.todo)
    recurs = f" It does not come back {given['recurrence']} by itself." if given["recurrence"] else ""
    return Answer(row, f"Added {row['id']} to {row['project']}.{recurs}")


ADD_TODO = Tool(
    name="add_todo",
    operation="todo_add",
    description="Leave something to be done; later sessions are told of it until it is done.",
    arguments=(
        Argument("content", "", "text"),
        Argument("status", "", None, _enum(*_OPEN), "todo"),
        Argument("priority", "", None, _enum(*_PRIORITIES, "none"), "medium"),
        Argument("project", "The project's wing; this one's if left out.", "wing"),
        Argument("contexts", "@computer, @phone, …", None, TEXTS),
        Argument("due_date", "2026-03-04, friday, 'in 2 days'.", "due"),
        Argument("tags", "", None, TEXTS),
        Argument("blocked_on", "Who or what it waits for.", None, TEXT),
        Argument("notes", "", None, TEXT),
        Argument("recurrence", "Kept as a word; nothing recurs.", None, _enum("daily", "weekly", "monthly")),
        Argument("parent_id", "The to-do that it is a part of.", None, TEXT),
        Argument("blocked_by", "To-dos that come first.", None, TEXTS),
        Argument("related_memory_ids", "", None, TEXTS),
    ),
    hints=ADDS,
    fields=lambda given: {"text": _text(given), "by": given.host},
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
        order = {hit.text: n for n, hit in reversed(list(enumerate(found.hits)))}
        views = sorted((view for view in views if view.text in order), key=lambda view: order[view.text])
    page = views[given["offset"] :][: given["limit"]]
    return _listing([_row(view) for view in page], len(views))


def _fits(view: TodoView, given: Given) -> bool:
    row = _row(view)
    statuses = given["status"] or _OPEN
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
        Argument("status", "Open ones if left out.", None, {"type": "array", "items": _enum(*_STATUSES)}),
        Argument("project", "Only of this one.", None, TEXT),
        Argument("context", "", None, TEXT),
        Argument("priority", "", None, _enum(*_PRIORITIES)),
        Argument("due", "Until then.", None, _enum("today", "overdue", "this_week", "all")),
        Argument("limit", "", None, {"type": "integer", "minimum": 1, "maximum": 1000}, 50),
        Argument("offset", "How many to skip.", None, {"type": "integer", "minimum": 0}, 0),
    ),
    steps=_wanted,
    answer=_listed,
    output=shape(notice=TEXT, todos=LIST, count=NUMBER),
    nowhere=lambda given: _listing([], 0),
)


def _parts(result: TodoListResult, given: Given) -> Answer:
    rows = [_row(view) for view in result.todos]
    parts = [row for row in rows if str(row.get("parent_id", "")).startswith(given["parent_id"])]
    return _listing(parts, len(parts), "subtasks", parent_id=given["parent_id"])


LIST_SUBTASKS = Tool(
    name="list_subtasks",
    operation="todo_list",
    description="To-dos that were added as parts of another.",
    arguments=(_todo_id("parent_id"),),
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
    row = _row(view)
    said = verb if closed else f"Nothing was done, since it was {row['status']} before"
    return Answer({**row, "changed": bool(closed)}, f"{said}: {row['id']}.")


def _which(given: Given) -> Mapping[str, Any]:
    return {"ids": (given["todo_id"],)}


COMPLETE_TODO = Tool(
    name="complete_todo",
    operation="todo_done",
    description="Say that a to-do is done.",
    arguments=(_todo_id(),),
    hints=ADDS,
    fields=_which,
    answer=_done,
    output=shape(id=TEXT, status=TEXT, changed=FLAG),
)

DELETE_TODO = Tool(
    name="delete_todo",
    operation="todo_drop",
    description="Drop a to-do that will not be done. Its words stay in the archive; 'palazzo undo' opens it again.",
    arguments=(_todo_id(),),
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
    "priority": _enum(*_PRIORITIES, "none"),
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
        _todo_id(),
        Argument("status", "", None, _enum(*_STATUSES)),
        *(Argument(name, "", None, kind) for name, kind in _CHANGES.items()),
    ),
    hints=CHANGES,
    steps=_update,
    answer=_updated,
    output=shape(id=TEXT, status=TEXT, changed=FLAG),
)


# --- counting ----------------------------------------------------------------------------------------------


def _count(views: Sequence[TodoView]) -> dict[str, int]:
    counts = Counter(_row(view)["status"] for view in views)
    return {"total": len(views), **{name: counts[name] for name in _STATUSES}}


def _counted(result: TodoListResult, given: Given) -> Answer:
    told = {
        **_count(result.todos),
        "overdue": sum(view.overdue and view.state == "open" for view in result.todos),
        "due_today": sum(view.state == "open" and _is_due(view, "today") for view in result.todos),
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
    rows = [
        {
            "id": wing.wing,
            "name": wing.wing,
            "status": "active",
            "memories": wing.drawers,
            "stats": _count([view for view in listing.todos if view.wing == wing.wing]),
        }
        for wing in wings.wings[:100]
    ]
    lines = [f"{row['name']}: {row['stats']['total']} to-dos, {row['memories']} memories" for row in rows]
    return Answer({"projects": rows, "count": len(rows)}, "\n".join(lines) or "There are none.")


LIST_PROJECTS = Tool(
    name="list_projects",
    operation="wing_list",
    description="The wings, one for each project, person or agent; with how many to-dos each has.",
    steps=lambda given: [Step("wing_list", {}), Step("todo_list", {"everywhere": True, "all": True})],
    answer=_projects,
    output=shape(projects=LIST, count=NUMBER),
)


# --- comments: notes with a tag that names the to-do -------------------------------------------------------


def _tag(given: Given) -> str:
    if not _WHOLE_ID.fullmatch(given["todo_id"]):
        raise UsageError(
            f"A comment needs the to-do's whole id, as list_todos shows it, not '{given['todo_id'][:60]}'."
        )
    return f"todo-{given['todo_id']}"


def _comment(given: Given) -> Sequence[Step]:
    note = {"text": given["content"], "kind": given["comment_type"], "tags": (_tag(given),), "by": given.host}
    return [Step("show", {"id": given["todo_id"]}), Step("remember", note)]


def _commented(results: Sequence[Any], given: Given) -> Answer:
    result: RememberResult = results[1]
    uid = id_of(result.id, result.drawers)
    return Answer({"id": uid, "todo_id": given["todo_id"]}, f"Kept as {uid}, beside the to-do {given['todo_id']}.")


ADD_TODO_COMMENT = Tool(
    name="add_todo_comment",
    operation="remember",
    description="Keep a note about a to-do, with the to-do's id as its tag.",
    arguments=(
        _todo_id(),
        Argument("content", "", None, TEXT, required=True),
        Argument("comment_type", "", None, _enum("comment", "progress", "resolution", "activity"), "comment"),
    ),
    hints=ADDS,
    steps=_comment,
    answer=_commented,
    output=shape(id=TEXT, todo_id=TEXT),
)


def _noted(given: Given) -> Sequence[Step]:
    return [Step("list_drawers", {"tags": (_tag(given),), "limit": _MOST_COMMENTS}, NO_DRAWERS)]


def _comments(results: Sequence[ListDrawersResult], given: Given) -> Answer:
    (result,) = results
    rows = [
        {
            "id": one.id,
            "content": one.text,
            "author": one.author,
            "comment_type": one.filed_as,
            "created_at": iso(one.created_at),
        }
        for one in reversed(result.drawers)
    ]
    shown = fitted(rows)
    fields = {"todo_id": given["todo_id"], "comments": shown, "count": len(shown)}
    if not shown:
        return Answer({"notice": "There are none.", **fields}, "There are none.")
    notice = f"{NOTICE}: {len(shown)} of {result.total} comments, oldest first."
    lines = [f"[{row['id']}] {row['comment_type']} · {row['created_at']}: {row['content']}" for row in shown]
    return Answer({"notice": notice, **fields}, reading(notice, lines))


LIST_TODO_COMMENTS = Tool(
    name="list_todo_comments",
    operation="list_drawers",
    description="Notes about a to-do, oldest first.",
    arguments=(_todo_id(),),
    steps=_noted,
    answer=_comments,
    output=shape(notice=TEXT, comments=LIST, count=NUMBER),
)


def _comment_changed(result: UpdateDrawerResult, given: Given) -> Answer:
    return Answer(
        {"id": result.id, "todo_id": given["todo_id"]}, f"The comment says that now; its new id is {result.id}."
    )


UPDATE_TODO_COMMENT = Tool(
    name="update_todo_comment",
    operation="update_drawer",
    description="Replace the words of a note about a to-do. New words have a new id.",
    arguments=(_todo_id(), Argument("comment_id", "", "id"), Argument("content", "", "text", required=True)),
    hints=CHANGES,
    fields=lambda given: {"by": given.host},
    answer=_comment_changed,
    output=shape(id=TEXT, todo_id=TEXT),
)


def _comment_forgotten(result: ForgetResult, given: Given) -> Answer:
    told = {"id": given["comment_id"], "todo_id": given["todo_id"], "forgotten": len(result.forgotten)}
    return Answer(told, f"{given['comment_id']} is found no longer; the archive keeps its words.")


DELETE_TODO_COMMENT = Tool(
    name="delete_todo_comment",
    operation="forget",
    description="Let a note about a to-do be found no longer. 'palazzo undo' brings it back.",
    arguments=(_todo_id(), _todo_id("comment_id")),
    hints=CHANGES,
    fields=lambda given: {"ids": (given["comment_id"],)},
    answer=_comment_forgotten,
    output=shape(id=TEXT, todo_id=TEXT, forgotten=NUMBER),
)

TOOLS = (
    ADD_TODO,
    LIST_TODOS,
    UPDATE_TODO,
    COMPLETE_TODO,
    DELETE_TODO,
    TODO_STATS,
    LIST_SUBTASKS,
    ADD_TODO_COMMENT,
    LIST_TODO_COMMENTS,
    UPDATE_TODO_COMMENT,
    DELETE_TODO_COMMENT,
    LIST_PROJECTS,
)
