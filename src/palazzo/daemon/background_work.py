"""What a service does beside its calls: it mines what changes, synchronises with other devices,
makes backups, and records the palace's size each day.

It begins after the first call was answered, and its modules are imported then: whoever started the service waits for
that answer.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from palazzo.daemon.backup_schedule import BackingUp
    from palazzo.daemon.engine import Engine
    from palazzo.daemon.size_schedule import SizeSampling
    from palazzo.daemon.source_follower import BackgroundWatcher
    from palazzo.daemon.sync_schedule import BackgroundSync
    from palazzo.daemon.team_schedule import BackgroundSharing


class BackgroundWork:
    """The background work of one service, on threads of its own."""

    def __init__(self, palace: Path, variables: Mapping[str, str], engine: Engine) -> None:
        self._palace, self._variables, self._engine = palace, variables, engine
        self._watcher: BackgroundWatcher | None = None
        self._others: list[BackgroundSync | BackgroundSharing | BackingUp | SizeSampling] = []
        self._lock = threading.Lock()
        self._has_ended = False

    @property
    def is_watching(self) -> bool:
        """Whether files are being watched for changes."""
        return self._watcher is not None and self._watcher.is_watching

    def begin(self) -> None:
        """Begin, unless the service is ending."""
        from palazzo.daemon.backup_schedule import BackingUp
        from palazzo.daemon.size_schedule import SizeSampling
        from palazzo.daemon.source_follower import BackgroundWatcher
        from palazzo.daemon.sync_schedule import BackgroundSync
        from palazzo.daemon.team_schedule import BackgroundSharing

        engine, place = self._engine, (self._palace, self._variables)
        with self._lock:
            if self._has_ended:
                return
            self._watcher = BackgroundWatcher(*place, engine.pool)
            self._watcher.begin()
            self._others = [
                BackgroundSync(*place, engine.pool),
                BackgroundSharing(*place, engine.pool),
                BackingUp(*place, engine.pool, lambda: engine.last_call),
                SizeSampling(*place, engine.pool),
            ]
            for work in self._others:
                work.begin()

    def end(self) -> None:
        """Stop, and wait for what is being done."""
        with self._lock:
            self._has_ended = True
            if self._watcher is not None:
                self._watcher.end()
            for work in self._others:
                work.end()
