"""Reasons why nothing was read from a path that a person named."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from palazzo.sources.walk import Skip

_MOST_REASONS = 3


class UnreadPaths:
    """Collects the outcome of each path that discovery found."""

    def __init__(self) -> None:
        self._reported: set[Path] = set()
        self._unwanted: list[Path] = []
        self._skips: list[Skip] = []

    def note_skip(self, skip: Skip) -> None:
        """Note a path that discovery skipped. Unexpected skips are reported individually."""
        if skip.expected:
            self._skips.append(skip)
        else:
            self._reported.add(skip.path)

    def note_read(self, path: Path) -> None:
        """Note a source that was read, or that the report names."""
        self._reported.add(path)

    def note_unwanted(self, path: Path) -> None:
        """Note a source without anything that was requested."""
        self._unwanted.append(path)

    def reason(self, top: Path) -> str:
        """Return why nothing was read from the path `top`; "" if the report already mentions something in it."""
        if any(path.is_relative_to(top) for path in self._reported):
            return ""
        if any(path.is_relative_to(top) for path in self._unwanted):
            return "it contains no conversation that matches the request"
        reasons = Counter(skip.reason for skip in self._skips if skip.path.is_relative_to(top))
        if not reasons:
            return "it contains no files"
        causes = "; ".join(f"{number:,} × {reason}" for reason, number in reasons.most_common(_MOST_REASONS))
        return f"nothing in it was read: {causes}"
