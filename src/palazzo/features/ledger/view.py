"""Terminal output of why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.features.screen import Screen
from palazzo.text.count_phrases import count_noun
from palazzo.text.times import to_iso

if TYPE_CHECKING:  # each result's own module alone is loaded, by whoever made it
    from palazzo.features.ledger.contract import InjectionView, PartView, WhyResult


def why(screen: Screen, result: WhyResult) -> None:
    """Show each injection: when and why, its exact text, then its ids and which of them were used."""
    screen.say((f"session {result.session}", "bold"), f"  {result.host}, began {to_iso(result.began_at)}")
    screen.gap()
    for injection in result.injections:
        _injection(screen, injection)
    tokens = sum(view.tokens for view in result.injections)
    parts = [part for view in result.injections for part in view.parts]
    used = sum(bool(part.used) for part in parts)
    summary = (
        f"{count_noun(len(result.injections), 'injection')}, {count_noun(tokens, 'token')}"
        if result.injections
        else "Nothing"
    )
    screen.say((f"{summary} given{f'; {used:,} of {len(parts):,} used' if parts else ''}", "dim"))


def _injection(screen: Screen, injection: InjectionView) -> None:
    facts = f"{count_noun(injection.tokens, 'token')}, {injection.took_ms:,.1f} ms, epoch {injection.epoch}"
    event = f"{injection.event} (sub-agent {injection.agent})" if injection.agent else injection.event
    screen.say((f"{to_iso(injection.at)}  {event}", "cyan"), f"  {injection.reason}  ", (facts, "dim"))
    if injection.text is None and not injection.erased:
        screen.say(
            (
                "    No service was running, so the hook found these by keyword; the injected text was not kept.",
                "yellow",
            )
        )
    elif injection.text is None:
        screen.say(("    This text was erased: it quoted, or may have quoted, erased words.", "yellow"))
    else:
        screen.exact(injection.text)
    for part in injection.parts:
        screen.say((f"    {part.kind} {part.id}", "dim"), f"  {_used(part)}" if part.used else "")
    screen.gap()


def _used(part: PartView) -> str:
    return ", ".join(f"{use.how} {to_iso(use.at)}" for use in part.used)
