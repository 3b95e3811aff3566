"""Tools for diaries, checkpoints and the list of agents."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from palazzo.features.diary.contract import CheckpointResult, DiaryReadResult, DiaryWriteResult, ListAgentsResult
from palazzo.operations.agent_tools import tool_answers
from palazzo.operations.agent_tools.tool import ADDS, READS, Answer, Argument, CallArguments, Tool
from palazzo.operations.agent_tools.tool_answers import (
    LIST,
    NOTICE,
    TEXT,
    Entry,
    minute,
    shape,
)
from palazzo.text.count_phrases import count_noun

AGENT = Argument("agent", "Agent name; default: yours.", None, {"type": "string"})


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


def _answer_write(result: DiaryWriteResult, call: CallArguments) -> Answer:
    fields = {"id": result.id, "agent": result.agent, "when": minute(result.timestamp)}
    return Answer(fields, f"Entry {result.id} in the diary of {result.agent}.")


DIARY_WRITE = Tool(
    name="diary_write",
    description="Write in your diary what you did, learned and left open, for your next session.",
    arguments=(
        Argument("entry", "", "text"),
        AGENT,
        Argument("topic", "One or two words."),
    ),
    hints=ADDS,
    fields=lambda given: {"agent": given["agent"] or given.host or "agent"},
    answer=_answer_write,
    output=shape(id=TEXT),
)


DIARY_WRITE_IN_FULL = DIARY_WRITE.with_arguments(Argument("project", "A wing other than the current one."))


def _diary(result: DiaryReadResult, call: CallArguments) -> Answer:
    if not result.entries:
        return Answer({"notice": result.note, "entries": []}, result.note)
    entries = [
        Entry(
            entry.id,
            f"{entry.date}",
            " · ".join(filter(None, (entry.project, entry.topic))),
            entry.agent,
            "agent",
            entry.content,
        )
        for entry in result.entries
    ]
    notice = f"{NOTICE}: {result.showing} of {count_noun(result.total, 'entry')} of {result.agent}, newest first."
    return tool_answers.answer_entries(notice, entries, "entries")


def _fill_agent(call: CallArguments) -> Mapping[str, Any]:
    return {"agent": call["agent"] or call.host or "agent"}


DIARY_READ = Tool(
    name="diary_read",
    description="Read an agent's diary, newest first.",
    arguments=(
        AGENT,
        Argument("day", "today, 2026-03-04, 'last week'."),
        Argument("limit", schema={"minimum": 1, "maximum": 50}),
    ),
    fields=_fill_agent,
    answer=_diary,
    output=shape(notice=TEXT, entries=LIST),
)


DIARY_READ_IN_FULL = DIARY_READ.with_arguments(Argument("project", "About this wing."), Argument("topic"))


_MOST_AGENTS = 100


def _agents(result: ListAgentsResult, call: CallArguments) -> Answer:
    agents: list[dict[str, Any]] = [
        {"name": agent.name, "entries": agent.entries, "first": minute(agent.first_at), "last": minute(agent.last_at)}
        for agent in result.agents[:_MOST_AGENTS]
    ]
    lines = [f"{agent['name']}: {count_noun(agent['entries'], 'entry')}, last {agent['last']}" for agent in agents]
    return Answer({"agents": agents}, "\n".join(lines) or "No agent keeps a diary yet.")


LIST_AGENTS = Tool(
    name="list_agents",
    description="List the agents that keep a diary, the most recent writer first.",
    answer=_agents,
    hints=READS,
    output=shape(agents=LIST),
)


CORE = (
    CHECKPOINT,
    DIARY_WRITE,
    DIARY_READ,
)


FULL = (
    CHECKPOINT,
    DIARY_WRITE_IN_FULL,
    DIARY_READ_IN_FULL,
    LIST_AGENTS,
)
