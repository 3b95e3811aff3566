"""Lines of a file that words are about, known again by a keyed digest, wherever they stand. Pure; knows no storage.

Line ends and blanks at the end of a line are no part of a line, so that an editor that tidies up changes nothing, nor
does a checkout with other line ends. A digest is of whole lines: of a stretch that begins or ends within a line (the
new text of an edit) leave that line out.

    digest = 2 bytes of the first line, 2 bytes of the last line, 12 bytes keyed BLAKE2b of them all

So lines are looked for in a file by two table lookups for each of its lines; few places are hashed and compared.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterator, Sequence

DIGEST_BYTES = 16
_PROBE = 2
_BLANKS = b" \t\r\f\v"
_BOM = b"\xef\xbb\xbf"
_ENOUGH = 12
"""Letters and digits that lines must have to be told apart from others: `return None` has 10, a brace none."""
_PLENTY = 60
"""Letters and digits with which lines mean what they mean though they stand in a file twice: some two lines of code."""


def lines_of(text: str | bytes) -> list[bytes]:
    """Return the lines of a text as they are compared. What is no UTF-8 is read with replacement characters."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else _as_utf8(text)
    data = data.removeprefix(_BOM)
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    lines = [line.rstrip(_BLANKS) for line in data.split(b"\n")]
    if not lines[-1]:
        lines.pop()
    return lines


def digest_of(lines: Sequence[bytes], key: bytes) -> bytes:
    """Return what lines (at least one) will be known by under `key` (1 to 64 bytes)."""
    seed = _seed(key)
    whole = hashlib.blake2b(b"\n".join(lines), key=key, digest_size=DIGEST_BYTES - 2 * _PROBE).digest()
    return _probe(lines[0], seed).to_bytes(_PROBE) + _probe(lines[-1], seed).to_bytes(_PROBE) + whole


def stands_at(lines: Sequence[bytes], first: int, digest: bytes, count: int, key: bytes) -> bool:
    """Whether the `count` lines from `first` (0 is the first of the file) on are those."""
    end = first + count
    return count > 0 and first >= 0 and end <= len(lines) and digest_of(lines[first:end], key) == digest


class Finder:
    """Finds excerpts in one file by their digests. Made once for a file, it is asked for many."""

    def __init__(self, lines: Sequence[bytes], key: bytes) -> None:
        self._lines, self._key = lines, key
        seed = _seed(key)
        self._probes = [zlib.crc32(line, seed) & 0xFFFF for line in lines]

    def places(self, digest: bytes, count: int) -> Iterator[int]:
        """Yield where (0 is the first line) the `count` lines of that digest stand, from the top."""
        head, tail = int.from_bytes(digest[:_PROBE]), int.from_bytes(digest[_PROBE : 2 * _PROBE])
        probes, at = self._probes, 0
        last = len(probes) - count
        while count > 0:
            try:
                at = probes.index(head, at, last + 1)
            except ValueError:
                return
            if probes[at + count - 1] == tail and stands_at(self._lines, at, digest, count, self._key):
                yield at
            at += 1


def says_enough(lines: Sequence[bytes]) -> bool:
    """Whether lines can be told apart from others at all; a lone brace cannot."""
    return _has(lines, _ENOUGH)


def says_plenty(lines: Sequence[bytes]) -> bool:
    """Whether lines say so much that it does not matter that they stand in a file twice."""
    return _has(lines, _PLENTY)


def _has(lines: Sequence[bytes], enough: int) -> bool:
    found = 0
    for line in lines:
        found += sum(map(str.isalnum, line.decode("utf-8", "replace")))
        if found >= enough:
            return True
    return False


def _as_utf8(data: bytes) -> bytes:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace").encode("utf-8")
    return data


def _seed(key: bytes) -> int:
    return zlib.crc32(key)


def _probe(line: bytes, seed: int) -> int:
    return zlib.crc32(line, seed) & 0xFFFF
