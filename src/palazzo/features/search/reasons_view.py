"""Terminal output of the explanation of search: a table of what each signal adds to the rank of each hit."""

from __future__ import annotations

from collections.abc import Sequence

from palazzo.features.screen import Part, Screen
from palazzo.features.search.contract import HitView, ReasonView

_CELL = 8
"""Columns of a hit in the table of reasons."""


def write_reasons(screen: Screen, hits: Sequence[HitView], floor: float) -> None:
    """Show why hits are in this order: each stage's result and each signal's share of the rank, for each hit."""
    hit_reasons = [{reason.name: reason for reason in hit.reasons} for hit in hits]
    names = _merged([list(reasons) for reasons in hit_reasons])
    columns = max(1, (screen.width - max(map(len, names), default=0) - _CELL) // _CELL)
    for first in range(0, len(hits), columns):
        part = range(first, min(first + columns, len(hits)))
        rows = [[name, _weight(name, hit_reasons), *(_cell(hit_reasons[n].get(name)) for n in part)] for name in names]
        rows.append([("score", "bold"), "", *((f"{hits[n].score:.4f}", "green") for n in part)])
        screen.table(("", "weight", *(f"hit {n + 1}" for n in part)), rows, right=range(1, len(part) + 2))
        screen.gap()
    ceilings = {reason.most for reasons in hit_reasons for reason in reasons.values() if reason.most is not None}
    for line in (
        "Lines with a weight show what a signal adds to the rank; hits are ordered by rank.",
        *(f"bm25 is at most {maximum:.1f} for these words." for maximum in ceilings),
        f"The score estimates how likely a hit answers the query; the best must reach {floor:g}.",
    ):
        screen.say((line, "dim"), wrap_indent=0)
    screen.gap()


def _merged(lists: Sequence[Sequence[str]]) -> list[str]:
    """Merge lists that share one order but each leave out some names."""
    merged: list[str] = []
    for names in lists:
        at = 0
        for name in names:
            if name not in merged:
                merged.insert(at, name)
            at = merged.index(name) + 1
    return merged


def _weight(name: str, hit_reasons: Sequence[dict[str, ReasonView]]) -> Part:
    weight = next((reasons[name].weight for reasons in hit_reasons if name in reasons), None)
    return "" if weight is None else (f"{weight:.2f}", "dim")


def _cell(reason: ReasonView | None) -> Part:
    if reason is None:
        return ""
    return f"{reason.value:.2f}" if reason.weight is None else f"{reason.value * reason.weight:+.2f}"
