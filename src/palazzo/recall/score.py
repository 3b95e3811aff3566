"""The shown score: how likely a hit is to answer, on one scale for every query, and the floors under it.

    p = 1 / (1 + exp(-(a + b · cosine + c · share + d · covered)))

`share` is the part of the query's possible BM25 that the drawer reached, `covered` the part of its words' worth that
the drawer's source has. Fitted by logistic regression on the ten best drawers of each question of the coding suite's
dev half (`benchmarks/fit_score.py`); one floor then means the same for a short question and a long one.
"""

from __future__ import annotations

import math

INTERCEPT, COSINE_WEIGHT, SHARE_WEIGHT, COVERED_WEIGHT = -6.16, 4.53, 2.13, 2.43
KEYWORD_INTERCEPT, KEYWORD_SHARE_WEIGHT, KEYWORD_COVERED_WEIGHT = -4.86, 4.67, 2.16
"""The same without vectors."""
ASK_FLOOR = 0.003
"""An answer whose best hit is below is none: words and meaning both missed. A floor that refused most of the coding
suite's unanswerable questions would refuse four answerable ones in ten (`benchmarks/shortfalls.md`)."""
PROACTIVE_FLOOR = 0.35
"""What may be put before an agent unasked: 5 % of the dev half's ordinary prompts find something above it."""


def relevance(cosine: float | None, bm25: float | None, ceiling: float, covered: float) -> float:
    """Return the shown score, 0 to 1."""
    share = min((bm25 or 0.0) / ceiling, 1.0) if ceiling > 0 else (1.0 if bm25 else 0.0)
    if cosine is None:
        return _logistic(KEYWORD_INTERCEPT + KEYWORD_SHARE_WEIGHT * share + KEYWORD_COVERED_WEIGHT * covered)
    return _logistic(INTERCEPT + COSINE_WEIGHT * cosine + SHARE_WEIGHT * share + COVERED_WEIGHT * covered)


def _logistic(x: float) -> float:
    return 1.0 / (1.0 + math.exp(-x))
