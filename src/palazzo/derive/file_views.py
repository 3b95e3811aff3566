"""Files as a session has seen them: the lines that were read or written, kept true to the edits that follow. Pure."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from palazzo.derive.file_calls import Piece, Shown, seen

_MOST_PLACES = 4
"""Places of one edit that changes all that are alike; of the others nothing is said."""


class Placed(NamedTuple):
    """Lines that an edit has put where others stood: from `first` to `last`, in the file as it is then.

    The lines behind them stand `shift` lines further down than before.
    """

    first: int
    last: int
    shift: int


class _Change(NamedTuple):
    """From `line` on `taken` lines become `lines`; of these `first` to `last` hold the new words, so many `times`."""

    line: int
    taken: int
    lines: list[str]
    first: int
    last: int
    times: int


class View:
    """The lines of one file that are known, by number from 1; `size` is how many there are, None if nobody knows.

    A line of which a part is missing (a secret that was taken out, a cut) is None.
    """

    def __init__(self) -> None:
        self._lines: dict[int, str | None] = {}
        self.size: int | None = None

    def read(self, shown: Shown) -> None:
        """Take in what was shown."""
        if shown.is_all:
            self._lines = {}
            self.size = len(shown.lines)
        self._lines.update(zip(itertools.count(shown.first), shown.lines, strict=False))

    def write(self, text: str) -> None:
        """Take in the whole text that the file was given."""
        lines = text.split("\n")
        if lines[-1] == "":
            lines.pop()
        self.read(Shown(1, tuple(map(seen, lines)), True))

    def span(self, first: int, last: int) -> list[str] | None:
        """Return the lines from `first` to `last`; None unless all are known."""
        found = [self._lines.get(n) for n in range(first, last + 1)] if last - first < len(self._lines) else []
        return None if not found or None in found else found  # type: ignore[return-value]

    def all(self) -> list[str] | None:
        """Return all lines; None unless the whole file is known."""
        return None if not self.size else self.span(1, self.size)

    def change(self, piece: Piece) -> list[Placed]:
        """Carry out an edit, and return where; nowhere if the view cannot tell, and then it knows the file no more."""
        old, new = (side.replace("\r\n", "\n") for side in piece[:2])
        if piece.whole:
            old, new = f"{old}\n", f"{new}\n" if new else ""
        changes = [_changes(start, text, old, new, piece.whole) for start, text in self._stretches()] if old else []
        places = list(itertools.chain(*changes))
        if not places or (sum(one.times for one in places) > 1 and not piece.everywhere):
            self.forget()
            return []
        found: list[Placed] = []
        for one in reversed(places):
            shift = self._put(one.line, one.taken, one.lines)
            found = [Placed(below.first + shift, below.last + shift, below.shift) for below in found]
            found.insert(0, Placed(one.first, one.last, shift))
        return found[:_MOST_PLACES]

    def forget(self) -> None:
        """Know nothing of the file any more."""
        self._lines, self.size = {}, None

    def _stretches(self) -> Iterator[tuple[int, str]]:
        """Yield lines that are known one after the other: the first one's number, and their text with its line ends."""
        known = sorted(n for n, line in self._lines.items() if line is not None)
        for _, run in itertools.groupby(enumerate(known), lambda pair: pair[1] - pair[0]):
            numbers = [n for _, n in run]
            yield numbers[0], "".join(f"{self._lines[n]}\n" for n in numbers)

    def _put(self, first: int, count: int, new: Sequence[str]) -> int:
        """Put lines in the place of `count` others; return by how much those behind moved."""
        shift = len(new) - count
        kept = {
            n if n < first else n + shift: line for n, line in self._lines.items() if not first <= n < first + count
        }
        self._lines = kept | dict(zip(itertools.count(first), map(seen, new), strict=False))
        self.size = None if self.size is None else self.size + shift
        return shift


def _changes(start: int, text: str, old: str, new: str, whole: bool) -> Iterator[_Change]:
    """Yield what becomes of the lines that hold the old words; those that share a line change together."""
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
        written = "".join(pieces)
        lines = f"{written}{text[end:high]}".split("\n")
        lines = lines[:-1] if lines[-1] == "" else lines
        line = start + text.count("\n", 0, low)
        first, last = line, line + max(0, written.count("\n") - written.endswith("\n"))
        if not lines:  # what stands on both sides of lines that are gone
            first, last = max(1, line - 1), line
        yield _Change(line, text.count("\n", low, high), lines, first, last, times)


def _find(text: str, old: str, start: int, whole: bool) -> int:
    at = text.find(old, start)
    while whole and at > 0 and text[at - 1] != "\n":
        at = text.find(old, at + 1)
    return at


def _line_end(text: str, end: int, old: str, written: Sequence[str]) -> int:
    """Where the last line ends that an edit touches which reaches to `end`, of what is `written` there."""
    before = next((one for one in reversed(written) if one), "\n")
    if old.endswith("\n") and before.endswith("\n"):
        return end
    after = text.find("\n", end)
    return len(text) if after < 0 else after + 1
