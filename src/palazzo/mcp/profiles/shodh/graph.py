"""Facts and the people and things that they are about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from palazzo.mcp.profiles.shodh.shaping import fitted, reading
from palazzo.mcp.telling import FLAG, LIST, NOTICE, NUMBER, TEXT, shape
from palazzo.mcp.tools import Answer, Argument, Given, Step, Tool
from palazzo.mcp.toolsets.facts import fact_line, told_fact
from palazzo.operations.facts import FactView
from palazzo.operations.kg_query import KgQueryResult
from palazzo.operations.kg_timeline import KgTimelineResult
from palazzo.operations.memory_stats import MemoryStatsResult

_MOST = 1000
"""Facts that are looked through for words."""
_LARGEST = 100
"""Facts that one answer may have."""


def _fact(view: FactView) -> dict[str, Any]:
    said = f"{view.subject} {view.predicate} {view.object}"
    return {**told_fact(view), "fact": said, "content": said, "confidence": view.confidence}


def _facts(views: Sequence[FactView], **others: Any) -> Answer:
    shown = fitted([_fact(view) for view in views])
    fields = {**others, "facts": shown, "count": len(shown)}
    if not shown:
        return Answer({"notice": "No fact is known of this.", **fields}, "No fact is known of this.")
    notice = f"{NOTICE}: {len(shown)} of {len(views)} facts."
    return Answer({"notice": notice, **fields}, reading(notice, map(fact_line, shown)))


def _asked(entity: str | None, limit: int) -> Sequence[Step]:
    """Facts of an entity, or of all."""
    if entity:
        return [Step("kg_query", {"entity": entity, "all": True, "limit": limit})]
    return [Step("kg_timeline", {"limit": _MOST})]


def _views(result: KgQueryResult | KgTimelineResult) -> Sequence[FactView]:
    return result.facts if isinstance(result, KgQueryResult) else result.timeline[::-1]


def _searched(results: Sequence[KgQueryResult | KgTimelineResult], given: Given) -> Answer:
    words = (given["query"] or "").casefold().split()
    views = [
        view
        for view in _views(results[0])
        if all(word in f"{view.subject} {view.predicate} {view.object}".casefold() for word in words)
    ]
    named = {name: given[name] for name in ("query", "entity") if given[name]}
    return _facts(views[: given["limit"]], **named)


_LIMIT = {"type": "integer", "minimum": 1, "maximum": _LARGEST}

SEARCH_FACTS = Tool(
    name="search_facts",
    operation="kg_query",
    description="Facts of a person or a thing, or those that have all of some words; the newest first.",
    arguments=(
        Argument("query", "Words that a fact has.", None, TEXT),
        Argument("entity", "Whom or what it is about.", None, TEXT),
        Argument("limit", "", None, _LIMIT, 20),
    ),
    steps=lambda given: _asked(given["entity"], _LARGEST),
    answer=_searched,
    output=shape(notice=TEXT, facts=LIST, count=NUMBER),
)

FACT_NARRATIVES = Tool(
    name="fact_narratives",
    operation="kg_timeline",
    description="Facts, of all or of one person or thing, since when and until when they hold.",
    arguments=(
        Argument("limit", "", None, _LIMIT, 20),
        Argument("entity_filter", "", None, TEXT),
    ),
    steps=lambda given: _asked(given["entity_filter"], given["limit"]),
    answer=lambda results, given: _facts(_views(results[0])[: given["limit"]]),
    output=shape(notice=TEXT, facts=LIST, count=NUMBER),
)


def _explored(result: KgQueryResult, given: Given) -> Answer:
    facts = [_fact(view) for view in result.facts]
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
    notice = f"{NOTICE}: {len(facts)} of {result.count} facts around {result.entity}."
    nothing = f"No fact is known of '{given['entity_name']}'."
    fields = {
        "query": given["entity_name"],
        "found": bool(facts),
        "matched_entity": result.entity,
        "entities": entities,
        "relationships": relationships,
        "entity_count": len(entities),
        "relationship_count": len(relationships),
    }
    if not facts:
        return Answer({"notice": nothing, **fields}, nothing)
    return Answer({"notice": notice, **fields}, reading(notice, map(fact_line, facts)))


EXPLORE_ENTITY = Tool(
    name="explore_entity",
    operation="kg_query",
    description="Facts of a person or a thing, and with max_depth 2 those of what they name.",
    arguments=(
        Argument("entity_name", "", "entity"),
        Argument("max_depth", "", "hops", {"minimum": 1, "maximum": 2}, 1),
    ),
    fields=lambda given: {"limit": _LARGEST},
    answer=_explored,
    output=shape(query=TEXT, found=FLAG, entities=LIST, relationships=LIST),
)


def _named(result: MemoryStatsResult, given: Given) -> Answer:
    rows: list[Mapping[str, Any]] = [
        {"name": one.name, "entity_type": one.kind, "mention_count": one.drawers} for one in result.entities
    ]
    lines = [f"{row['name']} ({row['entity_type']}): {row['mention_count']}" for row in rows]
    return Answer({"entities": rows, "count": len(rows)}, "\n".join(lines) or "Nobody and nothing is named yet.")


LIST_ENTITIES = Tool(
    name="list_entities",
    operation="memory_stats",
    description="The people and things that memories mention most.",
    arguments=(Argument("limit", schema={"minimum": 1, "maximum": 100}, default=30),),
    answer=_named,
    output=shape(entities=LIST, count=NUMBER),
)

TOOLS = (SEARCH_FACTS, FACT_NARRATIVES, EXPLORE_ENTITY, LIST_ENTITIES)
