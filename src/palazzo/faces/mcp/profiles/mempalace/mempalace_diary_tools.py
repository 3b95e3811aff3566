"""Tools for diaries, checkpoints and automatic actions of hooks."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from palazzo.faces.mcp.profiles.client_formats import fit_rows, id_of, iso
from palazzo.faces.mcp.profiles.mempalace.mempalace_shapes import answer_with_notice, document, rest
from palazzo.features.diary.contract import (
    CheckpointResult,
    DiaryReadResult,
    DiaryWriteResult,
    DuplicateView,
    ListAgentsResult,
    SavedNote,
)
from palazzo.features.upkeep.contract import SettingsResult, StatusResult
from palazzo.operations.agent_tools.tool import ADDS, CHANGES, Answer, Argument, CallArguments, Step, Tool
from palazzo.operations.agent_tools.tool_answers import FLAG, LIST, NUMBER, OBJECT, TEXT, shape

_AGENT = Argument("agent_name", "The agent whose diary it is.", "agent")
_WING = Argument("wing", "The project's wing. Default: the agent's own wing.", None, TEXT)


# --- diaries -----------------------------------------------------------------------------------------------


def _project(call: CallArguments) -> Mapping[str, Any]:
    """Return the diary's place: always in its agent's wing; another wing is the project that an entry is about."""
    own = f"wing_{call['agent_name']}".lower()
    wing = call["wing"]
    return {"project": None if wing is None or wing.lower() == own else wing}


def _answer_write(result: DiaryWriteResult, call: CallArguments) -> Answer:
    return document(
        {
            "success": True,
            "entry_id": id_of(result.id, result.drawers),
            "agent": result.agent,
            "topic": result.topic,
            "timestamp": iso(result.timestamp),
            "chunks": len(result.drawers),
        }
    )


DIARY_WRITE = Tool(
    name="mempalace_diary_write",
    operation="diary_write",
    description="Write a diary entry for the next session: what was done, learned and left open.",
    arguments=(
        _AGENT,
        Argument("entry", "", "text", alias="content"),
        Argument("topic", "One or two words.", default="general"),
        _WING,
    ),
    hints=ADDS,
    fields=_project,
    answer=_answer_write,
    output=shape(success=FLAG, entry_id=TEXT, agent=TEXT, topic=TEXT, timestamp=TEXT),
)


def _read(result: DiaryReadResult, call: CallArguments) -> Answer:
    entries = [
        {"date": entry.date, "timestamp": iso(entry.timestamp), "topic": entry.topic, "content": entry.content}
        for entry in result.entries
    ]
    rows, left_out = fit_rows(entries)
    return answer_with_notice(
        {
            "agent": result.agent,
            "entries": rows,
            "total": result.total,
            "showing": len(rows),
            **rest(left_out),
        }
    )


DIARY_READ = Tool(
    name="mempalace_diary_read",
    operation="diary_read",
    description="Read an agent's latest diary entries, newest first.",
    arguments=(_AGENT, Argument("last_n", "", "limit", {"minimum": 1, "maximum": 100}, 10), _WING),
    fields=_project,
    answer=_read,
    output=shape(agent=TEXT, entries=LIST, total=NUMBER, showing=NUMBER),
)


def _agents(result: ListAgentsResult, call: CallArguments) -> Answer:
    return document(
        {
            "agents": [
                {"name": agent.name, "wing": agent.wing, "entries": agent.entries, "last_at": iso(agent.last_at)}
                for agent in result.agents[:100]
            ]
        }
    )


LIST_AGENTS = Tool(
    name="mempalace_list_agents",
    operation="list_agents",
    description="List the agents that keep a diary.",
    answer=_agents,
    output=shape(agents=LIST),
)


# --- checkpoint --------------------------------------------------------------------------------------------

_ITEM = {
    "type": "object",
    "properties": dict.fromkeys(("wing", "room", "content"), TEXT),
    "required": ["wing", "room", "content"],
}
_ENTRY = {
    "type": "object",
    "properties": dict.fromkeys(("agent_name", "entry", "content", "topic", "wing"), TEXT),
}


def _parts(call: CallArguments) -> Mapping[str, Any]:
    by = {"by": call["added_by"]} if call["added_by"] else {}
    parts: dict[str, Any] = {"items": [{**item, **by} if isinstance(item, dict) else item for item in call["items"]]}
    if call["diary"] is not None:
        parts["diary"] = _diary_part(call)
    return {"document": json.dumps(parts, ensure_ascii=False)}


def _diary_part(call: CallArguments) -> Mapping[str, Any]:
    """Return the entry as a part of a checkpoint: a wing other than the agent's own is what the entry is about."""
    entry = {"agent_name": call.host or "agent", **call["diary"]}
    content, wing = entry.pop("content", None), entry.pop("wing", None)
    if not entry.get("entry") and content is not None:
        entry["entry"] = content
    if wing and str(wing).lower() != f"wing_{entry['agent_name']}".lower():
        entry["project"] = wing
    return entry


def _answer_checkpoint(result: CheckpointResult, call: CallArguments) -> Answer:
    notes = [(note.part, _describe_saved(note)) for note in result.added]
    entries = [note for part, note in notes if part == "diary"]
    return document(
        {
            "added": [note for part, note in notes if part == "item"],
            "duplicates": [_describe_duplicate(note) for note in result.duplicates],
            "errors": [],
            **({"diary": {"entry_id": entries[0]["drawer_id"], **entries[0]}} if entries else {}),
        }
    )


def _describe_saved(note: SavedNote) -> dict[str, Any]:
    return {
        "success": True,
        "drawer_id": id_of(note.id, note.drawers),
        "wing": note.wing,
        "room": note.room,
        "chunks": len(note.drawers),
    }


def _describe_duplicate(note: DuplicateView) -> dict[str, Any]:
    place = {"wing": note.wing, "room": note.room}
    match = {"id": note.id, **place, "similarity": note.similarity, "content": note.text}
    return {"drawer_id": note.id, **place, "matches": [match], "item": note.number, "filed": note.filed}


CHECKPOINT = Tool(
    name="mempalace_checkpoint",
    operation="checkpoint",
    description="File several drawers and a diary entry in one step: all of them, or none if one is invalid.",
    arguments=(
        Argument("items", "The drawers to file.", None, {"type": "array", "items": _ITEM}, is_required=True),
        Argument("diary", "A diary entry.", None, _ENTRY),
        Argument("dedup_threshold", "", None, {"type": "number"}, 0.9, is_ignored=True),
        Argument("added_by", "The author of the drawers. Default: the agent of the diary entry.", None, TEXT),
    ),
    hints=ADDS,
    fields=_parts,
    answer=_answer_checkpoint,
    output=shape(added=LIST, duplicates=LIST, errors=LIST),
)


# --- hooks -------------------------------------------------------------------------------------------------

_HOOKS = ("silent_save", "desktop_toast")
_FLAG_OR_NOTHING = {"type": "boolean"}


def _set_and_get(call: CallArguments) -> Sequence[Step]:
    changes = [(name, "true" if call[name] else "false") for name in _HOOKS if call[name] is not None]
    writing = [Step("settings", {"action": "set", "key": name, "value": value}) for name, value in changes]
    return [*writing, *(Step("settings", {"action": "get", "key": name}) for name in _HOOKS)]


def _hook_settings(results: Sequence[SettingsResult], call: CallArguments) -> Answer:
    mode, toast = (result.settings[0].value for result in results[-2:])
    return document(
        {
            "success": True,
            "settings": {"silent_save": mode == "silent", "desktop_toast": toast},
            "updated": [name for name in _HOOKS if call[name] is not None],
        }
    )


HOOK_SETTINGS = Tool(
    name="mempalace_hook_settings",
    operation="settings",
    description="Set whether hooks save silently and show desktop notifications. Without arguments: show the settings.",
    arguments=(
        Argument("silent_save", "false: hooks regularly ask the agent to save.", None, _FLAG_OR_NOTHING, None),
        Argument("desktop_toast", "", None, _FLAG_OR_NOTHING, None),
    ),
    hints=CHANGES,
    steps=_set_and_get,
    answer=_hook_settings,
    output=shape(success=FLAG, settings=OBJECT, updated=LIST),
)


def _filed_away(result: StatusResult, call: CallArguments) -> Answer:
    if result.filed is None:
        fields: dict[str, Any] = {"status": "quiet", "message": "Nothing was filed yet.", "count": 0, "timestamp": None}
        return document(fields)
    count, at = result.filed.items, iso(result.filed.at)
    message = f"{count:,} {'memory was' if count == 1 else 'memories were'} filed away by {at}."
    return document({"status": "ok", "message": message, "count": count, "timestamp": at})


def _not_known(why: str, error: Exception | None) -> Answer:
    return Answer({"status": "error", "message": why, "count": 0, "timestamp": None}, failed=True)


MEMORIES_FILED_AWAY = Tool(
    name="mempalace_memories_filed_away",
    operation="status",
    description="Show what was filed last: how much, and when.",
    answer=_filed_away,
    output=shape(status=TEXT, message=TEXT, count=NUMBER),
    failure=_not_known,
)

TOOLS = (DIARY_WRITE, DIARY_READ, LIST_AGENTS, CHECKPOINT, HOOK_SETTINGS, MEMORIES_FILED_AWAY)
