"""Relevance of keyword matches: decides whether they are worth showing. Nothing is better than noise. Pure.

A word's weight is its rarity. A word that no drawer holds weighs as much as the rarest, since the subject of the
question may never have been discussed. A drawer is shown if it holds enough of this weight in two words, or in one rare
word.

The share was chosen on the dev half of the coding suite, each question among the drawers of its project. Of 76
questions that have an answer, 0.3 shows something for 67, 0.4 for 55, and 0.5 for 43, with the answer among the five in
50, 41 and 32. Of the 18 questions without an answer, they show something for 8, 4 and 3. The rule is stricter than that
of the service, which also has vectors.
"""

from __future__ import annotations

import math

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from palazzo.store.readonly_palace import DrawerHit

LEAST_COVERED = 0.4
"""Minimum share of the query's total word weight that a drawer must contain."""
RARE = 10
"""Maximum number of drawers that contain a word which may match alone; or one drawer in 500, if that is more."""
_RARE_SHARE = 500
_FEWEST = 1_000
"""Minimum drawer count for word rarity: a smaller palace is treated as if it had this many drawers."""
BEHIND_THE_BEST = 0.3
"""As in `thresholds`: hits with less than this share of the best hit's score are omitted."""


def worth(frequency: int, total: int) -> float:
    """Return the weight of a word that this many of `total` drawers contain: its IDF."""
    return max(0.0, math.log((max(total, _FEWEST) - frequency + 0.5) / (frequency + 0.5)))


def measure_coverage(words: Collection[str], frequencies: Mapping[str, int], total: int) -> float:
    """Return the share of the total IDF of all query words that the words of `held` have."""
    total_worth = sum(worth(frequency, total) for frequency in frequencies.values())
    return sum(worth(frequencies[word], total) for word in words) / total_worth if total_worth else 0.0


def answers(words: Collection[str], frequencies: Mapping[str, int], total: int) -> bool:
    """Return whether a drawer that contains these of the words is worth injecting."""
    tells = len(words) > 1 or any(frequencies[word] <= max(RARE, total // _RARE_SHARE) for word in words)
    return tells and measure_coverage(words, frequencies, total) >= LEAST_COVERED


def filter_hits(hits: Sequence[DrawerHit], frequencies: Mapping[str, int], total: int) -> list[DrawerHit]:
    """Return the hits that are worth injecting, in their order, without those far below the best."""
    best = max((hit.score for hit in hits), default=0.0)
    return [hit for hit in hits if hit.score >= BEHIND_THE_BEST * best and answers(hit.held, frequencies, total)]
