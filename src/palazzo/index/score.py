"""The shown score: how likely a hit is to answer, on one scale for every query, and the floors under it.

    p = 1 / (1 + exp(-(a + b · cosine + c · share + d · covered + e · rank + f · behind)))

`share` is the part of the query's possible BM25 that the drawer reached, `covered` the part of its words' worth that
the drawer's source has, `rank` the sum that orders hits (without the lift of being at home, which makes nothing more
likely to answer), and `behind` by how much the first hit's is greater: an answer is seldom far behind it. Fitted by
logistic regression on the ten best drawers of each question of the coding suite's dev half
(`benchmarks/fit_score.py`); one floor then means the same for a short question and a long one.
"""

from __future__ import annotations

import math
from typing import NamedTuple


class Evidence(NamedTuple):
    """What the score is made of; also the weights of these."""

    cosine: float
    share: float
    coverage: float
    rank: float
    rank_gap: float


class Scale(NamedTuple):
    """A fitted logistic regression."""

    intercept: float
    weights: Evidence


WORK = Scale(-8.64, Evidence(cosine=3.34, share=0.0, coverage=1.39, rank=1.37, rank_gap=-2.95))
"""For what is ranked by the weights of work (`rank.py`)."""
TALK = Scale(-7.66, Evidence(cosine=0.0, share=0.0, coverage=0.0, rank=1.79, rank_gap=-2.91))
"""For talk between people, whose ranks are other sums; fitted on LoCoMo, where the rank says all that is to be said."""
BY_KEYWORD = Scale(-4.93, Evidence(cosine=0.0, share=5.02, coverage=0.22, rank=0.97, rank_gap=-7.20))
"""For what has no cosine."""
ASK_FLOOR = 0.15
"""An answer whose best hit is below is none. On the dev half, of questions that the scale had not seen, it refuses 33 %
of those that nobody answered and 7 % of the others, 4 % that were answered by one of the five best; 0.3 would refuse
56, 18 and 15 % (`benchmarks/README.md`). Where a drawer has the words (below) less is refused."""
LENIENT_FLOOR = 0.003
"""The same where the score says little: for talk between people (of LoCoMo's questions, which all have an answer, 0.2
would refuse 3 %), for what has no vector yet, in a small palace, and for a drawer that has the words asked for."""
_SMALL = 1_000
"""Drawers below which the rarity of words, and what is near by vector, tells little."""
_WORD_SHARE_FLOOR = 0.5
"""The share of what the words asked for are worth from which a drawer that has them is not refused."""


def floor_of(scale: Scale, word_share: float, drawers: int) -> float:
    """Return the floor under an answer whose best hit is on this scale and has this share of the words' worth."""
    return ASK_FLOOR if scale is WORK and word_share < _WORD_SHARE_FLOOR and drawers >= _SMALL else LENIENT_FLOOR


def relevance(evidence: Evidence, scale: Scale) -> float:
    """Return the shown score, 0 to 1."""
    own = (value * weight for value, weight in zip(evidence, scale.weights, strict=True))
    return 1.0 / (1.0 + math.exp(-(scale.intercept + sum(own))))


def share_of(bm25: float | None, max_bm25: float) -> float:
    """Return the part of the greatest possible BM25 that a drawer reached."""
    return min((bm25 or 0.0) / max_bm25, 1.0) if max_bm25 > 0 else (1.0 if bm25 else 0.0)
