"""Disguised text: letters as escapes (`\\u0041`, `\\x41`, `\\/`), and text in base64.

A secret in either form is as dangerous as in plain text. Owns the spelling; `secret_scanner` defines what a secret is.
"""

from __future__ import annotations

import binascii
import re
from bisect import bisect_right

from palazzo.frozen_class import frozen
from palazzo.text.lazy_patterns import make_regex

_INVISIBLE = "\u00ad\u034f\u180e\u200b\u200c\u200d\u200e\u200f\u2060\u2061\u2062\u2063\u2064\ufe0f\ufeff"
"""Invisible characters that may stand between two letters."""
_TELLING_LETTERS = "\u00ad\u200b\u200c\u200d\u2060\ufeff＝：ｓｋｐ"
"""Text that hides a secret by invisible characters or by full-width letters contains one of these."""
_ESCAPES = (
    (
        (r"\u00", r"\x", r"\/"),
        make_regex(r"\\\\{0,15}(?:[ux](?:00)?(?P<hex>[2-7][0-9a-fA-F])|(?P<as_is>/)|(?<=\w\\)\r?\n[ \t]{0,16}(?=\w))"),
    ),
    (("%",), make_regex(r"%(?P<hex>[2-7][0-9a-fA-F])")),
    (("&#",), make_regex(r"&#(?:x(?P<hex>[2-7][0-9a-fA-F])|(?P<decimal>3[3-9]|[4-9]\d|1[01]\d|12[0-6]));")),
)
_ODD_LETTERS = make_regex(rf"[{_INVISIBLE}]+|(?P<wide>[\uff01-\uff5e])")
"""A printable letter that needed no escape (some writers of JSON escape `<`, `+` or `/` anyway), a letter encoded in an
address or in HTML, invisible characters, and full-width letters.
"""
_LEADING_CHARACTERS, _TRAILING_CHARACTERS = 1024, 2048
"""How many characters around an escape are examined: more than nearly all tokens have, but few compared with a
transcript.
"""

_HEAD = 32
"""The number of base64 letters that are examined first: for an image, a hash or a cipher they do not decode to text."""
_SHORTEST = 24
_PLAIN = make_regex(r"[A-Za-z0-9+/]+")
_BLOCK = make_regex(r"(?:[A-Za-z0-9+/]{60,76}(?:\\r|\r)?(?:\\n|\n)){1,100000}[A-Za-z0-9+/]{0,76}")
_BREAKS = str.maketrans("", "", "\n\r\t")
_LINE_END = make_regex(r"(?:\\r|\r)?(?:\\n|\n)")


@frozen
class DecodedText:
    """A text with its escapes decoded, and the position of each part in the original."""

    text: str
    _starts: tuple[int, ...]
    _origins: tuple[tuple[int, int], ...]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the position in the original of the non-empty range from `start` to `end`."""
        return self._at(start)[0], self._at(end - 1)[1]

    def _at(self, position: int) -> tuple[int, int]:
        """Return where the letter at `position` begins and ends in the original."""
        n = bisect_right(self._starts, position) - 1
        begin, end = self._origins[n]
        if position == self._starts[n] and end > begin:
            return begin, end
        by = position - self._starts[n] - (end > begin)
        return end + by, end + by + 1


def decode_escapes(text: str) -> DecodedText | None:
    """Return the part of `text` around escapes of plain letters, with the escapes decoded; None if it has none.

    Time is linear in the length of the text.
    """
    if "\\" not in text and "%" not in text and "&#" not in text and text.isascii():
        return None
    escapes = [
        match
        for marks, pattern in _ESCAPES
        if marks[0][0] in text and any(mark in text for mark in marks)
        for match in pattern.finditer(text)
    ]
    if _has_odd_letters(text):
        escapes += _ODD_LETTERS.finditer(text)
    if not escapes:
        return None
    pieces: list[str] = []
    starts: list[int] = []
    origins: list[tuple[int, int]] = []  # a stretch: the letter that was escaped, and what follows it as it is
    at, size, window_end = 0, 0, -1
    for match in sorted(escapes, key=re.Match.start):
        start, end = match.span()
        if start < at:
            continue
        if start > window_end:
            if window_end >= 0:
                pieces += (text[at:window_end], _SEPARATOR)
                size += window_end - at + len(_SEPARATOR)
            at = max(at, start - _LEADING_CHARACTERS, window_end)
            starts.append(size)
            origins.append((at, at))
        letter = _letter(match)
        pieces += (text[at:start], letter)
        size += start - at
        starts.append(size)
        origins.append((start, end) if letter else (end, end))
        size, at, window_end = size + len(letter), end, min(len(text), end + _TRAILING_CHARACTERS)
    return DecodedText("".join([*pieces, text[at:window_end]]), tuple(starts), tuple(origins))


_SEPARATOR = "\n" * 32
"""The separator between two examined parts of the text."""


def _has_odd_letters(text: str) -> bool:
    return not text.isascii() and any(letter in text for letter in _TELLING_LETTERS)


def _letter(match: re.Match[str]) -> str:
    """Return the letter that an escape stands for; nothing for an invisible character."""
    kind = match.lastgroup
    if not kind:
        return ""
    if kind == "wide":
        return chr(ord(match[0]) - 0xFEE0)
    return match[kind] if kind == "as_is" else chr(int(match[kind], 16 if kind == "hex" else 10))


def may_be_base64_text(run: str) -> bool:
    """Whether a run begins like printable text encoded in base64."""
    head = run[:_HEAD]
    return len(head) >= _SHORTEST and _decode_base64(head) is not None


def base64_text(text: str, start: int, end: int) -> tuple[str, int] | None:
    """Return the text that the run from `start` encodes in base64, and where the run ends; None if it is not base64.

    A run may be the first line of several. A line that follows another one is part of that line's block.
    """
    if not may_be_base64_text(text[start:end]):
        return None
    block = _BLOCK.match(text, start)
    if block and block.end() > end:
        end = block.end()
    plain_text = _decode_base64(_LINE_END.sub("", text[start:end]))
    return None if plain_text is None else (plain_text, end)


def continues_base64(text: str, start: int) -> bool:
    """Whether the run at `start` is a continuation line of a base64 block."""
    line_end = max(text.rfind("\n", max(0, start - 1), start), text.rfind("\\n", max(0, start - 2), start))
    return line_end >= 64 and _PLAIN.fullmatch(text, line_end - 60, line_end) is not None


def _decode_base64(body: str) -> str | None:
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
    """Return the one or two bytes of the last letters, whose padding may be missing."""
    return binascii.a2b_base64(tail + "=" * (4 - len(tail))) if len(tail) > 1 and _PLAIN.fullmatch(tail) else b""
