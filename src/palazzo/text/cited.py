"""The lines of a cited stretch of a file, the digest by which they are known again, and where they stand. Pure.

    digest = 2 bytes of the first line, 2 bytes of the last line, 12 bytes of them all: each keyed

So lines are looked for in a file by two look-ups for each of its lines, and few places are hashed and compared. A
digest is of whole lines: of a stretch that begins or ends within a line, leave that line out.
"""

from __future__ import annotations

import hashlib
import hmac
import zlib
from collections.abc import Sequence

DIGEST_BYTES = 16
_END = 2
"""Bytes that stand for the first line, and for the last."""
_ENOUGH = 12
"""Letters and digits that lines must have to be told apart from others: `return None` has 10, a brace none."""
_PLENTY = 60
"""Letters and digits with which lines mean what they mean though a file has them twice: some two lines of code."""
_COMPARED = 10_000
"""Lines that are hashed to find a stretch, beside those of one: some 3 ms."""


def lines_of(text: str | bytes) -> list[str]:
    """Return the lines of a file's text, as editors count them: by LF, CRLF or CR; an end of the last makes none more.

    Line ends and the blanks before them are off, so that a checkout with other line ends has the same lines; so is a
    mark of the byte order. Bytes that are no UTF-8 are read as a reader is shown them, with replacement characters.
    """
    told = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    told = told.removeprefix("\ufeff")
    if "\r" in told:
        told = told.replace("\r\n", "\n").replace("\r", "\n")
    lines = told.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.rstrip(" \t") for line in lines]


def digest(key: bytes, lines: Sequence[str]) -> bytes:
    """Return the digest of whole lines, as `lines_of` gives them, under the palace's own key (`store/redaction`).

    Of no lines it is empty: there is nothing to be known again.
    """
    encoded = _encoded(lines)
    return _digest(key, encoded, _ends(key, [encoded[0], encoded[-1]])) if encoded else b""


class Finder:
    """Finds cited lines in one file by their digests. Made once for a file, it is asked for many."""

    def __init__(self, key: bytes, lines: Sequence[str]) -> None:
        self._key, self._lines = key, lines
        self._ends: list[int] = []

    def stands_at(self, first: int, cited: bytes, count: int) -> bool:
        """Whether the `count` lines from `first` (0 is the file's first) on are those."""
        if count < 1 or not 0 <= first <= len(self._lines) - count:
            return False
        there = _encoded(self._lines[first : first + count])
        return _digest(self._key, there, _ends(self._key, [there[0], there[-1]])) == cited

    def places(self, cited: bytes, count: int, most: int = 50) -> list[int] | None:
        """Return where (0 is the file's first line) the `count` lines of a digest stand: the first `most` places.

        None where so much looks like them that it would take long to compare.
        """
        if not self._ends:
            self._ends = _ends(self._key, _encoded(self._lines))
        head, tail = int.from_bytes(cited[:_END]), int.from_bytes(cited[_END : 2 * _END])
        ends, at, compared = self._ends, -1, 0
        found: list[int] = []
        while 0 < count <= len(ends) and len(found) < most:
            try:
                at = ends.index(head, at + 1, len(ends) - count + 1)
            except ValueError:
                break
            if ends[at + count - 1] == tail:
                compared += count
                if compared > _COMPARED and compared > count:
                    return None
                if self.stands_at(at, cited, count):
                    found.append(at)
        return found


def says_enough(lines: Sequence[str]) -> bool:
    """Whether lines can be told apart from others at all; a lone brace cannot."""
    return _has(lines, _ENOUGH)


def says_plenty(lines: Sequence[str]) -> bool:
    """Whether lines say so much that it does not matter whether the file has them twice."""
    return _has(lines, _PLENTY)


def _has(lines: Sequence[str], enough: int) -> bool:
    found = 0
    for line in lines:
        found += sum(map(str.isalnum, line))
        if found >= enough:
            return True
    return False


def _encoded(lines: Sequence[str]) -> list[bytes]:
    return "\n".join(lines).encode("utf-8", "surrogatepass").split(b"\n") if lines else []


def _digest(key: bytes, lines: Sequence[bytes], ends: Sequence[int]) -> bytes:
    whole = hmac.digest(key, b"cited\0" + b"\n".join(lines), hashlib.sha256)
    return b"".join([end.to_bytes(_END) for end in ends] + [whole])[:DIGEST_BYTES]


def _ends(key: bytes, lines: Sequence[bytes]) -> list[int]:
    """What stands for each of these lines where it is a first or last one."""
    seed = zlib.crc32(key)
    return [zlib.crc32(line, seed) & 0xFFFF for line in lines]
