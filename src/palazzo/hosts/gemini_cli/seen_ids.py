"""The ids of the messages and calls so far: by which a read that resumes sees that a message refers to none of them.

A message says again what an earlier row of its id said, or of the id of one of its calls. The ids of the last rows are
remembered with the positions of the rows, which a resumed read replays. All earlier ids are in a Bloom filter of fixed
size: what is not in it was never seen, and what it takes for seen only costs a read of the whole file.
"""

from __future__ import annotations

import struct
import zlib
from collections import deque
from collections.abc import Iterable, Iterator
from hashlib import blake2b

REPLAYED_BYTES = 256 * 1024
"""Number of bytes before the end whose rows are replayed, about 10 ms of JSON. A message is written again within its
turn, and its row before that is mostly the last one or the last but two.
"""
_BITS = 512 * 1024
"""Size of the filter: of 30,000 ids, some 75 MB of messages, it takes 0.2 % of new ids for seen; of 100,000, 8 %."""
_PLACES = struct.Struct("<4I")
_BEGIN = struct.Struct("<Q")


class SeenIds:
    """The ids of the rows before some byte; `begin` is the byte from which they are remembered row by row."""

    def __init__(self) -> None:
        self._filter = bytearray(_BITS // 8)
        self._is_empty = True
        self._recent: deque[tuple[int, int, frozenset[str]]] = deque()
        self._begin = 0

    @classmethod
    def from_mark(cls, mark: bytes) -> SeenIds | None:
        """Return the ids before `begin`, from what `make_mark` returned; None if that is no mark."""
        try:
            bits = zlib.decompress(mark[_BEGIN.size :])
        except zlib.error:
            return None
        if len(bits) != _BITS // 8:
            return None
        seen = cls()
        seen._filter, seen._is_empty = bytearray(bits), False
        (seen._begin,) = _BEGIN.unpack_from(mark)
        return seen

    @property
    def begin(self) -> int:
        """Return the byte from which a resumed read has to replay rows."""
        return self._recent[0][0] if self._recent else self._begin

    def add(self, begin: int, end: int, ids: frozenset[str]) -> None:
        """Add the ids of the row between two bytes, which follows all others."""
        if ids:
            self._recent.append((begin, end, ids))
        while self._recent and self._recent[0][1] <= end - REPLAYED_BYTES:
            self.add_earlier(self._recent.popleft()[2])
        self._begin = end

    def add_earlier(self, ids: Iterable[str]) -> None:
        """Add ids as if their row stood before those that are remembered."""
        for identity in ids:
            self._is_empty = False
            for place in _places(identity):
                self._filter[place >> 3] |= 1 << (place & 7)

    def may_be_earlier(self, ids: Iterable[str]) -> bool:
        """Whether one of these ids may stand in a row before `begin`."""
        return any(all(self._filter[place >> 3] >> (place & 7) & 1 for place in _places(each)) for each in ids)

    def make_mark(self) -> bytes:
        """Return `begin` and the filter; nothing if that is empty, as in a file that is short enough to be replayed."""
        return b"" if self._is_empty else _BEGIN.pack(self.begin) + zlib.compress(self._filter, 1)


def _places(identity: str) -> Iterator[int]:
    digest = blake2b(identity.encode("utf-8", "surrogatepass"), digest_size=_PLACES.size).digest()
    return (number % _BITS for number in _PLACES.unpack(digest))
