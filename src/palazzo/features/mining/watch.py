"""watch: keep the palace current while agents work and documents change."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from palazzo import locks
from palazzo.errors import PalazzoError
from palazzo.features.mining.contract import WatchRequest, WatchResult
from palazzo.features.mining.source_watch import SourceWatcher
from palazzo.sources.discovery import existing

if TYPE_CHECKING:
    from palazzo.features.mining.contract import WatchEvent
    from palazzo.operations.context import Context

_LOOKED_AT = 0.5
"""Seconds within which a process that only checks whether a lock is held releases it."""
_GIVES_WAY = 20.0
"""Seconds within which the service notices that it must yield, and finishes the source that it is reading."""


def watch(context: Context, request: WatchRequest, stop: threading.Event | None = None) -> WatchResult:
    """Keep the palace current until interrupted: agents' sessions as they continue, documents as they change."""
    if context.settings.flag("off"):
        raise PalazzoError(
            "PALAZZO_OFF is set, so nothing is captured. Remove it from the environment, then run this again."
        )
    paths = tuple(context.led_to(path) for path in request.paths)
    for path in paths:
        existing(path)
    context.writing()
    items = drawers = 0

    def tell(event: WatchEvent) -> None:
        nonlocal items, drawers
        items, drawers = items + event.items, drawers + event.drawers
        context.tell(event)

    with _the_only_watcher(context.palace_path), _ended_by_sigterm():
        SourceWatcher(context, tell, paths).run(stop or threading.Event())
    return WatchResult(items, drawers)


def lock_file(palace: Path) -> Path:
    """Return the lock file of a palace's watcher."""
    return palace.with_name(palace.name + ".watching.lock")


def claim_file(palace: Path) -> Path:
    """Return the lock file of a person's 'palazzo watch', to which the service gives way."""
    return palace.with_name(palace.name + ".watch.lock")


@contextmanager
def _the_only_watcher(palace: Path) -> Iterator[None]:
    claim = _lock(claim_file(palace), _LOOKED_AT)
    if claim is None:
        raise PalazzoError(f"{palace} is already watched by another 'palazzo watch'. One is enough.")
    with claim:
        lock = _lock(lock_file(palace), _GIVES_WAY)
        if lock is None:
            raise PalazzoError(
                f"{palace} is watched by the background service, which does not release it. Stop the service with "
                "'palazzo service stop', then run this again."
            )
        with lock:
            yield


def _lock(path: Path, seconds: float) -> locks.FileLock | None:
    """Take a lock, waiting up to this many seconds for its holder to release it."""
    until = time.monotonic() + seconds
    while (lock := locks.try_lock(path)) is None and time.monotonic() < until:
        time.sleep(0.05)
    return lock


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """Let SIGTERM end watching like ^C; only the main thread of a process can set this."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous_handler = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous_handler)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
