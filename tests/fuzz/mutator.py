"""Changes bytes at random, as fuzzers do: bits, stretches, tokens of the formats, and pieces of other inputs."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

TOKENS = (
    *(b"null", b"true", b"NaN", b"-0", b"1e999", b"99999999999999999999", b'"', b"\\", b"\\ud800", b"\\u0000"),
    *(b"[", b"]", b"{", b"}", b",", b":", b"\n", b"\r\n", b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80"),
    *(b"[" * 300, b"{" * 300, b'"kind"', b'"id"', b'"text"', b'"message"', b'"timestamp"', b'"uuid"'),
)
_MOST_CHANGES = 4


class Mutator:
    """A source of inputs that are near those of a corpus."""

    def __init__(self, corpus: Sequence[bytes], chance: random.Random) -> None:
        self._corpus, self._chance = corpus, chance

    def next(self) -> bytes:
        """Return an input: one of the corpus, with some changes."""
        data = bytearray(self._chance.choice(self._corpus))
        changes: tuple[Callable[[bytearray], None], ...] = (
            *(self._flip, self._overwrite, self._insert, self._drop, self._double, self._cut, self._splice),
        )
        for _ in range(self._chance.randrange(1, _MOST_CHANGES + 1)):
            self._chance.choice(changes)(data)
        return bytes(data)

    def _at(self, data: bytearray) -> int:
        return self._chance.randrange(len(data) + 1)

    def _stretch(self, data: bytearray) -> slice:
        start = self._at(data)
        return slice(start, start + self._chance.choice((1, 4, 40, 1000)))

    def _flip(self, data: bytearray) -> None:
        if data:
            data[self._chance.randrange(len(data))] ^= 1 << self._chance.randrange(8)

    def _overwrite(self, data: bytearray) -> None:
        token = self._chance.choice(TOKENS)
        start = self._at(data)
        data[start : start + len(token)] = token

    def _insert(self, data: bytearray) -> None:
        start = self._at(data)
        data[start:start] = self._chance.choice(TOKENS)

    def _drop(self, data: bytearray) -> None:
        del data[self._stretch(data)]

    def _double(self, data: bytearray) -> None:
        stretch = self._stretch(data)
        data[stretch.start : stretch.start] = data[stretch]

    def _cut(self, data: bytearray) -> None:
        del data[self._at(data) :]

    def _splice(self, data: bytearray) -> None:
        other = self._chance.choice(self._corpus)
        start = self._chance.randrange(len(other) + 1)
        data[self._at(data) :] = other[start : start + 2000]
