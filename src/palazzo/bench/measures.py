"""Measures of ranking quality: shares of questions and of evidence, in percent."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence

KS = (1, 3, 5, 10)
MEASURES = (*(f"{name}@{k}" for name in ("recall", "any", "all") for k in KS), "ndcg@10", "mrr")
"""The measures of a ranking, in the order of display."""
_DISCOUNTS = [1 / math.log2(rank + 2) for rank in range(10)]


def measure(ranking: Sequence[str], gold: Collection[str]) -> dict[str, float]:
    """Return the measures of one question, 0 to 1, for a ranking without repetitions; some result must be wanted.

    `recall@k` is the fraction of the evidence within the first k, `any@k` and `all@k` whether some or all of it is;
    `ndcg@10` has binary gains and the ideal that is possible within ten places; `mrr` uses the whole ranking.
    """
    hits = [candidate in gold for candidate in ranking]
    hits_by_k = {k: sum(hits[:k]) for k in KS}
    measures = {f"recall@{k}": number / len(gold) for k, number in hits_by_k.items()}
    measures |= {f"any@{k}": float(number > 0) for k, number in hits_by_k.items()}
    measures |= {f"all@{k}": float(number == len(gold)) for k, number in hits_by_k.items()}
    gain = sum(discount for hit, discount in zip(hits, _DISCOUNTS, strict=False) if hit)
    measures["ndcg@10"] = gain / sum(_DISCOUNTS[: len(gold)])
    measures["mrr"] = next((1 / rank for rank, hit in enumerate(hits, 1) if hit), 0.0)
    return measures


def mean(rows: Iterable[Mapping[str, float]]) -> dict[str, float | None]:
    """Return the mean of each measure in percent; None for each if there are no rows."""
    every = list(rows)
    if not every:
        return dict.fromkeys(MEASURES)
    return {name: round(100 * sum(row[name] for row in every) / len(every), 2) for name in MEASURES}


def margin(rows: Iterable[Mapping[str, float]]) -> dict[str, float | None]:
    """Return half the width of each mean's 95 % interval over questions, in percent, by the normal approximation."""
    every = list(rows)
    if len(every) < 2:
        return dict.fromkeys(MEASURES)
    return {name: round(100 * _half_width([row[name] for row in every]), 2) for name in MEASURES}


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which `share` (0 to 1) of the values lie; 0 if there are none."""
    sorted_values = sorted(values)
    return sorted_values[min(len(sorted_values) - 1, int(len(sorted_values) * share))] if sorted_values else 0.0


def _half_width(values: Sequence[float]) -> float:
    centre = sum(values) / len(values)
    spread = sum((value - centre) ** 2 for value in values) / (len(values) - 1)
    return 1.96 * math.sqrt(spread / len(values))
