"""Palace pool: palaces that stay open for many callers, so that the model and the vector index are loaded once.

    with pool.lease() as opened, Context(path, …, opened=opened) as context:
        operation.run(context, request)

The key of a pooled palace is how it is opened: its path, whether it redacts, its embedder. Each lease checks whether it
is still the file that was opened. A palace that was replaced, restored over or removed is released when its last user
is done.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from palazzo.errors import PalaceUnusable
from palazzo.frozen_class import frozen

if TYPE_CHECKING:
    from palazzo.index.embedder_choice import EmbedderSpec
    from palazzo.operations.context import Context
    from palazzo.palace import Palace
    from palazzo.store.palace_opening import Mode

MOST_KEPT = 2
"""Unused palaces that stay open. A service has one palace, unless its clients' settings differ."""


_CACHE_MB = 12
"""Megabytes of pages that each of the service's threads caches. The operating system's cache is behind it: with 64 a
search among 100,000 drawers is equally fast, and seven threads use 300 MB more (`benchmarks/service.py`).
"""


@frozen
class _Key:
    path: Path
    redact: bool
    embedder: EmbedderSpec


@dataclass(eq=False, slots=True)
class _PalaceEntry:
    key: _Key
    palace: Palace
    file: tuple[int, int] | None
    users: int = 0
    is_old: bool = False


class Pool:
    """Opens, keeps and closes palaces. Any number of threads may lease."""

    def __init__(self) -> None:
        self._kept: dict[_Key, _PalaceEntry] = {}
        self._lock = threading.Lock()

    @contextmanager
    def lease(self) -> Iterator[Lease]:
        """Yield the lease with which a `Context` is opened; palaces that it opens stay open for the next one."""
        lease = Lease(self)
        try:
            yield lease
        finally:
            self._let_go(lease.held)

    @property
    def is_cold(self) -> bool:
        """Whether an open palace has not loaded its model yet."""
        return any(not entry.palace.is_warm for entry in list(self._kept.values()))

    def warm_up(self) -> None:
        """Load the model and the vectors of each open palace, as far as they are not loaded."""
        with self._lock:
            entries = list(self._kept.values())
            for entry in entries:
                entry.users += 1
        try:
            for entry in entries:
                entry.palace.warm_up()
        finally:
            self._let_go(entries)

    def close(self) -> None:
        """Close every palace that is not in use; those in use are closed when their users are done."""
        with self._lock:
            for entry in list(self._kept.values()):
                self._retire(entry)

    def take(self, context: Context, mode: Mode) -> _PalaceEntry:
        """Return the palace that `context` asks for, opening it if necessary; the caller must release it."""
        key = _Key(context.palace_path, context.settings.flag("redact"), context.embedder_spec)
        with self._lock:
            entry = self._kept.get(key)
            if entry is not None and (entry.file != _file(key.path) or _is_replaced(entry.palace)):
                self._retire(entry)
                entry = None
            if entry is not None and mode == "write" and entry.palace.database.mode == "read":
                self._retire(entry)
                entry = None
            if entry is None:
                palace = _open(context, mode, key)
                entry = self._kept[key] = _PalaceEntry(key, palace, _file(key.path))
                self._drop_others()
            self._kept[key] = self._kept.pop(key)  # the one used last stands last
            entry.users += 1
            return entry

    def _let_go(self, entries: list[_PalaceEntry]) -> None:
        with self._lock:
            for entry in entries:
                entry.users -= 1
                if entry.is_old and not entry.users:
                    entry.palace.close()

    def _drop_others(self) -> None:
        idle_entries = [entry for entry in self._kept.values() if not entry.users]
        for entry in idle_entries[: max(0, len(self._kept) - MOST_KEPT)]:
            self._retire(entry)

    def _retire(self, entry: _PalaceEntry) -> None:
        entry.is_old = True
        if self._kept.get(entry.key) is entry:
            del self._kept[entry.key]
        if not entry.users:
            entry.palace.close()


class Lease:
    """The part of the pool that one call holds; a `Context` opens its palace through it."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self.held: list[_PalaceEntry] = []

    def __call__(self, context: Context, mode: Mode) -> Palace:
        """Return the palace, opened for writing if the file allows it; raise the errors of `Palace.open` otherwise."""
        entry = self._pool.take(context, mode)
        self.held.append(entry)
        return entry.palace


def _open(context: Context, mode: Mode, key: _Key) -> Palace:
    """Open for writing, so that later writers find it open; for reading if the file is missing or read-only."""
    from palazzo.palace import Palace

    def open_palace(mode: Mode) -> Palace:
        return Palace.open(
            *(key.path, mode, lambda: context.open_embedder(1)),
            redact=key.redact,
            cache_mb=_CACHE_MB,
            creates=context.may_create,
        )

    if mode == "read" and not (key.path.exists() and os.access(key.path, os.W_OK)):
        return open_palace("read")
    try:
        return open_palace("write")
    except PalaceUnusable:
        if mode == "write":
            raise
        return open_palace("read")


def _is_replaced(palace: Palace) -> bool:
    try:
        return palace.database.is_replaced
    except PalaceUnusable:
        return True  # opened anew it says why


def _file(path: Path) -> tuple[int, int] | None:
    try:
        file_stat = path.stat()
    except OSError:
        return None
    return file_stat.st_dev, file_stat.st_ino
