"""Sync schedule: syncs automatically while the service runs, with remotes that were set up with --automatic.

It syncs at start, when no writes have happened for a while, and from time to time to fetch news from other devices.

It blocks nothing: it has a thread of its own, writes in short transactions, and waits for no other sync. Errors are
shown by `palazzo sync status`, `palazzo status` and `palazzo doctor`, and the sync is retried at growing intervals.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from pathlib import Path

from palazzo.daemon.palace_pool import Pool
from palazzo.daemon.periodic_tasks import PeriodicWorker
from palazzo.errors import PalazzoError
from palazzo.faces.mcp.client_calls import OperationCancelled
from palazzo.features.sync import automatic_sync
from palazzo.operations.context import Context

_log = logging.getLogger("palazzo.service")
_LOOK_AGAIN = 5.0
"""Seconds between two checks for new writes."""
_QUIET = 30.0
"""Seconds without a write after which new records are pushed: an agent's turn is over."""
_PULL_EVERY = 900.0
"""Seconds after which other devices' changes are requested even if nothing was written here."""
_AFTER_FAILURE, _MOST_AFTER_FAILURE = 300.0, 3_600.0
"""Seconds after a failure before the next attempt, doubled each time, and the maximum."""


class Timing:
    """Decides when to sync. It is given the number of the last change and the time of a clock in seconds."""

    def __init__(self) -> None:
        self._change, self._changed_at = -1, 0.0
        self._synced: int | None = None
        self._next_pull = self._not_before = float("-inf")
        self._failures = 0

    def is_due(self, change: int, now: float) -> bool:
        """Return whether a sync is due, given that `change` is the last change."""
        if change != self._change:
            self._change, self._changed_at = change, now
        if now < self._not_before:
            return False
        has_news = change != self._synced and now - self._changed_at >= _QUIET
        return self._synced is None or has_news or now >= self._next_pull

    def record_sync(self, change: int, now: float, well: bool) -> None:
        """Record a sync after which `change` was the palace's last change."""
        self._failures = 0 if well else self._failures + 1
        self._synced = change
        self._next_pull = now + _PULL_EVERY
        wait = min(_AFTER_FAILURE * 2 ** (self._failures - 1), _MOST_AFTER_FAILURE) if self._failures else 0.0
        self._not_before = now + wait
        if not well:
            self._next_pull = self._not_before


class BackgroundSync:
    """A thread that syncs a palace until it is stopped; it stops at the next record that is merged or pushed."""

    def __init__(self, palace: Path, variables: Mapping[str, str], pool: Pool) -> None:
        self._palace, self._variables, self._pool = palace, variables, pool
        self._timing = Timing()
        self._thread = PeriodicWorker("syncing", self._look, _LOOK_AGAIN)
        self.begin, self.end = self._thread.begin, self._thread.end

    def _look(self) -> None:
        try:
            self._sync()
        except (OperationCancelled, PalazzoError):
            raise
        except Exception:
            self._timing.record_sync(-1, time.monotonic(), well=False)
            raise

    def _sync(self) -> None:
        with (
            self._pool.lease() as lease,
            Context(
                self._palace, self._palace.parent, self._variables, palace_opener=lease, on_progress=self._thread.heed
            ) as context,
        ):
            remotes = automatic_sync.automatic(context)
            if not remotes or not self._timing.is_due(automatic_sync.newest_change(context), time.monotonic()):
                return
            began = time.monotonic()
            well = automatic_sync.sync(context, remotes)
            self._timing.record_sync(automatic_sync.newest_change(context), time.monotonic(), well)
            _log.info("sync %.1f s, %s", time.monotonic() - began, "done" if well else "failed")
