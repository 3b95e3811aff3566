"""Tools for facts, and for the people and things that they are about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from palazzo.faces.mcp.profiles.shodh.shodh_shapes import answer_list, answer_records, reading, unbound_argument
from palazzo.features.facts.contract import KgQueryResult, KgTimelineResult
from palazzo.features.facts.tools import fact_line, told_fact
from palazzo.features.upkeep.contract import MemoryStatsResult
from palazzo.operations.agent_tools.tool import Answer, Argument, CallArguments, Step, Tool
from palazzo.operations.agent_tools.tool_answers import FLAG, LIST, NOTICE, NUMBER, TEXT, shape
from palazzo.operations.shared_views import FactView

_MOST_SEARCHED = 1000
"""Maximum number of facts in which words are searched for."""
_MOST_ANSWERED = 100
"""Maximum number of facts in one answer."""
_LIMIT = {"type": "integer", "minimum": 1, "maximum": _MOST_ANSWERED}


def _fact_row(view: FactView) -> dict[str, Any]:
    sentence = f"{view.subject} {view.predicate} {view.object}"
    return {**told_fact(view), "fact": sentence, "content": sentence, "confidence": view.confidence}


def _answer_facts(views: Sequence[FactView], **fields: Any) -> Answer:
    return answer_records(
        "facts",
        [_fact_row(view) for view in views],
        fact_line,
        lambda count: f"{count} of {len(views)} facts",
        "No fact about this is known.",
        **fields,
    )


def _plan_facts(entity: str | None, limit: int) -> Sequence[Step]:
    """Return the step that reads the facts of an entity, or all facts."""
    if entity:
        return [Step("kg_query", {"entity": entity, "all": True, "limit": limit})]
    return [Step("kg_timeline", {"limit": _MOST_SEARCHED})]


def _newest_first(result: KgQueryResult | KgTimelineResult) -> Sequence[FactView]:
    return result.facts if isinstance(result, KgQueryResult) else result.timeline[::-1]


def _answer_search(results: Sequence[KgQueryResult | KgTimelineResult], call: CallArguments) -> Answer:
    words = (call["query"] or "").casefold().split()
    views = [
        view
        for view in _newest_first(results[0])
        if all(word in f"{view.subject} {view.predicate} {view.object}".casefold() for word in words)
    ]
    criteria = {name: call[name] for name in ("query", "entity") if call[name]}
    return _answer_facts(views[: call["limit"]], **criteria)


SEARCH_FACTS = Tool(
    name="search_facts",
    operation="kg_query",
    description="Find facts about a person or a thing, or facts that contain all of some words; newest first.",
    arguments=(
        unbound_argument("query", TEXT, "Words that a fact contains."),
        unbound_argument("entity", TEXT, "The person or thing."),
        unbound_argument("limit", _LIMIT, default=20),
    ),
    steps=lambda call: _plan_facts(call["entity"], _MOST_ANSWERED),
    answer=_answer_search,
    output=shape(notice=TEXT, facts=LIST, count=NUMBER),
)

FACT_NARRATIVES = Tool(
    name="fact_narratives",
    operation="kg_timeline",
    description="List facts, about one person or thing or about all, with the dates between which they hold.",
    arguments=(unbound_argument("limit", _LIMIT, default=20), unbound_argument("entity_filter", TEXT)),
    steps=lambda call: _plan_facts(call["entity_filter"], call["limit"]),
    answer=lambda results, call: _answer_facts(_newest_first(results[0])[: call["limit"]]),
    output=shape(notice=TEXT, facts=LIST, count=NUMBER),
)


def _answer_explore(result: KgQueryResult, call: CallArguments) -> Answer:
    facts = [_fact_row(view) for view in result.facts]
    entities = [{"name": name} for name in dict.fromkeys(row[end] for row in facts for end in ("subject", "object"))]
    relationships = [
        {
            "id": row["id"],
            "from": row["subject"],
            "to": row["object"],
            "relation_type": row["predicate"],
            "strength": row["confidence"],
        }
        for row in facts
    ]
    fields = {
        "query": call["entity_name"],
        "found": bool(facts),
        "matched_entity": result.entity,
        "entities": entities,
        "relationships": relationships,
        "entity_count": len(entities),
        "relationship_count": len(relationships),
    }
    if not facts:
        nothing = f"No fact about '{call['entity_name']}' is known."
        return Answer({"notice": nothing, **fields}, nothing)
    notice = f"{NOTICE}: {len(facts)} of {result.count} facts around {result.entity}."
    return Answer({"notice": notice, **fields}, reading(notice, map(fact_line, facts)))


EXPLORE_ENTITY = Tool(
    name="explore_entity",
    operation="kg_query",
    description="Show the facts about a person or a thing; max_depth 2 adds facts about those that they name.",
    arguments=(
        Argument("entity_name", "", "entity"),
        Argument("max_depth", "", "hops", {"minimum": 1, "maximum": 2}, 1),
    ),
    fields=lambda call: {"limit": _MOST_ANSWERED},
    answer=_answer_explore,
    output=shape(query=TEXT, found=FLAG, entities=LIST, relationships=LIST),
)


def _answer_entities(result: MemoryStatsResult, call: CallArguments) -> Answer:
    rows = [
        {"name": entity.name, "entity_type": entity.kind, "mention_count": entity.drawers} for entity in result.entities
    ]
    return answer_list("entities", rows, _render_entity, "No memory mentions a person or a thing yet.")


def _render_entity(row: Mapping[str, Any]) -> str:
    return f"{row['name']} ({row['entity_type']}): {row['mention_count']}"


LIST_ENTITIES = Tool(
    name="list_entities",
    operation="memory_stats",
    description="List the people and things that memories mention most.",
    arguments=(Argument("limit", schema={"minimum": 1, "maximum": 100}, default=30),),
    answer=_answer_entities,
    output=shape(entities=LIST, count=NUMBER),
)

TOOLS = (SEARCH_FACTS, FACT_NARRATIVES, EXPLORE_ENTITY, LIST_ENTITIES)
