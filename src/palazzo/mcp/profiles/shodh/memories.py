"""remember, recall, forget and what else an agent does with memories."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from palazzo.guard.injected import is_host_instruction, is_palazzo_block, said_spans
from palazzo.mcp.profiles.notes import id_of
from palazzo.mcp.profiles.shodh.shaping import MEMORIES, TYPES, fitted, iso, line, memories, memory, reading
from palazzo.mcp.telling import LIST, MOST, NOTICE, NUMBER, TEXT, shape
from palazzo.mcp.tools import ADDS, CHANGES, Answer, Argument, Given, Step, Tool
from palazzo.mcp.toolsets.facts import counted, fact_line, told_fact
from palazzo.mcp.toolsets.tasks import task_line, told_reminder, told_todo
from palazzo.operations.context_summary import ContextSummaryResult
from palazzo.operations.forget import ForgetResult
from palazzo.operations.list_drawers import ListDrawersResult
from palazzo.operations.proactive_context import ProactiveContextResult
from palazzo.operations.remember import RememberResult
from palazzo.operations.search import SearchResult
from palazzo.operations.show import ShowResult

_TYPE = {"type": "string", "enum": list(TYPES)}
_TAGS = {"type": "array", "items": TEXT}
_SHARE = {"minimum": 0, "maximum": 1}
_TOKENS = 5000
"""Of found words: about as much as an answer may hold."""
_MORE = 4
"""Times as many as are wanted are looked at where the newest of them are shown."""


# --- remember ----------------------------------------------------------------------------------------------


def _kept(given: Given) -> Mapping[str, Any]:
    metadata = given["metadata"]
    return {
        "kind": given["type"].lower(),
        "metadata": None if not metadata else json.dumps(metadata, ensure_ascii=False),
        "by": given.host,
        "once": True,
    }


def _remembered(result: RememberResult, given: Given) -> Answer:
    uid = id_of(result.id, result.drawers)
    told: dict[str, Any] = {"id": uid}
    text = f"Remembered as {uid}." if result.filed else f"It was there already, in these words: {uid}."
    if result.duplicate_of is not None:
        told["duplicate_of"] = result.duplicate_of
        if result.filed:
            text += f" {result.duplicate_of} says nearly the same: forget one if both are not needed."
    return Answer(told, text)


REMEMBER = Tool(
    name="remember",
    operation="remember",
    description="Keep one thing for later sessions, to the word: a decision with its reason, a finding, an error.",
    arguments=(
        Argument("content", "Understood without this session.", "text"),
        Argument("type", "What it is.", None, _TYPE, "Observation"),
        Argument("tags"),
        Argument("importance", schema=_SHARE),
        Argument("metadata", "What else is to be kept beside it.", None, {"type": "object"}),
        Argument("created_at", "When it was said, if not now.", "at"),
    ),
    hints=ADDS,
    fields=_kept,
    answer=_remembered,
    output=shape(id=TEXT),
    always=True,
)


# --- recall ------------------------------------------------------------------------------------------------

_MODES = ("semantic", "temporal", "hybrid", "associative")


def _recalling(given: Given) -> Sequence[Step]:
    narrowed = {"tags": given["tags"] or (), "since": given["since"], "min_importance": given["min_importance"]}
    limit = given["limit"]
    if given["tags_only"]:
        return [Step("list_drawers", {**narrowed, "before": given["until"], "limit": limit})]
    sought = {**narrowed, "query": given["query"], "until": given["until"], "external": False, "budget": _TOKENS}
    if given["mode"] == "temporal":
        return [Step("search", {**sought, "limit": limit * _MORE})]
    without = ("keywords",) if given["mode"] == "semantic" else ()
    return [Step("search", {**sought, "limit": limit, "without": without})]


def _recalled(results: Sequence[SearchResult | ListDrawersResult], given: Given) -> Answer:
    (result,) = results
    nothing = "Nothing is remembered of this: try other words, a name, a path, or leave filters out."
    if isinstance(result, ListDrawersResult):
        return memories([memory(one) for one in result.drawers if one.trust != "external"], nothing)
    hits = result.hits
    if given["mode"] == "semantic" and not any(hit.score >= result.floor for hit in hits):
        hits = ()  # a search that leaves out a signal shows whatever comes nearest
    if given["mode"] == "temporal":
        hits = tuple(sorted(hits, key=lambda hit: -hit.created_at)[: given["limit"]])
    return memories([memory(hit, hit.score) for hit in hits], nothing)


RECALL = Tool(
    name="recall",
    operation="search",
    description=(
        "Find what was said, decided, tried or written before, in all projects and sessions. Use it before asking the"
        " person or redoing something."
    ),
    arguments=(
        Argument("query", "In your own words; or names, a path, an error as written."),
        Argument("limit", schema={"minimum": 1, "maximum": 100}, default=5),
        Argument(
            "mode",
            "semantic: by meaning alone; temporal: the newest of what fits; else by meaning and words.",
            None,
            {"type": "string", "enum": list(_MODES)},
            "hybrid",
        ),
        Argument("tags", "Has all of these."),
        Argument("tags_only", "All that has the tags, newest first, whatever the query.", None, {"type": "boolean"}),
        Argument("since", "From then on: 2026-03-04, 3d, monday."),
        Argument("until", "Before then."),
        Argument("min_importance", schema=_SHARE),
    ),
    steps=_recalling,
    answer=_recalled,
    output=MEMORIES,
    always=True,
)


# --- proactive_context -------------------------------------------------------------------------------------


def _asked(given: Given) -> Sequence[Step]:
    types = tuple(one.lower() for one in given["memory_types"] or ())
    wanted = {"context": given["context"], "limit": given["max_results"], "floor": given["semantic_threshold"]}
    asking = Step("proactive_context", {**wanted, "filed_as": types, "agent": given.host or None})
    said = _said(given["context"]) if given["auto_ingest"] else ""
    if not said:
        return [asking]
    return [asking, Step("remember", {"text": said, "kind": "context", "by": given.host, "once": True})]


def _said(context: str) -> str:
    """What somebody said of it: no block that was put before the model, and no instructions of its host."""
    if is_palazzo_block(context) or is_host_instruction(context):
        return ""
    return "".join(context[start:end] for start, end in said_spans(context))


def _called_for(results: Sequence[Any], given: Given) -> Answer:
    result: ProactiveContextResult = results[0]
    filed: RememberResult | None = results[1] if len(results) > 1 else None
    shown = fitted([memory(one, one.score, result.labels.get(one.id, "")) for one in result.memories], MOST // 2)
    reminders, todos = [told_reminder(one) for one in result.reminders], [told_todo(one) for one in result.todos]
    facts = [told_fact(one) for one in result.facts]
    ingested = {} if filed is None else {"ingested": id_of(filed.id, filed.drawers)}
    if not (shown or reminders or todos or facts):
        nothing = "Nothing that is recorded bears on this."
        empty: dict[str, list[Any]] = {"memories": [], "reminders": [], "todos": [], "facts": []}
        return Answer({"notice": nothing, **empty, **ingested}, nothing)
    notice = f"{NOTICE}: what may bear on this."
    lines = [*map(line, shown), *map(task_line, reminders), *map(task_line, todos), *map(fact_line, facts)]
    told = {"notice": notice, "memories": shown, "reminders": reminders, "todos": todos, "facts": facts, **ingested}
    return Answer(told, reading(notice, lines))


PROACTIVE_CONTEXT = Tool(
    name="proactive_context",
    operation="proactive_context",
    description="What bears on the work at hand: memories, due reminders, to-dos, facts. Mostly that is nothing.",
    arguments=(
        Argument("context", "What is being said or done."),
        Argument("max_results", "", "limit", {"minimum": 1, "maximum": 20}, 5),
        Argument("semantic_threshold", "Only what scores more; it can only be raised.", "floor", _SHARE),
        Argument("memory_types", "Only these.", None, {"type": "array", "items": _TYPE}),
        Argument("auto_ingest", "Also remember the context itself.", None, {"type": "boolean"}, False),
    ),
    hints=ADDS,
    steps=_asked,
    answer=_called_for,
    output=shape(notice=TEXT, memories=LIST, reminders=LIST, todos=LIST, facts=LIST),
)


# --- forget ------------------------------------------------------------------------------------------------

_MOST_IDS = 100


def _forgotten(result: ForgetResult, given: Given) -> Answer:
    ids = list(result.forgotten[:_MOST_IDS])
    begins = "".join(f"\n{uid}: {text}" for uid, text in result.sample)
    what = "1 memory" if len(result.forgotten) == 1 else f"{len(result.forgotten):,} memories"
    if result.dry_run:
        text = f"Nothing is forgotten yet. dry_run=false would forget {what}:{begins}"
        return Answer({"forgotten": 0, "ids": ids, "dry_run": True}, text)
    return Answer({"forgotten": len(result.forgotten), "ids": ids}, f"Forgotten: {what}.{begins}")


FORGET = Tool(
    name="forget",
    operation="forget",
    description="Let a memory be found no longer. The archive keeps its words; 'palazzo undo' brings it back.",
    arguments=(Argument("id", "", None, TEXT, required=True),),
    hints=CHANGES,
    fields=lambda given: {"ids": (given["id"],)},
    answer=_forgotten,
    output=shape(forgotten=NUMBER, ids=LIST),
)

FORGET_BY_TAGS = Tool(
    name="forget_by_tags",
    operation="forget",
    description="Let all memories with any of these tags be found no longer. Only says which unless dry_run is false.",
    arguments=(
        Argument("tags", required=True, schema={"minItems": 1}),
        Argument("dry_run", default=True, schema={"default": True}),
    ),
    hints=CHANGES,
    answer=_forgotten,
    output=shape(forgotten=NUMBER, ids=LIST),
)


# --- list_memories, get_memory, context_summary ------------------------------------------------------------


def _listed(result: ListDrawersResult, given: Given) -> Answer:
    return memories([memory(one) for one in result.drawers], "There are none.", total=result.total)


LIST_MEMORIES = Tool(
    name="list_memories",
    operation="list_drawers",
    description="What was remembered, newest first, by how it begins. To find something, use recall.",
    arguments=(
        Argument("type", "Only these.", None, _TYPE),
        Argument("tags", "Has all of these."),
        Argument("limit", schema={"minimum": 1, "maximum": 100}),
        Argument("offset", "How many to skip.", schema={"minimum": 0}),
    ),
    fields=lambda given: {"kind": "note", "filed_as": () if given["type"] is None else (given["type"].lower(),)},
    answer=_listed,
    output=shape(notice=TEXT, memories=LIST, total=NUMBER),
)


def _whole(result: ShowResult, given: Given) -> Answer:
    if result.kind not in ("drawer", "item"):
        what = f"'{given['id']}' is a {result.kind}, and no memory."
        return Answer({"error": what}, what, failed=True)
    one = result.entries[0]
    told: dict[str, Any] = {
        "notice": f"{NOTICE}.",
        "id": one.id,
        "content": one.text[:MOST],
        "type": (one.filed_as or one.kind).capitalize(),
        "tags": list(one.tags),
        "importance": one.importance,
        "metadata": dict(one.metadata),
        "created_at": iso(one.created_at),
        "where": f"{one.wing}/{one.room}",
        "title": one.title,
        "author": one.author,
        "trust": one.trust,
        "source": one.source.uri,
        "retired_at": iso(one.retired_at),
    }
    told = {name: value for name, value in told.items() if value is not None and value != ""}
    if len(one.text) > MOST:
        told |= {"truncated": True, "length": len(one.text), "parts": list(one.drawers)}
    beside = [f"{name}: {told[name]}" for name in ("where", "importance", "metadata", "author") if told.get(name)]
    text = reading(told["notice"], ["\n".join([line(told | {"truncated": False}), *beside])])
    return Answer(told, text)


GET_MEMORY = Tool(
    name="get_memory",
    operation="show",
    description="A memory in full, by its id or the beginning of it.",
    arguments=(Argument("id"),),
    answer=_whole,
    output=shape(notice=TEXT, id=TEXT, content=TEXT, type=TEXT),
)


def _summary(result: ContextSummaryResult, given: Given) -> Answer:
    parts = {name: [memory(one) for one in getattr(result, name)] for name in ("decisions", "learnings", "context")}
    if not any(parts.values()):
        nothing = "Nothing was remembered here yet: remember keeps decisions, learnings and context."
        return Answer({"notice": nothing, **parts}, nothing)
    parts = {name: fitted(rows, MOST // len(parts)) for name, rows in parts.items()}
    notice = f"{NOTICE}: {counted(sum(map(len, parts.values())), 'note')}, newest first."
    lines = [f"{name}:\n" + "\n".join(map(line, rows)) for name, rows in parts.items() if rows]
    return Answer({"notice": notice, **parts}, reading(notice, lines))


CONTEXT_SUMMARY = Tool(
    name="context_summary",
    operation="context_summary",
    description="Where things stand: decisions, learnings and other notes of this project. Call it at the start.",
    arguments=(
        Argument("topic", "Only about this."),
        Argument("max_items", "Of each.", "limit", {"minimum": 1, "maximum": 100}),
    ),
    answer=_summary,
    output=shape(notice=TEXT, decisions=LIST, learnings=LIST, context=LIST),
    always=True,
)

TOOLS = (
    REMEMBER,
    RECALL,
    PROACTIVE_CONTEXT,
    FORGET,
    FORGET_BY_TAGS,
    LIST_MEMORIES,
    GET_MEMORY,
    CONTEXT_SUMMARY,
)
