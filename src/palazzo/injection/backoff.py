"""Quiet hours: what fails again and again is left alone for a while, and longer each time. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from palazzo.model import Micros

_SECOND = 1_000_000
TRIES = 3
"""Failures in a row before the first quiet time."""
FIRST = 60 * _SECOND
LONGEST = 3_600 * _SECOND


@dataclass(frozen=True, slots=True)
class Failures:
    """How often something failed in a row, and when last (Unix microseconds)."""

    count: int = 0
    last: Micros = Micros(0)

    def failed(self, now: Micros) -> Failures:
        """Return the same after one more failure."""
        return Failures(self.count + 1, now)

    def is_quiet(self, now: Micros) -> bool:
        """Whether to leave it alone now: a minute after the third failure, twice as long after each one more."""
        if self.count < TRIES:
            return False
        return now < self.last + min(LONGEST, FIRST << min(self.count - TRIES, 16))
