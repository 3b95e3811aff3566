"""Source follower: mines changes while the service runs, in histories of hosts that were mined before.

Histories are never read without the user's request, and documents are not read at all. While a `palazzo watch` runs, it
does this work instead; when the watch ends, the follower continues.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from pathlib import Path

from palazzo import locks
from palazzo.daemon.palace_pool import Pool
from palazzo.daemon.periodic_tasks import PeriodicWorker
from palazzo.features.mining.contract import WatchEvent
from palazzo.features.mining.source_watch import SourceWatcher
from palazzo.features.mining.watch import claim_file, lock_file
from palazzo.operations.context import Context

_log = logging.getLogger("palazzo.service")
_LOOK_AGAIN = 15.0
"""Seconds between two checks whether there is a palace to watch for and no other watcher."""
_GIVE_WAY = 0.5
"""Seconds within which a watcher that the user started in the meantime is noticed."""


class _LeftToOthers(BaseException):
    """The user runs a watcher, or has switched watching off.

    Not an Exception, as `SourceWatcher` requires of what ends it.
    """


class BackgroundWatcher:
    """A thread that watches for a palace until it is stopped, unless the settings disable it."""

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
            _log.info("watch: another process is watching")
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
        """Stop if the service ends, a user runs a watch, or the settings now forbid it."""
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
    """Log an event: the log says how much and how long, never what or where, since the text is in the palace."""
    if event.event in ("read", "caught-up") and event.items:
        _log.info("watch %s: %d items in %.1f s", event.event, event.items, event.took_s)
    elif event.event == "failed":
        _log.info("watch: a source could not be read")
