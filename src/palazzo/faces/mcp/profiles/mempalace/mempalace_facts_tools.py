"""The kg_… tools: facts, and the time during which they hold."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from palazzo.faces.mcp.entry_lines import FLAG, LIST, NUMBER, TEXT, shape
from palazzo.faces.mcp.profiles.client_days import first_day, last_day
from palazzo.faces.mcp.profiles.mempalace.mempalace_shapes import answer_with_notice, document, failure, fit_rows, rest
from palazzo.faces.mcp.tool import ADDS, CHANGES, Answer, Argument, CallArguments, Tool
from palazzo.features.facts.fact_results import FactView
from palazzo.features.facts.kg_add import KgAddResult
from palazzo.features.facts.kg_end import KgEndResult
from palazzo.features.facts.kg_query import KgQueryResult
from palazzo.features.facts.kg_stats import KgStatsResult
from palazzo.features.facts.kg_timeline import KgTimelineResult

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
    rows, left_out = fit_rows(facts, "object")
    other_projects = {"facts_of_other_projects": result.count_elsewhere} if result.count_elsewhere else {}
    fields = {"entity": result.entity, "as_of": call["as_of"], "facts": rows, "count": result.count}
    return answer_with_notice({**fields, **other_projects, **rest(left_out)})


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
    failure=failure,
)


def _added(result: KgAddResult, call: CallArguments) -> Answer:
    fact = result.fact
    fields = {
        "success": True,
        "triple_id": result.id,
        "fact": _format_triple(fact.subject, fact.predicate, fact.object),
    }
    return document({**fields, **({"conflicts": list(result.conflicts)} if result.conflicts else {})})


def _fill_fact(call: CallArguments) -> Mapping[str, Any]:
    """Return who states the fact: the closet, or as its source the drawer if the closet names one."""
    closet = call["source_closet"] or ""
    by = {"stated_by": call.host} if call.host else {}
    if _ID.fullmatch(closet):
        return {"sources": (closet,), **by}
    return {"stated_by": closet} if closet else by


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
    ),
    hints=ADDS,
    fields=_fill_fact,
    answer=_added,
    output=shape(success=FLAG, triple_id=TEXT, fact=TEXT),
    failure=failure,
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
    failure=failure,
)


def _timeline(result: KgTimelineResult, call: CallArguments) -> Answer:
    rows, left_out = fit_rows([_fact(fact) for fact in result.timeline], "object")
    entity = result.entity or call["entity"]
    return answer_with_notice({"entity": entity, "timeline": rows, "count": len(rows), **rest(left_out)})


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
    failure=failure,
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
    failure=failure,
)

TOOLS = (KG_QUERY, KG_ADD, KG_INVALIDATE, KG_TIMELINE, KG_STATS)
