"""Presenting: drawers as hits, with exact text inside a budget of tokens."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from palazzo.model import Drawer
from palazzo.text.similarity import Signature, containment, signature
from palazzo.text.tokens import estimate_tokens

NEAR_COPY = 0.9
"""Share of a hit's word triples that an earlier hit holds, from which it is folded into that."""
_LEAST_SHOWN = 40
"""Tokens below which a cut piece of text is not worth showing."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One answer: a drawer, its shown score, why it is here, and how much of it is shown."""

    drawer: Drawer
    score: float
    text: str
    truncated: bool
    why: tuple[str, ...]
    copies: tuple[str, ...] = ()
    """Ids of near-copies that were folded into this hit."""


def fold(hits: Iterable[Hit], limit: int) -> list[Hit]:
    """Keep the first `limit` hits that are not near-copies of one before them; name the copies in it."""
    kept: list[Hit] = []
    signatures: list[Signature] = []
    for hit in hits:
        own = signature(hit.drawer.text)
        original = next((n for n, other in enumerate(signatures) if containment(own, other) >= NEAR_COPY), None)
        if original is not None:
            kept[original] = replace(kept[original], copies=(*kept[original].copies, hit.drawer.id))
        elif len(kept) < limit:
            kept.append(hit)
            signatures.append(own)
        else:
            break
    return kept


def within_budget(hits: Sequence[Hit], budget: int) -> list[Hit]:
    """Cut the hits' texts so that together they fit `budget` tokens; a cut hit says so.

    The first hit always shows something. Exact words are cut at a line or word, never rewritten.
    """
    shown: list[Hit] = []
    left = budget
    for hit in hits:
        cost = estimate_tokens(hit.drawer.text)
        if cost <= left:
            shown.append(hit)
            left -= cost
            continue
        if left < _LEAST_SHOWN and shown:
            shown.append(replace(hit, text="", truncated=True))
            continue
        text = _cut(hit.drawer.text, left, cost)
        shown.append(replace(hit, text=text, truncated=True))
        left -= estimate_tokens(text)
    return shown


def _cut(text: str, tokens: int, cost: int) -> str:
    """Return the beginning of `text` that takes about `tokens` of its `cost`."""
    size = max(1, len(text) * max(tokens, 1) // max(cost, 1))
    head = text[:size]
    for mark in ("\n", " "):
        at = head.rfind(mark)
        if at > size // 2:
            return head[:at]
    return head
