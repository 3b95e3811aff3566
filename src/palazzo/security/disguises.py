"""Text that is spelled otherwise: letters as escapes (`\\u0041`, `\\x41`, `\\/`), and text in base64.

A secret in either is as good as in the clear. Owns the spelling; `secrets.py` says what is a secret.
"""

from __future__ import annotations

import binascii
import re
from bisect import bisect_right
from dataclasses import dataclass

_ESCAPED = re.compile(r"\\{1,16}(?:[ux](?:00)?([2-7][0-9a-fA-F])|(/))")
"""A printable letter that needed no escape; some writers of JSON escape `<`, `+` or `/` all the same."""
_MAY_BE_ESCAPED = (r"\u00", r"\x", r"\/")

_HEAD = 32
"""Letters of base64 that are looked at first: of an image, a hash or a cipher they are no text."""
_SHORTEST = 24
_PLAIN = re.compile(r"[A-Za-z0-9+/]+")
_BLOCK = re.compile(r"(?:[A-Za-z0-9+/]{60,76}(?:\\r|\r)?(?:\\n|\n)){1,100000}[A-Za-z0-9+/]{0,76}")
_BREAKS = str.maketrans("", "", "\n\r\t")
_LINE_END = re.compile(r"(?:\\r|\r)?(?:\\n|\n)")


@dataclass(frozen=True, slots=True)
class Unescaped:
    """A text with its letters' escapes undone, and where in the original each stretch of it stands."""

    text: str
    _starts: tuple[int, ...]
    _origins: tuple[tuple[int, int], ...]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return where in the original the stretch from `start` to `end` (not empty) stands."""
        return self._at(start)[0], self._at(end - 1)[1]

    def _at(self, position: int) -> tuple[int, int]:
        """Where the letter at `position` begins and ends in the original."""
        n = bisect_right(self._starts, position) - 1
        begin, end = self._origins[n]
        if position == self._starts[n] and end > begin:
            return begin, end
        by = position - self._starts[n] - (end > begin)
        return end + by, end + by + 1


def unescaped(text: str) -> Unescaped | None:
    """Return `text` without escapes of plain letters; None where it has none. Linear in the text."""
    if "\\" not in text or not any(mark in text for mark in _MAY_BE_ESCAPED):
        return None
    pieces: list[str] = []
    starts, origins = [0], [(0, 0)]  # a stretch: the letter that was escaped, and what follows it as it is
    at = size = 0
    for found in _ESCAPED.finditer(text):
        between = text[at : found.start()]
        pieces += (between, found[2] or chr(int(found[1], 16)))
        size += len(between)
        starts.append(size)
        origins.append(found.span())
        size, at = size + 1, found.end()
    if not at:
        return None
    return Unescaped("".join([*pieces, text[at:]]), tuple(starts), tuple(origins))


def may_be_base64_text(run: str) -> bool:
    """Whether a run begins as printable text does in base64."""
    head = run[:_HEAD]
    return len(head) >= _SHORTEST and _decoded(head) is not None


def base64_text(text: str, start: int, end: int) -> tuple[str, int] | None:
    """Return the text that the run from `start` is in base64, and where that ends; None where it is none.

    A run may be the first line of several. A line that another one precedes is part of that one's block.
    """
    if not may_be_base64_text(text[start:end]):
        return None
    block = _BLOCK.match(text, start)
    if block and block.end() > end:
        end = block.end()
    decoded = _decoded(_LINE_END.sub("", text[start:end]))
    return None if decoded is None else (decoded, end)


def continues_base64(text: str, start: int) -> bool:
    """Whether the run at `start` is a further line of a block in base64."""
    line_end = max(text.rfind("\n", max(0, start - 1), start), text.rfind("\\n", max(0, start - 2), start))
    return line_end >= 64 and _PLAIN.fullmatch(text, line_end - 60, line_end) is not None


def _decoded(body: str) -> str | None:
    whole = body[: len(body) // 4 * 4]
    if not _PLAIN.fullmatch(whole):
        return None
    plain = binascii.a2b_base64(whole) + _rest(body[len(whole) :])
    try:
        text = plain.decode("utf-8")
    except UnicodeDecodeError as error:
        if len(plain) - error.start > 3:
            return None
        text = plain[: error.start].decode("utf-8")  # cut within a letter
    return text if text.translate(_BREAKS).isprintable() else None


def _rest(tail: str) -> bytes:
    """The one or two bytes of the last letters, whose padding may be missing."""
    return binascii.a2b_base64(tail + "=" * (4 - len(tail))) if len(tail) > 1 and _PLAIN.fullmatch(tail) else b""
