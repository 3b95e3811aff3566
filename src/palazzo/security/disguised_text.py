"""Text that is spelled otherwise: letters as escapes (`\\u0041`, `\\x41`, `\\/`), and text in base64.

A secret in either is as good as in the clear. Owns the spelling; `secrets.py` says what is a secret.
"""

from __future__ import annotations

import binascii
import re
from bisect import bisect_right
from dataclasses import dataclass

_INVISIBLE = "\u00ad\u034f\u180e\u200b\u200c\u200d\u200e\u200f\u2060\u2061\u2062\u2063\u2064\ufe0f\ufeff"
"""What no reader sees between two letters."""
_TELLING_LETTERS = "\u00ad\u200b\u200c\u200d\u2060\ufeff＝：ｓｋｐ"
"""Of these, text that hides a secret by what is not seen, or by letters of full width, has one."""
_ESCAPES = (
    (
        (r"\u00", r"\x", r"\/"),
        re.compile(r"\\\\{0,15}(?:[ux](?:00)?(?P<hex>[2-7][0-9a-fA-F])|(?P<as_is>/)|(?<=\w\\)\r?\n[ \t]{0,16}(?=\w))"),
    ),
    (("%",), re.compile(r"%(?P<hex>[2-7][0-9a-fA-F])")),
    (("&#",), re.compile(r"&#(?:x(?P<hex>[2-7][0-9a-fA-F])|(?P<decimal>3[3-9]|[4-9]\d|1[01]\d|12[0-6]));")),
)
_ODD_LETTERS = re.compile(rf"[{_INVISIBLE}]+|(?P<wide>[\uff01-\uff5e])")
"""A printable letter that needed no escape (some writers of JSON escape `<`, `+` or `/` all the same), one that an
address or HTML spells out, what is not seen, and letters of full width."""
_LEADING_CHARACTERS, _TRAILING_CHARACTERS = 1024, 2048
"""How far around an escape the text is looked at: longer than nearly all tokens, short beside a transcript."""

_HEAD = 32
"""Letters of base64 that are looked at first: of an image, a hash or a cipher they are no text."""
_SHORTEST = 24
_PLAIN = re.compile(r"[A-Za-z0-9+/]+")
_BLOCK = re.compile(r"(?:[A-Za-z0-9+/]{60,76}(?:\\r|\r)?(?:\\n|\n)){1,100000}[A-Za-z0-9+/]{0,76}")
_BREAKS = str.maketrans("", "", "\n\r\t")
_LINE_END = re.compile(r"(?:\\r|\r)?(?:\\n|\n)")


@dataclass(frozen=True, slots=True)
class DecodedText:
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


def decode_escapes(text: str) -> DecodedText | None:
    """Return what of `text` is near to escapes of plain letters, without them; None where it has none.

    Linear in the text.
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
"""Between two stretches of the text that are looked at."""


def _has_odd_letters(text: str) -> bool:
    return not text.isascii() and any(letter in text for letter in _TELLING_LETTERS)


def _letter(match: re.Match[str]) -> str:
    """What an escape stands for; nothing for what is not seen."""
    kind = match.lastgroup
    if not kind:
        return ""
    if kind == "wide":
        return chr(ord(match[0]) - 0xFEE0)
    return match[kind] if kind == "as_is" else chr(int(match[kind], 16 if kind == "hex" else 10))


def may_be_base64_text(run: str) -> bool:
    """Whether a run begins as printable text does in base64."""
    head = run[:_HEAD]
    return len(head) >= _SHORTEST and _decode_base64(head) is not None


def base64_text(text: str, start: int, end: int) -> tuple[str, int] | None:
    """Return the text that the run from `start` is in base64, and where that ends; None where it is none.

    A run may be the first line of several. A line that another one precedes is part of that one's block.
    """
    if not may_be_base64_text(text[start:end]):
        return None
    block = _BLOCK.match(text, start)
    if block and block.end() > end:
        end = block.end()
    plain_text = _decode_base64(_LINE_END.sub("", text[start:end]))
    return None if plain_text is None else (plain_text, end)


def continues_base64(text: str, start: int) -> bool:
    """Whether the run at `start` is a further line of a block in base64."""
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
    """The one or two bytes of the last letters, whose padding may be missing."""
    return binascii.a2b_base64(tail + "=" * (4 - len(tail))) if len(tail) > 1 and _PLAIN.fullmatch(tail) else b""
