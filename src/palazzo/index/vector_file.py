"""The file of a palace's vector columns: what a search reads of every vector, beside the palace, for the next process.

Without it, each process reads every vector of the palace once, row by row: 0.15 seconds for 10,000 drawers, 1.4 for
100,000, 110 for three million. The file has the sign bits, the hashes and the columns that a search filters by, 85
bytes a vector. The codes (384 bytes) stay in the palace and are read by hash for the few vectors that are scored.

    header   magic, size and checksum, then JSON: the state of the palace that was written, a checksum of each column
    columns  sign bits (words, vectors), hashes (vectors, 16), drawers, rooms, times, kinds; little-endian

The file is used only if the palace contains the state that it was written from: the same edition, chains and newest
changes, and no erasure since. It is read, not mapped: an erase overwrites it while others may use it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import struct
import sys
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from palazzo.errors import PalazzoError
from palazzo.frozen_class import frozen
from palazzo.store import vector_file_paths, vector_rows
from palazzo.store.database import Connection, Database
from palazzo.store.palace_state import PalaceState, parse_state

HASH_SIZE = 16
_MAGIC = b"palazzo vectors\n"
_FORMAT = 1
_FRAME = struct.Struct("<II")
"""The size and the checksum of the header."""
_MOST_HEADER = 1 << 20


@frozen
class VectorColumns:
    """Columns of all live vectors of one embedder, in the order of their drawers."""

    planes: NDArray[np.uint64]
    hashes: NDArray[np.uint8]
    drawers: NDArray[np.int64]
    rooms: NDArray[np.int32]
    created: NDArray[np.int64]
    kinds: NDArray[np.int8]
    kind_names: tuple[str, ...]


class VectorFile:
    """Reads and writes the file of one palace and embedder, and reads codes from the palace."""

    def __init__(self, database: Database, embedder: int, name: str, dimension: int) -> None:
        self._database, self._embedder, self._dimension = database, embedder, dimension
        self._identity = {"format": _FORMAT, "order": sys.byteorder, "embedder": name, "dimension": dimension}

    def read(self, connection: Connection) -> tuple[int, VectorColumns] | None:
        """Return (change number, columns) of the file; None if there is none, or none of this palace's own past."""
        try:
            with vector_file_paths.vector_file(self._database.path).open("rb") as file:
                return self._read(connection, file)
        except OSError:  # there is none, or it cannot be read: the palace has everything
            return None

    def write(self, state: PalaceState, columns: VectorColumns) -> None:
        """Replace the file by the columns of that state, unless another process writes it.

        What cannot be written is not there: the palace has it all.
        """
        palace = self._database.path
        with contextlib.suppress(OSError, PalazzoError), vector_file_paths.hold_write_lock(palace) as is_held:
            if is_held and _is_own(palace):
                self._write_locked(state, columns)

    def _write_locked(self, state: PalaceState, columns: VectorColumns) -> None:
        with self._database.read_committed() as connection:
            if not state.is_past_of(connection):  # something was erased, or the palace was replaced
                return
        path = vector_file_paths.vector_file(self._database.path)
        unfinished_path = vector_file_paths.unfinished_file(self._database.path)
        try:
            with open(unfinished_path, "wb", opener=_open_privately) as file:
                self._write(file, state, columns)
            if path.exists():
                vector_file_paths.overwrite_and_remove(path)
            unfinished_path.rename(path)
        except OSError:
            vector_file_paths.overwrite_and_remove(unfinished_path)
            raise

    def read_codes(self, hashes: Sequence[bytes]) -> dict[bytes, tuple[float, bytes]]:
        """Return (scale, int8 bytes) by hash, of those that the palace has."""
        with self._database.read_committed() as connection:
            return vector_rows.read_vectors(connection, self._embedder, sorted(hashes))

    def read_all_codes(self) -> Iterator[tuple[bytes, float, bytes]]:
        """Yield (hash, scale, int8 bytes) of all that the palace has."""
        with self._database.read_committed() as connection:
            yield from vector_rows.all_vectors(connection, self._embedder)

    def _write(self, file: IO[bytes], state: PalaceState, columns: VectorColumns) -> None:
        arrays = _arrays_of(columns)
        header = self._identity | {
            "state": dataclasses.asdict(state),
            "vectors": len(columns.drawers),
            "kinds": columns.kind_names,
            "checksums": [zlib.crc32(array.data) for array in arrays],
        }
        raw_header = json.dumps(header).encode()
        file.write(_MAGIC + _FRAME.pack(len(raw_header), zlib.crc32(raw_header)) + raw_header)
        for array in arrays:
            file.write(array.data)

    def _read(self, connection: Connection, file: IO[bytes]) -> tuple[int, VectorColumns] | None:
        if file.read(len(_MAGIC)) != _MAGIC:
            return None
        frame = file.read(_FRAME.size)
        if len(frame) < _FRAME.size:
            return None
        size, checksum = _FRAME.unpack(frame)
        raw_header = file.read(min(size, _MOST_HEADER))
        if zlib.crc32(raw_header) != checksum:
            return None
        header = json.loads(raw_header)
        if any(header.get(key) != value for key, value in self._identity.items()):
            return None
        state = parse_state(header["state"])
        columns = _read_columns(file, header, self._dimension) if state.is_past_of(connection) else None
        return None if columns is None else (state.seq, columns)


def _arrays_of(columns: VectorColumns) -> list[NDArray[Any]]:
    arrays = (columns.planes, columns.hashes, columns.drawers, columns.rooms, columns.created, columns.kinds)
    return [np.ascontiguousarray(array) for array in arrays]


def _read_columns(file: IO[bytes], header: dict[str, Any], dimension: int) -> VectorColumns | None:
    """Return the columns after the header; None if one is short or has another checksum."""
    count = header["vectors"]
    shapes = (
        (np.uint64, (-(-dimension // 64), count)),
        (np.uint8, (count, HASH_SIZE)),
        (np.int64, (count,)),
        (np.int32, (count,)),
        (np.int64, (count,)),
        (np.int8, (count,)),
    )
    arrays: list[NDArray[Any]] = []
    for (kind, shape), checksum in zip(shapes, header["checksums"], strict=True):
        array = np.fromfile(file, dtype=kind, count=int(np.prod(shape)))
        if array.size != np.prod(shape) or zlib.crc32(array.data) != checksum:
            return None
        arrays.append(array.reshape(shape))
    planes, hashes, drawers, rooms, created, kinds = arrays
    return VectorColumns(planes, hashes, drawers, rooms, created, kinds, tuple(header["kinds"]))


def _is_own(palace: Path) -> bool:
    """Whether the palace belongs to the user of this process: its owner could not overwrite another user's file."""
    return sys.platform == "win32" or palace.stat().st_uid == os.geteuid()


def _open_privately(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
