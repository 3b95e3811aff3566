"""Backup schedule: a daily backup, made while the service is idle."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from palazzo.daemon.palace_pool import Pool
from palazzo.daemon.periodic_tasks import PeriodicWorker
from palazzo.features.backup import automatic_backup
from palazzo.operations.context import Context

_log = logging.getLogger("palazzo.service")
_LOOK_AGAIN = 300.0
"""Seconds between two checks whether a backup is due. A check costs a few calls of `stat`."""
_QUIET = 60.0
"""Seconds without a call before a backup begins."""


class BackingUp:
    """A thread that makes backups of a palace until it is stopped. `last_call` returns the time of the last call."""

    def __init__(self, palace: Path, variables: Mapping[str, str], pool: Pool, last_call: Callable[[], float]) -> None:
        self._palace, self._variables, self._pool, self._last_call = palace, variables, pool, last_call
        self._thread = PeriodicWorker("backup", self._look, _LOOK_AGAIN)
        self.begin, self.end = self._thread.begin, self._thread.end

    def _look(self) -> None:
        while time.monotonic() - self._last_call() < _QUIET:
            if self._thread.stop.wait(_QUIET):
                return
        with (
            self._pool.lease() as palace,
            Context(
                self._palace, self._palace.parent, self._variables, palace_opener=palace, on_progress=self._thread.heed
            ) as context,
        ):
            if not automatic_backup.is_due(context):
                return
            began = time.monotonic()
            automatic_backup.make(context)
            _log.info("backup %.1f s", time.monotonic() - began)
