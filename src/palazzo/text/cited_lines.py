"""Cited lines of a file, the digest by which they are recognised, and their current position. Pure.

    digest = 2 bytes of the first line, 2 bytes of the last line, 12 bytes of them all: each keyed

So a search for the lines in a file takes two look-ups for each line of the file, and only few places are hashed and
compared. A digest covers whole lines: if a stretch begins or ends within a line, leave that line out.
"""

from __future__ import annotations

import hashlib
import hmac
import zlib
from collections.abc import Sequence

DIGEST_BYTES = 16
_END = 2
"""Bytes of the hash of the first line, and of the last."""
_ENOUGH = 12
"""The letters and digits that lines need to be distinguishable from others: `return None` has 10, a brace none."""
_PLENTY = 60
"""The letters and digits from which lines identify their place even if a file has them twice: some two lines of
code.
"""
_COMPARISON_LIMIT = 10_000
"""The most lines that are hashed to find a range, in addition to those of one range: some 3 ms."""


def lines_of(text: str | bytes) -> list[str]:
    """Return the lines of a file's text as editors count them: by LF, CRLF or CR; a final line end adds none.

    Line ends and trailing blanks are removed, so that a checkout with other line ends has the same lines; so is a byte
    order mark. Invalid UTF-8 is decoded with replacement characters, as a reader sees it.
    """
    content = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    content = content.removeprefix("\ufeff")
    if "\r" in content:
        content = content.replace("\r\n", "\n").replace("\r", "\n")
    lines = content.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.rstrip(" \t") for line in lines]


def digest(key: bytes, lines: Sequence[str]) -> bytes:
    """Return the digest of whole lines, as `lines_of` returns them, under the palace's own key
    (`store/redaction_state`).

    Without lines it is empty: there is nothing to recognise.
    """
    line_bytes = _encode_lines(lines)
    return _digest(key, line_bytes, _ends(key, [line_bytes[0], line_bytes[-1]])) if line_bytes else b""


class Finder:
    """Finds cited lines in one file by their digests. Create it once per file, and use it for many citations."""

    def __init__(self, key: bytes, lines: Sequence[str]) -> None:
        self._key, self._lines = key, lines
        self._ends: list[int] = []

    def stands_at(self, first: int, expected_digest: bytes, count: int) -> bool:
        """Whether the `count` lines from `first` (0 is the file's first) match the digest."""
        if count < 1 or not 0 <= first <= len(self._lines) - count:
            return False
        line_bytes = _encode_lines(self._lines[first : first + count])
        return _digest(self._key, line_bytes, _ends(self._key, [line_bytes[0], line_bytes[-1]])) == expected_digest

    def places(self, expected_digest: bytes, count: int, most: int = 50) -> list[int] | None:
        """Return the positions (0 is the file's first line) of the `count` lines of a digest: the first `most`.

        None if so many similar places exist that the comparison would take long.
        """
        if not self._ends:
            self._ends = _ends(self._key, _encode_lines(self._lines))
        head, tail = int.from_bytes(expected_digest[:_END]), int.from_bytes(expected_digest[_END : 2 * _END])
        ends, at, comparisons = self._ends, -1, 0
        positions: list[int] = []
        while 0 < count <= len(ends) and len(positions) < most:
            try:
                at = ends.index(head, at + 1, len(ends) - count + 1)
            except ValueError:
                break
            if ends[at + count - 1] == tail:
                comparisons += count
                if comparisons > _COMPARISON_LIMIT and comparisons > count:
                    return None
                if self.stands_at(at, expected_digest, count):
                    positions.append(at)
        return positions


def says_enough(lines: Sequence[str]) -> bool:
    """Whether lines are distinctive enough to be recognised; a lone brace is not."""
    return _has(lines, _ENOUGH)


def says_plenty(lines: Sequence[str]) -> bool:
    """Whether lines are so distinctive that it does not matter whether the file contains them twice."""
    return _has(lines, _PLENTY)


def _has(lines: Sequence[str], enough: int) -> bool:
    letter_count = 0
    for line in lines:
        letter_count += sum(map(str.isalnum, line))
        if letter_count >= enough:
            return True
    return False


def _encode_lines(lines: Sequence[str]) -> list[bytes]:
    return "\n".join(lines).encode("utf-8", "surrogatepass").split(b"\n") if lines else []


def _digest(key: bytes, lines: Sequence[bytes], ends: Sequence[int]) -> bytes:
    whole = hmac.digest(key, b"cited\0" + b"\n".join(lines), hashlib.sha256)
    return b"".join([end.to_bytes(_END) for end in ends] + [whole])[:DIGEST_BYTES]


def _ends(key: bytes, lines: Sequence[bytes]) -> list[int]:
    """Return the short checksum of each of these lines, for comparison as a first or last line."""
    seed = zlib.crc32(key)
    return [zlib.crc32(line, seed) & 0xFFFF for line in lines]
