"""Terminal output of one fact, which `palazzo show` has as well: it needs no results of other commands about facts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from typing import TYPE_CHECKING

from palazzo.security.display_names import quoted_name

if TYPE_CHECKING:
    from palazzo.features.screen import Screen
    from palazzo.operations.shared_views import FactView, ProvenanceView

_MIDNIGHT = "T00:00:00Z"


def fact(screen: Screen, uid: str, versions: Sequence[FactView]) -> None:
    """Show a fact in full: its current and former versions, and their sources."""
    last = versions[-1]
    screen.say((f"fact {uid}", "bold"))
    details = [
        ("says", f"{last.subject} {last.predicate} {last.object}"),
        ("holds in", f"wing {last.scope}" if last.scope else "every wing"),
        ("held", format_period(last) or "start unknown"),
        ("confidence", f"{last.confidence:g}"),
        ("superseded by", last.superseded_by or ""),
        *(("stated by", _stated_by(entry)) for entry in last.provenance),
        *(("cites", file) for file in dict.fromkeys(file for entry in last.provenance for file in entry.anchors)),
    ]
    screen.table(("", ""), [((name, "dim"), value) for name, value in details if value])
    screen.gap()
    rows = [
        (entry.recorded_at, entry.retired_at or "", format_period(entry), f"{entry.confidence:g}") for entry in versions
    ]
    screen.table(("recorded", "retired", "held", "confidence"), rows, right=(3,))


def format_period(fact: FactView) -> str:
    """Return when a fact held, up to its last day, not the first day after it."""
    start, end = day_of(fact.valid_from), last_day_of(fact.valid_to)
    if fact.valid_from and fact.valid_to:
        return f"on {start}" if start == end else f"{start} to {end}"
    if fact.valid_from:
        return f"since {start}"
    return f"until {end}" if fact.valid_to else ""


def day_of(moment: str | None) -> str:
    """Return a time in short form: only the date if it is midnight."""
    if moment is None:
        return ""
    return moment.removesuffix(_MIDNIGHT) if moment.endswith(_MIDNIGHT) else f"{moment[:16].replace('T', ' ')}"


def last_day_of(moment: str | None) -> str:
    """Return an end time in short form: the day before if it is midnight."""
    if moment is None or not moment.endswith(_MIDNIGHT):
        return day_of(moment)
    return (date.fromisoformat(moment[:10]) - timedelta(days=1)).isoformat()


def _stated_by(provenance: ProvenanceView) -> str:
    branch_text = f"on {quoted_name(provenance.branch)}" if provenance.branch else ""
    return ", ".join(
        filter(None, (provenance.stated_by, f"in {provenance.item}" if provenance.item else "", branch_text))
    )
