"""Pack writer: puts the raw bytes of rows into packs, and refers to bytes that the palace already holds.

    raw bytes ──pack──> NewPack ──store──> row ids
           outside the lock     inside it

An agent reads one file ten times, a compaction copies the history so far, an export repeats last month's conversations:
long repeats, in other rows, at any offset. They are found by *landmarks*: positions that the bytes themselves
determine, about one in 8 KiB, identified by a hash of the 64 bytes there (Manber's sampling; zstd's long-distance
matching and rsync work similarly). Where a new pack has a known landmark, the bytes on both sides of it are compared
with the pack that holds it, and the equal stretch becomes a reference. So a repeat is found to its full length, to the
byte, wherever it begins. Because bytes are compared, and never hashes alone, two different texts can never be mistaken
for one.

Chunks cut at such positions would need a row for each chunk and would be shared only if whole. A landmark needs a row
too, but one landmark is enough for a repeat of any length.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Collection, Iterator, Sequence

import zstandard

from palazzo.frozen_class import frozen
from palazzo.store import packs
from palazzo.store.database import Connection
from palazzo.store.packs import ITSELF, Landmark, PackReader, Segment

PACK_BYTES = 256 * 1024
"""Raw bytes that are compressed together. Larger packs save little more and make reading one row slower."""
LONGEST_SEARCHED = 4 * 1024 * 1024
"""Maximum size in bytes of a pack (a single long row) in which repeats are searched for: the rest is compressed inside
the lock.
"""
SHORTEST_COPY = 512
"""Minimum size in bytes of a repeat that is stored as a reference: compressed it would take about 80 bytes, and a
segment takes 16.
"""
MOST_BASES = 16
"""Maximum number of other packs that a pack may refer to. Each is decompressed inside the lock (0.3 ms), and again when
the whole pack is read.
"""
LEAST_SAVED = 128
"""Minimum bytes that references must save. With less saved, the pack is stored without references."""

_WINDOW = 64
"""Bytes that identify a landmark."""
_CLASSES = bytes(
    (int.from_bytes(hashlib.blake2b(b"landmark2", digest_size=32).digest()) >> byte) & 1 for byte in range(256)
)
"""Each byte as 0 or 1, assigned at random. Of six such tables, this one is closest to one position in 1,024 for Python,
JSON, base64 and random bytes.
"""
_CANDIDATE = re.compile(bytes((1, 1, 1, 0, 1, 0, 0, 1, 0, 0)))
"""Cannot overlap itself, so the matches do not depend on where the search began."""
_SAMPLING_RATE = 8
"""One candidate in this many is a landmark, chosen by the checksum of its window: otherwise words that occur in every
row would be landmarks.
"""
_GAPS = (16, 128, 512, 2048)
"""Bytes after the end of a repeat at which it is searched for again: text inserted by an edit is shorter than one of
them.
"""
_FURTHER = 8192
"""Bytes of the other pack in which it is searched for: text removed by an edit is shorter."""
_BLOCK = 4096
"""Bytes compared at once when going backwards: reversing them costs one nanosecond each."""


@frozen
class NewPack:
    """A pack that may have to be stored: its bytes, the compressed bytes, their digest, and its landmarks in order."""

    digest: bytes
    body: bytes
    packed_body: bytes
    landmarks: tuple[Landmark, ...]


Spot = tuple[int, int, int]
"""Location of raw bytes: number of the pack, start, size."""


def pack(raws: Sequence[bytes | None]) -> tuple[tuple[NewPack, ...], tuple[Spot | None, ...]]:
    """Join raw bytes into packs; return the packs and each one's spot. Needs no lock."""
    new_packs: list[NewPack] = []
    spots: list[Spot | None] = []
    chunks: list[bytes] = []
    size = 0
    for raw in raws:
        if raw is None:
            spots.append(None)
            continue
        if size and size + len(raw) > PACK_BYTES:
            new_packs.append(_new(b"".join(chunks)))
            chunks.clear()
            size = 0
        spots.append((len(new_packs), size, len(raw)))
        chunks.append(raw)
        size += len(raw)
    if chunks:
        new_packs.append(_new(b"".join(chunks)))
    return tuple(new_packs), tuple(spots)


def store(connection: Connection, new_packs: Sequence[NewPack], numbers: Collection[int]) -> list[int | None]:
    """Store the packs with the wanted numbers, in this transaction; return row ids by number."""
    reader = PackReader(connection)
    return [_store(connection, reader, new) if n in numbers else None for n, new in enumerate(new_packs)]


def landmarks(body: bytes) -> Iterator[Landmark]:
    """Yield the landmarks of some bytes in order. Each depends on the 64 bytes at its place, and on nothing else."""
    last = len(body) - _WINDOW
    for match in _CANDIDATE.finditer(body.translate(_CLASSES)):
        start = match.start()
        window = body[start : start + _WINDOW]
        if start <= last and zlib.crc32(window) % _SAMPLING_RATE == 0:
            yield Landmark(int.from_bytes(hashlib.blake2b(window, digest_size=8).digest(), signed=True), start)


def _new(body: bytes) -> NewPack:
    marks = tuple(landmarks(body)) if len(body) <= LONGEST_SEARCHED else ()
    return NewPack(hashlib.blake2b(body, digest_size=16).digest(), body, packs.compress(body), marks)


@frozen
class _Copy:
    """Bytes of a new pack from `start` that also occur in the own bytes of `base` from `at`."""

    start: int
    size: int
    base: int
    at: int

    @property
    def end(self) -> int:
        return self.start + self.size


def _store(connection: Connection, reader: PackReader, new: NewPack) -> int:
    row = packs.find_pack(connection, new.digest)
    if row is not None:
        return row
    copies = _copies(connection, reader, new)
    layout, own = _laid_out(new.body, copies)
    packed_body = packs.compress(own) if copies else new.packed_body
    if copies and len(packed_body) + LEAST_SAVED > len(new.packed_body):
        copies, layout, packed_body = [], [], new.packed_body
    row = packs.insert_pack(connection, new.digest, len(new.body), packed_body, layout)
    packs.insert_landmarks(connection, row, _own_landmarks(new.landmarks, copies))
    return row


def _copies(connection: Connection, reader: PackReader, new: NewPack) -> list[_Copy]:
    """Find parts of a pack's bytes that the palace already holds: in order, not overlapping, as long as possible."""
    bases_by_key = packs.find_landmarks(connection, {mark.key for mark in new.landmarks})
    copies: list[_Copy] = []
    bases: set[int] = set()
    end = 0
    for key, start in new.landmarks:
        if key not in bases_by_key or start < end:
            continue
        base, at = bases_by_key[key]
        if base not in bases and len(bases) >= MOST_BASES:
            continue
        try:
            own = reader.own(base)
        except (zstandard.ZstdError, LookupError, ValueError):
            continue  # a damaged pack: `verify` tells of it, and nothing new is entrusted to it
        copy = _grow_copy(new.body, start, end, base, own, at)
        while copy.size >= SHORTEST_COPY:
            copies.append(copy)
            bases.add(base)
            end = copy.end
            copy = _resume_copy(new.body, copy, own)
    return copies


def _resume_copy(body: bytes, last: _Copy, own: bytes) -> _Copy:
    """Return how the copy continues after a difference, or an empty copy: most differences are a line or two."""
    base_end = last.at + last.size
    for gap in _GAPS:
        start = last.end + gap
        if start + _WINDOW > len(body):
            break
        at = own.find(body[start : start + _WINDOW], base_end, base_end + _FURTHER)
        copy = _grow_copy(body, start, last.end, last.base, own, at) if at >= 0 else None
        if copy is not None and copy.size >= SHORTEST_COPY:
            return copy
    return _Copy(last.end, 0, last.base, base_end)


def _grow_copy(body: bytes, start: int, least: int, base: int, own: bytes, at: int) -> _Copy:
    """Return the longest run of equal bytes through `start` and `at` that begins no earlier than `least`."""
    forward_size = _equal_ahead(body, start, own, at)
    if forward_size < _WINDOW:
        return _Copy(start, 0, base, at)
    backward_size = _equal_behind(body, start, own, at, min(start - least, at))
    return _Copy(start - backward_size, backward_size + forward_size, base, at - backward_size)


def _equal_ahead(first: bytes, i: int, second: bytes, j: int) -> int:
    """Return how many bytes from `i` and from `j` on are equal."""
    most, equal, step = min(len(first) - i, len(second) - j), 0, _WINDOW
    while step and equal < most:
        size = min(step, most - equal)
        if first[i + equal : i + equal + size] == second[j + equal : j + equal + size]:
            equal, step = equal + size, step * 2
        else:
            step = size // 2
            most = equal + size - 1  # the difference lies before
    return equal


def _equal_behind(first: bytes, i: int, second: bytes, j: int, most: int) -> int:
    """Return how many bytes before `i` and before `j` are equal, at most `most`."""
    equal = 0
    while equal < most:
        size = min(_BLOCK, most - equal)
        first_block, second_block = first[i - equal - size : i - equal], second[j - equal - size : j - equal]
        if first_block != second_block:
            return equal + _equal_ahead(first_block[::-1], 0, second_block[::-1], 0)
        equal += size
    return equal


def _laid_out(body: bytes, copies: Sequence[_Copy]) -> tuple[list[Segment], bytes]:
    """Return the segments of a pack with these copies, and the pack's own remaining bytes."""
    layout: list[Segment] = []
    own: list[bytes] = []
    size = position = 0
    for copy in [*copies, _Copy(len(body), 0, ITSELF, 0)]:
        if copy.start > position:
            layout.append(Segment(ITSELF, size, copy.start - position))
            own.append(body[position : copy.start])
            size += copy.start - position
        if copy.size:
            layout.append(Segment(copy.base, copy.at, copy.size))
        position = copy.end
    return (layout if copies else []), b"".join(own)


def _own_landmarks(marks: Sequence[Landmark], copies: Sequence[_Copy]) -> Iterator[Landmark]:
    """Yield the landmarks whose windows lie wholly in own bytes, with their positions there."""
    copy_iterator = iter(copies)
    copy = next(copy_iterator, None)
    offset = 0
    for key, start in marks:
        while copy is not None and copy.end <= start:
            offset += copy.size
            copy = next(copy_iterator, None)
        if copy is None or start + _WINDOW <= copy.start:
            yield Landmark(key, start - offset)
