"""Whether what was found by keyword alone is worth telling: nothing rather than noise. Pure.

A word is worth what its rarity says; one that no drawer holds is worth as much as the rarest, since nobody may ever
have spoken of what was asked. A drawer is told that holds enough of this worth in two words, or in one that is rare.

The share was chosen on the coding suite's dev half, each question among the drawers of its project: 0.3 tells something
of 67 of 76 questions that have an answer, 0.4 of 55, 0.5 of 43, with the answer among the five in 50, 41 and 32; of the
18 that nobody answered, of 8, 4 and 3. It is stricter than the service, which has vectors to go by.
"""

from __future__ import annotations

import math

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from palazzo.store.readonly_palace import DrawerHit

LEAST_COVERED = 0.4
"""The share of the question's worth that a drawer must hold."""
RARE = 10
"""Drawers that at most hold a word which may be matched alone; or one in 500."""
_RARE_SHARE = 500
_FEWEST = 1_000
"""Drawers from which on a palace tells how rare words are; in a smaller one they are taken for so many."""
BEHIND_THE_BEST = 0.3
"""As in `gates`: what has less of the best one's score is left out."""


def worth(frequency: int, total: int) -> float:
    """Return what a word tells that so many of `total` drawers hold: its IDF."""
    return max(0.0, math.log((max(total, _FEWEST) - frequency + 0.5) / (frequency + 0.5)))


def measure_coverage(words: Collection[str], frequencies: Mapping[str, int], total: int) -> float:
    """Return the share of the worth of all words that were asked for which `held` have."""
    total_worth = sum(worth(frequency, total) for frequency in frequencies.values())
    return sum(worth(frequencies[word], total) for word in words) / total_worth if total_worth else 0.0


def answers(words: Collection[str], frequencies: Mapping[str, int], total: int) -> bool:
    """Whether a drawer that holds these of the words is worth telling."""
    tells = len(words) > 1 or any(frequencies[word] <= max(RARE, total // _RARE_SHARE) for word in words)
    return tells and measure_coverage(words, frequencies, total) >= LEAST_COVERED


def filter_hits(hits: Sequence[DrawerHit], frequencies: Mapping[str, int], total: int) -> list[DrawerHit]:
    """Return those that are worth telling, in their order, without what is far behind the best."""
    best = max((hit.score for hit in hits), default=0.0)
    return [hit for hit in hits if hit.score >= BEHIND_THE_BEST * best and answers(hit.held, frequencies, total)]
