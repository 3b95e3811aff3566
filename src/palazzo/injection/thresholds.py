"""Thresholds for injection: an absolute minimum score, and one relative to the best hit. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol, TypeVar

BEHIND_THE_BEST = 0.3
"""A hit with less than this share of the best hit's score is omitted, even if its absolute score is high."""


class HasScore(Protocol):
    """Any object with a score."""

    @property
    def score(self) -> float:
        """Return how likely it is the answer, from 0 to 1."""
        ...


H = TypeVar("H", bound=HasScore)


def filter_hits(hits: Sequence[H], floor: float, at_most: int) -> Iterator[H]:
    """Yield the hits that pass, in their order, up to the given number; none if the best is below the floor."""
    best = max((hit.score for hit in hits), default=0.0)
    least = max(floor, BEHIND_THE_BEST * best)
    passed = 0
    for hit in hits:
        if hit.score >= least and passed < at_most:
            passed += 1
            yield hit
