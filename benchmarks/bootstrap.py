"""Bootstrap intervals of means over questions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def bootstrap_interval(values: Sequence[float]) -> str:
    """Return the 95 % interval of the mean of shares, from 2,000 samples of them, in percent; '' of nothing."""
    if not values:
        return ""
    samples = np.random.default_rng(0).integers(0, len(values), (2_000, len(values)))
    low, high = np.percentile(np.array(values)[samples].mean(axis=1), [2.5, 97.5]) * 100
    return f"{low:.0f}–{high:.0f}"
