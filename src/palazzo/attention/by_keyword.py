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

    from palazzo.store.bare import Found

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


def covered(held: Collection[str], counted: Mapping[str, int], total: int) -> float:
    """Return the share of the worth of all words that were asked for which `held` have."""
    asked = sum(worth(frequency, total) for frequency in counted.values())
    return sum(worth(counted[word], total) for word in held) / asked if asked else 0.0


def answers(held: Collection[str], counted: Mapping[str, int], total: int) -> bool:
    """Whether a drawer that holds these of the words is worth telling."""
    tells = len(held) > 1 or any(counted[word] <= max(RARE, total // _RARE_SHARE) for word in held)
    return tells and covered(held, counted, total) >= LEAST_COVERED


def passing(found: Sequence[Found], counted: Mapping[str, int], total: int) -> list[Found]:
    """Return those that are worth telling, in their order, without what is far behind the best."""
    best = max((one.score for one in found), default=0.0)
    return [one for one in found if one.score >= BEHIND_THE_BEST * best and answers(one.held, counted, total)]
