"""Reminders: for a time, after a while, or for when words come up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from palazzo.errors import UsageError
from palazzo.mcp.profiles.shodh.shaping import DECIMAL, TEXTS, fitted, iso, reading
from palazzo.mcp.telling import LIST, NOTICE, NUMBER, TEXT, shape
from palazzo.mcp.tools import ADDS, Answer, Argument, Given, Step, Tool
from palazzo.operations.remind import RemindResult
from palazzo.operations.reminders import RemindersResult
from palazzo.operations.tasks import ReminderView
from palazzo.text.counts import counted

_LONGEST = 10 * 365 * 86_400
"""Seconds for which a reminder may wait: ten years."""
_TRIGGERS = {"time": "trigger_at", "duration": "after_seconds", "context": "keywords"}
_STATUSES = {"pending": "open", "triggered": "due", "dismissed": "all", "all": "all"}
"""What is listed for each status that may be asked for."""
_SHOWN_AS = {"due": "triggered", "waiting": "pending", "done": "dismissed", "dropped": "dismissed"}


def _row(view: ReminderView) -> dict[str, Any]:
    told = {
        "id": view.id,
        "content": view.text,
        "status": _SHOWN_AS[view.state],
        "trigger_type": "time" if view.at is not None else "context",
        "due_at": iso(view.at),
        "keywords": view.topic,
        "file": view.file,
        "project": view.wing,
        "created_at": iso(view.created_at),
    }
    return {name: value for name, value in told.items() if value}


def _line(row: Mapping[str, Any]) -> str:
    when = " ".join(str(row[name]) for name in ("due_at", "keywords", "file") if name in row)
    return f"[{row['id']}] {row['status']} · {row['project']} · {when}: {row['content']}"


def _occasion(given: Given) -> Mapping[str, Any]:
    """The request of the reminder that the trigger asks for."""
    trigger = given["trigger_type"]
    value = given[_TRIGGERS[trigger]]
    if not value:
        raise UsageError(f"A reminder of the trigger_type '{trigger}' needs '{_TRIGGERS[trigger]}'.")
    if trigger == "context":
        return {"topic": " ".join(value)}
    return {"at": value if trigger == "time" else f"in {round(value)} seconds"}


def _reminding(given: Given) -> Sequence[Step]:
    return [Step("remind", {"text": given["content"], "by": given.host, **_occasion(given)})]


def _reminded(results: Sequence[RemindResult], given: Given) -> Answer:
    row = _row(results[0].reminder)
    words = f" It is due when all of the words come up: {row['keywords']}." if len(given["keywords"] or ()) > 1 else ""
    return Answer(row, f"Reminder {row['id']} is set.{words}")


SET_REMINDER = Tool(
    name="set_reminder",
    operation="remind",
    description="Leave a reminder for a time, for some seconds from now, or for when words come up.",
    arguments=(
        Argument("content", "", None, TEXT, required=True),
        Argument("trigger_type", "", None, {"type": "string", "enum": list(_TRIGGERS)}, required=True),
        Argument("trigger_at", "For time: 2026-03-04T18:00Z, 'tomorrow 9:00'.", None, TEXT),
        Argument("after_seconds", "For duration.", None, {**DECIMAL, "minimum": 1, "maximum": _LONGEST}),
        Argument("keywords", "For context: all of them have to come up.", None, TEXTS),
        Argument("priority", "", None, DECIMAL, 3, ignored=True),
        Argument("tags", "", None, TEXTS, ignored=True),
        Argument("threshold", "", None, DECIMAL, ignored=True),
    ),
    hints=ADDS,
    steps=_reminding,
    options={"--at": "trigger_at"},
    answer=_reminded,
    output=shape(id=TEXT, content=TEXT, status=TEXT),
)


def _listed(result: RemindersResult, given: Given) -> Answer:
    wanted = given["status"]
    rows = [_row(view) for view in result.reminders]
    shown = fitted([row for row in rows if wanted in ("all", "pending") or row["status"] == wanted])
    fields = {"status_filter": wanted, "reminders": shown, "count": len(shown)}
    if not shown:
        return Answer({"notice": "There are none.", **fields}, "There are none.")
    notice = f"{NOTICE}: {counted(len(shown), 'reminder')}."
    return Answer({"notice": notice, **fields}, reading(notice, map(_line, shown)))


LIST_REMINDERS = Tool(
    name="list_reminders",
    operation="reminders",
    description="Reminders: those that wait and those that are due, or closed ones too.",
    arguments=(Argument("status", "", None, {"type": "string", "enum": list(_STATUSES)}, "pending"),),
    fields=lambda given: {"action": _STATUSES[given["status"]]},
    answer=_listed,
    output=shape(notice=TEXT, reminders=LIST, count=NUMBER),
)


def _dismissed(result: RemindersResult, given: Given) -> Answer:
    (view,) = (*result.reminders, *result.before)
    said = "Dismissed" if result.reminders else "Nothing was done, since it was dismissed before"
    return Answer({**_row(view), "changed": bool(result.reminders)}, f"{said}: {view.id}.")


DISMISS_REMINDER = Tool(
    name="dismiss_reminder",
    operation="reminders",
    description="Say that a reminder is done: nobody is reminded any more.",
    arguments=(Argument("reminder_id", "", None, TEXT, required=True),),
    hints=ADDS,
    fields=lambda given: {"action": "done", "ids": (given["reminder_id"],)},
    answer=_dismissed,
    output=shape(id=TEXT, status=TEXT),
)

TOOLS = (SET_REMINDER, LIST_REMINDERS, DISMISS_REMINDER)
