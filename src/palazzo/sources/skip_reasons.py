"""Reasons why nothing was read from a path that a person named."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from palazzo.sources.walk import Skip

_MOST_REASONS = 3
_CLAUSES = {
    "usually holds secrets": "a file with this name usually holds secrets, so it is never read",
    "not a transcript": "it is not a transcript in a supported format. Without '--mode convos', documents are read too",
    "a SQLite database in an unsupported format": "it is a SQLite database in an unsupported format. 'palazzo import' "
    "reads the stores of other memories",
}
_STARTS = (
    (re.compile(r"(?:an?|not|named|binary|empty|encrypted|generated|minified|truncated)\b"), "it is "),
    (re.compile(r"[\d,]+ bytes"), "it has "),
    (re.compile(r"(?:cannot|contains|is)\b"), "it "),
)
"""Beginnings of the reasons of discovery, which are no clauses, and what makes clauses of them."""


class UnreadPaths:
    """Collects the outcome of each path that discovery found."""

    def __init__(self) -> None:
        self._read: set[Path] = set()
        self._reported: set[Path] = set()
        self._unwanted: list[Path] = []
        self._skips: list[Skip] = []

    def note_skip(self, skip: Skip) -> None:
        """Note a path that was skipped. Unexpected skips are reported individually."""
        self._skips.append(skip)
        if not skip.expected:
            self._reported.add(skip.path)

    def note_read(self, path: Path) -> None:
        """Note a source that was read, or that could not be read to its end."""
        self._read.add(path)

    def note_unwanted(self, path: Path) -> None:
        """Note a source without anything that was requested."""
        self._unwanted.append(path)

    def is_reported(self, top: Path) -> bool:
        """Return whether the report mentions something in the path `top`."""
        return any(path.is_relative_to(top) for path in self._reported | self._read)

    def reason(self, top: Path) -> str:
        """Return why nothing was read from the path `top`, as a clause; "" if something was."""
        if any(path.is_relative_to(top) for path in self._read):
            return ""
        if any(path.is_relative_to(top) for path in self._unwanted):
            return "it contains no conversation that matches the request"
        skips = [skip for skip in self._skips if skip.path.is_relative_to(top)]
        if skips and all(skip.path == top for skip in skips):
            return _clause(skips[0].reason)
        if not skips:
            return "it contains no files"
        reasons = Counter(skip.reason for skip in skips)
        causes = "; ".join(f"{number:,} × {reason}" for reason, number in reasons.most_common(_MOST_REASONS))
        return f"everything in it is skipped ({causes})"


def _clause(reason: str) -> str:
    """Return why a file was skipped as a clause that can follow a colon."""
    if reason in _CLAUSES:
        return _CLAUSES[reason]
    return next((f"{start}{reason}" for pattern, start in _STARTS if pattern.match(reason)), reason)
