"""The fence around recorded words that are put before a model: what stands inside cannot close it or open another.

Only tags of the fence are changed, and only in what is shown: the archive keeps every word as it was.
"""

from __future__ import annotations

from palazzo.text.patterns import IGNORE_CASE, compiled

FENCE = "palazzo-memory"
"""The tag around all text that Palazzo injects."""
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
_SPELLED = compiled(
    r"(?P<open>&(?:amp;){0,4}(?:lt|#0{0,6}60|#x0{0,6}3c);?|\\{1,8}(?:u00|x)3c|%(?:25){0,4}3c)"
    r"|(?P<slash>&(?:amp;){0,4}(?:sol|#0{0,6}47|#x0{0,6}2f);?|\\{1,8}(?:u00|x)2f|%(?:25){0,4}2f)",
    IGNORE_CASE,
)
"""A bracket or a slash as an entity, as an escape of JSON or other code, or as part of an address."""
_TAG = compiled(rf"<[</]*{_NAME}")
_NO_LETTER = compiled(r"[^a-z]+")
_UNUSUAL = compiled(
    "[^\x00-\x7f\xa7\xab\xb7\xbb\xc0-\xde\xe0-\xff\u2010-\u201f\u2022\u2026\u20ac\u2190-\u21ff\u2500-\u257f\u4e00-\u9fff]"
)
"""Finds what may be a letter or mark of a tag in disguise; the accents, dashes and quotes of prose never are."""


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
    if not _UNUSUAL.search(text):
        return text.lower().translate(_FOLDED)
    import unicodedata  # a megabyte of tables: a hook that answers by itself seldom needs them

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
