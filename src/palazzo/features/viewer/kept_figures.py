"""Figures of whole palaces, which pages show often: computed once, and kept up to date by the change log."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

from palazzo.store import change_log
from palazzo.store.change_log import Change, ChangeKind

if TYPE_CHECKING:
    from palazzo.palace import Palace
    from palazzo.store.database import Connection

Figures = TypeVar("Figures")
_WHOLESALE: tuple[ChangeKind, ...] = ("reset", "erased")
"""Changes after which everything is computed again."""
_KINDS: tuple[ChangeKind, ...] = ("item", "drawer+", "drawer-", "drawer~", "source", *_WHOLESALE)
_MOST_CHANGES = 5_000
"""The most changes that are followed; computing everything again is not slower than following more."""


class _Entry(NamedTuple, Generic[Figures]):
    figures: Figures
    head: int


class KeptFigures(Generic[Figures]):
    """The figures of each open palace that `compute` returns. They are exact for the snapshot that is read.

    `update` returns them after some changes, which can be none, or None if they must be computed again. It must leave
    the figures that it gets as they are: others may be reading them.
    """

    def __init__(
        self,
        compute: Callable[[Connection], Figures],
        update: Callable[[Connection, Figures, Sequence[Change]], Figures | None],
    ) -> None:
        self._compute, self._update = compute, update
        self._entries: WeakKeyDictionary[Palace, _Entry[Figures]] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def read(self, palace: Palace, connection: Connection) -> Figures:
        """Return the figures of a palace, of which `connection` has a snapshot."""
        head = change_log.head(connection)
        with self._lock:
            entry = self._entries.get(palace)
        figures = None if entry is None or head < entry.head else self._follow(connection, entry)
        if figures is None:
            figures = self._compute(connection)
        with self._lock:
            newest = self._entries.get(palace)
            if newest is None or newest.head <= head:
                self._entries[palace] = _Entry(figures, head)
        return figures

    def _follow(self, connection: Connection, entry: _Entry[Figures]) -> Figures | None:
        changes = change_log.since(connection, entry.head, _KINDS, _MOST_CHANGES + 1)
        if len(changes) > _MOST_CHANGES or any(change.kind in _WHOLESALE for change in changes):
            return None
        return self._update(connection, entry.figures, changes)
