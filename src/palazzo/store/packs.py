"""Packs: raw bytes of rows, compressed together. Bytes that other packs already contain are not stored again.

    pack.body       the pack's own bytes, compressed
    pack.layout     NULL if these are the whole pack; else the segments that it is put together from
    pack_reference  which packs name own bytes of which
    landmark        positions in own bytes, by a hash of the bytes there: used to find repeats

A segment names *own* bytes, of this pack or of another, so reading follows one step and never two. Own bytes keep their
offsets for as long as they exist. Landmarks are only hints: the bytes are always compared, and without landmarks only
later savings are lost. Only `archive/` writes here.
"""

from __future__ import annotations

import os
import struct
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

import zstandard

from palazzo.frozen_class import frozen
from palazzo.store.database import Connection

HELD_BYTES = 4 * 1024 * 1024
"""The most bytes of pack contents that a reader caches: a pack of the usual size and all packs that it may refer to."""
ITSELF = 0
"""In a segment, stands for the pack to which the segment belongs."""
_LEVEL = 3
_SEGMENT = struct.Struct("<QII")


class Segment(NamedTuple):
    """`size` bytes from `start` of the own bytes of `pack`, which may be ITSELF."""

    pack: int
    start: int
    size: int


class Landmark(NamedTuple):
    """A place at `start` of a body or of a pack's own bytes, identified by `key`, a signed 64-bit number."""

    key: int
    start: int


def compress(own: bytes) -> bytes:
    """Return own bytes in the form stored in `pack.body`."""
    return zstandard.ZstdCompressor(level=_LEVEL).compress(own)


def find_pack(connection: Connection, digest: bytes) -> int | None:
    """Return the row id of the pack with these bytes, or None if there is none."""
    for (row,) in connection.execute("SELECT id FROM pack WHERE hash = ?", (digest,)):
        return int(row)
    return None


def insert_pack(connection: Connection, digest: bytes, size: int, body: bytes, layout: Sequence[Segment] = ()) -> int:
    """Store a new pack of `size` bytes; return its row id. `body` is the output of `compress`."""
    (row,) = next(
        connection.execute(
            "INSERT INTO pack(hash, size, layout, body) VALUES(?,?,?,?) RETURNING id",
            (digest, size, _dump(layout), body),
        )
    )
    _refer(connection, int(row), layout)
    return int(row)


def insert_landmarks(connection: Connection, pack: int, landmarks: Iterable[Landmark]) -> None:
    """Store landmarks in the own bytes of a pack; if two have the same key, the first stays."""
    connection.executemany(
        "INSERT OR IGNORE INTO landmark(key, pack, start) VALUES(?,?,?)",
        ((key, pack, start) for key, start in landmarks),
    )


def find_landmarks(connection: Connection, keys: Iterable[int]) -> dict[int, tuple[int, int]]:
    """Return (pack, start in its own bytes) of the known landmarks."""
    landmark_keys = list(keys)
    places: dict[int, tuple[int, int]] = {}
    for first in range(0, len(landmark_keys), 500):
        part = landmark_keys[first : first + 500]
        marks = ",".join("?" * len(part))
        for key, pack, start in connection.execute(
            f"SELECT key, pack, start FROM landmark WHERE key IN ({marks})", part
        ):
            places[int(key)] = (int(pack), int(start))
    return places


@frozen
class _LoadedPack:
    """A pack as a reader caches it. `ends` are the segments' ends in the whole pack."""

    own: bytes
    layout: tuple[Segment, ...]
    ends: tuple[int, ...]


class PackReader:
    """Reads slices of packs, and caches the most recent within HELD_BYTES: neighbouring items share them."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._held: OrderedDict[int, _LoadedPack] = OrderedDict()
        self._size = 0

    def read(self, pack: int, start: int, size: int) -> bytes:
        """Return `size` bytes from `start` of the pack.

        Raises LookupError if it or a pack that it refers to is missing, ValueError or ZstdError if one is damaged.
        """
        loaded_pack = self._pack(pack)
        if not loaded_pack.layout:
            return loaded_pack.own[start : start + size]
        return b"".join(self._pieces(pack, loaded_pack, start, start + size))

    def own(self, pack: int) -> bytes:
        """Return all own bytes of a pack. Raises the exceptions of `read`."""
        return self._pack(pack).own

    def _pieces(self, pack: int, loaded_pack: _LoadedPack, start: int, end: int) -> Iterator[bytes]:
        """Yield the bytes from `start` to `end`, segment by segment. Packs outside the slice are not read."""
        for n in range(bisect_right(loaded_pack.ends, start), len(loaded_pack.layout)):
            base, at, size = loaded_pack.layout[n]
            begins = loaded_pack.ends[n] - size
            if begins >= end:
                return
            own = loaded_pack.own if base in (ITSELF, pack) else self.own(base)
            yield own[at + max(start - begins, 0) : at + min(end - begins, size)]

    def _pack(self, pack: int) -> _LoadedPack:
        loaded_pack = self._held.get(pack)
        if loaded_pack is not None:
            self._held.move_to_end(pack)
            return loaded_pack
        loaded_pack = _read(self._connection, pack)
        self._held[pack] = loaded_pack
        self._size += len(loaded_pack.own)
        while self._size > HELD_BYTES and len(self._held) > 1:
            _, evicted_pack = self._held.popitem(last=False)
            self._size -= len(evicted_pack.own)
        return loaded_pack


def referring_packs(connection: Connection, pack: int) -> list[int]:
    """Return the packs that refer to own bytes of this one."""
    rows = connection.execute("SELECT pack FROM pack_reference WHERE base = ? ORDER BY pack", (pack,))
    return [int(row) for (row,) in rows]


def release(connection: Connection, pack: int) -> None:
    """Copy this pack's bytes into every pack that refers to it, and delete its landmarks.

    Afterwards the pack's own bytes can be changed or removed without harm to another pack. A pack appends the copied
    bytes after its own bytes, so that their offsets stay and references to them remain valid.
    """
    reader = PackReader(connection)
    for referrer in referring_packs(connection, pack):
        loaded_pack = _read(connection, referrer)
        own = bytearray(loaded_pack.own)
        layout: list[Segment] = []
        for segment in loaded_pack.layout:
            if segment.pack == pack:
                layout.append(Segment(ITSELF, len(own), segment.size))
                own += reader.own(pack)[segment.start : segment.start + segment.size]
            else:
                layout.append(segment)
        connection.execute(
            "UPDATE pack SET layout = ?, body = ? WHERE id = ?", (_dump(layout), compress(bytes(own)), referrer)
        )
        connection.execute("DELETE FROM pack_reference WHERE base = ? AND pack = ?", (pack, referrer))
    connection.execute("DELETE FROM landmark WHERE pack = ?", (pack,))


def whole(connection: Connection, pack: int) -> bytes:
    """Return all bytes that a pack represents, its own and others'. Raises the exceptions of reading a pack."""
    (size,) = next(connection.execute("SELECT size FROM pack WHERE id = ?", (pack,)))
    return PackReader(connection).read(pack, 0, int(size))


def pack_rows(connection: Connection) -> list[int]:
    """Return all packs."""
    return [int(row) for (row,) in connection.execute("SELECT id FROM pack ORDER BY id")]


def keep_only(connection: Connection, pack: int, ranges: Sequence[tuple[int, int]]) -> None:
    """Keep only the ranges `ranges` (start, end) of a pack, with zeros in between; without ranges, delete the pack.

    Bytes that other packs refer to are first copied into them. Afterwards the pack has a random hash, so that nothing
    filed later is mistaken for it, and it refers to no other pack.
    """
    release(connection, pack)
    body = whole(connection, pack)
    connection.execute("DELETE FROM pack_reference WHERE pack = ?", (pack,))
    if not ranges:
        connection.execute("DELETE FROM pack WHERE id = ?", (pack,))
        return
    new_body = bytearray(len(body))
    for start, end in ranges:
        new_body[start:end] = body[start:end]
    connection.execute(
        "UPDATE pack SET hash = ?, layout = NULL, body = ? WHERE id = ?",
        (os.urandom(16), compress(bytes(new_body)), pack),
    )


def _refer(connection: Connection, pack: int, layout: Iterable[Segment]) -> None:
    bases = {segment.pack for segment in layout} - {ITSELF}
    connection.executemany(
        "INSERT INTO pack_reference(base, pack) VALUES(?,?)", ((base, pack) for base in sorted(bases))
    )


def _read(connection: Connection, pack: int) -> _LoadedPack:
    for body, size, layout_bytes in connection.execute("SELECT body, size, layout FROM pack WHERE id = ?", (pack,)):
        layout = _load(pack, layout_bytes) if layout_bytes is not None else ()
        own = zstandard.ZstdDecompressor().decompress(body, max_output_size=size) if size else b""
        return _LoadedPack(own, layout, tuple(accumulate(segment.size for segment in layout)))
    raise LookupError(f"pack {pack} is missing")


def _load(pack: int, layout_bytes: bytes) -> tuple[Segment, ...]:
    if len(layout_bytes) % _SEGMENT.size:
        raise ValueError(f"the layout of pack {pack} is damaged")
    return tuple(Segment(*fields) for fields in _SEGMENT.iter_unpack(layout_bytes))


def _dump(layout: Sequence[Segment]) -> bytes | None:
    return b"".join(_SEGMENT.pack(*segment) for segment in layout) if layout else None
