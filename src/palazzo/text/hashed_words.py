"""Search for words that are known only by their keyed hashes, anywhere in a text. Pure; knows no storage.

A hash does not say where in a text to look. So each hash has two *probes*: 16 bits each of a keyed sum over the first
and the last few code points, 32 bits for long words. Sums are computed for every position of a text at once (NumPy).
Where both probes of an entry match at their distance, the words there are hashed and compared. So few bits do not
reveal the words, and ordinary text is hashed only once in some ten thousand positions.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

COVER = "█"
"""The replacement for each code point of erased words."""
HASH_BYTES = 16
_WINDOWS = (32, 16, 8, 4, 2, 1)
_WIDEST_SUM = 16
"""The most code points of one sum; a wider window has two consecutive sums."""
_AT_ONCE = 1 << 20
"""The number of code points whose sums are computed together: some 16 MB for a moment."""

MatchMode = Literal[0, 1, 2]
"""Where words must occur to match: anywhere, as whole words, or as the whole text."""
ANYWHERE: MatchMode = 0
AS_WORDS: MatchMode = 1
WHOLE: MatchMode = 2

Range = tuple[int, int]


class HashedWords(NamedTuple):
    """Words identified by their hash: their number of code points, their required position, probes and hash."""

    size: int
    standing: MatchMode
    head: int
    tail: int
    hash: bytes


class Finder:
    """Finds words by their hashes under one key (1 to 64 bytes). Empty finders find nothing and cost nothing."""

    def __init__(self, key: bytes, entries: Iterable[HashedWords] = ()) -> None:
        self.key = key
        self._whole: set[bytes] = set()
        self._parts: dict[int, dict[int, list[HashedWords]]] = {}
        for words in entries:
            if words.standing == WHOLE:
                self._whole.add(words.hash)
            else:
                self._parts.setdefault(_window(words.size), {}).setdefault(words.head, []).append(words)

    def __bool__(self) -> bool:
        return bool(self._whole or self._parts)

    @property
    def knows_wholes(self) -> bool:
        """Whether any text is known as a whole."""
        return bool(self._whole)

    def hash_words(self, words: str, mode: MatchMode = ANYWHERE) -> HashedWords:
        """Return the hashes by which `words` (not empty) will be recognised."""
        width = _window(len(words))
        sums = _sums(words, width, self.key)
        return HashedWords(len(words), mode, int(sums[0]), int(sums[-1]), self._hash(words))

    def is_whole(self, text: str) -> bool:
        """Whether the text as a whole is known."""
        return bool(self._whole) and self._hash(text) in self._whole

    def find(self, text: str) -> list[Range]:
        """Return the known ranges of `text`, sorted and separate."""
        return [(0, len(text))] if self.is_whole(text) else merged(self.find_parts(text))

    def find_parts(self, text: str) -> list[Range]:
        """Return every range that is known as a part, including overlapping ones."""
        return [stretch for width, heads in self._parts.items() for stretch in self._find(text, width, heads)]

    def begins(self, text: str) -> bool:
        """Whether `text` begins like known long words: it may be those words, truncated."""
        width = _WINDOWS[0]
        heads = self._parts.get(width, {})
        return bool(heads) and len(text) >= width and int(_sums(text[:width], width, self.key)[0]) in heads

    def suspects(self, texts: Sequence[str]) -> set[int]:
        """Return which of the texts contain something known, in one pass over all of them."""
        indexes = {n for n, text in enumerate(texts) if self.is_whole(text)}
        if self._parts:
            text_block = "\0".join(texts)
            starts = [0, *accumulate(len(text) + 1 for text in texts)]
            for width, heads in self._parts.items():
                for start, end in self._find(text_block, width, heads):
                    indexes.update(range(bisect_right(starts, start) - 1, bisect_right(starts, end - 1)))
        return indexes

    def cover_text(self, text: str) -> str:
        """Return `text` with █ for each code point that is known."""
        return cover(text, self.find(text)) if self else text

    def _find(self, text: str, width: int, heads: dict[int, list[HashedWords]]) -> Iterator[Range]:
        if len(text) < width:
            return
        import numpy as np

        sums = _sums(text, width, self.key)
        head_array = np.array(sorted(heads), dtype=np.uint32)
        table = np.zeros(1 << 16, dtype=bool)
        table[head_array & 0xFFFF] = True
        candidates = np.flatnonzero(table[sums & 0xFFFF])
        if width > _WIDEST_SUM:
            candidates = candidates[np.isin(sums[candidates], head_array)]
        for at in candidates.tolist():
            for words in heads[int(sums[at])]:
                end = at + words.size
                if end > len(text) or sums[end - width] != words.tail:
                    continue
                if words.standing == AS_WORDS and not stands_alone(text, at, end):
                    continue
                if self._hash(text[at:end]) == words.hash:
                    yield at, end

    def _hash(self, words: str) -> bytes:
        return hashlib.blake2b(words.encode("utf-8", "surrogatepass"), key=self.key, digest_size=HASH_BYTES).digest()


def cover(text: str, ranges: Iterable[Range]) -> str:
    """Return `text` with █ for each code point of the sorted, separate ranges; then apply `cover_blanks`."""
    pieces: list[str] = []
    at = 0
    for start, end in ranges:
        pieces += (text[at:start], COVER * (end - start))
        at = end
    return cover_blanks("".join([*pieces, text[at:]]))


def is_covered(text: str) -> bool:
    """Return whether all of a text was erased."""
    return bool(text) and not text.strip(COVER)


def cover_blanks(text: str) -> str:
    """Return `text`; also with █ for blanks if nothing else remains, so that the order of covering has no effect."""
    return COVER * len(text) if COVER in text and not text.strip(f"{COVER} \n\r\t") else text


def merged(ranges: Iterable[Range]) -> list[Range]:
    """Return the ranges sorted, with touching or overlapping ones joined and empty ones removed."""
    merged_ranges: list[Range] = []
    for start, end in sorted(ranges):
        if start >= end:
            continue
        if merged_ranges and start <= merged_ranges[-1][1]:
            merged_ranges[-1] = (merged_ranges[-1][0], max(end, merged_ranges[-1][1]))
        else:
            merged_ranges.append((start, end))
    return merged_ranges


def stands_alone(text: str, start: int, end: int) -> bool:
    """Whether no word continues across either end of the range."""
    return not (start and _is_word(text[start - 1]) and _is_word(text[start])) and not (
        end < len(text) and _is_word(text[end]) and _is_word(text[end - 1])
    )


def _is_word(letter: str) -> bool:
    return letter.isalnum() or letter == "_"


def _window(size: int) -> int:
    return next(width for width in _WINDOWS if width <= size)


def _sums(text: str, width: int, key: bytes) -> NDArray[np.uint32]:
    """Return the probe at every position of `text` that has `width` code points from there on."""
    import numpy as np

    if width > _WIDEST_SUM:
        half = _sums(text, _WIDEST_SUM, key)
        return half[:-_WIDEST_SUM] | half[_WIDEST_SUM:] << np.uint32(16)
    stream = hashlib.shake_256(b"probe" + width.to_bytes(1) + key).digest(4 * width)
    factors = np.frombuffer(stream, dtype="<u4").astype(np.uint32) | np.uint32(1)
    if text.isascii():
        codes = np.frombuffer(text.encode("ascii"), dtype=np.uint8)
    else:
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    count = len(codes) - width + 1
    sums = np.empty(count, dtype=np.uint32)
    for start in range(0, count, _AT_ONCE):
        end = min(start + _AT_ONCE, count)
        part = codes[start : end + width - 1].astype(np.uint32)
        total = np.zeros(end - start, dtype=np.uint32)
        for n in range(width):
            total += part[n : n + end - start] * factors[n]
        sums[start:end] = total >> np.uint32(16)
    return sums
