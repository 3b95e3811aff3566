"""The shown score: how likely a hit is relevant, on one scale for every query, and the floor under it.

    p = 1 / (1 + exp(-(a + b · cosine + c · share)))

`share` is the part of the query's possible BM25 that the drawer reached. One floor then means the same for
a short question and a long one.
"""

from __future__ import annotations

import math

INTERCEPT, COSINE_WEIGHT, SHARE_WEIGHT = -3.6, 7.0, 4.0
"""Set by eye on the LoCoMo and fixture queries: cosine 0.25 without a shared word scores 0.14, 0.5 with half
of the words 0.87."""
KEYWORD_INTERCEPT, KEYWORD_SHARE_WEIGHT = -2.0, 6.0
"""The same without vectors."""
ASK_FLOOR = 0.0
"""Nothing below it is shown to somebody who asks."""
RELATIVE_FLOOR = 0.0
"""Nothing below this share of the best hit is shown."""


def relevance(cosine: float | None, bm25: float | None, ceiling: float) -> float:
    """Return the shown score, 0 to 1."""
    share = min((bm25 or 0.0) / ceiling, 1.0) if ceiling > 0 else (1.0 if bm25 else 0.0)
    if cosine is None:
        return _logistic(KEYWORD_INTERCEPT + KEYWORD_SHARE_WEIGHT * share)
    return _logistic(INTERCEPT + COSINE_WEIGHT * cosine + SHARE_WEIGHT * share)


def passes(score: float, best: float) -> bool:
    """Whether a hit is worth showing beside the best one."""
    return score >= ASK_FLOOR and score >= RELATIVE_FLOOR * best


def _logistic(x: float) -> float:
    return 1.0 / (1.0 + math.exp(-x))
