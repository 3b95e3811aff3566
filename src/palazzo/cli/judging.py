"""How the quarantine looks to a person."""

from __future__ import annotations

from palazzo.cli.hits import day
from palazzo.cli.screen import INDENT, Screen
from palazzo.operations.quarantine_approve import QuarantineApproveResult
from palazzo.operations.quarantine_drop import QuarantineDropResult
from palazzo.operations.quarantine_list import QuarantinedView, QuarantineListResult
from palazzo.text.counts import agree, count_noun

_LONGEST = 300
_CAUSES = 3


def quarantine_list(screen: Screen, result: QuarantineListResult) -> None:
    """Show what waits to be judged, then where words from outside came from."""
    for one in result.entries:
        _entry(screen, one)
    if result.notes or result.facts:
        told = f"{count_noun(result.notes, 'drawer')} and {count_noun(result.facts, 'fact')} in quarantine. "
        screen.say((told, "bold"), "'palazzo quarantine approve ID' or 'palazzo quarantine drop ID' judges one.")
    else:
        screen.say("Nothing is in quarantine.")
    if result.origins is not None:
        screen.gap()
        rows = [(one.origin, f"{one.drawers:,}", day(one.last_at), (one.id, "dim")) for one in result.origins]
        screen.table(("from outside", "drawers", "last", "one of them"), rows, right=(1,))


def _entry(screen: Screen, one: QuarantinedView) -> None:
    words = " ".join(one.text.split())
    screen.say((f"{one.kind}  ", "yellow"), words if len(words) <= _LONGEST else f"{words[:_LONGEST]}…", hanging=4)
    facts = "  ".join(filter(None, (day(one.at), one.author)))
    screen.say((f"{INDENT}{one.id}  {facts}  ", "dim"), (one.wing or "", "cyan"))
    origins = list(dict.fromkeys(cause.origin for cause in one.why))
    if origins:
        more = f", and {len(origins) - _CAUSES:,} more" if len(origins) > _CAUSES else ""
        screen.say((f"{INDENT}its writer had met: {', '.join(origins[:_CAUSES])}{more}", "dim"))
    else:
        screen.say((f"{INDENT}its writer had met words from outside in a session of which nothing is kept", "dim"))


def quarantine_approve(screen: Screen, result: QuarantineApproveResult) -> None:
    """Show how much is believed now."""
    screen.say((f"{_told(len(result.drawers), len(result.facts))} approved.", "bold"), " 'palazzo undo' takes it back.")


def quarantine_drop(screen: Screen, result: QuarantineDropResult) -> None:
    """Show how much was dropped, and what holds again."""
    screen.say((f"{_told(len(result.drawers), len(result.facts))} dropped.", "bold"), " 'palazzo undo' takes it back.")
    if result.restored:
        screen.say(
            f"{count_noun(len(result.restored), 'fact')} that had been superseded so"
            f" {agree(len(result.restored), 'holds', 'hold')} again."
        )


def _told(drawers: int, facts: int) -> str:
    parts = [count_noun(number, what) for number, what in ((drawers, "drawer"), (facts, "fact")) if number]
    return " and ".join(parts) or "Nothing was"
