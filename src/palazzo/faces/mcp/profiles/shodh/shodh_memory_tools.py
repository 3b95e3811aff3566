"""Tools for existing memories: forget, list, show and summarise them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from palazzo.faces.mcp.profiles.client_formats import fit_rows, iso
from palazzo.faces.mcp.profiles.shodh.shodh_shapes import (
    TYPE,
    line,
    memories,
    memory,
    reading,
    type_name,
    unbound_argument,
)
from palazzo.features.notes.contract import ContextSummaryResult, ForgetResult
from palazzo.features.search.contract import ListDrawersResult, ShowResult
from palazzo.operations.agent_tools.tool import CHANGES, Answer, Argument, CallArguments, Tool
from palazzo.operations.agent_tools.tool_answers import FLAG, LIST, MOST, NOTICE, NUMBER, TEXT, shape
from palazzo.text.count_phrases import count_noun

# --- forget ------------------------------------------------------------------------------------------------

_MOST_IDS = 100


def _answer_forget(result: ForgetResult, call: CallArguments) -> Answer:
    count = len(result.forgotten)
    ids = list(result.forgotten[:_MOST_IDS])
    sample = "".join(f"\n{uid}: {text}" for uid, text in result.sample)
    if result.dry_run:
        text = f"Nothing is forgotten yet. dry_run=false would forget {count_noun(count, 'memory')}:{sample}"
        return Answer({"forgotten": 0, "ids": ids, "dry_run": True}, text)
    return Answer({"forgotten": count, "ids": ids}, f"Forgotten: {count_noun(count, 'memory')}.{sample}")


FORGET = Tool(
    name="forget",
    description="Hide a memory from search. The archive keeps its text; 'palazzo undo' restores it.",
    arguments=(unbound_argument("id", TEXT, is_required=True),),
    hints=CHANGES,
    fields=lambda call: {"ids": (call["id"],)},
    answer=_answer_forget,
    output=shape(forgotten=NUMBER, ids=LIST),
)

FORGET_BY_TAGS = Tool(
    name="forget_by_tags",
    operation="forget",
    description="Hide all memories with any of these tags from search. Unless dry_run is false, only list them.",
    arguments=(
        Argument("tags", is_required=True, schema={"minItems": 1}),
        Argument("dry_run", default=True, schema={"default": True}),
    ),
    hints=CHANGES,
    answer=_answer_forget,
    output=shape(forgotten=NUMBER, ids=LIST),
)


# --- list_memories, get_memory, context_summary ------------------------------------------------------------


def _answer_list(result: ListDrawersResult, call: CallArguments) -> Answer:
    rows = [memory(drawer) for drawer in result.drawers]
    return memories(rows, "None found.", total=result.total, count=len(rows))


LIST_MEMORIES = Tool(
    name="list_memories",
    operation="list_drawers",
    description="List memories, newest first, with the beginning of their text. To find something, use recall.",
    arguments=(
        unbound_argument("type", TYPE, "Only this type."),
        Argument("tags", "Only memories with all of these tags."),
        Argument("limit", schema={"minimum": 1, "maximum": 100}),
        Argument("offset", "How many to skip.", schema={"minimum": 0}),
    ),
    fields=lambda call: {"kind": "note", "filed_as": () if call["type"] is None else (call["type"].lower(),)},
    answer=_answer_list,
    output=shape(notice=TEXT, memories=LIST, total=NUMBER),
)


def _answer_get(result: ShowResult, call: CallArguments) -> Answer:
    if result.kind not in ("drawer", "item"):
        error = f"'{call.arguments.get('id') or call['memory_id']}' is a {result.kind}, and no memory."
        return Answer({"error": error}, error, failed=True)
    entry = result.entries[0]
    kind = type_name(entry.filed_as or entry.kind)
    row: dict[str, Any] = {
        "notice": f"{NOTICE}.",
        "id": entry.id,
        "content": entry.text[:MOST],
        "type": kind,
        "memory_type": kind,
        "tags": list(entry.tags),
        "importance": entry.importance,
        "metadata": dict(entry.metadata),
        "created_at": iso(entry.created_at),
        "where": f"{entry.wing}/{entry.room}",
        "title": entry.title,
        "author": entry.author,
        "trust": entry.trust,
        "source": entry.source.uri,
        "retired_at": iso(entry.retired_at),
    }
    row = {name: value for name, value in row.items() if value is not None and value != ""}
    if len(entry.text) > MOST:
        row |= {"truncated": True, "length": len(entry.text), "parts": list(entry.drawers)}
    details = [f"{name}: {row[name]}" for name in ("where", "importance", "metadata", "author") if row.get(name)]
    return Answer(row, reading(row["notice"], ["\n".join([line(row | {"truncated": False}), *details])]))


GET_MEMORY = Tool(
    name="get_memory",
    operation="show",
    description="Read a memory in full, by its id or the beginning of its id.",
    arguments=(Argument("id"),),
    answer=_answer_get,
    output=shape(notice=TEXT, id=TEXT, content=TEXT, type=TEXT),
)

READ_MEMORY = replace(
    GET_MEMORY,
    name="read_memory",
    arguments=(Argument("memory_id", "", "id"),),
    answer=lambda result, call: _add_found(_answer_get(result, call)),
)


def _add_found(answer: Answer) -> Answer:
    return answer if answer.failed else replace(answer, structured={**answer.structured, "found": True})


_SECTIONS = ("decisions", "learnings", "context")


def _answer_summary(result: ContextSummaryResult, call: CallArguments) -> Answer:
    sections = {
        name: [memory(drawer) for drawer in getattr(result, name)] if call[f"include_{name}"] else []
        for name in _SECTIONS
    }
    if not any(sections.values()):
        nothing = "There are no memories here yet: save decisions, learnings and context with remember."
        return Answer({"notice": nothing, **sections}, nothing)
    sections = {name: fit_rows(rows, most=MOST // len(sections))[0] for name, rows in sections.items()}
    notice = f"{NOTICE}: {count_noun(sum(map(len, sections.values())), 'note')}, newest first."
    lines = [f"{name}:\n" + "\n".join(map(line, rows)) for name, rows in sections.items() if rows]
    return Answer({"notice": notice, **sections}, reading(notice, lines))


CONTEXT_SUMMARY = Tool(
    name="context_summary",
    description="Show the decisions, learnings and other notes of this project. Call it when a session starts.",
    arguments=(
        Argument("topic", "Only notes about this topic."),
        Argument("max_items", "The most entries of each kind.", "limit", {"minimum": 1, "maximum": 100}),
        *(unbound_argument(f"include_{name}", FLAG, default=True) for name in _SECTIONS),
    ),
    answer=_answer_summary,
    output=shape(notice=TEXT, decisions=LIST, learnings=LIST, context=LIST),
    always=True,
)

TOOLS = (
    FORGET,
    FORGET_BY_TAGS,
    LIST_MEMORIES,
    GET_MEMORY,
    READ_MEMORY,
    CONTEXT_SUMMARY,
)
