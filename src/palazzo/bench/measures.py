"""How well a ranking answers: shares of questions and of evidence, in percent."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence

KS = (1, 3, 5, 10)
_DISCOUNTS = [1 / math.log2(rank + 2) for rank in range(10)]


def measure(ranked: Sequence[str], wanted: Collection[str]) -> dict[str, float]:
    """Return the measures of one question, 0 to 1, for a ranking without repetitions.

    `recall@k` is the fraction of the evidence within the first k, `any@k` and `all@k` whether some or all of it is;
    `ndcg@10` has binary gains and the ideal that is possible within ten places; `mrr` looks at the whole ranking.
    """
    hits = [one in wanted for one in ranked]
    found: dict[str, float] = {}
    for k in KS:
        number = sum(hits[:k])
        found[f"recall@{k}"] = number / len(wanted)
        found[f"any@{k}"] = float(number > 0)
        found[f"all@{k}"] = float(number == len(wanted))
    gained = sum(discount for hit, discount in zip(hits, _DISCOUNTS, strict=False) if hit)
    found["ndcg@10"] = gained / sum(_DISCOUNTS[: len(wanted)])
    found["mrr"] = next((1 / (rank + 1) for rank, hit in enumerate(hits) if hit), 0.0)
    return found


def mean(rows: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Return the mean of each measure in percent, to one decimal; empty where there are no rows."""
    every = list(rows)
    if not every:
        return {}
    return {name: round(100 * sum(row[name] for row in every) / len(every), 2) for name in every[0]}


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean and the half width of its 95 % interval, by the normal approximation over questions."""
    if not values:
        return 0.0, 0.0
    centre = sum(values) / len(values)
    spread = sum((value - centre) ** 2 for value in values) / max(len(values) - 1, 1)
    return centre, 1.96 * math.sqrt(spread / len(values))
