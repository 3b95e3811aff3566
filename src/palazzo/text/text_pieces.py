"""Cutting a stretch of text to a size, and finding the lines of tool output that report an error.

This module owns where a text may be cut: between paragraphs, else lines, else sentences, else words, else anywhere. It
knows nothing about the text's content.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from palazzo.text.lazy_patterns import make_regex

Range = tuple[int, int]
"""A half-open range of code points."""


def split_span(text: str, start: int, end: int, limit: int, keep: Sequence[Range] = ()) -> list[Range]:
    """Cut `text[start:end]` into pieces of at most `limit` code points.

    Each piece is as long as it may be, ending at the best boundary: a blank line, else a line's end, else a
    sentence's end, else a space, else anywhere (but not before a combining mark). White space between
    pieces belongs to none, except for the indentation of a piece's first line; everything else is in
    exactly one piece, in order. Words no longer than `limit` are never cut.

    Ranges in `keep` (fenced code, say; in order, not overlapping) are not cut when they fit into one piece.
    Raises ValueError for a limit below 1. Time is linear in `end - start`.
    """
    if limit < 1:
        raise ValueError(f"a piece needs at least 1 code point, not {limit}")
    pieces: list[Range] = []
    protected_ranges = _ProtectedRanges(keep)
    at = _next_line(text, start, end, limit)
    while at < end:
        cut = end if end - at <= limit else protected_ranges.spare(at, min(end, _best_cut(text, at, at + limit)), limit)
        piece_end = at + len(text[at:cut].rstrip())
        if piece_end > at:
            pieces.append((at, piece_end))
        at = _next_line(text, cut, end, limit)
    return pieces


class _ProtectedRanges:
    """The ranges that must not be cut, passed through once."""

    def __init__(self, ranges: Iterable[Range]) -> None:
        self._rest = list(reversed(list(ranges)))

    def spare(self, at: int, cut: int, limit: int) -> int:
        """Return `cut`, or the end or else the beginning of the range that it would split."""
        while self._rest and self._rest[-1][1] <= at:
            self._rest.pop()
        for start, end in reversed(self._rest):
            if start >= cut:
                break
            if cut < end <= at + limit:
                return end
            if at < start and cut < end <= start + limit:
                return start
        return cut


_SPACE = make_regex(r"\s*")


def _next_line(text: str, at: int, end: int, limit: int) -> int:
    """Return where the next piece begins: the line of the next word if it begins after `at`, else that word."""
    match = _SPACE.match(text, at, end)
    word = match.end() if match else at
    if word >= end:
        return end
    newline = text.rfind("\n", max(0, at - 1), word)
    if newline < 0 and at > 0:
        return word
    line = max(at, newline + 1)
    return line if word - line < limit // 2 else word


# A boundary is taken from this share of the limit on: a paragraph's end is worth a short piece, a line's end
# less so. Words have no such share: none is cut that fits.
_PARAGRAPH_FROM = 8
_LINE_FROM = 4

_PARAGRAPH_ENDS = ("\n\n", "\n\r\n")
_SENTENCE_ENDS = (". ", "? ", "! ", '." ', '?" ', '!" ', ".) ", "。", "！", "？")


def _best_cut(text: str, start: int, stop: int) -> int:
    """Return the best place to cut in `text[start:stop]`, after `start`."""
    size = stop - start
    cut = _last_end(text, _PARAGRAPH_ENDS, start + size // _PARAGRAPH_FROM, stop)
    if cut < 0:
        cut = _last_end(text, ("\n",), start + size // _LINE_FROM, stop)
    if cut < 0:
        cut = _last_end(text, _SENTENCE_ENDS, start + size // _LINE_FROM, stop)
    return cut if cut > start else _between_words(text, start, stop)


def _last_end(text: str, marks: Iterable[str], start: int, stop: int) -> int:
    """Return the end of the last of `marks` in `text[start:stop]`, or -1.

    A mark's white space may be beyond `stop`: it will belong to no piece.
    """
    best = -1
    for mark in marks:
        at = text.rfind(mark, start, stop + len(mark) - len(mark.rstrip()))
        if at >= 0:
            best = max(best, at + len(mark))
    return best


def _between_words(text: str, start: int, stop: int) -> int:
    if text[stop].isspace() or text[stop - 1].isspace():
        return stop
    window = text[start:stop]
    last_words = window.rsplit(None, 1)
    if len(last_words) == 2 or window[0].isspace():
        return start + window.rfind(last_words[-1])
    return _between_characters(text, start, stop)


_JOINERS = frozenset("\u200d\ufe0e\ufe0f")
_LONGEST_CLUSTER = 8


def _between_characters(text: str, start: int, stop: int) -> int:
    """Return `stop`, or a slightly earlier position if it would separate a character from its combining marks."""
    for cut in range(stop, max(start, stop - _LONGEST_CLUSTER), -1):
        if not (unicodedata.combining(text[cut]) or text[cut] in _JOINERS or text[cut - 1] == "\u200d"):
            return cut
    return stop


# Error lines

_NAME = r"(?:[A-Za-z_][\w$]*\.)*[A-Z][\w$]*"
_ERROR_NAME = rf"(?:{_NAME}(?:Error|Exception)|KeyboardInterrupt|SystemExit)"
_ERROR_LINE = make_regex(
    "|".join(
        (
            rf"(?:Uncaught |Unhandled )?{_ERROR_NAME}(?::[ \t].*|[ \t]*\r?$)",
            rf"Exception in thread .*|Caused by: {_NAME}.*",
            r"Traceback \(most recent call last\):\r?\n(?:[ \t].*+\n|\r?\n)*(?P<raised>\S.*)",
            r"(?:\S+:[0-9]+(?::[0-9]+)?: |\S+\([0-9]+,[0-9]+\): )?(?:fatal )?"
            r"[Ee]rror(?:\[[A-Z]+[0-9]+\]| [A-Z]+[0-9]+)?: (?!0\b).*",
            r"ERROR(?:: (?!0\b)|!|\b[ \t]+(?:collecting |in |at )?[\w./-]+\.\w+).*",
            r"[0-9\[][-0-9:.,TZ+\[\] \t]{7,32}[ \t|\[]*(?:ERROR|FATAL|CRITICAL|PANIC)\b.*",
            r"(?:FAILED|--- FAIL:|FAIL:|FAIL[ \t]+[\w./-]+).*",
            r"test result: FAILED.*",
            r"not ok [0-9]+.*",
            r"[ \t]*[✕✗✘] .*",
            r"E[ \t]{2,}\S.*",
            r"(?:fatal|FATAL|panic|FATAL ERROR): .*",
            r"thread '[^'\n]*'(?: \([0-9]+\))? panicked at .*",
            r"(?:npm|yarn|pnpm) (?:ERR!|error) .*",
            r".*\b(?:[Ee]xit (?:code|status)|exited with(?: code| status)?|returned non-zero exit status)"
            r":?[ \t]+-?[1-9][0-9]*[.)\]]*[ \t]*\r?$",
            r"\S+:(?: line [0-9]+:)? .*: (?:command not found|No such file or directory|Permission denied).*",
            r"make(?:\[[0-9]+\])?: \*\*\* .*",
            r"(?:.*: )?(?:Segmentation fault|Bus error|Illegal instruction|Aborted|Killed)"
            r"(?: \(core dumped\)|: [0-9]+|\r?$).*",
            r".*\bundefined reference to .*",
        )
    ),
    re.MULTILINE,
)
_ERROR_HINT = make_regex(
    r"error|Error|exception|Exception|ERR|FAI|FAT|Traceback|Caused by|panic|PANIC|CRITICAL|E  |E\t|E \t|exit|Exit"
    r"|not ok|✕|✗|✘|fatal|command not found|No such|denied|\*\*\*|fault|Illegal|Aborted|Killed|Interrupt|undefined ref"
)
"""What each such line contains. Alternatives that begin with a letter, not a set of letters, are found three times as
fast: `re` then looks only where one of these letters stands.
"""
_LONGEST_LINE = 500


def error_lines(text: str, limit: int = 20) -> list[Range]:
    """Return the spans of the lines in tool output that report an error, in order.

    They have the forms that compilers, test runners, interpreters and shells write: `ValueError: …` at a line's
    beginning, the line that ends a traceback, `error[E0432]: …`, `FAILED …`, pytest's `E …`, `fatal: …`, a panic, `npm
    ERR! …`, an exit code that is not 0. Prose and source code that mention errors are skipped, and so are errors of
    unknown form.

    If there are more than `limit` lines, the first half and the last are returned: the first error is the cause, the
    last the summary. A span ends after 500 code points of its line.
    """
    spans: list[Range] = []
    at = 0
    while hint := _ERROR_HINT.search(text, at):
        line = text.rfind("\n", at, hint.start()) + 1 or at
        at = text.find("\n", hint.start()) + 1 or len(text)
        match = _ERROR_LINE.match(text, line)
        if match:
            group = "raised" if match["raised"] else 0
            spans.append((match.start(group), min(match.end(group), match.start(group) + _LONGEST_LINE)))
            at = max(at, match.end())
    first = (limit + 1) // 2
    return spans if len(spans) <= limit else [*spans[:first], *spans[len(spans) - (limit - first) :]]
