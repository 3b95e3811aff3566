"""Size schedule: a daily sample of the palace's size, for the plot of sizes over time."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from palazzo.daemon.palace_pool import Pool
from palazzo.daemon.periodic_tasks import PeriodicWorker
from palazzo.features.viewer import size_sampling
from palazzo.operations.context import Context

_LOOK_AGAIN = 3_600.0
"""Seconds between two checks whether today has a sample. A check reads one row."""


class SizeSampling:
    """A thread that records the size of a palace once a day until it is stopped."""

    def __init__(self, palace: Path, variables: Mapping[str, str], pool: Pool) -> None:
        self._palace, self._variables, self._pool = palace, variables, pool
        self._thread = PeriodicWorker("sizes", self.look, _LOOK_AGAIN)
        self.begin, self.end = self._thread.begin, self._thread.end

    def look(self) -> None:
        """Record the size unless today has a sample."""
        with (
            self._pool.lease() as palace,
            Context(self._palace, self._palace.parent, self._variables, palace_opener=palace) as context,
        ):
            size_sampling.sample_size(context)
