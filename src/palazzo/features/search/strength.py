"""The strength of hits, in a word that a person reads instead of a score."""

from __future__ import annotations

from collections.abc import Sequence

from palazzo.features.search.contract import Strength

STRONG = 0.5
"""The score of a strong hit. The score is a fitted probability (`index/score`), so such a hit answers more often than
not: above 0.7, 71 % of the drawers that the benchmark's questions find are right (`benchmarks/README.md`).
"""
LIKELY = 0.15
"""The score of a likely hit. On the coding suite's dev half the best hit is below it for 33 % of the questions without
an answer, and for 7 % of the others (`benchmarks/README.md`).
"""


def strengths_of(scores: Sequence[float], is_uncertain: bool = False) -> list[Strength]:
    """Return the strengths of hits in the order shown. A strength never increases down the list.

    All hits of an uncertain answer are weak (`index/certainty`).

    Scores may: the order counts that a hit is of the caller's own project, which makes an answer no more likely.
    Neighbouring scores that contradict the order share their mean, which is the nearest sequence that does not increase
    (isotonic regression, by pooling adjacent violators).
    """
    if is_uncertain:
        return ["weak"] * len(scores)
    pools: list[tuple[float, int]] = []
    for score in scores:
        total, count = score, 1
        while pools and pools[-1][0] / pools[-1][1] < total / count:
            pool_total, pool_count = pools.pop()
            total, count = total + pool_total, count + pool_count
        pools.append((total, count))
    return [_strength(total / count) for total, count in pools for _ in range(count)]


def _strength(score: float) -> Strength:
    return "strong" if score >= STRONG else "likely" if score >= LIKELY else "weak"
