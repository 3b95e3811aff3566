"""The tools remember, forget, checkpoint and diary_write: store words for searches, or hide them from searches."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from palazzo.faces.mcp.entry_lines import FLAG, LIST, TEXT, minute, shape
from palazzo.faces.mcp.tool import ADDS, CHANGES, Answer, Argument, CallArguments, Tool
from palazzo.faces.mcp.toolsets.search_tools import AGENT
from palazzo.features.diary.checkpoint import CheckpointResult
from palazzo.features.diary.diary_write import DiaryWriteResult
from palazzo.features.notes.forget import ForgetResult
from palazzo.features.notes.remember import RememberResult
from palazzo.text.count_phrases import count_noun

_MOST_IDS = 100
"""Maximum number of ids that an answer names: a bulk forget may affect thousands."""


# --- remember ----------------------------------------------------------------------------------------------


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
    operation="remember",
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
    output=shape(id=TEXT, where=TEXT, filed=FLAG),
    always=True,
)


# --- forget ------------------------------------------------------------------------------------------------


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
    operation="forget",
    description="Remove wrong or unwanted content from search. Only a preview unless dry_run is false.",
    arguments=(
        Argument("ids", "Ids of drawers or notes.", is_required=True, schema={"minItems": 1}),
        Argument("dry_run", default=True),
    ),
    hints=CHANGES,
    answer=_answer_forget,
    output=shape(dry_run=FLAG, ids=LIST),
)


# --- checkpoint --------------------------------------------------------------------------------------------


def _texts(*names: str) -> dict[str, Any]:
    return dict.fromkeys(names, TEXT)


_TEXTS = {"type": "array", "items": TEXT}
_ITEM = {
    "type": "object",
    "properties": {**_texts("content", "wing", "room", "kind"), "tags": _TEXTS},
    "required": ["content"],
}
_ENTRY = {
    "type": "object",
    "properties": _texts("entry", "topic"),
    "required": ["entry"],
}
_FACT = {
    "type": "object",
    "properties": {
        **_texts("subject", "predicate", "object", "valid_from", "valid_to", "wing"),
        "everywhere": {"type": "boolean"},
        "sources": _TEXTS,
    },
    "required": ["subject", "predicate", "object"],
}


def _document(call: CallArguments) -> Mapping[str, Any]:
    parts = {name: call[name] for name in ("items", "diary", "facts") if call[name] is not None}
    if "diary" in parts:
        parts["diary"] = {"agent": call.host or "agent", **parts["diary"]}
    return {"document": json.dumps(parts, ensure_ascii=False)}


def _answer_checkpoint(result: CheckpointResult, call: CallArguments) -> Answer:
    added = [{"part": row.part, "id": row.id, "where": f"{row.wing}/{row.room}"} for row in result.added]
    facts = [{"id": row.id, "new": row.new, "conflicts": list(row.conflicts)} for row in result.facts]
    like = [
        {"part": row.part, "number": row.number, "id": row.id, "filed": row.filed, "text": row.text}
        for row in result.duplicates
    ]
    lines = [f"Saved: {count_noun(len(added), 'note')}, {count_noun(len(facts), 'fact')}."]
    lines += [f"{row['part']} {row['id']} in {row['where']}" for row in added]
    lines += [f"fact {row['id']}{'' if row['new'] else ' (known)'}" for row in facts]
    for row in like:
        outcome = "filed, although nearly identical to" if row["filed"] else "not filed again: identical to"
        lines.append(f"{row['part']} {row['number']} was {outcome} {row['id']}: {row['text']}")
    fields = {"added": added, "facts": facts, "duplicates": like}
    return Answer({name: row for name, row in fields.items() if row or name == "added"}, "\n".join(lines))


CHECKPOINT = Tool(
    name="checkpoint",
    operation="checkpoint",
    description="Save the results of a session, all or nothing: notes, a diary entry, facts.",
    arguments=(
        Argument("items", "Notes, as for remember.", None, {"type": "array", "items": _ITEM}),
        Argument("diary", "", None, _ENTRY),
        Argument("facts", "As for kg_add.", None, {"type": "array", "items": _FACT}),
    ),
    hints=ADDS,
    fields=_document,
    answer=_answer_checkpoint,
    output=shape(added=LIST),
)


# --- diary_write -------------------------------------------------------------------------------------------


def _answer_write(result: DiaryWriteResult, call: CallArguments) -> Answer:
    fields = {"id": result.id, "agent": result.agent, "when": minute(result.timestamp)}
    return Answer(fields, f"Entry {result.id} in the diary of {result.agent}.")


DIARY_WRITE = Tool(
    name="diary_write",
    operation="diary_write",
    description="Write in your diary what you did, learned and left open, for your next session.",
    arguments=(
        Argument("entry", "", "text"),
        AGENT,
        Argument("topic", "One or two words."),
    ),
    hints=ADDS,
    fields=lambda given: {"agent": given["agent"] or given.host or "agent"},
    answer=_answer_write,
    output=shape(id=TEXT, agent=TEXT, when=TEXT),
)

DIARY_WRITE_IN_FULL = DIARY_WRITE.with_arguments(Argument("project", "A wing other than the current one."))
