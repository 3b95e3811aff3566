"""The displayed score: the probability that a hit answers the query, on one scale for all queries; and its floor.

    p = 1 / (1 + exp(-(a + b · cosine + c · share + d · covered + e · rank + f · behind)))

`share` is the part of the query's possible BM25 that the drawer reached. `covered` is the part of the value of the
query's words that the drawer's source contains. `rank` is the sum that orders hits (without the bonus for the caller's
own project, which makes an answer no more likely). `behind` is the distance from the first hit's sum: an answer is
seldom far behind it. Fitted by logistic regression on the ten best drawers of each question of the coding suite's dev
half (`benchmarks/fit_score.py`). So one floor means the same for a short question and a long one.

    chance = 1 / (1 + exp(-(a + b · log_odds + c · cosine + d · held)))

The score alone cannot say whether there is an answer, because a rank score is relative to the other candidates: in a
palace that has nothing to do with the query, the first hit leads as much as anywhere. The chance of an answer is
therefore estimated apart, mainly from what is relative to nothing in the palace: how near the nearest drawer is, and
how many of the query's rare words one drawer contains. It is fitted on dev halves alone, in palaces of one to some
thousand drawers (`benchmarks/fit_floor.py`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from operator import mul
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
WORK_BY_TOKENS = Scale(-4.80, Evidence(cosine=0.0, share=0.0, coverage=1.99, rank=1.05, rank_gap=-3.75))
TALK_BY_TOKENS = Scale(-4.99, Evidence(cosine=0.0, share=0.0, coverage=0.0, rank=1.60, rank_gap=-3.61))
"""The same for candidates that were ranked by tokens as well (`reranking`)."""
LENIENT_FLOOR = 0.003
"""An answer whose best hit is below this is rejected. The other hits have no floor: a question may need several drawers
("how often did I …"), and to leave out those below 0.003 would cost 16 points of LongMemEval's session R@5.
"""


class Nearness(NamedTuple):
    """The evidence that there is an answer at all; also used for its weights."""

    log_odds: float
    """Of the score of the first hit."""
    cosine: float
    """The highest cosine of any candidate. That of two texts which have nothing in common is 0.04 ± 0.08 (bundled
    model).
    """
    held: float
    """The largest share of the query words' worth that one drawer contains. A word that occurs nowhere counts."""


class NearnessScale(NamedTuple):
    """A fitted logistic regression of the chance of an answer."""

    intercept: float
    weights: Nearness


NEARNESS = NearnessScale(-2.2, Nearness(log_odds=0.36, cosine=3.8, held=4.0))
NEARNESS_BY_TOKENS = NearnessScale(-2.7, Nearness(log_odds=0.50, cosine=4.3, held=4.8))
"""The same where the first hit was found by tokens as well, which makes its score say more."""


_AVERAGE = Nearness(log_odds=-0.6, cosine=0.5, held=0.4)
"""What stands for evidence that is missing: the averages of the questions that were fitted."""
_TINY = 1e-9
ANSWER_FLOOR = 0.4
"""An answer with a lower chance is rejected, in a palace of any size (`benchmarks/fit_floor.py`)."""


def answer_chance(
    first: float | None, cosine: float | None, held: float | None, scale: NearnessScale = NEARNESS
) -> float:
    """Return the chance that one of the five best hits answers, 0 to 1; 1 if there are no vectors to judge by.

    `first` is the score of the first hit, if it is on the scale of work; `held` is None if no words were looked up.
    """
    if cosine is None:
        return 1.0
    nearness = Nearness(
        _AVERAGE.log_odds if first is None else math.log(max(first, _TINY) / max(1 - first, _TINY)),
        cosine,
        _AVERAGE.held if held is None else held,
    )
    return _logistic(scale.intercept, nearness, scale.weights)


def choose_scale(has_cosine: bool, is_talk: bool, by_tokens: bool) -> Scale:
    """Return the scale of a candidate, by how it was ranked."""
    if not has_cosine:
        return BY_KEYWORD
    if by_tokens:
        return TALK_BY_TOKENS if is_talk else WORK_BY_TOKENS
    return TALK if is_talk else WORK


def relevance(evidence: Evidence, scale: Scale) -> float:
    """Return the displayed score, 0 to 1."""
    return _logistic(scale.intercept, evidence, scale.weights)


def _logistic(intercept: float, values: Iterable[float], weights: Iterable[float]) -> float:
    return 1.0 / (1.0 + math.exp(-(intercept + sum(map(mul, values, weights)))))


def share_of(bm25: float | None, max_bm25: float) -> float:
    """Return a drawer's BM25 as a fraction of the highest possible one."""
    return min((bm25 or 0.0) / max_bm25, 1.0) if max_bm25 > 0 else (1.0 if bm25 else 0.0)
