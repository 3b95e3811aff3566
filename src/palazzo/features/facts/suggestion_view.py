"""Showing suggested facts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.faces.cli.screen import INDENT
from palazzo.features.facts.view import conflicts_found, facts
from palazzo.text.count_phrases import count_noun

if TYPE_CHECKING:
    from palazzo.faces.cli.screen import Screen
    from palazzo.features.facts.kg_accept import KgAcceptResult
    from palazzo.features.facts.kg_suggest import KgSuggestResult


def kg_suggest(screen: Screen, result: KgSuggestResult) -> None:
    """Show suggestions: what would be said, how many say so, and the words of the last."""
    for suggestion in result.suggestions:
        screen.say(
            (f"{suggestion.subject} {suggestion.predicate} {suggestion.object}", "bold"),
            (f"  {suggestion.wing}", "cyan"),
        )
        screen.exact(suggestion.citations[0].text)
        evidence = f"said {'once' if suggestion.support == 1 else f'{suggestion.support:,} times'}, last on {suggestion.citations[0].said_at[:10]}"
        screen.say((f"{INDENT}{suggestion.id}  {evidence}", "dim"))
        screen.gap()
    if result.note:
        screen.say((result.note, "yellow"))
    if not result.suggestions:
        screen.say(("The record suggests no facts that are not known.", "dim"))
        return
    more = result.total - len(result.suggestions)
    screen.say(
        (f"{count_noun(result.total, 'suggestion')}{f', {more:,} not shown (--limit)' if more else ''}. ", "dim"),
        ("palazzo kg accept ID makes a fact of one, palazzo kg dismiss ID rejects it.", "dim"),
    )


def kg_accept(screen: Screen, result: KgAcceptResult) -> None:
    """Show the facts as they stand."""
    facts(screen, result.facts)
    conflicts_found(screen, result.conflicts)
