"""The codes of vectors by slot: int8 with a scale, in memory or, until they are needed, in the palace.

A process that read the columns of vectors from a file (`vector_file`) has no codes. It reads those that it scores, some
1,600 for a question, by their hashes; a service reads all of them when it has time.
"""

from __future__ import annotations

import contextlib
import mmap
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from palazzo.index.vector_file import HASH_SIZE

ReadCodes = Callable[[Sequence[bytes]], Mapping[bytes, tuple[float, bytes]]]
"""Returns (scale, int8 bytes) by hash."""
_CACHED_ROWS = 256
"""The number of vectors whose float32 values (1.5 KB each) stay in a core's cache between two passes."""
_READ_AT_ONCE = 8192


class SortedSlots(NamedTuple):
    """Slots in the order of their hashes, and those hashes as values that sort so."""

    slots: NDArray[np.int64]
    keys: NDArray[np.bytes_]


class VectorCodes:
    """Codes, scales and hashes by slot. Not safe to share between threads."""

    def __init__(self, dimension: int, capacity: int, read: ReadCodes | None = None) -> None:
        self._dimension, self._read = dimension, read
        self.hashes: NDArray[np.uint8] = np.zeros((capacity, HASH_SIZE), dtype=np.uint8)
        self._codes: NDArray[np.int8] = (_reserve if read else _zeros)(capacity, dimension)
        self._scales: NDArray[np.float32] = np.zeros(capacity, dtype=np.float32)
        """0 where the codes are not in memory: no vector has this scale."""

    @classmethod
    def unread(cls, dimension: int, hashes: NDArray[np.uint8], read: ReadCodes) -> VectorCodes:
        """Return the codes of vectors by their hashes; `read` is called for those that are needed."""
        codes = cls(dimension, len(hashes), read)
        codes.hashes = hashes
        return codes

    def put(self, first: int, hashes: Sequence[bytes], scales: Sequence[float], codes: NDArray[np.int8]) -> None:
        """Store codes at the slots from `first` on."""
        end = first + len(hashes)
        self.hashes[first:end] = np.frombuffer(b"".join(hashes), dtype=np.uint8).reshape(-1, HASH_SIZE)
        self._scales[first:end] = scales
        self._codes[first:end] = codes

    def grow(self, capacity: int, size: int) -> None:
        """Reserve space for `capacity` slots, of which the first `size` are used."""
        larger = VectorCodes(self._dimension, capacity, self._read)
        read_slots = slice(size) if self._read is None else np.flatnonzero(self._scales[:size])
        larger._codes[read_slots] = self._codes[read_slots]  # copying what was not read would allocate its memory
        larger.hashes[:size], larger._scales[:size] = self.hashes[:size], self._scales[:size]
        self.hashes, self._codes, self._scales = larger.hashes, larger._codes, larger._scales

    def cosines(self, slots: NDArray[np.int64], query: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the cosine of each of the slots; 0 where the palace has no codes any more."""
        self._require(slots)
        products = np.zeros(len(slots), dtype=np.float32)
        for start in range(0, len(slots), _CACHED_ROWS):
            codes = self._codes[slots[start : start + _CACHED_ROWS]].astype(np.float32)
            # Not `@`: BLAS would share so little work among threads, and wait for them while others use the processor.
            np.einsum("ij,j->i", codes, query, out=products[start : start + _CACHED_ROWS])
        scores: NDArray[np.float32] = products * self._scales[slots]
        return scores

    def vectors(self, slots: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return (slots + 1, dimension): the vectors, and a row of zeros."""
        self._require(slots)
        vectors = np.zeros((len(slots) + 1, self._dimension), dtype=np.float32)
        np.multiply(self._codes[slots], self._scales[slots][:, None], out=vectors[:-1])
        return vectors

    def has_unread(self, size: int) -> bool:
        """Whether codes of the first `size` slots are not in memory."""
        return self._read is not None and not self._scales[:size].all()

    def sort_slots(self, size: int) -> SortedSlots:
        """Return the first `size` slots, sorted by their hashes."""
        keys = as_keys(self.hashes[:size])
        slots = np.argsort(keys)
        return SortedSlots(slots, keys[slots])

    def fill(self, sorted_slots: SortedSlots, rows: Iterable[tuple[bytes, float, bytes]]) -> None:
        """Store rows of (hash, scale, int8 bytes) at the slots of their hashes."""
        hashes, scales, bodies = zip(*rows, strict=True)
        keys = as_keys(np.frombuffer(b"".join(hashes), dtype=np.uint8).reshape(-1, HASH_SIZE))
        first = np.searchsorted(sorted_slots.keys, keys, "left")
        counts = np.searchsorted(sorted_slots.keys, keys, "right") - first
        row_numbers = np.repeat(np.arange(len(keys)), counts)
        offsets = np.cumsum(counts) - counts
        slots = sorted_slots.slots[np.arange(counts.sum()) + np.repeat(first - offsets, counts)]
        codes = np.frombuffer(b"".join(bodies), dtype=np.int8).reshape(-1, self._dimension)
        self._codes[slots] = codes[row_numbers]
        self._scales[slots] = np.array(scales, dtype=np.float32)[row_numbers]

    def _require(self, slots: NDArray[np.int64]) -> None:
        """Read the codes of the slots that are not in memory."""
        if self._read is None:
            return
        unread_slots = slots[self._scales[slots] == 0]
        for start in range(0, len(unread_slots), _READ_AT_ONCE):
            self._read_slots(unread_slots[start : start + _READ_AT_ONCE], self._read)

    def _read_slots(self, slots: NDArray[np.int64], read: ReadCodes) -> None:
        hashes = [row.tobytes() for row in self.hashes[slots]]
        rows = read(hashes)
        code_rows = [
            (slot, *rows[digest]) for slot, digest in zip(slots.tolist(), hashes, strict=True) if digest in rows
        ]
        if not code_rows:
            return
        read_slots, scales, bodies = zip(*code_rows, strict=True)
        places = np.array(read_slots, dtype=np.int64)
        self._codes[places] = np.frombuffer(b"".join(bodies), dtype=np.int8).reshape(-1, self._dimension)
        self._scales[places] = scales


def _zeros(capacity: int, dimension: int) -> NDArray[np.int8]:
    return np.zeros((capacity, dimension), dtype=np.int8)


def _reserve(capacity: int, dimension: int) -> NDArray[np.int8]:
    """Return zeros of which the system allocates those parts that are written, in small pages.

    In pages of 2 MB, which NumPy asks for, the first 1,600 codes would allocate nearly all.
    """
    if not capacity or not hasattr(mmap, "MADV_NOHUGEPAGE"):
        return _zeros(capacity, dimension)
    memory = mmap.mmap(-1, capacity * dimension, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with contextlib.suppress(OSError):  # a system without large pages
        memory.madvise(mmap.MADV_NOHUGEPAGE)
    return np.frombuffer(memory, dtype=np.int8).reshape(capacity, dimension)


def as_keys(hashes: NDArray[np.uint8]) -> NDArray[np.bytes_]:
    """Return hashes (n, 16) as n values that sort as their bytes do."""
    return np.ascontiguousarray(hashes).view(f"S{HASH_SIZE}")[:, 0]
