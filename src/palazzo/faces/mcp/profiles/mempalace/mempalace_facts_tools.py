"""The kg_… tools: facts, and the time during which they hold."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from palazzo.faces.mcp.profiles.client_formats import first_day, fit_rows, last_day
from palazzo.faces.mcp.profiles.mempalace.mempalace_shapes import answer_with_notice, document, rest
from palazzo.features.facts.contract import (
    KgAddResult,
    KgEndResult,
    KgQueryResult,
    KgStatsResult,
    KgSupersedeResult,
    KgTimelineResult,
)
from palazzo.operations.agent_tools.tool import ADDS, CHANGES, Answer, Argument, CallArguments, Tool
from palazzo.operations.agent_tools.tool_answers import FLAG, LIST, MOST, NUMBER, TEXT, shape
from palazzo.operations.shared_views import FactView

_DIRECTIONS = {"outgoing": "subject", "incoming": "object", "both": "both"}
_DIRECTION_NAMES = {"subject": "outgoing", "object": "incoming"}
_ID = re.compile(r"[0-9a-f]{8,32}")


def _fact(fact: FactView) -> dict[str, Any]:
    return {
        "subject": fact.subject,
        "predicate": fact.predicate,
        "object": fact.object,
        "valid_from": first_day(fact.valid_from),
        "valid_to": last_day(fact.valid_to),
        "current": fact.current,
    }


def _format_triple(subject: str, predicate: str, thing: str) -> str:
    return f"{subject} → {predicate} → {thing}"


def _answer_query(result: KgQueryResult, call: CallArguments) -> Answer:
    facts = [
        {"direction": _DIRECTION_NAMES[fact.direction], **_fact(fact), "confidence": fact.confidence}
        for fact in result.facts
    ]
    rows, left_out = fit_rows(facts, "object", MOST // 2)  # each fact is in two lists
    other_projects = {"facts_of_other_projects": result.count_elsewhere} if result.count_elsewhere else {}
    fields = {"entity": result.entity, "as_of": call["as_of"], **_by_time(rows), "facts": rows, "count": result.count}
    return answer_with_notice({**fields, **other_projects, **rest(left_out)})


def _by_time(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """Return facts that hold, that have ended, and that have not begun."""
    today = datetime.now(UTC).date().isoformat()
    active = [row for row in rows if row["current"]]
    future = [row for row in rows if not row["current"] and (row["valid_from"] or "")[:10] > today]
    historical = [row for row in rows if row not in active and row not in future]
    return {"active_facts": active, "historical_facts": historical, "future_facts": future}


def _fill_query(call: CallArguments) -> Mapping[str, Any]:
    return {"direction": _DIRECTIONS[call["direction"]], "all": call["as_of"] is None}


KG_QUERY = Tool(
    name="mempalace_kg_query",
    operation="kg_query",
    description="Show the facts about a person, a service or a thing, with the dates between which they hold.",
    arguments=(
        Argument("entity"),
        Argument("as_of", "Only facts that held at this time."),
        Argument("direction", "", None, {"type": "string", "enum": list(_DIRECTIONS)}, "both"),
    ),
    fields=_fill_query,
    answer=_answer_query,
    output=shape(entity=TEXT, facts=LIST, count=NUMBER),
)


def _added(result: KgAddResult, call: CallArguments) -> Answer:
    return _answer_stated(result.fact, result.conflicts)


def _answer_stated(fact: FactView, conflicts: Sequence[str], **fields: Any) -> Answer:
    triple = {"triple_id": fact.id, "fact": _format_triple(fact.subject, fact.predicate, fact.object)}
    return document({"success": True, **triple, **fields, **({"conflicts": list(conflicts)} if conflicts else {})})


def _fill_fact(call: CallArguments) -> Mapping[str, Any]:
    """Return who states the fact, and the drawers that are its sources.

    A closet is a drawer if it has the form of a drawer's id. Any other closet, else the file, states the fact.
    """
    closet, drawer = call["source_closet"] or "", call["source_drawer_id"]
    is_drawer = _ID.fullmatch(closet) is not None
    sources = tuple(filter(None, (drawer, closet if is_drawer else None)))
    stated_by = ("" if is_drawer else closet) or call["source_file"] or call.host
    return {**({"sources": sources} if sources else {}), **({"stated_by": stated_by} if stated_by else {})}


KG_ADD = Tool(
    name="mempalace_kg_add",
    operation="kg_add",
    description="Add a fact: subject, predicate, object, and the date from which it holds.",
    arguments=(
        Argument("subject"),
        Argument("predicate"),
        Argument("object"),
        Argument("valid_from", "The first day on which it holds: 2026-03-04. Default: it has always held."),
        Argument("valid_to"),
        Argument("source_closet", "The drawer or the person that states it.", None, TEXT),
        Argument("source_file", "The file that states it.", None, TEXT),
        Argument("source_drawer_id", "The drawer that states it.", None, TEXT),
    ),
    hints=ADDS,
    fields=_fill_fact,
    answer=_added,
    output=shape(success=FLAG, triple_id=TEXT, fact=TEXT),
)


def _answer_end(result: KgEndResult, call: CallArguments) -> Answer:
    fact = _format_triple(call["subject"], call["predicate"], call["object"])
    return document({"success": True, "fact": fact, "ended": call["ended"] or last_day(result.at)})


KG_INVALIDATE = Tool(
    name="mempalace_kg_invalidate",
    operation="kg_end",
    description="End a fact that no longer holds. It remains known for the time when it held.",
    arguments=(
        Argument("subject"),
        Argument("predicate"),
        Argument("object"),
        Argument("ended", "The last day on which it held. Default: today.", "at"),
    ),
    hints=CHANGES,
    answer=_answer_end,
    output=shape(success=FLAG, fact=TEXT, ended=TEXT),
)


def _answer_supersede(result: KgSupersedeResult, call: CallArguments) -> Answer:
    return _answer_stated(result.opened, result.conflicts, superseded=call["old_object"])


KG_SUPERSEDE = Tool(
    name="mempalace_kg_supersede",
    operation="kg_supersede",
    description="Replace a fact with its successor: the old one ends and the new one begins at the same time.",
    arguments=(
        Argument("subject"),
        Argument("predicate"),
        Argument("old_object", "The object that no longer holds.", "old"),
        Argument("new_object", "The object that holds from then on.", "new"),
        Argument("at", "When it changed. Default: now."),
    ),
    hints=CHANGES,
    fields=lambda given: {"stated_by": given.host} if given.host else {},
    answer=_answer_supersede,
    output=shape(success=FLAG, triple_id=TEXT, fact=TEXT, superseded=TEXT),
)


def _timeline(result: KgTimelineResult, call: CallArguments) -> Answer:
    rows, left_out = fit_rows([_fact(fact) for fact in result.timeline], "object")
    entity = result.entity or call["entity"]
    page = {"count": len(rows), "total": result.count, "offset": call["offset"], "limit": call["limit"]}
    return answer_with_notice({"entity": entity, "timeline": rows, **page, **rest(left_out)})


KG_TIMELINE = Tool(
    name="mempalace_kg_timeline",
    operation="kg_timeline",
    description="List facts in the order in which they began to hold, about one entity or all.",
    arguments=(
        Argument("entity"),
        Argument("limit", schema={"minimum": 1, "maximum": 1000}),
        Argument("offset", schema={"minimum": 0}),
    ),
    answer=_timeline,
    output=shape(timeline=LIST, count=NUMBER),
)


def _answer_stats(result: KgStatsResult, call: CallArguments) -> Answer:
    return document(
        {
            "entities": result.entities,
            "triples": result.facts,
            "current_facts": result.current,
            "expired_facts": result.ended,
            "relationship_types": [predicate.name for predicate in result.predicates],
        }
    )


KG_STATS = Tool(
    name="mempalace_kg_stats",
    operation="kg_stats",
    description="Count facts and entities, and list the predicates.",
    answer=_answer_stats,
    output=shape(entities=NUMBER, triples=NUMBER, current_facts=NUMBER, expired_facts=NUMBER, relationship_types=LIST),
)

TOOLS = (KG_QUERY, KG_ADD, KG_INVALIDATE, KG_SUPERSEDE, KG_TIMELINE, KG_STATS)
