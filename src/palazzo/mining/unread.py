"""Why nothing was read from a path that somebody named."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from palazzo.mining.walk import Skip

_MOST_REASONS = 3


class UnreadPaths:
    """Collects what became of the paths that discovery met."""

    def __init__(self) -> None:
        self._accounted: set[Path] = set()
        self._unasked: list[Path] = []
        self._passed_over: list[Skip] = []

    def note_skip(self, skip: Skip) -> None:
        """Note a path that discovery skipped. One that is reported by itself needs no other report."""
        if skip.expected:
            self._passed_over.append(skip)
        else:
            self._accounted.add(skip.path)

    def note_read(self, path: Path) -> None:
        """Note a source that was read, or that the report names."""
        self._accounted.add(path)

    def note_unasked(self, path: Path) -> None:
        """Note a source in which there was nothing that the request asks for."""
        self._unasked.append(path)

    def reason(self, named: Path) -> str:
        """Return why nothing was read from the `named` path; "" where the report says something of it already."""
        if any(path.is_relative_to(named) for path in self._accounted):
            return ""
        if any(path.is_relative_to(named) for path in self._unasked):
            return "it holds no conversation that was asked for"
        reasons = Counter(skip.reason for skip in self._passed_over if skip.path.is_relative_to(named))
        if not reasons:
            return "it holds no files"
        listed = "; ".join(f"{number:,} × {reason}" for reason, number in reasons.most_common(_MOST_REASONS))
        return f"nothing in it is read: {listed}"
