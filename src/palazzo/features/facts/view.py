"""Terminal output of facts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from palazzo.features.facts.contract import (
    ConflictView,
    KgAddManyResult,
    KgAddResult,
    KgAliasResult,
    KgConflictsResult,
    KgDismissResult,
    KgEndResult,
    KgMergeResult,
    KgPredicateResult,
    KgQueryResult,
    KgStatsResult,
    KgSupersedeResult,
    KgTimelineResult,
    KgUnmergeResult,
    PredicateView,
    QueriedFact,
    SideView,
)
from palazzo.features.facts.fact_view import format_period
from palazzo.features.screen import INDENT, Part, Screen
from palazzo.operations.shared_views import FactView
from palazzo.text.count_phrases import count_noun

_BETTER = {"valid_from": "an earlier start", "confidence": "more confidence", "provenance": "an additional source"}
_MOST_LISTED = 10


def kg_add(screen: Screen, result: KgAddResult) -> None:
    """Show the fact's current state, and what should be checked."""
    if result.new:
        screen.say(("Added", "bold"))
    elif result.changed:
        screen.say(("Already known; updated with ", "bold"), ", ".join(_BETTER[field] for field in result.changed))
    else:
        screen.say(("Already known; nothing changed", "bold"))
    facts(screen, [result.fact])
    for name, near_names in result.near.items():
        screen.say((f"'{name}' is new; similar names: {', '.join(near_names)}.", "yellow"))
    conflicts_found(screen, result.conflicts)


def kg_add_many(screen: Screen, result: KgAddManyResult) -> None:
    """Show how many facts are new, and which lines failed."""
    screen.say(
        (f"{count_noun(len(result.ids), 'fact')}: ", "bold"),
        f"{result.new:,} new, {result.changed:,} updated, {result.unchanged:,} unchanged",
    )
    for failed in result.failed[:_MOST_LISTED]:
        screen.say((f"line {failed.line}  ", "red"), failed.error)
    if len(result.failed) > _MOST_LISTED:
        screen.say((f"and {len(result.failed) - _MOST_LISTED:,} more lines that are not valid facts", "red"))
    conflicts_found(screen, result.conflicts)


def kg_end(screen: Screen, result: KgEndResult) -> None:
    """Show the ended facts."""
    screen.say(("Ended", "bold"), f" at {result.at}")
    facts(screen, result.ended)


def kg_supersede(screen: Screen, result: KgSupersedeResult) -> None:
    """Show the ended fact and the new one."""
    screen.say(("Superseded", "bold"), f" at {result.at}")
    facts(screen, [*result.closed, result.opened])
    conflicts_found(screen, result.conflicts)


def kg_query(screen: Screen, result: KgQueryResult) -> None:
    """Show known facts: the entity's own, then its neighbours'."""
    found_as(screen, result.entity, result.matched)
    own = [fact for fact in result.facts if fact.hop == 1]
    facts(screen, own)
    if len(own) < len(result.facts):
        screen.gap()
        screen.say(("and about its neighbours", "dim"))
        facts(screen, [fact for fact in result.facts if fact.hop > 1])
    parts = [count_noun(result.count, "fact") if result.count else "No facts known"]
    parts += [f"as of {result.as_of}"] if result.as_of else []
    parts += [f"as known at {result.known_at}"] if result.known_at else []
    screen.say((", ".join(parts), "dim"))
    if result.count_elsewhere:
        screen.say(
            (f"{count_noun(result.count_elsewhere, 'fact')} of other projects: use --everywhere to show them.", "dim")
        )
    if result.truncated:
        screen.say(("There are more; raise --limit.", "yellow"))
    if result.mentioned is not None and result.mentioned.drawers:
        mentions = result.mentioned
        most = ", ".join(f"{room} {drawers:,}" for room, drawers in mentions.most.items())
        more = f", and {mentions.rooms - len(mentions.most):,} more" if mentions.rooms > len(mentions.most) else ""
        screen.say((f"Mentioned in {count_noun(mentions.drawers, 'drawer')}: {most}{more}", "dim"))


def kg_timeline(screen: Screen, result: KgTimelineResult) -> None:
    """Show facts in the order of their start."""
    if result.entity is not None:
        found_as(screen, result.entity, result.matched)
    facts(screen, result.timeline)
    count = len(result.timeline)
    screen.say((count_noun(count, "fact") if count == result.count else f"{count:,} of {result.count:,} facts", "dim"))


def kg_conflicts(screen: Screen, result: KgConflictsResult) -> None:
    """Show both sides of each conflict."""
    for conflict in result.conflicts:
        screen.say(
            (conflict.id, "bold"),
            (f"  {conflict.kind}, found {conflict.found_at[:10]}{_format_status(conflict)}", "dim"),
        )
        for side in (conflict.earlier, conflict.later):
            _side(screen, side)
        if conflict.mend is not None:
            screen.say(("To let one supersede the other:", "dim"))
            screen.exact(conflict.mend)
        screen.gap()
    if result.note:
        screen.say((result.note, "yellow"))
    screen.say((f"{count_noun(result.count, 'conflict')}", "dim"))


def kg_dismiss(screen: Screen, result: KgDismissResult) -> None:
    """Show how many were dismissed."""
    parts = [
        count_noun(len(ids), noun)
        for ids, noun in ((result.dismissed, "conflict"), (result.rejected, "suggestion"))
        if ids
    ]
    screen.say(f"{' and '.join(parts)} dismissed.")


def kg_stats(screen: Screen, result: KgStatsResult) -> None:
    """Show counts, then predicates."""
    rows = [
        (
            "facts",
            f"{result.facts:,}: {result.current:,} current, {result.ended:,} ended, {result.planned:,} in the future",
        ),
        ("about", f"{count_noun(result.entities, 'name')}, {result.aliases:,} aliases, {result.merges:,} merged"),
        ("conflicts", f"{result.conflicts:,}"),
    ]
    screen.table(("", ""), [((name, "dim"), value) for name, value in rows])
    if result.predicates:
        screen.gap()
        predicates(screen, result.predicates)


def kg_alias(screen: Screen, result: KgAliasResult) -> None:
    """Show the name that was added or removed; otherwise all names."""
    if result.added:
        screen.say((result.added.name, "cyan"), " means ", (result.added.entity, "cyan"), " from now on.")
    elif result.removed:
        screen.say((result.removed.name, "cyan"), " does not mean ", (result.removed.entity, "cyan"), " any more.")
    elif result.aliases:
        screen.table(("name", "means"), [(alias.name, alias.entity) for alias in result.aliases])
    else:
        screen.say(("No entity has an alias.", "dim"))


def kg_merge(screen: Screen, result: KgMergeResult) -> None:
    """Show the merged entities; otherwise all merges."""
    if result.merged:
        screen.say((result.merged.name, "cyan"), " is ", (result.merged.into, "cyan"), " from now on.")
        conflicts_found(screen, result.conflicts)
    elif result.merges:
        screen.table(("entity", "is"), [(merge.name, merge.into) for merge in result.merges])
    else:
        screen.say(("No entities are merged.", "dim"))


def kg_unmerge(screen: Screen, result: KgUnmergeResult) -> None:
    """Show the two entities that are separate again."""
    screen.say((result.name, "cyan"), " is not ", (result.was, "cyan"), " any more.")
    conflicts_found(screen, result.conflicts)


def kg_predicate(screen: Screen, result: KgPredicateResult) -> None:
    """Show predicates, and conflicts that a declaration revealed."""
    if result.predicates:
        predicates(screen, result.predicates)
    else:
        screen.say(("There is no such predicate.", "dim"))
    conflicts_found(screen, result.conflicts)


# --- parts -------------------------------------------------------------------------------------------------


def facts(screen: Screen, fact_views: Iterable[FactView]) -> None:
    """Show facts: the statement and its time, then the id and other details."""
    rows: list[Sequence[Part]] = []
    for fact in fact_views:
        rows.append(
            ((f"{fact.subject} {fact.predicate} {fact.object}", "" if fact.current else "dim"), format_period(fact))
        )
        rows.append(((f"{INDENT}{fact.id}", "dim"), (_aside(fact), "dim")))
    if rows:
        screen.table(("", ""), rows)


def found_as(screen: Screen, entity: str, match_kind: str | None) -> None:
    """Name the entity of the answer, if it differs from the name typed."""
    if match_kind is None:
        return
    labels = {"alias": "by another name", "spelling": "in another spelling", "near": "the only similar name"}
    label = labels.get(match_kind, "")
    screen.say((entity, "bold"), (f"  ({label})" if label else "", "yellow"))


def predicates(screen: Screen, predicate_views: Sequence[PredicateView]) -> None:
    """Show predicates in a table."""
    rows = [
        (predicate.name, f"{predicate.facts:,}", "one at a time" if predicate.functional else "many")
        for predicate in predicate_views
    ]
    screen.table(("predicate", "facts", "objects"), rows, right=(1,))


def conflicts_found(screen: Screen, conflicts: Sequence[str]) -> None:
    """Say that there are conflicts."""
    if conflicts:
        screen.say((f"This conflicts with existing records ({len(conflicts):,}): palazzo kg conflicts", "yellow"))


def _aside(fact: FactView) -> str:
    speakers = dict.fromkeys(source.stated_by for source in fact.provenance)
    source_count = sum(source.item is not None for source in fact.provenance)
    parts = [
        f"wing {fact.scope}" if fact.scope else "",
        f"confidence {fact.confidence:g}" if fact.confidence < 1 else "",
        f"by {', '.join(speakers)}",
        count_noun(source_count, "source") if source_count else "",
        "superseded" if fact.superseded_by else "",
        "external" if fact.trust == "external" else "",
        fact.cited if isinstance(fact, QueriedFact) else "",
        fact.label if isinstance(fact, QueriedFact) else "",
    ]
    return ", ".join(part for part in parts if part)


def _format_status(conflict: ConflictView) -> str:
    if conflict.dismissed_at:
        return ", dismissed"
    return "" if conflict.standing else ", settled"


def _side(screen: Screen, side: SideView) -> None:
    if side.fact is not None:
        facts(screen, [side.fact])
    if side.text is not None:
        screen.exact(side.text)
        screen.say((f"{INDENT}{side.item}, characters {side.start or 0:,} to {side.end or len(side.text):,}", "dim"))
