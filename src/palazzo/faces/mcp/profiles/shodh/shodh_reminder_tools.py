"""Tools for reminders: at a time, after a delay, or when keywords appear."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from palazzo.errors import UsageError
from palazzo.faces.mcp.profiles.client_formats import iso
from palazzo.faces.mcp.profiles.shodh.shodh_shapes import (
    DECIMAL,
    TEXTS,
    answer_closing,
    answer_records,
    enum_schema,
    unbound_argument,
)
from palazzo.features.tasks.contract import RemindersResult, RemindResult
from palazzo.operations.agent_tools.tool import ADDS, Answer, CallArguments, Step, Tool
from palazzo.operations.agent_tools.tool_answers import LIST, NUMBER, TEXT, shape
from palazzo.operations.shared_views import ReminderView
from palazzo.text.count_phrases import count_noun

_LONGEST_DELAY = 10 * 365 * 86_400
"""Maximum seconds until a reminder: ten years."""
_TRIGGERS = {"time": "trigger_at", "duration": "after_seconds", "context": "keywords"}
"""The argument that each type of trigger needs."""
_ACTIONS = {"pending": "open", "triggered": "due", "dismissed": "all", "all": "all"}
"""The action of `reminders` that lists at least the reminders with a status."""
_STATUSES = {"due": "triggered", "waiting": "pending", "done": "dismissed", "dropped": "dismissed"}
"""The status that shodh has for each state of a reminder."""


def _row(view: ReminderView) -> dict[str, Any]:
    row = {
        "id": view.id,
        "content": view.text,
        "status": _STATUSES[view.state],
        "trigger_type": "time" if view.at is not None else "context",
        "due_at": iso(view.at),
        "keywords": view.topic,
        "file": view.file,
        "project": view.wing,
        "created_at": iso(view.created_at),
    }
    return {name: value for name, value in row.items() if value}


def _render_reminder(row: Mapping[str, Any]) -> str:
    occasion = " ".join(str(row[name]) for name in ("due_at", "keywords", "file") if name in row)
    return f"[{row['id']}] {row['status']} · {row['project']} · {occasion}: {row['content']}"


# --- setting -----------------------------------------------------------------------------------------------


def _request_occasion(call: CallArguments) -> Mapping[str, Any]:
    """Return the fields of the request that say when the reminder is due."""
    trigger = call["trigger_type"]
    value = call[_TRIGGERS[trigger]]
    if not value:
        raise UsageError(f"A reminder with the trigger_type '{trigger}' needs '{_TRIGGERS[trigger]}'.")
    if trigger == "context":
        return {"topic": " ".join(value)}
    return {"at": value if trigger == "time" else f"in {round(value)} seconds"}


def _plan_set(call: CallArguments) -> Sequence[Step]:
    return [Step("remind", {"text": call["content"], "by": call.host, **_request_occasion(call)})]


def _answer_set(results: Sequence[RemindResult], call: CallArguments) -> Answer:
    row = _row(results[0].reminder)
    condition = f" It is due when all these words appear: {row['keywords']}." if len(call["keywords"] or ()) > 1 else ""
    return Answer(row, f"Reminder {row['id']} is set.{condition}")


SET_REMINDER = Tool(
    name="set_reminder",
    operation="remind",
    description="Set a reminder for a time, after some seconds, or for when keywords appear.",
    arguments=(
        unbound_argument("content", TEXT, is_required=True),
        unbound_argument("trigger_type", enum_schema(*_TRIGGERS), is_required=True),
        unbound_argument("trigger_at", TEXT, "For time: 2026-03-04T18:00Z, 'tomorrow 9:00'."),
        unbound_argument("after_seconds", {**DECIMAL, "minimum": 1, "maximum": _LONGEST_DELAY}, "For duration."),
        unbound_argument("keywords", TEXTS, "For context: all of them must appear."),
        unbound_argument("priority", DECIMAL, default=3, is_ignored=True),
        unbound_argument("tags", TEXTS, is_ignored=True),
        unbound_argument("threshold", DECIMAL, is_ignored=True),
    ),
    hints=ADDS,
    steps=_plan_set,
    options={"--at": "trigger_at"},
    answer=_answer_set,
    output=shape(id=TEXT, content=TEXT, status=TEXT),
)


# --- listing, dismissing -----------------------------------------------------------------------------------


def _answer_list(result: RemindersResult, call: CallArguments) -> Answer:
    status = call["status"]
    rows = [_row(view) for view in result.reminders]
    return answer_records(
        "reminders",
        [row for row in rows if status in ("all", "pending", row["status"])],
        _render_reminder,
        lambda count: count_noun(count, "reminder"),
        status_filter=status,
    )


LIST_REMINDERS = Tool(
    name="list_reminders",
    operation="reminders",
    description="List reminders: open ones (pending), due ones (triggered), closed ones (dismissed) or all.",
    arguments=(unbound_argument("status", enum_schema(*_ACTIONS), default="pending"),),
    fields=lambda call: {"action": _ACTIONS[call["status"]]},
    answer=_answer_list,
    output=shape(notice=TEXT, reminders=LIST, count=NUMBER),
)


def _answer_dismiss(result: RemindersResult, call: CallArguments) -> Answer:
    (view,) = (*result.reminders, *result.before)
    return answer_closing(_row(view), bool(result.reminders), "Dismissed")


DISMISS_REMINDER = Tool(
    name="dismiss_reminder",
    operation="reminders",
    description="Mark a reminder as done, so that it is never due again.",
    arguments=(unbound_argument("reminder_id", TEXT, is_required=True),),
    hints=ADDS,
    fields=lambda call: {"action": "done", "ids": (call["reminder_id"],)},
    answer=_answer_dismiss,
    output=shape(id=TEXT, status=TEXT),
)

TOOLS = (SET_REMINDER, LIST_REMINDERS, DISMISS_REMINDER)
