"""kg_…: facts, since when and until when they hold."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from palazzo.mcp.profiles.days import first_day, last_day
from palazzo.mcp.profiles.mempalace.shaping import document, failure, fitted, recorded, rest
from palazzo.mcp.telling import FLAG, LIST, NUMBER, TEXT, shape
from palazzo.mcp.tools import ADDS, CHANGES, Answer, Argument, Given, Tool
from palazzo.operations.facts import FactView
from palazzo.operations.kg_add import KgAddResult
from palazzo.operations.kg_end import KgEndResult
from palazzo.operations.kg_query import KgQueryResult
from palazzo.operations.kg_stats import KgStatsResult
from palazzo.operations.kg_timeline import KgTimelineResult

_DIRECTIONS = {"outgoing": "subject", "incoming": "object", "both": "both"}
_CALLED = {"subject": "outgoing", "object": "incoming"}
_ID = re.compile(r"[0-9a-f]{8,32}")


def _fact(one: FactView) -> dict[str, Any]:
    return {
        "subject": one.subject,
        "predicate": one.predicate,
        "object": one.object,
        "valid_from": first_day(one.valid_from),
        "valid_to": last_day(one.valid_to),
        "current": one.current,
    }


def _said(subject: str, predicate: str, thing: str) -> str:
    return f"{subject} → {predicate} → {thing}"


def _queried(result: KgQueryResult, given: Given) -> Answer:
    facts = [{"direction": _CALLED[one.direction], **_fact(one), "confidence": one.confidence} for one in result.facts]
    rows, left_out = fitted(facts, "object")
    other_projects = {"facts_of_other_projects": result.count_elsewhere} if result.count_elsewhere else {}
    fields = {"entity": result.entity, "as_of": given["as_of"], "facts": rows, "count": result.count}
    return recorded({**fields, **other_projects, **rest(left_out)})


def _asked(given: Given) -> Mapping[str, Any]:
    return {"direction": _DIRECTIONS[given["direction"]], "all": given["as_of"] is None}


KG_QUERY = Tool(
    name="mempalace_kg_query",
    operation="kg_query",
    description="What is known of a person, a service, a thing: facts with since when and until when they hold.",
    arguments=(
        Argument("entity"),
        Argument("as_of", "Only what held then."),
        Argument("direction", "", None, {"type": "string", "enum": list(_DIRECTIONS)}, "both"),
    ),
    fields=_asked,
    answer=_queried,
    output=shape(entity=TEXT, facts=LIST, count=NUMBER),
    failure=failure,
)


def _added(result: KgAddResult, given: Given) -> Answer:
    one = result.fact
    fields = {"success": True, "triple_id": result.id, "fact": _said(one.subject, one.predicate, one.object)}
    return document({**fields, **({"conflicts": list(result.conflicts)} if result.conflicts else {})})


def _stated(given: Given) -> Mapping[str, Any]:
    """A closet is who says so, unless it names a drawer: that is then what says so."""
    closet = given["source_closet"] or ""
    by = {"stated_by": given.host} if given.host else {}
    if _ID.fullmatch(closet):
        return {"sources": (closet,), **by}
    return {"stated_by": closet} if closet else by


KG_ADD = Tool(
    name="mempalace_kg_add",
    operation="kg_add",
    description="State a fact: subject, predicate, object, and since when it holds.",
    arguments=(
        Argument("subject"),
        Argument("predicate"),
        Argument("object"),
        Argument("valid_from", "2026-03-04; since ever if left out."),
        Argument("valid_to"),
        Argument("source_closet", "The drawer that says so, or who does.", None, TEXT),
    ),
    hints=ADDS,
    fields=_stated,
    answer=_added,
    output=shape(success=FLAG, triple_id=TEXT, fact=TEXT),
    failure=failure,
)


def _ended(result: KgEndResult, given: Given) -> Answer:
    fact = _said(given["subject"], given["predicate"], given["object"])
    return document({"success": True, "fact": fact, "ended": given["ended"] or last_day(result.at)})


KG_INVALIDATE = Tool(
    name="mempalace_kg_invalidate",
    operation="kg_end",
    description="Say that a fact holds no longer. It stays known for the time when it did.",
    arguments=(
        Argument("subject"),
        Argument("predicate"),
        Argument("object"),
        Argument("ended", "The last day on which it held; today if left out.", "at"),
    ),
    hints=CHANGES,
    answer=_ended,
    output=shape(success=FLAG, fact=TEXT, ended=TEXT),
    failure=failure,
)


def _timeline(result: KgTimelineResult, given: Given) -> Answer:
    rows, left_out = fitted([_fact(one) for one in result.timeline], "object")
    entity = result.entity or given["entity"]
    return recorded({"entity": entity, "timeline": rows, "count": len(rows), **rest(left_out)})


KG_TIMELINE = Tool(
    name="mempalace_kg_timeline",
    operation="kg_timeline",
    description="Facts in the order in which they began to hold, of one entity or of all.",
    arguments=(
        Argument("entity"),
        Argument("limit", schema={"minimum": 1, "maximum": 1000}),
        Argument("offset", schema={"minimum": 0}),
    ),
    answer=_timeline,
    output=shape(timeline=LIST, count=NUMBER),
    failure=failure,
)


def _counted(result: KgStatsResult, given: Given) -> Answer:
    return document(
        {
            "entities": result.entities,
            "triples": result.facts,
            "current_facts": result.current,
            "expired_facts": result.ended,
            "relationship_types": [one.name for one in result.predicates],
        }
    )


KG_STATS = Tool(
    name="mempalace_kg_stats",
    operation="kg_stats",
    description="How many facts and entities there are, and which predicates.",
    answer=_counted,
    output=shape(entities=NUMBER, triples=NUMBER, current_facts=NUMBER, expired_facts=NUMBER, relationship_types=LIST),
    failure=failure,
)

TOOLS = (KG_QUERY, KG_ADD, KG_INVALIDATE, KG_TIMELINE, KG_STATS)
