"""How much of each test is run, and with which chances."""

from __future__ import annotations

import os
import random

FACTOR = float(os.environ.get("PALAZZO_RELIABILITY", "0.05"))
SEED = int(os.environ.get("PALAZZO_SEED", "1"))


def scaled(figure: int, least: int = 1) -> int:
    """Return the figure of the table at the size that was asked for."""
    return max(least, round(figure * FACTOR))


def chances(name: str) -> random.Random:
    """Return the source of chance of one test: the same at every run with one seed."""
    return random.Random(f"{SEED} {name}")


def moments(last: int) -> list[int]:
    """Return each moment from 1 to `last` at which something may fail; at CI size some 60 of them, with the last."""
    step = 1 if FACTOR >= 1 else max(1, last // 60)
    return sorted({*range(1, last + 1, step), last})
