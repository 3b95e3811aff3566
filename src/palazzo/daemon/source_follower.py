"""Takes in what changes while the service runs: histories of hosts that were fed before.

Nobody's history is read unasked, and documents not at all. Where a `palazzo watch` runs or begins, it is left to that;
where one ends, this goes on.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from pathlib import Path

from palazzo import locks
from palazzo.daemon.palace_pool import Pool
from palazzo.daemon.periodic_tasks import PeriodicWorker
from palazzo.features.mining.source_watch import SourceWatcher, WatchEvent
from palazzo.features.mining.watch import claim_file, lock_file
from palazzo.operations.context import Context

_log = logging.getLogger("palazzo.service")
_LOOK_AGAIN = 15.0
"""Seconds until it is looked again whether there is a palace to watch for, and nobody else who does."""
_GIVE_WAY = 0.5
"""Seconds after which a person's watcher that began meanwhile is noticed."""


class _LeftToOthers(BaseException):
    """A person watches, or wants none to. No Exception, as `Watching` asks of what is to end it."""


class BackgroundWatcher:
    """A thread that watches for a palace until it is ended, unless the settings say no."""

    def __init__(self, palace: Path, variables: Mapping[str, str], pool: Pool) -> None:
        self._palace, self._variables, self._pool = palace, variables, pool
        self._thread = PeriodicWorker("watching", self._look, _LOOK_AGAIN)
        self.begin, self.end = self._thread.begin, self._thread.end
        self.is_watching = False
        self._gave_way = self._read_settings = 0.0

    def _look(self) -> None:
        try:
            self._watch()
        except _LeftToOthers:
            _log.info("watch: left to others")
        finally:
            self.is_watching = False

    def _watch(self) -> None:
        with (
            self._pool.lease() as lease,
            Context(self._palace, self._palace.parent, self._variables, palace_opener=lease) as context,
        ):
            settings = context.settings
            if not context.has_palace or context.is_off or not settings.flag("watch.background"):
                return
            if locks.is_held(claim_file(self._palace)):
                return
            context.writing()
            lock = locks.try_lock(lock_file(self._palace))
            if lock is None:
                return
            with lock:
                self.is_watching = True
                SourceWatcher(context, _note, mined_hosts_only=True, heed=self._heed).run(self._thread.stop)

    def _heed(self) -> None:
        """End it where the service ends, a person watches, or the settings have come to say no."""
        self._thread.heed()
        now = time.monotonic()
        if now - self._gave_way >= _GIVE_WAY:
            self._gave_way = now
            if locks.is_held(claim_file(self._palace)):
                raise _LeftToOthers
        if now - self._read_settings >= _LOOK_AGAIN:
            self._read_settings = now
            with Context(self._palace, self._palace.parent, self._variables) as context:
                if not context.settings.flag("watch.background"):
                    raise _LeftToOthers


def _note(event: WatchEvent) -> None:
    """What was read is in the palace; the log says how much and how long, never what or where."""
    if event.event in ("read", "caught-up") and event.items:
        _log.info("watch %s: %d items in %.1f s", event.event, event.items, event.took_s)
    elif event.event == "failed":
        _log.info("watch: a source could not be read")
