"""Stretches: one hit is the best two drawers of a session or of a document.

    ranked drawers ──pair──> hits of one or two drawers ──fit──> texts within the budget ──join──> one text for each hit

Many first hits that do not answer stand in the right source beside the drawer that does. A reader who gets both
has the answer, and the other places of the list go to other sources. Notes and reasoning are not paired.
Drawers are paired only if they have the same branch and wing, and if both are external or neither is, so that the
labels of the hit hold for its whole text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from palazzo.index.presentation import LEAST_SHOWN, PART_SEPARATOR, Hit, HitPart
from palazzo.model import Drawer
from palazzo.text.token_counts import cut, estimate_tokens

DRAWERS_READ = 2
"""Drawers that are read for each hit: a second drawer is one of the best 2 × `limit`."""
_SourceKey = tuple[str, str, bool, str, str]


def pair(hits: Sequence[Hit], limit: int) -> tuple[list[Hit], dict[int, Hit]]:
    """Return at most `limit` hits, and the second drawer of those that have one, by the row of the first.

    A third drawer of a source begins another hit.
    """
    firsts: list[Hit] = []
    seconds: dict[int, Hit] = {}
    unpaired: dict[_SourceKey, Hit] = {}
    for hit in hits:
        key = _source_key(hit.drawer)
        first = unpaired.pop(key, None) if key is not None else None
        if first is not None:
            seconds[first.row] = hit
        elif len(firsts) < limit:
            firsts.append(hit)
            if key is not None:
                unpaired[key] = hit
    return firsts, seconds


def _source_key(drawer: Drawer) -> _SourceKey | None:
    """Return what drawers of one hit have in common; None for a drawer that stays alone."""
    source = drawer.source
    if drawer.kind == "reasoning" or (not source.session_id and source.kind != "document"):
        return None
    return source.uri, source.session_id, drawer.trust == "external", drawer.branch, drawer.place.wing


def fit_seconds(firsts: Sequence[Hit], seconds: Mapping[int, Hit], budget: int) -> dict[int, Hit]:
    """Return the second drawers that fit into what the first ones leave of `budget` tokens, the best first.

    The last may be cut. A hit whose first drawer is cut has no second one.
    """
    remaining_tokens = budget - sum(estimate_tokens(hit.text) for hit in firsts)
    fitting: dict[int, Hit] = {}
    for first in firsts:
        second = seconds.get(first.row)
        if second is None or first.truncated:
            continue
        cost = estimate_tokens(second.drawer.text)
        if cost > remaining_tokens:
            if remaining_tokens < LEAST_SHOWN:
                break
            second = replace(second, text=cut(second.drawer.text, remaining_tokens, cost), truncated=True)
        fitting[first.row] = second
        remaining_tokens -= estimate_tokens(second.text)
    return fitting


def join(first: Hit, second: Hit | None) -> Hit:
    """Return one hit with the texts of both drawers, in the order in which they were said."""
    if second is None:
        return first
    parts: list[HitPart] = []
    text = ""
    for hit in sorted((first, second), key=lambda hit: (hit.drawer.created_at, hit.row)):
        text += PART_SEPARATOR if parts else ""
        parts.append(HitPart(hit.drawer, hit.row, len(text), len(text) + len(hit.text)))
        text += hit.text
    offsets = {part.row: part.start for part in parts}
    turns = tuple(
        replace(turn, start=turn.start + offsets[hit.row], end=turn.end + offsets[hit.row])
        for hit in sorted((first, second), key=lambda hit: offsets[hit.row])
        for turn in hit.turns
    )
    return replace(
        first,
        text=text,
        truncated=first.truncated or second.truncated,
        copies=(*first.copies, *second.copies),
        turns=turns,
        parts=tuple(parts),
    )
