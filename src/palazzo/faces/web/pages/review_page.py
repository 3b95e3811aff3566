"""Review: what waits for a person's decision, and the last changes, each of which can be undone here."""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from palazzo.errors import UsageError
from palazzo.faces.web.page_answer import answer_page, calls_of, run_soon
from palazzo.faces.web.page_calls import request_values
from palazzo.faces.web.page_templates import make_address
from palazzo.faces.web.web_guard import FORM_KEY

_CHANGES, _ENTRIES = 20, 100
_SETTLEMENT = ("subject", "predicate", "old", "new", "wing", "everywhere", "at")
ACTIONS: dict[str, tuple[str, dict[str, Any], str]] = {
    "approve": ("quarantine_approve", {}, "Approved."),
    "drop": ("quarantine_drop", {}, "Dropped: agents and searches no longer find it."),
    "dismiss": ("kg_dismiss", {}, "Dismissed: it is not shown as a conflict again."),
    "settle": ("kg_supersede", {}, "Settled: the other fact has ended."),
    "fold": ("dedup", {}, "Only one of each is found now."),
    "done": ("todo_done", {}, "Marked as done."),
    "drop_todo": ("todo_drop", {}, "Dropped."),
    "done_reminder": ("reminders", {"action": "done"}, "Marked as done."),
    "drop_reminder": ("reminders", {"action": "drop"}, "Dropped."),
    "undo": ("undo", {}, "Undone."),
}
"""What the buttons do: an operation with its fixed values, and the sentence that says that it is done."""


async def show(request: Request) -> Response:
    """Show what can be reviewed."""
    calls = calls_of(request)
    quarantine, todos, reminders, changes, conflicts, duplicates = await asyncio.gather(
        calls.run("quarantine_list", limit=_ENTRIES),
        calls.run("todo_list", everywhere=True),
        calls.run("reminders", action="open"),
        calls.run("undo", list=True, limit=_CHANGES),
        run_soon(request, "conflicts", "kg_conflicts", ("claim",)),
        run_soon(request, "duplicates", "dedup", dry_run=True),
    )
    done = ACTIONS.get(request.query_params.get("did", ""))
    return answer_page(
        request,
        "review.html",
        page="review",
        quarantine=quarantine,
        todos=todos,
        reminders=reminders,
        changes=changes.changes,
        conflicts=conflicts.result,
        are_all_compared=conflicts.is_complete,
        duplicates=duplicates.result,
        sentence="" if done is None else done[2],
    )


async def act(request: Request) -> Response:
    """Do what a button says, and go back to the page."""
    form: dict[str, str] = request.scope[FORM_KEY]
    name, uid = form.get("action", ""), form.get("id", "")
    if name not in ACTIONS or not uid:
        raise UsageError("This button is not known (any more): reload the page.")
    operation, values, _ = ACTIONS[name]
    calls = calls_of(request).with_work_limit(0.0)  # what has a button is derived already
    await calls.run(operation, **values, **_read_values(operation, form))
    return RedirectResponse(make_address("/review", did=name), status_code=303)


def _read_values(operation: str, form: dict[str, str]) -> dict[str, Any]:
    """Return the values of an operation that stand in a form: mostly the id of the entry."""
    if operation == "kg_supersede":
        return request_values(operation, {field: form[field] for field in _SETTLEMENT if field in form})
    if operation == "dedup":
        return {}
    return {"id": form["id"]} if operation == "undo" else {"ids": (form["id"],)}
