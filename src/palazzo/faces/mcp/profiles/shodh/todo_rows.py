"""The format of a to-do: fields that only shodh has are lines below its text, visible to search and to people."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from palazzo.faces.mcp.profiles.client_formats import iso, last_day
from palazzo.faces.mcp.profiles.shodh.shodh_shapes import answer_records, unbound_argument
from palazzo.operations.agent_tools.tool import Answer, Argument, CallArguments
from palazzo.operations.agent_tools.tool_answers import TEXT
from palazzo.operations.shared_views import TodoView

OPEN = ("backlog", "todo", "in_progress", "blocked")
STATUSES = (*OPEN, "done", "cancelled")
PRIORITIES = ("urgent", "high", "medium", "low")
_DETAILS = (
    "status", "priority", "contexts", "tags", "blocked_on", "blocked_by", "recurrence", "parent_id",
    "related_memory_ids",
)  # fmt: skip
_LISTS = ("contexts", "tags", "blocked_by", "related_memory_ids")
_DEFAULTS = {"status": "todo", "priority": "medium"}
_DETAIL = re.compile(rf"({'|'.join(_DETAILS)}): (.+)")


def id_argument(name: str = "todo_id") -> Argument:
    """Return the argument that takes the id of a to-do, or of a comment on one."""
    return unbound_argument(name, TEXT, is_required=True)


# --- a to-do's text ----------------------------------------------------------------------------------------


def todo_text(call: CallArguments) -> str:
    """Return the text of a new to-do: its content, its notes, and a line for each detail that is not the default."""
    details = {name: call[name] for name in _DETAILS if call[name] and call[name] != _DEFAULTS.get(name)}
    lines = [
        f"{name}: {', '.join(value) if isinstance(value, list) else ' '.join(value.split())}"
        for name, value in details.items()
    ]
    return "\n\n".join(filter(None, [call["content"], call["notes"], "\n".join(lines)]))


def _split_details(text: str) -> tuple[str, dict[str, Any]]:
    """Return a to-do's text without its lines of details, and the details."""
    content, _, tail = text.rpartition("\n\n")
    matches = [_DETAIL.fullmatch(line) for line in tail.splitlines()]
    if not content or not matches or not all(matches):
        return text, {}
    values = {match[1]: match[2] for match in matches if match}
    return content, {name: value.split(", ") if name in _LISTS else value for name, value in values.items()}


def _status(view: TodoView, details: Mapping[str, Any]) -> str:
    statuses = {"done": "done", "dropped": "cancelled"}
    return statuses.get(view.state) or str(details.get("status", "todo"))


# --- rows and answers --------------------------------------------------------------------------------------


def todo_row(view: TodoView) -> dict[str, Any]:
    """Return a to-do as JSON fields."""
    content, details = _split_details(view.text)
    row = {
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
    return {name: value for name, value in row.items() if value not in (None, False)}


def _render_todo(row: Mapping[str, Any]) -> str:
    due = f"due {row['due_date']}" if "due_date" in row else ""
    overdue = "overdue" if "overdue" in row else ""
    head = (f"[{row['id']}]", row["status"], row["priority"], row["project"], due, overdue)
    content = "\n".join(f"  {line}" for line in str(row["content"]).splitlines())
    return f"{' · '.join(filter(None, head))}\n{content}"


def answer_todos(rows: Sequence[Mapping[str, Any]], total: int, name: str = "todos", **fields: Any) -> Answer:
    """Return an answer of to-dos, as many as fit, and of their total number."""
    answer = answer_records(name, rows, _render_todo, lambda count: f"{count} of {total} to-dos")
    return replace(answer, structured={**answer.structured, "total": total, **fields})
