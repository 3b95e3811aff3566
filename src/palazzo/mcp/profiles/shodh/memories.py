"""remember, recall, forget and what else an agent does with memories."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from palazzo.errors import UsageError
from palazzo.guard.injected import is_host_instruction, is_palazzo_block, said_spans
from palazzo.mcp.profiles.notes import id_of
from palazzo.mcp.profiles.shodh.shaping import (
    DECIMAL,
    MEMORIES,
    NO_DRAWERS,
    SHARE,
    TEXTS,
    TYPES,
    fitted,
    iso,
    line,
    memories,
    memory,
    reading,
    type_name,
)
from palazzo.mcp.telling import FLAG, LIST, MOST, NOTICE, NUMBER, TEXT, shape
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
_FULL = Argument("full_content", "", None, FLAG, False, ignored=True)
_TOKENS = 5000
"""Of found words: about as much as an answer may hold."""
_MORE = 4
"""Times as many as are wanted are looked at where the newest of them are shown."""


# --- remember ----------------------------------------------------------------------------------------------


_BESIDE: Mapping[str, Mapping[str, Any]] = {
    "emotional_valence": DECIMAL,
    "emotional_arousal": DECIMAL,
    "emotion": TEXT,
    "source_type": {"type": "string", "enum": ["user", "system", "api", "file", "web", "ai_generated", "inferred"]},
    "credibility": DECIMAL,
    "episode_id": TEXT,
    "sequence_number": DECIMAL,
    "preceding_memory_id": TEXT,
    "parent_id": TEXT,
    "robot_id": TEXT,
    "mission_id": TEXT,
    "geo_location": {"type": "array", "items": DECIMAL},
    "local_position": {"type": "array", "items": DECIMAL},
    "heading": DECIMAL,
    "action_type": TEXT,
    "reward": DECIMAL,
    "sensor_data": {"type": "object"},
    "outcome_type": TEXT,
    "terrain_type": TEXT,
}
"""What else may be said of a memory: it is kept beside the words, as metadata."""


def _kept(given: Given) -> Mapping[str, Any]:
    beside = {name: given[name] for name in _BESIDE if given[name] is not None}
    metadata = {**beside, **(given["metadata"] or {})}
    return {
        "kind": given["type"].lower(),
        "metadata": None if not metadata else json.dumps(metadata, ensure_ascii=False),
        "by": given.host,
        "once": True,
    }


def _remembered(result: RememberResult, given: Given) -> Answer:
    uid = id_of(result.id, result.drawers)
    told: dict[str, Any] = {"id": uid, "memory_type": given["type"], "tags": list(given["tags"] or ())}
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
        Argument("importance", schema=SHARE),
        Argument("metadata", "What else is to be kept beside it.", None, {"type": "object"}),
        Argument("created_at", "When it was said, if not now.", "at"),
        *(Argument(name, "Kept beside it.", None, kind) for name, kind in _BESIDE.items()),
    ),
    hints=ADDS,
    fields=_kept,
    options={"--metadata": "metadata"},
    answer=_remembered,
    output=shape(id=TEXT),
    always=True,
)


# --- recall ------------------------------------------------------------------------------------------------

_MODES = ("semantic", "temporal", "hybrid", "associative")
_NOT_SEARCHED = ("spatial", "mission", "action_outcome")
_NO_FILTERS: Mapping[str, Mapping[str, Any]] = {
    **dict.fromkeys(("session_id", "robot_id", "mission_id", "action_type", "outcome_type", "terrain_type"), TEXT),
    **dict.fromkeys(("geo_lat", "geo_lon", "geo_radius_meters", "reward_min", "reward_max"), DECIMAL),
    **dict.fromkeys(("failures_only", "debug"), FLAG),
}
"""What of metadata the published server filters by; here words, tags, times and importance are searched."""


def _recalling(given: Given) -> Sequence[Step]:
    if given["mode"] in _NOT_SEARCHED:
        raise UsageError(
            f"Nothing is searched by places, missions or rewards here, so there is no mode '{given['mode']}':"
            f" use one of {', '.join(_MODES)}."
        )
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
    asked = {"query": given["query"], "mode": given["mode"]}
    nothing = "Nothing is remembered of this: try other words, a name, a path, or leave filters out."
    if isinstance(result, ListDrawersResult):
        return memories([memory(one) for one in result.drawers if one.trust != "external"], nothing, **asked)
    hits = result.hits
    if given["mode"] == "semantic" and not any(hit.score >= result.floor for hit in hits):
        hits = ()  # a search that leaves out a signal shows whatever comes nearest
    if given["mode"] == "temporal":
        hits = tuple(sorted(hits, key=lambda hit: -hit.created_at)[: given["limit"]])
    return memories([memory(hit, hit.score) for hit in hits], nothing, **asked)


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
            {"type": "string", "enum": [*_MODES, *_NOT_SEARCHED]},
            "hybrid",
        ),
        Argument("tags", "Has all of these."),
        Argument("tags_only", "All that has the tags, newest first, whatever the query.", None, {"type": "boolean"}),
        Argument("since", "From then on: 2026-03-04, 3d, monday."),
        Argument("until", "Before then."),
        Argument("min_importance", schema=SHARE),
        *(Argument(name, "", None, kind, ignored=True) for name, kind in _NO_FILTERS.items()),
        _FULL,
    ),
    steps=_recalling,
    options={"--before": "until"},
    answer=_recalled,
    output=MEMORIES,
    always=True,
)


def _by_tags(given: Given) -> Sequence[Step]:
    return [Step("list_drawers", {"tags": (tag,), "limit": given["limit"]}, NO_DRAWERS) for tag in given["tags"]]


def _with_any_tag(results: Sequence[ListDrawersResult], given: Given) -> Answer:
    drawers = {one.id: one for result in results for one in result.drawers if one.trust != "external"}
    newest = sorted(drawers.values(), key=lambda one: -one.created_at)[: given["limit"]]
    rows = [memory(one) for one in newest]
    return memories(rows, "Nothing has any of these tags.", tags=list(given["tags"]), count=len(rows))


RECALL_BY_TAGS = Tool(
    name="recall_by_tags",
    operation="list_drawers",
    description="What has any of these tags, newest first.",
    arguments=(
        Argument("tags", "", None, {**TEXTS, "minItems": 1}, required=True),
        Argument("limit", schema={"minimum": 1, "maximum": 100}, default=50),
        _FULL,
    ),
    steps=_by_tags,
    answer=_with_any_tag,
    output=MEMORIES,
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
        return Answer({"notice": nothing, **empty, "count": 0, **ingested}, nothing)
    notice = f"{NOTICE}: what may bear on this."
    lines = [*map(line, shown), *map(task_line, reminders), *map(task_line, todos), *map(fact_line, facts)]
    found = {"memories": shown, "reminders": reminders, "todos": todos, "facts": facts, "count": len(shown)}
    told = {"notice": notice, **found, **ingested}
    return Answer(told, reading(notice, lines))


PROACTIVE_CONTEXT = Tool(
    name="proactive_context",
    operation="proactive_context",
    description="What bears on the work at hand: memories, due reminders, to-dos, facts. Mostly that is nothing.",
    arguments=(
        Argument("context", "What is being said or done."),
        Argument("max_results", "", "limit", {"minimum": 1, "maximum": 20}, 5),
        Argument("semantic_threshold", "Only what scores more; it can only be raised.", "floor", SHARE),
        Argument("memory_types", "Only these.", None, {"type": "array", "items": _TYPE}),
        Argument("auto_ingest", "Also remember the context itself.", None, {"type": "boolean"}, False),
        Argument("entity_match_weight", "", None, DECIMAL, 0.4, ignored=True),
        Argument("recency_weight", "", None, DECIMAL, 0.2, ignored=True),
        Argument("tool_actions", "", None, {"type": "array", "items": {"type": "object"}}, ignored=True),
        _FULL,
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
    rows = [memory(one) for one in result.drawers]
    return memories(rows, "There are none.", total=result.total, count=len(rows))


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
        what = f"'{given.arguments.get('id') or given['memory_id']}' is a {result.kind}, and no memory."
        return Answer({"error": what}, what, failed=True)
    one = result.entries[0]
    told: dict[str, Any] = {
        "notice": f"{NOTICE}.",
        "id": one.id,
        "content": one.text[:MOST],
        "type": type_name(one.filed_as or one.kind),
        "memory_type": type_name(one.filed_as or one.kind),
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

READ_MEMORY = replace(
    GET_MEMORY,
    name="read_memory",
    arguments=(Argument("memory_id", "", "id"),),
    answer=lambda result, given: _found_whole(_whole(result, given)),
)


def _found_whole(answer: Answer) -> Answer:
    return answer if answer.failed else replace(answer, structured={**answer.structured, "found": True})


def _summary(result: ContextSummaryResult, given: Given) -> Answer:
    names = ("decisions", "learnings", "context")
    parts = {name: [memory(one) for one in getattr(result, name)] if given[f"include_{name}"] else [] for name in names}
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
        *(Argument(f"include_{name}", "", None, FLAG, True) for name in ("decisions", "learnings", "context")),
    ),
    answer=_summary,
    output=shape(notice=TEXT, decisions=LIST, learnings=LIST, context=LIST),
    always=True,
)

TOOLS = (
    REMEMBER,
    RECALL,
    RECALL_BY_TAGS,
    PROACTIVE_CONTEXT,
    FORGET,
    FORGET_BY_TAGS,
    LIST_MEMORIES,
    GET_MEMORY,
    READ_MEMORY,
    CONTEXT_SUMMARY,
)
