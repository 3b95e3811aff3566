"""Terminal output of suggested facts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.features.facts.view import conflicts_found, facts
from palazzo.features.screen import INDENT
from palazzo.text.count_phrases import count_noun

if TYPE_CHECKING:
    from palazzo.features.facts.contract import KgAcceptResult, KgSuggestResult
    from palazzo.features.screen import Screen


def kg_suggest(screen: Screen, result: KgSuggestResult) -> None:
    """Show suggestions: the proposed fact, how many sources state it, and the last one's words."""
    for suggestion in result.suggestions:
        screen.say(
            (f"{suggestion.subject} {suggestion.predicate} {suggestion.object}", "bold"),
            (f"  {suggestion.wing}", "cyan"),
        )
        screen.exact(suggestion.citations[0].text)
        times = "once" if suggestion.support == 1 else f"{suggestion.support:,} times"
        evidence = f"said {times}, last on {suggestion.citations[0].said_at[:10]}"
        screen.say((f"{INDENT}{suggestion.id}  {evidence}", "dim"))
        screen.gap()
    if result.note:
        screen.say((result.note, "yellow"))
    if not result.suggestions:
        screen.say(("No new facts to suggest.", "dim"))
        return
    more = result.total - len(result.suggestions)
    screen.say(
        (f"{count_noun(result.total, 'suggestion')}{f', {more:,} not shown (--limit)' if more else ''}. ", "dim"),
        ("palazzo kg accept ID turns a suggestion into a fact, palazzo kg dismiss ID rejects it.", "dim"),
    )


def kg_accept(screen: Screen, result: KgAcceptResult) -> None:
    """Show the facts in their current state."""
    facts(screen, result.facts)
    conflicts_found(screen, result.conflicts)
