"""Backoff: what fails repeatedly is not tried for a while, and each time for longer. Pure."""

from __future__ import annotations

from palazzo.frozen_class import frozen
from palazzo.model import Micros

_SECOND = 1_000_000
TRIES = 3
"""Consecutive failures before the first quiet period."""
FIRST = 60 * _SECOND
LONGEST = 3_600 * _SECOND


@frozen
class Failures:
    """Number of consecutive failures, and the time of the last one (Unix microseconds)."""

    count: int = 0
    last: Micros = Micros(0)

    def failed(self, now: Micros) -> Failures:
        """Return the new state after one more failure."""
        return Failures(self.count + 1, now)

    def is_quiet(self, now: Micros) -> bool:
        """Return whether to pause now: for a minute after the third failure, twice as long after each further one."""
        if self.count < TRIES:
            return False
        return now < self.last + min(LONGEST, FIRST << min(self.count - TRIES, 16))
