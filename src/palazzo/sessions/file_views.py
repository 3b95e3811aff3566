"""Files as a session has seen them: the lines that were read or written, updated by the edits that follow. Pure."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from palazzo.sessions.file_calls import Excerpt, Piece, clean_line

_MOST_PLACES = 4
"""Maximum number of recorded places of one edit that changes all matches; the others are ignored."""


class Placement(NamedTuple):
    """Lines that an edit has replaced: from `first` to `last`, in the file after the edit.

    The lines after them are `shift` lines further down than before.
    """

    first: int
    last: int
    shift: int


class _Change(NamedTuple):
    """From `line` on, `removed_count` lines become `lines`; of these, `first` to `last` contain the new text,
    `times` times.
    """

    line: int
    removed_count: int
    lines: list[str]
    first: int
    last: int
    times: int


class View:
    """The known lines of one file, by number from 1; `size` is the number of lines, or None if unknown.

    A line with a missing part (a redacted secret, a truncation) is None.
    """

    def __init__(self) -> None:
        self._lines: dict[int, str | None] = {}
        self.size: int | None = None

    def read(self, excerpt: Excerpt) -> None:
        """Add the lines that were shown."""
        if excerpt.is_all:
            self._lines = {}
            self.size = len(excerpt.lines)
        self._lines.update(zip(itertools.count(excerpt.first), excerpt.lines, strict=False))

    def write(self, text: str) -> None:
        """Replace the view with the whole text written to the file."""
        lines = text.split("\n")
        if lines[-1] == "":
            lines.pop()
        self.read(Excerpt(1, tuple(map(clean_line, lines)), True))

    def span(self, first: int, last: int) -> list[str] | None:
        """Return the lines from `first` to `last`; None unless all are known."""
        lines = [self._lines.get(n) for n in range(first, last + 1)] if last - first < len(self._lines) else []
        return None if not lines or None in lines else lines  # type: ignore[return-value]

    def file_lines(self) -> list[str] | None:
        """Return all lines; None unless the whole file is known."""
        return None if not self.size else self.span(1, self.size)

    def change(self, piece: Piece) -> list[Placement]:
        """Apply an edit, and return its places; none if the view does not know them: it then forgets the file."""
        old, new = (side.replace("\r\n", "\n") for side in piece[:2])
        if piece.whole:
            old, new = f"{old}\n", f"{new}\n" if new else ""
        changes = [_changes(start, text, old, new, piece.whole) for start, text in self._stretches()] if old else []
        places = list(itertools.chain(*changes))
        if not places or (sum(place.times for place in places) > 1 and not piece.everywhere):
            self.forget()
            return []
        placements: list[Placement] = []
        for place in reversed(places):
            shift = self._put(place.line, place.removed_count, place.lines)
            placements = [Placement(below.first + shift, below.last + shift, below.shift) for below in placements]
            placements.insert(0, Placement(place.first, place.last, shift))
        return placements[:_MOST_PLACES]

    def forget(self) -> None:
        """Forget the file's content."""
        self._lines, self.size = {}, None

    def _stretches(self) -> Iterator[tuple[int, str]]:
        """Yield runs of known lines: the number of the first one, and their text with its line ends."""
        line_numbers = sorted(n for n, line in self._lines.items() if line is not None)
        for _, run in itertools.groupby(enumerate(line_numbers), lambda pair: pair[1] - pair[0]):
            numbers = [n for _, n in run]
            yield numbers[0], "".join(f"{self._lines[n]}\n" for n in numbers)

    def _put(self, first: int, count: int, new: Sequence[str]) -> int:
        """Replace `count` lines by others; return the shift of the lines after them."""
        shift = len(new) - count
        unchanged_lines = {
            n if n < first else n + shift: line for n, line in self._lines.items() if not first <= n < first + count
        }
        self._lines = unchanged_lines | dict(zip(itertools.count(first), map(clean_line, new), strict=False))
        self.size = None if self.size is None else self.size + shift
        return shift


def _changes(start: int, text: str, old: str, new: str, whole: bool) -> Iterator[_Change]:
    """Yield the changes of the lines that hold the old words; matches that share a line change together."""
    at = _find(text, old, 0, whole)
    while at >= 0:
        low, end, times = text.rfind("\n", 0, at) + 1, at + len(old), 1
        pieces = [text[low:at], new]
        high = _line_end(text, end, old, pieces)
        at = _find(text, old, end, whole)
        while 0 <= at < high:
            pieces += [text[end:at], new]
            end, times = at + len(old), times + 1
            high = _line_end(text, end, old, pieces)
            at = _find(text, old, end, whole)
        replacement = "".join(pieces)
        lines = f"{replacement}{text[end:high]}".split("\n")
        lines = lines[:-1] if lines[-1] == "" else lines
        line = start + text.count("\n", 0, low)
        first, last = line, line + max(0, replacement.count("\n") - replacement.endswith("\n"))
        if not lines:  # what stands on both sides of lines that are gone
            first, last = max(1, line - 1), line
        yield _Change(line, text.count("\n", low, high), lines, first, last, times)


def _find(text: str, old: str, start: int, whole: bool) -> int:
    at = text.find(old, start)
    while whole and at > 0 and text[at - 1] != "\n":
        at = text.find(old, at + 1)
    return at


def _line_end(text: str, end: int, old: str, pieces: Sequence[str]) -> int:
    """Return the end of the last line touched by an edit up to `end`, given the text `pieces` there."""
    last_piece = next((piece for piece in reversed(pieces) if piece), "\n")
    if old.endswith("\n") and last_piece.endswith("\n"):
        return end
    line_break = text.find("\n", end)
    return len(text) if line_break < 0 else line_break + 1
