"""Tools for facts: the knowledge graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from palazzo.features.facts.contract import (
    KgAddResult,
    KgConflictsResult,
    KgEndResult,
    KgQueryResult,
    KgStatsResult,
    KgSupersedeResult,
    KgTimelineResult,
    QueriedFact,
    SideView,
)
from palazzo.operations.agent_tools.tool import ADDS, Answer, Argument, CallArguments, Tool
from palazzo.operations.agent_tools.tool_answers import (
    LIST,
    NOTICE,
    NUMBER,
    OBJECT,
    TEXT,
    present_fields,
    rows,
    shape,
)
from palazzo.operations.shared_views import FactView
from palazzo.text.count_phrases import count_noun

_MOST_FACTS = 50


_LONGEST = 500
"""Maximum characters of one part of a fact that are shown; most parts are a few words."""


def told_fact(fact: FactView) -> dict[str, Any]:
    """Return a fact as JSON fields: what is known of it, without nulls."""
    speakers = list(dict.fromkeys(source.stated_by for source in fact.provenance))
    fields = {
        "id": fact.id,
        "subject": _beginning(fact.subject),
        "predicate": _beginning(fact.predicate),
        "object": _beginning(fact.object),
        "from": fact.valid_from and _short(fact.valid_from),
        "to": fact.valid_to and _short(fact.valid_to),
        "current": fact.current,
        "wing": fact.scope,
        "stated_by": ", ".join(speakers),
        "superseded_by": fact.superseded_by,
        "trust": fact.trust if fact.trust == "external" else None,
        "cites": fact.cited if isinstance(fact, QueriedFact) else "",
        "branch": fact.label if isinstance(fact, QueriedFact) else "",
    }
    return present_fields(**fields)


def fact_line(fact: Mapping[str, Any]) -> str:
    """Return a fact's JSON fields as a line."""
    since = f"since {fact['from']}" if "from" in fact else ""
    until = f"until {fact['to']}" if "to" in fact else ""
    remarks = filter(
        None,
        (
            since,
            until,
            "" if fact["current"] else "not now",
            f"in {fact['wing']}" if "wing" in fact else "",
            fact["stated_by"],
            fact.get("trust"),
            fact.get("cites"),
            fact.get("branch"),
        ),
    )
    return f"[{fact['id']}] {fact['subject']} · {fact['predicate']} · {fact['object']} ({', '.join(remarks)})"


def _beginning(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… (of {len(text):,} characters)"


def _short(iso: str) -> str:
    """Shorten a time: to its day if it is the start of one, else to the minute."""
    return iso[:10] if iso[10:19] == "T00:00:00" else f"{iso[:16]}Z"


def _several(notice: str, facts: Iterable[FactView]) -> Answer:
    return rows(notice, "facts", [told_fact(fact) for fact in facts], fact_line)


_SUBJECT = Argument("subject", "Person, service or thing.")


_PREDICATE = Argument("predicate", "Such as uses, listens on, is owned by.")


_OBJECT = Argument("object")


_WING = Argument("wing", "Another wing.")


_EVERYWHERE = Argument("everywhere", "In all projects.")


_ALL_WINGS = Argument("everywhere", "Include all projects.")


_HELD_EVERYWHERE = Argument("everywhere", "Replace the fact that holds in all projects.")


_FACTS = shape(notice=TEXT, facts=LIST)


def _by_host(call: CallArguments) -> Mapping[str, Any]:
    return {"stated_by": call.host or "agent"}


def _answer_query(result: KgQueryResult, call: CallArguments) -> Answer:
    if result.matched is None:
        return _several(f"Nothing is known about '{result.entity}'. Try another name for it, or search.", ())
    period = (
        "of all times" if call["all"] else "now" if call["as_of"] is None else f"as of {_short(result.as_of or '')}"
    )
    guess = f" '{call['entity']}' itself is unknown; this name is similar." if result.matched == "near" else ""
    more = " There are more." if result.truncated else ""
    omission = (
        f" {count_noun(result.count_elsewhere, 'fact')} of other projects omitted." if result.count_elsewhere else ""
    )
    notice = f"{NOTICE}: {count_noun(result.count, 'fact')} about {result.entity}, {period}.{guess}{more}{omission}"
    return _several(notice, result.facts)


KG_QUERY = Tool(
    name="kg_query",
    description="Get facts about a person, service or thing, as of now or a given time.",
    arguments=(
        Argument("entity"),
        Argument("as_of", "What held at this time."),
        Argument("all", "Include ended facts."),
    ),
    fields=lambda given: {"limit": _MOST_FACTS} if "limit" not in given.arguments else {},
    answer=_answer_query,
    output=_FACTS,
)


KG_QUERY_IN_FULL = KG_QUERY.with_arguments(
    Argument("known_at", "What was known at this time."),
    Argument("direction"),
    _ALL_WINGS,
    Argument("wing", "This wing, and facts that hold everywhere."),
    Argument("limit", schema={"minimum": 1, "maximum": 100}, default=_MOST_FACTS),
)


def _over_time(result: KgTimelineResult, call: CallArguments) -> Answer:
    entity_phrase = f" of {result.entity}" if result.entity else ""
    if call["entity"] is not None and result.matched is None:
        return _several(f"Nothing is known about '{call['entity']}'.", ())
    start = call["offset"]
    extent = (
        f"{start + 1} to {start + len(result.timeline)} of {result.count}"
        if result.timeline
        else f"0 of {result.count}"
    )
    return _several(f"{NOTICE}: facts{entity_phrase} in chronological order, {extent}.", result.timeline)


KG_TIMELINE = Tool(
    name="kg_timeline",
    description="List facts in the order in which they began, including ended ones: how something became what it is.",
    arguments=(
        Argument("entity", "Only about this entity."),
        Argument("known_at", "What was known at this time."),
        Argument("wing", "This wing, and facts that hold everywhere."),
        Argument("limit", schema={"minimum": 1, "maximum": 100}, default=_MOST_FACTS),
        Argument("offset", "Number of entries to skip.", schema={"minimum": 0}),
        _ALL_WINGS,
    ),
    answer=_over_time,
    output=_FACTS,
)


def _added(result: KgAddResult, call: CallArguments) -> Answer:
    fact = told_fact(result.fact)
    outcome = (
        "New" if result.new else f"Known already; improved: {', '.join(result.changed)}" if result.changed else "Known"
    )
    notes = []
    if result.conflicts:
        notes.append(f"It conflicts with {', '.join(result.conflicts)}: end one, or kg_supersede.")
    for name, similar_names in result.near.items():
        notes.append(f"'{name}' is new here; similar: {', '.join(similar_names)}.")
    fields = present_fields(id=result.id, new=result.new, fact=fact, notes=notes)
    return Answer(
        fields,
        "\n".join([f"{outcome}: {fact_line(fact)}", *notes]),
    )


KG_ADD = Tool(
    name="kg_add",
    description="State a fact about this project: short names, one fact per call.",
    arguments=(
        _SUBJECT,
        _PREDICATE,
        _OBJECT,
        Argument("valid_from", "Since when."),
        Argument("valid_to"),
        _WING,
        _EVERYWHERE,
    ),
    hints=ADDS,
    fields=_by_host,
    answer=_added,
    output=shape(id=TEXT),
)


KG_ADD_IN_FULL = KG_ADD.with_arguments(
    Argument("sources", "Ids that support the fact."),
    Argument("anchors", "Files that support it: PATH[:L1-L2]."),
    Argument("confidence", schema={"minimum": 0, "maximum": 1}),
)


def _answer_end(result: KgEndResult, call: CallArguments) -> Answer:
    facts = [told_fact(fact) for fact in result.ended]
    head = f"Ended at {_short(result.at)}:"
    return Answer({"at": result.at, "ended": facts}, "\n".join([head, *map(fact_line, facts)]))


KG_END = Tool(
    name="kg_end",
    description="State that a fact no longer holds.",
    arguments=(
        Argument("subject"),
        Argument("predicate"),
        _OBJECT,
        Argument("at", "Time, if not now."),
        Argument("wing"),
    ),
    hints=ADDS,
    answer=_answer_end,
    output=shape(ended=LIST),
)


KG_END_IN_FULL = KG_END.with_arguments(_HELD_EVERYWHERE)


def _answer_supersede(result: KgSupersedeResult, call: CallArguments) -> Answer:
    old_facts, new_fact = [told_fact(fact) for fact in result.closed], told_fact(result.opened)
    notes = [f"It conflicts with {', '.join(result.conflicts)}."] if result.conflicts else []
    fields = {"at": result.at, "closed": old_facts, "opened": new_fact}
    text = [
        f"Since {_short(result.at)}: {fact_line(new_fact)}",
        *(f"Until then: {fact_line(fact)}" for fact in old_facts),
        *notes,
    ]
    return Answer({**fields, "notes": notes} if notes else fields, "\n".join(text))


KG_SUPERSEDE = Tool(
    name="kg_supersede",
    description="Replace a fact's value: the old one ends, the new one begins at the same moment.",
    arguments=(
        _SUBJECT,
        _PREDICATE,
        Argument("old", "The current object."),
        Argument("new", "The new object."),
        Argument("at", "Time, if not now."),
        Argument("wing", "Replace the fact of this wing."),
        Argument("sources", "Ids that support the fact."),
        _HELD_EVERYWHERE,
    ),
    hints=ADDS,
    fields=_by_host,
    answer=_answer_supersede,
    output=shape(at=TEXT, closed=LIST, opened=OBJECT),
)


def _answer_conflicts(result: KgConflictsResult, call: CallArguments) -> Answer:
    conflicts = [
        {
            "id": conflict.id,
            "kind": conflict.kind,
            "found": conflict.found_at,
            "standing": conflict.standing,
            "earlier": _side(conflict.earlier),
            "later": _side(conflict.later),
            **({"mend": conflict.mend} if conflict.mend else {}),
        }
        for conflict in result.conflicts
    ]
    notice = (
        f"{NOTICE}: {count_noun(result.count, 'conflict')}. To settle one, end one side with kg_end or kg_supersede."
    )
    notice += f" {result.note}" if result.note else ""
    return rows(notice, "conflicts", conflicts, _conflict_lines)


def _conflict_lines(conflict: Mapping[str, Any]) -> str:
    lines = [
        f"[{conflict['id']}] {conflict['kind']}",
        f"  {_side_line(conflict['earlier'])}",
        f"  {_side_line(conflict['later'])}",
    ]
    return "\n".join([*lines, *([f"  {conflict['mend']}"] if "mend" in conflict else [])])


def _side(side: SideView) -> dict[str, Any]:
    if side.fact is not None:
        return told_fact(side.fact)
    return {"item": side.item, "text": _beginning(side.text or "")}


def _side_line(side: Any) -> str:
    return fact_line(side) if "predicate" in side else f"[{side['item']}] {side['text']}"


KG_CONFLICTS = Tool(
    name="kg_conflicts",
    description="List contradictions between facts or recorded words, with the origin of each side.",
    arguments=(Argument("all", "Include settled conflicts."),),
    answer=_answer_conflicts,
    output=shape(notice=TEXT, conflicts=LIST),
)


def _counts(result: KgStatsResult, call: CallArguments) -> Answer:
    names = ("entities", "facts", "current", "ended", "planned", "aliases", "merges", "conflicts")
    fields: dict[str, Any] = {name: getattr(result, name) for name in names}
    fields["predicates"] = {predicate.name: predicate.facts for predicate in result.predicates[:_MOST_FACTS]}
    most = ", ".join(f"{name} {number}" for name, number in fields["predicates"].items())
    lines = [", ".join(f"{name} {fields[name]:,}" for name in names), most and f"Predicates: {most}"]
    return Answer(fields, "\n".join(filter(None, lines)))


KG_STATS = Tool(
    name="kg_stats",
    description="Count facts, entities and conflicts, and list the predicates in use.",
    answer=_counts,
    output=shape(entities=NUMBER, facts=NUMBER, current=NUMBER, conflicts=NUMBER),
)


CORE = (
    KG_QUERY,
    KG_ADD,
    KG_END,
)


FULL = (
    KG_QUERY_IN_FULL,
    KG_ADD_IN_FULL,
    KG_END_IN_FULL,
    KG_SUPERSEDE,
    KG_TIMELINE,
    KG_CONFLICTS,
    KG_STATS,
)
