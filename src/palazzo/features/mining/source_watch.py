"""Keeping a palace current while files change: every host's history, and documents of projects that were mined before.

    Watching(context, tell, paths).run(stop)

This is the whole interface, for a command that a person started and for a background process. `mine` reads what
changed, and takes in only new content; `tell` receives the results. A failing source is reported once, and does not
affect the others.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Literal

from palazzo.errors import NotFound, PalazzoError
from palazzo.features.mining.contract import WatchEvent
from palazzo.features.mining.file_events import Listener
from palazzo.features.service.background_process import start_embedding
from palazzo.operations.watched_sources import (
    WatchTargets,
    everything,
    histories_here,
    is_known,
    places,
    what_changed,
)
from palazzo.sources.mining_report import merged
from palazzo.sources.mining_run import mine

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.sources.mining_report import MineReport, MineRequest

_BETWEEN_READINGS = 0.4
"""Seconds from one reading to the next. With the wait in `file_events`, a change is read within two seconds."""
_REST_AFTER_READING = 3.0
"""A rest after a reading, as a multiple of its time. A host whose database takes long to look through (Cursor's: 0.3 s
for 270 MB) and always changes then takes a quarter of one processor at most.
"""
_LONGEST_REST = 10.0
"""In seconds."""
_HEED_STOP = 0.5
"""The longest time, in seconds, until a stop is noticed while nothing changes."""
_LOOK_ROUND = 5.0
"""Seconds between two checks for newly installed hosts."""
_CATCH_UP = 600.0
"""Seconds between two full scans, in case the system failed to report a change."""


@dataclass(slots=True)
class _ErrorLog:
    """The errors that were reported, by source: each is reported only once while it lasts."""

    errors: dict[str, str] = field(default_factory=dict)

    def is_new(self, uri: str, error: str) -> bool:
        """Record a source's trouble; return whether it differs from the one before."""
        if self.errors.get(uri) == error:
            return False
        self.errors[uri] = error
        return True

    def forget(self, place: str, error_uris: Collection[str]) -> None:
        """Record that a place was read, in which only these sources still fail."""
        for uri in [uri for uri in self.errors if uri.startswith(place) and uri not in error_uris]:
            del self.errors[uri]


class SourceWatcher:
    """Watches, reads and reports. A palace has one watcher; its caller holds the lock.

    An automatic watcher keeps to known sources (`only_known`): it does not start to ingest a host's history by itself.
    `heed` is called while sources are read and between changes; to stop the watch there, it may raise an exception that
    is not derived from Exception.
    """

    def __init__(
        self,
        context: Context,
        tell: Callable[[WatchEvent], None],
        paths: Sequence[Path] = (),
        mined_hosts_only: bool = False,
        heed: Callable[[], None] = lambda: None,
    ) -> None:
        self._context, self._tell, self._paths = context, tell, tuple(paths)
        self._only_known, self._heed = mined_hosts_only, heed
        self._heard: SimpleQueue[Path] = SimpleQueue()
        self._said = _ErrorLog()
        self._listeners: list[Listener] = []
        self._watched = WatchTargets()
        self._strangers: set[Path] = set()  # files that changed and that the rules leave out: not looked at again soon

    def run(self, stop: threading.Event) -> None:
        """Catch up, then read changes until `stop` is set. What was read is kept, however it ends."""
        try:
            self._listen()  # before catching up, so that nothing is missed in between
            self._say("watching", self._watched.uris)
            self._catch_up()
            self._go_on(stop)
        finally:
            for listener in self._listeners:
                listener.close()

    def _go_on(self, stop: threading.Event) -> None:
        last_look = caught_up = time.monotonic()
        while not stop.is_set():
            self._heed()
            changed = self._changed(_HEED_STOP)
            self._context.renew()
            if changed:
                began = time.monotonic()
                self._read(changed)
                self._rest(stop, time.monotonic() - began)
            now = time.monotonic()
            if now - last_look >= _LOOK_ROUND:
                self._look_round()
                last_look = now
            if now - caught_up >= _CATCH_UP:
                self._listen(rescan=True)
                self._catch_up()
                caught_up = now

    def _rest(self, stop: threading.Event, took: float) -> None:
        """Wait until the next reading, after one that took so many seconds."""
        until = time.monotonic() + max(_BETWEEN_READINGS, min(_REST_AFTER_READING * took, _LONGEST_REST))
        while (left := until - time.monotonic()) > 0 and not stop.wait(min(left, _HEED_STOP)):
            self._heed()

    def _changed(self, seconds: float) -> set[Path]:
        """Return the changed paths, waiting for some if necessary."""
        changed: set[Path] = set()
        try:
            changed.add(self._heard.get(timeout=seconds))
            while True:
                changed.add(self._heard.get_nowait())
        except Empty:
            return changed

    # --- what is listened to -------------------------------------------------------------------------------

    def _listen(self, rescan: bool = False) -> None:
        """Listen to the current places. Existing listeners continue; `anew` if directories were replaced."""
        self._watched = places(self._context, self._paths, self._only_known)
        old_listeners = {(listener.places, listener.recursive): listener for listener in self._listeners}
        stale_listeners = [old_listeners.pop(key) for key in list(old_listeners) if rescan and not key[1]]
        uses_polling = self._context.settings.flag("watch.polling")
        self._listeners = []
        for directories, recursive in ((self._watched.trees, True), (self._watched.directories, False)):
            listener = (
                old_listeners.pop((directories, recursive)) if (directories, recursive) in old_listeners else None
            )
            if listener is None:
                listener = Listener(
                    directories, self._heard, self._say_looking, recursive=recursive, is_polling=uses_polling
                )
            self._listeners.append(listener)
        for listener in (*old_listeners.values(), *stale_listeners):
            listener.close()

    def _look_round(self) -> None:
        """Detect histories that are new on this machine, and ingest them."""
        old_paths = {history.path for history in self._watched.histories}
        current_paths = {history.path for history in histories_here(self._context, self._only_known)}
        if current_paths != old_paths:
            self._listen()
        if current_paths - old_paths:
            self._say("found", (path.as_uri() for path in sorted(current_paths - old_paths)))
            self._read(current_paths - old_paths)

    def _say_looking(self, detail: str) -> None:
        self._say("looking", detail=detail)

    # --- reading -------------------------------------------------------------------------------------------

    def _catch_up(self) -> None:
        """Read everything new in all places."""
        self._strangers.clear()
        report = self._take(everything(self._context, self._watched))
        self._say("caught-up", items=report.items, drawers=report.drawers, took_s=report.took_s)

    def _read(self, changed: set[Path]) -> None:
        """Read what changed; nothing during a pause, which is caught up with later."""
        if self._context.is_off:
            return
        own = self._context.palace_path.name
        news = [path for path in sorted(changed - self._strangers) if not path.name.startswith(own)]
        among_documents = [path for path in news if self._watched.history_of(path) is None]
        if any(path.is_dir() for path in among_documents):
            self._listen(rescan=True)  # a directory that is new may hold documents, now or later
        requests = list(what_changed(self._context, self._watched, news))
        report = self._take(requests)
        self._strangers.update(path for path in among_documents if not is_known(self._context, path))
        if report.items:
            uris = (path.as_uri() for request in requests for path in request.paths)
            self._say("read", uris, report.items, report.drawers, report.took_s)

    def _take(self, requests: Iterable[MineRequest]) -> MineReport:
        """Mine these places; none during a pause: changes are caught up with later."""
        began = time.monotonic()
        reports = [] if self._context.is_off else [self._mine(request) for request in requests]
        report = merged([mine_report for mine_report in reports if mine_report is not None], time.monotonic() - began)
        for failed in report.failed:
            self._fail(failed.uri, failed.error)
        if report.items:
            start_embedding(self._context, insist=False)
        return report

    def _mine(self, request: MineRequest) -> MineReport | None:
        """Mine one place; None if that failed. An error in one place, even a bug, does not stop the others."""
        (path,) = request.paths
        try:
            palace = self._context.writing()
            report = mine(palace.database, palace.clock, request, lambda _: self._heed())
        except NotFound:
            return None  # it was taken away again
        except (PalazzoError, OSError) as error:
            self._fail(path.as_uri(), str(error))
            return None
        except Exception as error:  # noqa: BLE001 - a bug that one source brings out must not end the watching
            self._fail(
                path.as_uri(),
                f"This is a bug in Palazzo ({type(error).__name__}); run 'palazzo mine' to see it reported.",
            )
            return None
        error_uris = {failed.uri for failed in report.failed}
        self._said.forget(path.as_uri(), error_uris)
        return report

    # --- telling -------------------------------------------------------------------------------------------

    def _fail(self, uri: str, error: str) -> None:
        if self._said.is_new(uri, error):
            self._say("failed", (uri,), detail=error)

    def _say(
        self,
        event: Literal["watching", "caught-up", "read", "failed", "found", "looking"],
        uris: Iterable[str] = (),
        items: int = 0,
        drawers: int = 0,
        took_s: float = 0.0,
        detail: str = "",
    ) -> None:
        self._tell(WatchEvent(event, self._context.now, tuple(uris), items, drawers, round(took_s, 3), detail))
