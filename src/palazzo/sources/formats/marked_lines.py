"""The lines of a text file as bytes, each marked as inside or outside a Markdown code fence.

Fences follow CommonMark 0.31 (section 4.5): three or more backticks or tildes, closed by at least as many of the same.
A fence that is never closed does not count here, so that it cannot hide the rest of a file.
"""

from __future__ import annotations

from palazzo.frozen_class import frozen
from palazzo.text.lazy_patterns import make_regex

_FENCE = make_regex(rb" {0,3}(`{3,}|~{3,})([^\r\n]*)")
_LOOKED_AT = 400
"""Maximum bytes of a line that may be a mark; no mark is longer."""


@frozen
class Line:
    """One line with its ending, its start, and whether it is in a code fence."""

    start: int
    raw: bytes
    in_fence: bool

    @property
    def text(self) -> str:
        """Return the line's beginning, without its ending; enough to recognise a mark."""
        head = self.raw[:_LOOKED_AT]
        if head.startswith(b"\xef\xbb\xbf") and self.start == 0:
            head = head[3:]
        return head.decode("utf-8", "surrogateescape").rstrip("\r\n")


def lines_of(data: bytes) -> list[Line]:
    """Return the lines of a file; joined, their bytes are the file."""
    raws = data.splitlines(keepends=True)
    fence_flags = _find_fences(raws)
    lines = []
    at = 0
    for raw, inside in zip(raws, fence_flags, strict=True):
        lines.append(Line(at, raw, inside))
        at += len(raw)
    return lines


def words_of(raw: bytes) -> str:
    """Decode part of a file: its text without surrounding blank lines; bad bytes become lone surrogates."""
    text = raw.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape").strip("\r\n")
    return text if text.strip() else ""


def _find_fences(raws: list[bytes]) -> list[bool]:
    """Return which lines are in a fence, including its own two lines."""
    inside = [False] * len(raws)
    fence_start, mark = -1, b""
    for n, raw in enumerate(raws):
        match = _FENCE.match(raw[:_LOOKED_AT])
        if not match:
            continue
        if fence_start < 0:
            if b"`" not in match.group(2) or match.group(1).startswith(b"~"):
                fence_start, mark = n, match.group(1)
        elif match.group(1).startswith(mark) and not match.group(2).strip():
            inside[fence_start : n + 1] = [True] * (n + 1 - fence_start)
            fence_start = -1
    return inside
