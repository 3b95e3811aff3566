"""The fence around recorded words that are put before a model: what stands inside cannot close it or open another.

Only tags of the fence are changed, and only in what is shown: the archive keeps every word as it was.
"""

from __future__ import annotations

import re
import unicodedata

from palazzo.guard.injected import FENCE

_NAME = "".join(letter for letter in FENCE if letter.isalpha())
_LOOKALIKES = {
    **dict.fromkeys("＜﹤‹〈⟨〈❮❰⦑ᐸ˂", "<"),
    **dict.fromkeys("／∕⁄⧸╱\\", "/"),
    **dict.fromkeys("аɑα", "a"),
    **dict.fromkeys("еєҽ", "e"),
    **dict.fromkeys("ӏıι|1", "l"),
    **dict.fromkeys("мᴍ", "m"),
    **dict.fromkeys("оοօ0", "o"),
    **dict.fromkeys("рρ", "p"),
    **dict.fromkeys("гᴦ", "r"),
    **dict.fromkeys("уүγ", "y"),
    **dict.fromkeys("ᴢʐƶ", "z"),
}
"""Letters and marks that look like those of a tag."""
_FOLDED = str.maketrans(_LOOKALIKES)
_SPELLED = re.compile(
    r"(?P<open>&(?:amp;){0,4}(?:lt|#0{0,6}60|#x0{0,6}3c);?|\\{1,8}(?:u00|x)3c|%(?:25){0,4}3c)"
    r"|(?P<slash>&(?:amp;){0,4}(?:sol|#0{0,6}47|#x0{0,6}2f);?|\\{1,8}(?:u00|x)2f|%(?:25){0,4}2f)",
    re.IGNORECASE,
)
"""A bracket or a slash as an entity, as an escape of JSON or other code, or as part of an address."""
_TAG = re.compile(rf"<[</]*{_NAME}")
_NO_LETTER = re.compile(r"[^a-z]+")


def fenced(text: str) -> str:
    """Return `text` inside the fence, with what could be taken for a tag of it escaped."""
    return f"<{FENCE}>\n{escaped(text)}\n</{FENCE}>"


def escaped(text: str) -> str:
    """Return `text` with `[` for the bracket of every tag of the fence, however it is spelled."""
    if _NAME not in _NO_LETTER.sub("", _plain(text)):
        return text
    folded, origins = _skeleton(text)
    pieces: list[str] = []
    at = 0
    for tag in _TAG.finditer(folded):
        brackets = [origins[n] for n in range(*tag.span()) if folded[n] == "<"]
        for start, end in brackets:
            pieces += (text[at:start], "[")
            at = end
    return "".join([*pieces, text[at:]])


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold().translate(_FOLDED)


def _skeleton(text: str) -> tuple[str, list[tuple[int, int]]]:
    """The letters, brackets and slashes of `text` in their plain form, and where each of them stands."""
    folded: list[str] = []
    origins: list[tuple[int, int]] = []
    at = 0
    while at < len(text):
        spelled = _SPELLED.match(text, at) if text[at] in "&\\%" else None
        end = spelled.end() if spelled else at + 1
        letters = ("<" if spelled["open"] else "/") if spelled else _plain(text[at])
        for letter in letters:
            if letter in "</" or "a" <= letter <= "z":
                folded.append(letter)
                origins.append((at, end))
        at = end
    return "".join(folded), origins
