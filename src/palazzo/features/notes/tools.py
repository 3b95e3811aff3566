"""Tools to keep, change and forget notes, and to undo."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from palazzo.features.notes.contract import Change, ForgetResult, RememberResult, UndoResult, UpdateDrawerResult
from palazzo.operations.agent_tools.tool import ADDS, CHANGES, Answer, Argument, CallArguments, Tool
from palazzo.operations.agent_tools.tool_answers import LIST, TEXT, present_fields, shape
from palazzo.text.count_phrases import count_noun


def _updated(result: UpdateDrawerResult, call: CallArguments) -> Answer:
    place = f"{result.wing}/{result.room}"
    fields = {"id": result.id, "where": place, "replaced": list(result.replaced), "change": result.change}
    if result.change is None:
        return Answer(fields, f"{result.id} in {place} is already up to date; nothing was changed.")
    instead = f" instead of {', '.join(result.replaced)}" if result.replaced else ""
    return Answer(fields, f"{result.id} is now in {place}{instead}. undo reverts this.")


def _instead(call: CallArguments) -> Mapping[str, Any]:
    return {"by": call.host}


UPDATE_DRAWER = Tool(
    name="update_drawer",
    description="Replace a drawer's text, or move it. The old text is kept, but search does not find it.",
    arguments=(
        Argument("id"),
        Argument("text", "The new text."),
        Argument("wing", "Move it to this wing."),
        Argument("room", "Move it to this room."),
    ),
    hints=CHANGES,
    fields=_instead,
    answer=_updated,
    output=shape(id=TEXT, where=TEXT, replaced=LIST),
)


_MOST_IDS = 100
"""Maximum number of ids that an answer names: a bulk forget may affect thousands."""


def _answer_remember(result: RememberResult, call: CallArguments) -> Answer:
    place = f"{result.wing}/{result.room}"
    fields: dict[str, Any] = {"id": result.id, "where": place, "filed": result.filed}
    text = f"Filed as {result.id} in {place}." if result.filed else f"Already stored: {result.id} in {place}."
    if result.duplicate_of is not None and result.filed:
        fields["like"] = result.duplicate_of
        text += f" {result.duplicate_of} says nearly the same: forget one if you do not need both."
    return Answer(fields, text)


REMEMBER = Tool(
    name="remember",
    description=(
        "Save a decision and its reason, a finding or a preference for later sessions, word for word. Files and "
        "transcripts are saved automatically."
    ),
    arguments=(
        Argument("text", "Understandable without this session."),
        Argument("wing", "A project other than this one."),
        Argument("room", "Topic; chosen by rules if omitted."),
        Argument("kind", "decision, learning, error, task, or your own word."),
        Argument("tags"),
        Argument("anchors", "Files it is about: PATH[:L1-L2]."),
    ),
    hints=ADDS,
    fields=lambda given: {"by": given.host, "once": True},
    answer=_answer_remember,
    output=shape(id=TEXT),
    always=True,
)


def _answer_forget(result: ForgetResult, call: CallArguments) -> Answer:
    count = len(result.forgotten)
    begins = [f"{uid}: {text}" for uid, text in result.sample]
    amount = count_noun(count, "drawer")
    if result.dry_run:
        head = f"Nothing is forgotten yet. dry_run=false would remove {amount} from search:"
    else:
        head = f"Search no longer finds {amount}; undo restores what was forgotten last:"
    fields = {"dry_run": result.dry_run, "count": count, "ids": list(result.forgotten[:_MOST_IDS]), "begins": begins}
    return Answer(fields, "\n".join([head, *begins]))


FORGET = Tool(
    name="forget",
    description="Remove wrong or unwanted content from search. Only a preview unless dry_run is false.",
    arguments=(
        Argument("ids", "Ids of drawers or notes.", is_required=True, schema={"minItems": 1}),
        Argument("dry_run", default=True),
    ),
    hints=CHANGES,
    answer=_answer_forget,
    output=shape(ids=LIST),
)


def _undone(result: UndoResult, call: CallArguments) -> Answer:
    fields: dict[str, Any] = {}
    lines = []
    if result.undone is not None:
        fields["undone"] = _told_change(result.undone)
        lines.append(f"Taken back: {_change_line(result.undone)}")
    if call["list"]:
        fields["changes"] = list(map(_told_change, result.changes))
        lines += [_change_line(change) for change in result.changes]
    return Answer(fields, "\n".join(lines) or "There is nothing to undo.")


def _told_change(change: Change) -> dict[str, Any]:
    return present_fields(
        id=change.id,
        at=change.at,
        by=change.actor,
        verb=change.verb,
        size=change.size or None,
        summary=change.summary,
        undone=change.undone or None,
    )


def _change_line(change: Change) -> str:
    return (
        f"[{change.id}] {change.at[:16]}Z {change.actor} {change.verb} ({change.size})"
        f"{' ' + change.summary if change.summary else ''}" + (" (taken back)" if change.undone else "")
    )


UNDO = Tool(
    name="undo",
    description="Undo your last change, or any by its id: forget, remember, facts. Use list first.",
    arguments=(
        Argument("id", "Id of the change; your last one if omitted."),
        Argument("list", "Only show the last changes."),
        Argument("limit", schema={"minimum": 1, "maximum": 100}),
    ),
    hints=CHANGES,
    answer=_undone,
    output=shape(),
)


CORE = (
    REMEMBER,
    FORGET,
)


FULL = (
    REMEMBER,
    FORGET,
    UPDATE_DRAWER,
    UNDO,
)
