"""Presenting: drawers as hits, with who speaks in them, exact text inside a budget of tokens, and what stands beside.

The hits' own words come first; neighbours (`window.py` chooses them) get what the budget has left.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from palazzo.model import Drawer
from palazzo.text.similarity import Signature, containment, signature
from palazzo.text.token_counts import cut, estimate_tokens

NEAR_COPY = 0.9
"""Share of a hit's word triples that an earlier hit holds, from which it is folded into that."""
LEAST_SHOWN = 40
"""Tokens below which a cut piece of text is not worth showing."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A stretch of a shown text, [start, end) in code points, with whoever says it."""

    role: str
    author: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Reason:
    """One value of one stage, for a hit: of how much at most, or with which weight, where there is such."""

    name: str
    value: float
    most: float | None = None
    weight: float | None = None

    def __str__(self) -> str:
        text = f"{self.name} {self.value:.1f} of {self.most:.1f}" if self.most is not None else None
        text = text or f"{self.name} {self.value:.2f}"
        return text if self.weight is None else f"{text} × {self.weight:.2f}"


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A drawer beside a hit that helps to follow it. `position` is -2 to 2, the nearest 1 away.

    `text` is a stretch of the drawer's, and all of it unless `truncated`. Where the drawer is shown already, `shown_at`
    is the rank of the hit that shows it, and there is no text.
    """

    drawer: Drawer
    position: int
    text: str
    truncated: bool
    turns: tuple[Turn, ...] = ()
    shown_at: int | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """One answer: a drawer, its shown score, why it is here, and how much of it is shown."""

    drawer: Drawer
    score: float
    text: str
    truncated: bool
    reasons: tuple[Reason, ...] = ()
    row: int = 0
    copies: tuple[str, ...] = ()
    """Ids of near-copies that were folded into this hit."""
    turns: tuple[Turn, ...] = ()
    context: tuple[Neighbour, ...] = ()
    floor: float = 0.0
    """The score from which on a best hit like this one makes an answer."""
    later: int = 0
    """Characters of the drawer that were said after the moment as of which was asked."""

    @property
    def why(self) -> tuple[str, ...]:
        """The reasons, each in a few words."""
        return tuple(map(str, self.reasons))


def fold(hits: Iterable[Hit], limit: int) -> list[Hit]:
    """Keep the first `limit` hits that are not near-copies of one before them; name the copies in it."""
    unique_hits: list[Hit] = []
    signatures: list[Signature] = []
    for hit in hits:
        own = signature(hit.drawer.text)
        original = next(
            (n for n, earlier_signature in enumerate(signatures) if containment(own, earlier_signature) >= NEAR_COPY),
            None,
        )
        if original is not None:
            unique_hits[original] = replace(
                unique_hits[original], copies=(*unique_hits[original].copies, hit.drawer.id)
            )
        elif len(unique_hits) < limit:
            unique_hits.append(hit)
            signatures.append(own)
        else:
            break
    return unique_hits


def within_budget(hits: Sequence[Hit], budget: int) -> list[Hit]:
    """Cut the hits' texts so that together they fit `budget` tokens; a cut hit says so.

    The first hit always shows something. Exact words are cut at a line or word, never rewritten.
    """
    visible_hits: list[Hit] = []
    remaining_tokens = budget
    for hit in hits:
        cost = estimate_tokens(hit.drawer.text)
        if cost <= remaining_tokens:
            visible_hits.append(hit)
            remaining_tokens -= cost
            continue
        if remaining_tokens < LEAST_SHOWN and visible_hits:
            visible_hits.append(replace(hit, text="", truncated=True))
            continue
        text = cut(hit.drawer.text, remaining_tokens, cost)
        visible_hits.append(replace(hit, text=text, truncated=True))
        remaining_tokens -= estimate_tokens(text)
    return visible_hits
