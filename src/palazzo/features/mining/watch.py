"""watch: keep the palace current while agents work and documents change."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated

from palazzo import locks
from palazzo.errors import PalazzoError
from palazzo.operations.operation import About, Operation

if TYPE_CHECKING:
    from palazzo.features.mining.source_watch import WatchEvent
    from palazzo.operations.context import Context

_LOOKED_AT = 0.5
"""Seconds within which somebody who only looked whether a lock is held has let go of it."""
_GIVES_WAY = 20.0
"""Seconds within which the service has noticed that it is to give way, and has put away what it was reading."""


@dataclass(frozen=True, slots=True)
class WatchRequest:
    """What to watch beside what is known."""

    paths: Annotated[tuple[Path, ...], About("Also these files and directories.", positional=True, option="PATH")] = ()


@dataclass(frozen=True, slots=True)
class WatchResult:
    """What was taken in until it was stopped."""

    items: int
    drawers: int


def watch(context: Context, request: WatchRequest, stop: threading.Event | None = None) -> WatchResult:
    """Keep the palace current: agents' sessions as they go on, documents as they change, until it is interrupted.

    Every agent's history on this machine is watched, also of one that is installed meanwhile, and the projects whose
    documents were read before. It begins by catching up. What is deleted stays in the palace. One watcher is enough
    for a palace; another says so and ends. The background service leaves watching to it while it runs.
    """
    from palazzo.features.mining.source_watch import SourceWatcher
    from palazzo.sources.discovery import existing

    if context.settings.flag("off"):
        raise PalazzoError("PALAZZO_OFF is set, so nothing is captured. Take it out of the environment, then watch.")
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
    """Return the file that the watcher of a palace holds."""
    return palace.with_name(palace.name + ".watching.lock")


def claim_file(palace: Path) -> Path:
    """Return the file that a person's 'palazzo watch' holds: the service gives way to whoever does."""
    return palace.with_name(palace.name + ".watch.lock")


@contextmanager
def _the_only_watcher(palace: Path) -> Iterator[None]:
    claim = _lock(claim_file(palace), _LOOKED_AT)
    if claim is None:
        raise PalazzoError(f"{palace} is being watched already, by another 'palazzo watch'. It is enough.")
    with claim:
        lock = _lock(lock_file(palace), _GIVES_WAY)
        if lock is None:
            raise PalazzoError(
                f"{palace} is being watched by the background service, which does not let go of it. End it with "
                "'palazzo service stop', then watch."
            )
        with lock:
            yield


def _lock(path: Path, seconds: float) -> locks.FileLock | None:
    """Take a lock that whoever has it may let go of within so many seconds."""
    until = time.monotonic() + seconds
    while (lock := locks.try_lock(path)) is None and time.monotonic() < until:
        time.sleep(0.05)
    return lock


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """Let SIGTERM end the watching as ^C does; only the main thread of a process may say so."""
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


OPERATION = Operation("watch", WatchRequest, WatchResult, watch, writes=True, steps=True)
