"""Terminal output of the quarantine."""

from __future__ import annotations

from palazzo.features.screen import INDENT, Screen
from palazzo.features.search.hit_view import day
from palazzo.features.trust.contract import (
    QuarantineApproveResult,
    QuarantineDropResult,
    QuarantinedView,
    QuarantineListResult,
)
from palazzo.text.count_phrases import agree, count_noun

_LONGEST = 300
_CAUSES = 3


def quarantine_list(screen: Screen, result: QuarantineListResult) -> None:
    """Show the entries to review, then the sources of untrusted content."""
    for entry in result.entries:
        _entry(screen, entry)
    if result.notes or result.facts:
        summary = f"{count_noun(result.notes, 'drawer')} and {count_noun(result.facts, 'fact')} in quarantine. "
        screen.say(
            (summary, "bold"), "Review one with 'palazzo quarantine approve ID' or 'palazzo quarantine drop ID'."
        )
    else:
        screen.say("The quarantine is empty.")
    if result.origins is not None:
        screen.gap()
        rows = [(entry.origin, f"{entry.drawers:,}", day(entry.last_at), (entry.id, "dim")) for entry in result.origins]
        screen.table(("from outside", "drawers", "last", "example"), rows, right=(1,))


def _entry(screen: Screen, entry: QuarantinedView) -> None:
    words = " ".join(entry.text.split())
    screen.say(
        (f"{entry.kind}  ", "yellow"), words if len(words) <= _LONGEST else f"{words[:_LONGEST]}…", wrap_indent=4
    )
    facts = "  ".join(filter(None, (day(entry.at), entry.author)))
    screen.say((f"{INDENT}{entry.id}  {facts}  ", "dim"), (entry.wing or "", "cyan"))
    origins = list(dict.fromkeys(cause.origin for cause in entry.why))
    if origins:
        more = f", and {len(origins) - _CAUSES:,} more" if len(origins) > _CAUSES else ""
        screen.say((f"{INDENT}its writer had read: {', '.join(origins[:_CAUSES])}{more}", "dim"))
    else:
        screen.say((f"{INDENT}its writer had read untrusted content in a session that is not stored", "dim"))


def quarantine_approve(screen: Screen, result: QuarantineApproveResult) -> None:
    """Show how much was approved."""
    screen.say(
        (f"{_format_counts(len(result.drawers), len(result.facts))} approved.", "bold"),
        " 'palazzo undo' reverts this.",
    )


def quarantine_drop(screen: Screen, result: QuarantineDropResult) -> None:
    """Show how much was dropped, and which facts hold again."""
    screen.say(
        (f"{_format_counts(len(result.drawers), len(result.facts))} dropped.", "bold"), " 'palazzo undo' reverts this."
    )
    if result.restored:
        screen.say(
            f"{count_noun(len(result.restored), 'fact')} that the dropped content had superseded "
            f"{agree(len(result.restored), 'holds', 'hold')} again."
        )


def _format_counts(drawers: int, facts: int) -> str:
    parts = [count_noun(number, noun) for number, noun in ((drawers, "drawer"), (facts, "fact")) if number]
    return " and ".join(parts) or "Nothing was"
