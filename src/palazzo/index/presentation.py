"""Presentation: drawers as hits, with their speakers, exact text inside a token budget, and their neighbours.

The hits' own words come first; neighbours (`hit_window` chooses them) get the rest of the budget.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from palazzo.frozen_class import frozen
from palazzo.model import Drawer
from palazzo.text.similarity import Signature, containment, signature
from palazzo.text.token_counts import cut, estimate_tokens

NEAR_COPY = 0.9
"""The share of a hit's word triples that an earlier hit contains, from which it is folded into that hit."""
LEAST_SHOWN = 40
"""The least tokens of a shortened text that are worth showing."""

PART_SEPARATOR = "\n…\n"
"""Stands between two drawers that are shown as one text. It is not recorded text."""


@frozen
class Turn:
    """A span [start, end) of a shown text, in code points, with its speaker."""

    role: str
    author: str
    start: int
    end: int


@frozen
class Reason:
    """One value of one stage for a hit, with its maximum or its weight, if it has one."""

    name: str
    value: float
    most: float | None = None
    weight: float | None = None

    def __str__(self) -> str:
        text = f"{self.name} {self.value:.1f} of {self.most:.1f}" if self.most is not None else None
        text = text or f"{self.name} {self.value:.2f}"
        return text if self.weight is None else f"{text} × {self.weight:.2f}"


@frozen
class Neighbour:
    """A neighbour that helps to understand a hit. `position` is -2 to 2; the nearest have 1 and -1.

    `text` is a part of the drawer's text, or all of it unless `truncated`. If the drawer is already shown, `shown_at`
    is the rank of the hit that shows it, and there is no text.
    """

    drawer: Drawer
    position: int
    text: str
    truncated: bool
    turns: tuple[Turn, ...] = ()
    shown_at: int | None = None


@frozen
class HitPart:
    """A drawer of a hit of several, and the span [start, end) of the hit's text that it has, in code points."""

    drawer: Drawer
    row: int
    start: int
    end: int


@frozen
class Hit:
    """One hit: its best drawer, that drawer's displayed score, the reasons, and the text that is shown."""

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
    """The least score that makes a hit like this one, if it is the best, an answer."""
    later: int = 0
    """Characters of the drawer that were said after the requested time."""
    is_talk: bool = False
    """Whether it is talk between people: its score is on their scale."""
    parts: tuple[HitPart, ...] = ()
    """The drawers whose texts are shown together, in the order of the text; empty if there is only one."""

    @property
    def drawers(self) -> tuple[Drawer, ...]:
        """Return the drawers that are shown; the best is not always the first."""
        return tuple(part.drawer for part in self.parts) or (self.drawer,)

    @property
    def length(self) -> int:
        """Return the characters of the whole texts of its drawers, and of what stands between them."""
        return sum(len(drawer.text) for drawer in self.drawers) + len(PART_SEPARATOR) * (len(self.drawers) - 1)

    @property
    def why(self) -> tuple[str, ...]:
        """Return the reasons, each in a few words."""
        return tuple(map(str, self.reasons))


class SeenTexts:
    """Texts that were seen so far, of which each later one may be a near-copy."""

    def __init__(self) -> None:
        self._signatures: list[Signature] = []

    def find_original(self, text: str) -> int | None:
        """Return the number of the earlier text that this one nearly repeats; None if it is new, and then keep it."""
        own = signature(text)
        for number, earlier in enumerate(self._signatures):
            if containment(own, earlier) >= NEAR_COPY:
                return number
        self._signatures.append(own)
        return None


def fold(hits: Iterable[Hit], limit: int) -> list[Hit]:
    """Keep the first `limit` hits that are not near-copies of an earlier one; list the copies in that one."""
    unique_hits: list[Hit] = []
    seen_texts = SeenTexts()
    for hit in hits:
        original = seen_texts.find_original(hit.drawer.text)
        if original is not None:
            unique_hits[original] = replace(
                unique_hits[original], copies=(*unique_hits[original].copies, hit.drawer.id)
            )
        elif len(unique_hits) < limit:
            unique_hits.append(hit)
        else:
            break
    return unique_hits


def within_budget(hits: Sequence[Hit], budget: int) -> list[Hit]:
    """Cut the hits' texts so that together they fit `budget` tokens; a cut hit says so.

    The first hit always shows something. Exact text is cut at a line or word, never rewritten.
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
