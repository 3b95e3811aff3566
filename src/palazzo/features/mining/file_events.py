"""Detection of file changes: one thread for each kind of place, which puts the changed paths on a queue.

The library `watchfiles` detects the changes. If the system has no room for more watches, or the file system reports no
changes (the setting `watch.polling`), polling is used instead.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from queue import SimpleQueue

import watchfiles

_STEP_MS = 200
"""Milliseconds of quiet before changes are reported; on average, half of that passes before a change is seen."""
_LONGEST_MS = 800
"""Milliseconds after which changes are reported even if more keep arriving, so that a streamed answer does not delay
them.
"""
_LOOK_EVERY = 1.2
"""The polling interval, in seconds, where the system does not report changes."""
_LONGEST_BEGINNING = 10.0
"""Seconds that the system may take to start watching; earlier changes are found by catching up."""
_NOT_NEWS = ("-shm", "-journal", ".lock", ".tmp", ".swp", "~")
"""Suffixes of temporary files that databases and editors keep beside a file."""

OnTrouble = Callable[[str], None]


class Listener:
    """Watches directories in its own thread, from its creation until it is closed."""

    def __init__(
        self,
        places: Iterable[Path],
        path_queue: SimpleQueue[Path],
        on_trouble: OnTrouble,
        *,
        recursive: bool,
        is_polling: bool = False,
    ) -> None:
        self.places, self.recursive = frozenset(places), recursive
        self._heard, self._on_trouble = path_queue, on_trouble
        self._looking = is_polling
        self._over, self._at_it = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="palazzo-listening", daemon=True)
        if self.places:
            self._thread.start()
            self._at_it.wait(_LONGEST_BEGINNING)

    def is_set(self) -> bool:
        """Return whether listening has ended; watchfiles asks as soon as it listens, and then repeatedly."""
        self._at_it.set()
        return self._over.is_set()

    def close(self) -> None:
        """Stop listening, and wait until the thread has ended."""
        self._over.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        if not self._looking:
            try:
                self._hear()
            except (OSError, RuntimeError) as error:  # watchfiles' own errors are of the second kind
                self._on_trouble(
                    f"The system does not report file changes ({error}), so Palazzo checks for them every "
                    f"{_LOOK_EVERY:g} seconds; if the limit of file watches was reached, raise it "
                    "(fs.inotify.max_user_watches)."
                )
        self._look()

    def _hear(self) -> None:
        while not self._over.is_set():
            present = [place for place in self.places if place.is_dir()]
            if not present:
                self._at_it.set()
                self._over.wait(_LOOK_EVERY)
                continue
            try:
                for changes in self._changes(present):
                    for _, path in changes:
                        self._heard.put(Path(path))
            except FileNotFoundError:  # one was taken away between the look and the watch
                self._over.wait(_STEP_MS / 1000)

    def _changes(self, places: list[Path]) -> Iterator[set[watchfiles.main.FileChange]]:
        return watchfiles.watch(
            *places,
            watch_filter=_is_news,
            debounce=_LONGEST_MS,
            step=_STEP_MS,
            stop_event=self,
            raise_interrupt=False,
            force_polling=False,
            recursive=self.recursive,
            ignore_permission_denied=True,
        )

    def _look(self) -> None:
        """Compare file sizes and modification times. watchfiles' own polling misses a second change within one
        second.
        """
        earlier_states = self._states()
        self._at_it.set()
        while not self._over.wait(_LOOK_EVERY):
            current_states = self._states()
            for path, state in current_states.items():
                if earlier_states.get(path) != state:
                    self._heard.put(Path(path))
            earlier_states = current_states

    def _states(self) -> dict[str, tuple[int, int]]:
        states: dict[str, tuple[int, int]] = {}
        directories = [str(place) for place in self.places]
        while directories:
            directory = directories.pop()
            try:
                with os.scandir(directory) as entries:
                    for entry in entries:
                        if entry.is_dir(follow_symlinks=False):
                            states[entry.path] = (0, 0)
                            directories.extend([entry.path] if self.recursive else [])
                        elif not entry.name.endswith(_NOT_NEWS):
                            status = entry.stat(follow_symlinks=False)
                            states[entry.path] = (status.st_size, status.st_mtime_ns)
            except OSError:  # it was taken away, or may not be looked into
                continue
        return states


def _is_news(change: watchfiles.Change, path: str) -> bool:
    """Return whether a change matters; deleting a source does not delete memory."""
    return change is not watchfiles.Change.deleted and not path.endswith(_NOT_NEWS)
