"""Palaces that are kept open for many callers: the model and the vector index are loaded once.

    with pool.lease() as opened, Context(path, …, opened=opened) as context:
        operation.run(context, request)

A palace is kept by what opens it: its path, whether it redacts, its embedder. Whether it is still the file that was
opened is looked at for each lease; one that was replaced, restored over or taken away is let go of when its last user
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

if TYPE_CHECKING:
    from palazzo.embed.choose import EmbedderSpec
    from palazzo.operations.context import Context
    from palazzo.palace import Palace
    from palazzo.store.opening import Mode

MOST_KEPT = 2
"""Palaces that are kept while nobody uses them. A service has one, unless its clients' settings differ."""


_CACHE_MB = 12
"""Megabytes of pages that each of the service's threads keeps. The system's own cache is behind it: with 64 a search
among 100,000 drawers is as fast, and seven threads hold 300 MB more (`benchmarks/service.py`)."""


@dataclass(frozen=True, slots=True)
class _Key:
    path: Path
    redact: bool
    embedder: EmbedderSpec


@dataclass(eq=False, slots=True)
class _Kept:
    key: _Key
    palace: Palace
    file: tuple[int, int] | None
    users: int = 0
    is_old: bool = False


class Pool:
    """Opens, keeps and closes palaces. Any number of threads may lease."""

    def __init__(self) -> None:
        self._kept: dict[_Key, _Kept] = {}
        self._lock = threading.Lock()

    @contextmanager
    def lease(self) -> Iterator[Lease]:
        """Give what a `Context` is opened by; what it has opened stays open for the next."""
        lease = Lease(self)
        try:
            yield lease
        finally:
            self._let_go(lease.held)

    def close(self) -> None:
        """Close every palace that nobody uses; those in use are closed when their users are done."""
        with self._lock:
            for kept in list(self._kept.values()):
                self._retire(kept)

    def take(self, context: Context, mode: Mode) -> _Kept:
        """Return the palace that `context` asks for, opened now if need be; whoever takes it lets go of it."""
        key = _Key(context.palace_path, context.settings.flag("redact"), context.embedder_spec)
        with self._lock:
            kept = self._kept.get(key)
            if kept is not None and (kept.file != _file(key.path) or _is_replaced(kept.palace)):
                self._retire(kept)
                kept = None
            if kept is not None and mode == "write" and kept.palace.database.mode == "read":
                self._retire(kept)
                kept = None
            if kept is None:
                palace = _open(context, mode, key)
                kept = self._kept[key] = _Kept(key, palace, _file(key.path))
                self._drop_others()
            self._kept[key] = self._kept.pop(key)  # the one used last stands last
            kept.users += 1
            return kept

    def _let_go(self, held: list[_Kept]) -> None:
        with self._lock:
            for kept in held:
                kept.users -= 1
                if kept.is_old and not kept.users:
                    kept.palace.close()

    def _drop_others(self) -> None:
        unused = [kept for kept in self._kept.values() if not kept.users]
        for kept in unused[: max(0, len(self._kept) - MOST_KEPT)]:
            self._retire(kept)

    def _retire(self, kept: _Kept) -> None:
        kept.is_old = True
        if self._kept.get(kept.key) is kept:
            del self._kept[kept.key]
        if not kept.users:
            kept.palace.close()


class Lease:
    """What one call holds of the pool; a `Context` opens its palace by it."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self.held: list[_Kept] = []

    def __call__(self, context: Context, mode: Mode) -> Palace:
        """Return the palace, open for writing where the file allows it; what `Palace.open` raises otherwise."""
        kept = self._pool.take(context, mode)
        self.held.append(kept)
        return kept.palace


def _open(context: Context, mode: Mode, key: _Key) -> Palace:
    """Open for writing, so that whoever writes next finds it open; to read, where it is missing or read-only."""
    from palazzo.palace import Palace

    def opened(mode: Mode) -> Palace:
        return Palace.open(key.path, mode, lambda: context.open_embedder(1), redact=key.redact, cache_mb=_CACHE_MB)

    if mode == "read" and not (key.path.exists() and os.access(key.path, os.W_OK)):
        return opened("read")
    try:
        return opened("write")
    except PalaceUnusable:
        if mode == "write":
            raise
        return opened("read")


def _is_replaced(palace: Palace) -> bool:
    try:
        return palace.database.is_replaced
    except PalaceUnusable:
        return True  # opened anew it says why


def _file(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
