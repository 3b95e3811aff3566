"""The displayed score: the probability that a hit answers the query, on one scale for all queries, and its floors.

    p = 1 / (1 + exp(-(a + b · cosine + c · share + d · covered + e · rank + f · behind)))

`share` is the part of the query's possible BM25 that the drawer reached. `covered` is the part of the value of the
query's words that the drawer's source contains. `rank` is the sum that orders hits (without the bonus for the caller's
own project, which makes an answer no more likely). `behind` is the distance from the first hit's sum: an answer is
seldom far behind it. Fitted by logistic regression on the ten best drawers of each question of the coding suite's dev
half (`benchmarks/fit_score.py`). So one floor means the same for a short question and a long one.
"""

from __future__ import annotations

import math
from typing import NamedTuple


class Evidence(NamedTuple):
    """The inputs of the score; also used for their weights."""

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
"""For candidates ranked by the weights of work (`ranking`)."""
TALK = Scale(-7.66, Evidence(cosine=0.0, share=0.0, coverage=0.0, rank=1.79, rank_gap=-2.91))
"""For talk between people, whose rank scores are different sums; fitted on LoCoMo, where the rank alone is
sufficient.
"""
BY_KEYWORD = Scale(-4.93, Evidence(cosine=0.0, share=5.02, coverage=0.22, rank=0.97, rank_gap=-7.20))
"""For candidates without a cosine."""
ASK_FLOOR = 0.15
"""An answer whose best hit is below this is rejected. On the dev half, for queries that the scale had not seen, it
rejects 33 % of those without an answer, 7 % of the others, and 4 % of those that one of the five best hits answered;
0.3 would reject 56, 18 and 15 % (`benchmarks/README.md`). If a drawer has the words (below), less is rejected.
"""
LENIENT_FLOOR = 0.003
"""The floor where the score says little: for talk between people (of LoCoMo's questions, which all have an answer, 0.2
would reject 3 %), for drawers without a vector, in a small palace, and for a drawer that has the words of the query.
"""
_SMALL = 1_000
"""The number of drawers below which word rarity and vector distance say little."""
_WORD_SHARE_FLOOR = 0.5
"""The share of the query words' total worth from which a drawer that contains them is not rejected."""


def floor_of(scale: Scale, word_share: float, drawers: int) -> float:
    """Return the floor for an answer whose best hit has this scale and this share of the words' weight."""
    return ASK_FLOOR if scale is WORK and word_share < _WORD_SHARE_FLOOR and drawers >= _SMALL else LENIENT_FLOOR


def relevance(evidence: Evidence, scale: Scale) -> float:
    """Return the displayed score, 0 to 1."""
    own = (value * weight for value, weight in zip(evidence, scale.weights, strict=True))
    return 1.0 / (1.0 + math.exp(-(scale.intercept + sum(own))))


def share_of(bm25: float | None, max_bm25: float) -> float:
    """Return a drawer's BM25 as a fraction of the highest possible one."""
    return min((bm25 or 0.0) / max_bm25, 1.0) if max_bm25 > 0 else (1.0 if bm25 else 0.0)
