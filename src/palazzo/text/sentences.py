"""Sentences of a text with their positions: prose by people and agents, lists, several scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from palazzo.text.lazy_patterns import make_regex


class Sentence(NamedTuple):
    """A sentence or a list item, without its list marker; half-open, in code points."""

    text: str
    start: int
    end: int


_FENCE = make_regex(r"^[ \t]*```.*?(?:^[ \t]*```|\Z)", re.DOTALL | re.MULTILINE)
_MARK = make_regex(r"[ \t]*(?:>[ \t]*)*(?:[-*+•][ \t]+(?:\[[ x]\][ \t]+)?|\d{1,2}[.)][ \t]+|#{1,6}[ \t]+)?")
_END = make_regex(
    r"(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<!\bDr)(?<!\bMr)(?<!\bNr)(?<!\bca)[.!?…]+[)\"'”»*_]*(?=\s|$)|[。！？]+"
)


def sentences(text: str, start: int = 0, end: int | None = None) -> Iterator[Sentence]:
    """Yield the sentences of a range, without code blocks."""
    end = len(text) if end is None else end
    for low, high in _outside_code(text, start, end):
        at = low
        for line in text[low:high].splitlines(keepends=True):
            yield from _of_line(text, at, at + len(line))
            at += len(line)


def _outside_code(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for fence in _FENCE.finditer(text, start, end):
        yield start, fence.start()
        start = fence.end()
    yield start, end


def _of_line(text: str, start: int, end: int) -> Iterator[Sentence]:
    mark = _MARK.match(text, start, end)
    at = mark.end() if mark else start
    for stop in [*(match.end() for match in _END.finditer(text, at, end)), end]:
        words = text[at:stop]
        low = at + len(words) - len(words.lstrip())
        high = low + len(words.strip())
        if high > low:
            yield Sentence(text[low:high], low, high)
        at = stop
