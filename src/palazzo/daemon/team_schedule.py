"""Team schedule: shares what is new in shared wings with the team server while the service runs.

It shares at start, when no writes have happened for a while, and from time to time to learn what teammates withdrew.
A server that does not answer is asked again at growing intervals; `palazzo team status` and `palazzo doctor` say why,
and the log once.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from pathlib import Path

from palazzo.daemon.palace_pool import Pool
from palazzo.daemon.periodic_tasks import PeriodicWorker
from palazzo.daemon.sync_schedule import Timing
from palazzo.features.sync import automatic_sync
from palazzo.features.team import automatic_sharing
from palazzo.operations.context import Context

_log = logging.getLogger("palazzo.service")
_LOOK_AGAIN = 5.0
"""Seconds between two checks for new writes."""


class BackgroundSharing:
    """A thread that shares a palace's wings until it is stopped."""

    def __init__(self, palace: Path, variables: Mapping[str, str], pool: Pool) -> None:
        self._palace, self._variables, self._pool = palace, variables, pool
        self._timing, self._failure = Timing(), ""
        self._thread = PeriodicWorker("sharing", self.look, _LOOK_AGAIN)
        self.begin, self.end = self._thread.begin, self._thread.end

    def look(self) -> None:
        """Share if it is due."""
        if not automatic_sharing.has_team(self._palace):
            return
        with (
            self._pool.lease() as lease,
            Context(self._palace, self._palace.parent, self._variables, palace_opener=lease) as context,
        ):
            if not automatic_sharing.is_wanted(context):
                return
            change = automatic_sync.newest_change(context)
            if not self._timing.is_due(change, time.monotonic()):
                return
            failure = automatic_sharing.share(context)
            self._timing.record_sync(change, time.monotonic(), well=not failure)
            if failure != self._failure:
                _log.info("sharing with the team %s", "failed" if failure else "works again")
                self._failure = failure
