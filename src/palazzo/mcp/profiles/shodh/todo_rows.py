"""How a to-do looks: what shodh keeps beside its words stands in lines below them, where search and people see it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from palazzo.mcp.profiles.days import last_day
from palazzo.mcp.profiles.shodh.shaping import fitted, iso, reading
from palazzo.mcp.telling import NOTICE, TEXT
from palazzo.mcp.tools import Answer, Argument, Given
from palazzo.operations.tasks import TodoView

OPEN = ("backlog", "todo", "in_progress", "blocked")
STATUSES = (*OPEN, "done", "cancelled")
PRIORITIES = ("urgent", "high", "medium", "low")
_DETAILS = (
    "status", "priority", "contexts", "tags", "blocked_on", "blocked_by", "recurrence", "parent_id",
    "related_memory_ids",
)  # fmt: skip
_LISTS = ("contexts", "tags", "blocked_by", "related_memory_ids")
_USUAL = {"status": "todo", "priority": "medium"}
_DETAIL = re.compile(rf"({'|'.join(_DETAILS)}): (.+)")


def choice_of(*names: str) -> Mapping[str, Any]:
    """Return the schema of a text that is one of these."""
    return {"type": "string", "enum": list(names)}


def identifier(name: str = "todo_id") -> Argument:
    """Return the argument that names a to-do, or what belongs to one."""
    return Argument(name, "", None, TEXT, required=True)


# --- a to-do's text ----------------------------------------------------------------------------------------


def text_of(given: Given) -> str:
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


def row_of(view: TodoView) -> dict[str, Any]:
    """Return a to-do as JSON has it."""
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


def answer_of(rows: Sequence[Mapping[str, Any]], total: int, name: str = "todos", **others: Any) -> Answer:
    """Return an answer of to-dos: those that fit one answer, of `total`."""
    shown = fitted(rows)
    fields = {name: shown, "count": len(shown), "total": total, **others}
    if not shown:
        return Answer({"notice": "There are none.", **fields}, "There are none.")
    notice = f"{NOTICE}: {len(shown)} of {total} to-dos."
    return Answer({"notice": notice, **fields}, reading(notice, map(_line, shown)))
