"""Where cited lines of a file are now: citations of the project's own files are compared with the checkout."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from palazzo.errors import PalaceUnusable
from palazzo.git import freshness
from palazzo.operations.cited_files import LONGEST_LOOK
from palazzo.store.redaction_state import fingerprint_key

if TYPE_CHECKING:
    from palazzo.git.freshness import Checkout
    from palazzo.model import Anchor
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection

_MOST_NAMED = 8
"""Maximum number of line ranges that are named for one session or note."""


class CurrentLines:
    """The current lines of citations; of those that were not located, the lines at that time."""

    def __init__(self, context: Context, connection: Connection) -> None:
        self._context, self._connection = context, connection
        self._ranges: dict[Anchor, tuple[int, int]] = {}

    def locate(self, citations: Iterable[tuple[Anchor, str]]) -> None:
        """Locate the lines of citations, each given with its wing, in the files of the current project."""
        own = list(dict.fromkeys(anchor for anchor, wing in citations if wing == self._context.home and anchor.first))
        statuses = self._checkout.check(own) if own and self._checkout else []
        for anchor, status in zip(own, statuses, strict=False):
            if status.freshness in ("fresh", "moved") and status.first > 0:
                self._ranges[anchor] = status.first, status.last

    def read_file(self, path: str) -> Sequence[str]:
        """Return the lines of a file of the current project; none if it has no such file, or a very large one."""
        return self._checkout.read_lines(path) if self._checkout else ()

    @cached_property
    def _checkout(self) -> Checkout | None:
        try:
            key = fingerprint_key(self._connection)
        except PalaceUnusable:  # the key is lost, which `doctor` reports: the lines of that time are shown
            return None
        return freshness.Checkout(self._context.project_root, key, LONGEST_LOOK)

    def are_located(self, anchor: Anchor) -> bool:
        """Return whether a citation's lines were found in the file of today."""
        return anchor in self._ranges

    def contain(self, anchor: Anchor, line: int) -> bool:
        """Return whether a citation's lines contain a line; lines at an unknown place contain none."""
        first, last = self._range(anchor)
        return 0 < first <= line <= last

    def names(self, anchors: Sequence[Anchor]) -> tuple[str, ...]:
        """Return the lines of citations, in order, as `10-20`; the whole file and unknown places have none."""
        ranges = sorted({self._range(anchor) for anchor in anchors})
        names = [str(first) if first == last else f"{first}-{last}" for first, last in ranges if first > 0]
        return tuple(names[:_MOST_NAMED])

    def _range(self, anchor: Anchor) -> tuple[int, int]:
        return self._ranges.get(anchor, (anchor.first, anchor.last))
