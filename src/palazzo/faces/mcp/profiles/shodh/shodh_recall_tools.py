"""The tools recall, recall_by_tags and proactive_context: finding memories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from palazzo.errors import UsageError
from palazzo.faces.mcp.profiles.client_formats import fit_rows, id_of
from palazzo.faces.mcp.profiles.shodh.shodh_shapes import (
    DECIMAL,
    MEMORIES,
    NO_DRAWERS,
    SHARE,
    TEXTS,
    TYPE,
    enum_schema,
    line,
    memories,
    memory,
    reading,
    unbound_argument,
)
from palazzo.features.facts.tools import fact_line, told_fact
from palazzo.features.notes.contract import RememberResult
from palazzo.features.search.contract import ListDrawersResult, SearchResult
from palazzo.features.tasks.tools import task_line, told_reminder, told_todo
from palazzo.features.wakeup.contract import ProactiveContextResult
from palazzo.operations.agent_tools.tool import ADDS, Answer, Argument, CallArguments, Step, Tool
from palazzo.operations.agent_tools.tool_answers import FLAG, LIST, MOST, NOTICE, OBJECT, TEXT, shape
from palazzo.operations.validation import Schema
from palazzo.security.injected_text import is_host_instruction, is_palazzo_block, said_spans

_FULL_CONTENT = unbound_argument("full_content", FLAG, default=False, is_ignored=True)
_LIMIT = {"minimum": 1, "maximum": 100}
_TOKENS = 5000
"""Maximum tokens of text that a search returns: about as much as an answer may contain."""
_TEMPORAL_FACTOR = 4
"""Factor by which the limit of a temporal recall's search is increased, to show the newest results."""


# --- recall ------------------------------------------------------------------------------------------------

_MODES = ("semantic", "temporal", "hybrid", "associative")
_UNSUPPORTED_MODES = ("spatial", "mission", "action_outcome")
_UNSUPPORTED_FILTERS: Mapping[str, Schema] = {
    **dict.fromkeys(("session_id", "robot_id", "mission_id", "action_type", "outcome_type", "terrain_type"), TEXT),
    **dict.fromkeys(("geo_lat", "geo_lon", "geo_radius_meters", "reward_min", "reward_max"), DECIMAL),
    **dict.fromkeys(("failures_only", "debug"), FLAG),
}
"""Metadata filters of shodh's server; Palazzo filters by tags, times and importance."""


def _plan_recall(call: CallArguments) -> Sequence[Step]:
    mode, limit = call["mode"], call["limit"]
    if mode in _UNSUPPORTED_MODES:
        raise UsageError(
            f"Palazzo cannot search by place, mission or reward, so there is no mode '{mode}':"
            f" use one of {', '.join(_MODES)}."
        )
    filters = {"tags": call["tags"] or (), "since": call["since"], "min_importance": call["min_importance"]}
    if call["tags_only"]:
        return [Step("list_drawers", {**filters, "until": call["until"], "limit": limit})]
    request = {**filters, "query": call["query"], "until": call["until"], "budget": _TOKENS}
    request |= {"external": False, "reasoning": False}
    if mode == "temporal":
        return [Step("search", {**request, "limit": limit * _TEMPORAL_FACTOR})]
    signals = ("keywords",) if mode == "semantic" else ()
    return [Step("search", {**request, "limit": limit, "without": signals})]


def _answer_recall(results: Sequence[SearchResult | ListDrawersResult], call: CallArguments) -> Answer:
    (result,) = results
    criteria = {"query": call["query"], "mode": call["mode"]}
    nothing = "No memory matches: try other words, a name, a path, or leave filters out."
    if isinstance(result, ListDrawersResult):
        rows = [memory(drawer) for drawer in result.drawers if drawer.trust != "external"]
        return memories(rows, nothing, **criteria)
    hits = result.hits
    if call["mode"] == "semantic" and not result.is_likely:
        hits = ()  # a search that leaves out a signal shows whatever comes nearest
    if call["mode"] == "temporal":
        hits = tuple(sorted(hits, key=lambda hit: -hit.created_at)[: call["limit"]])
    return memories([memory(hit, hit.score) for hit in hits], nothing, **criteria)


RECALL = Tool(
    name="recall",
    operation="search",
    description=(
        "Find what was said, decided, tried or written before, in all projects and sessions. Use it before asking the"
        " person or redoing something."
    ),
    arguments=(
        Argument("query", "A question, or names, a path, the exact text of an error."),
        Argument("limit", schema=_LIMIT, default=5),
        unbound_argument(
            "mode",
            enum_schema(*_MODES, *_UNSUPPORTED_MODES),
            "semantic: by meaning alone; temporal: the newest of what fits; else by meaning and words.",
            "hybrid",
        ),
        Argument("tags", "Only memories with all of these tags."),
        unbound_argument("tags_only", FLAG, "Return all memories with the tags, newest first, and ignore the query."),
        Argument("since", "From this time on: 2026-03-04, 3d, monday."),
        Argument("until", "Before this time."),
        Argument("min_importance", schema=SHARE),
        *(unbound_argument(name, schema, is_ignored=True) for name, schema in _UNSUPPORTED_FILTERS.items()),
        _FULL_CONTENT,
    ),
    steps=_plan_recall,
    options={"--until": "until"},
    answer=_answer_recall,
    output=MEMORIES,
    always=True,
)


def _plan_recall_by_tags(call: CallArguments) -> Sequence[Step]:
    return [Step("list_drawers", {"tags": (tag,), "limit": call["limit"]}, NO_DRAWERS) for tag in call["tags"]]


def _answer_recall_by_tags(results: Sequence[ListDrawersResult], call: CallArguments) -> Answer:
    drawers = {drawer.id: drawer for result in results for drawer in result.drawers if drawer.trust != "external"}
    newest = sorted(drawers.values(), key=lambda drawer: -drawer.created_at)[: call["limit"]]
    rows = [memory(drawer) for drawer in newest]
    return memories(rows, "No memory has any of these tags.", tags=list(call["tags"]), count=len(rows))


RECALL_BY_TAGS = Tool(
    name="recall_by_tags",
    operation="list_drawers",
    description="List the memories that have any of these tags, newest first.",
    arguments=(
        unbound_argument("tags", {**TEXTS, "minItems": 1}, is_required=True),
        Argument("limit", schema=_LIMIT, default=50),
        _FULL_CONTENT,
    ),
    steps=_plan_recall_by_tags,
    answer=_answer_recall_by_tags,
    output=MEMORIES,
)


# --- proactive_context -------------------------------------------------------------------------------------


def _plan_context(call: CallArguments) -> Sequence[Step]:
    types = tuple(kind.lower() for kind in call["memory_types"] or ())
    request = {"context": call["context"], "limit": call["max_results"], "floor": call["semantic_threshold"]}
    suggestion = Step("proactive_context", {**request, "filed_as": types, "agent": call.host or None})
    words = _own_words(call["context"]) if call["auto_ingest"] else ""
    if not words:
        return [suggestion]
    return [suggestion, Step("remember", {"text": words, "kind": "context", "by": call.host, "once": True})]


def _own_words(context: str) -> str:
    """Return a context without the blocks that Palazzo gave the model, and without its host's instructions."""
    if is_palazzo_block(context) or is_host_instruction(context):
        return ""
    return "".join(context[start:end] for start, end in said_spans(context))


def _answer_context(results: Sequence[Any], call: CallArguments) -> Answer:
    result: ProactiveContextResult = results[0]
    note: RememberResult | None = results[1] if len(results) > 1 else None
    rows = [memory(view, view.score, result.labels.get(view.id, "")) for view in result.memories]
    shown_rows, _ = fit_rows(rows, most=MOST // 2)
    reminders = [told_reminder(view) for view in result.reminders]
    todos = [told_todo(view) for view in result.todos]
    facts = [told_fact(view) for view in result.facts]
    fields = {
        "memories": shown_rows,
        "reminders": reminders,
        "todos": todos,
        "facts": facts,
        "count": len(shown_rows),
        **({} if note is None else {"ingested": id_of(note.id, note.drawers)}),
    }
    if not (shown_rows or reminders or todos or facts):
        nothing = "Nothing in memory is relevant to this."
        return Answer({"notice": nothing, **fields}, nothing)
    notice = f"{NOTICE}: what may bear on this."
    lines = [*map(line, shown_rows), *map(task_line, reminders), *map(task_line, todos), *map(fact_line, facts)]
    return Answer({"notice": notice, **fields}, reading(notice, lines))


PROACTIVE_CONTEXT = Tool(
    name="proactive_context",
    description="Suggest memories, due reminders, to-dos and facts relevant to the current work. Usually none.",
    arguments=(
        Argument("context", "What is being said or done now."),
        Argument("max_results", "", "limit", {"minimum": 1, "maximum": 20}, 5),
        Argument("semantic_threshold", "The minimum score; it can only be raised.", "floor", SHARE),
        unbound_argument("memory_types", {"type": "array", "items": TYPE}, "Only these types."),
        unbound_argument("auto_ingest", FLAG, "Also remember the context itself.", default=False),
        unbound_argument("entity_match_weight", DECIMAL, default=0.4, is_ignored=True),
        unbound_argument("recency_weight", DECIMAL, default=0.2, is_ignored=True),
        unbound_argument("tool_actions", {"type": "array", "items": OBJECT}, is_ignored=True),
        _FULL_CONTENT,
    ),
    hints=ADDS,
    steps=_plan_context,
    answer=_answer_context,
    output=shape(notice=TEXT, memories=LIST, reminders=LIST, todos=LIST, facts=LIST),
)

TOOLS = (RECALL, RECALL_BY_TAGS, PROACTIVE_CONTEXT)
