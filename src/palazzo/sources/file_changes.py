"""What happened to a file since the last read: nothing, growth at its end, or another change."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import BinaryIO, Literal

from palazzo.frozen_class import frozen
from palazzo.store.source_rows import FileState

TAIL_BYTES = 1024
"""Bytes before the last position read that must be unchanged for a file to count as grown."""
SourceChange = Literal["new", "unchanged", "grown", "rewritten", "left out"]


@frozen
class FileStatus:
    """A file's status from the operating system: inode (0 if there is none), size in bytes, mtime in nanoseconds."""

    inode: int
    size: int
    mtime: int


def status_of(path: Path) -> FileStatus:
    """Return the status of the file at `path`."""
    return _status(path.stat())


def status_of_stream(stream: BinaryIO) -> FileStatus:
    """Return the status of an open file."""
    return _status(os.fstat(stream.fileno()))


def is_unchanged(state: FileState | None, status: FileStatus, feeder: str, version: int) -> bool:
    """Return whether the file is as when `state` was remembered, and was read by the same decoder."""
    return state is not None and (state.size, state.mtime, state.inode, state.feeder, state.version) == (
        status.size,
        status.mtime,
        status.inode,
        feeder,
        version,
    )


def resume_at(state: FileState | None, stream: BinaryIO, status: FileStatus, version: int) -> int:
    """Return the byte to continue reading from: where reading stopped if the file has only grown, else 0."""
    if state is None or state.version != version or status.size < state.consumed:
        return 0
    return state.consumed if tail_hash(stream, state.consumed) == state.tail else 0


def mark_at(state: FileState | None, start: int, feeder: str) -> bytes:
    """Return what the read that `state` remembers left for one by `feeder` that begins at `start`, or nothing."""
    return state.content if state is not None and 0 < start == state.consumed and state.feeder == feeder else b""


def tail_hash(stream: BinaryIO, end: int) -> bytes:
    """Return the hash of the last bytes before `end`."""
    stream.seek(max(0, end - TAIL_BYTES))
    return hashlib.blake2b(stream.read(min(TAIL_BYTES, end)), digest_size=16).digest()


def tail_hash_at(path: Path, end: int) -> bytes:
    """Return the hash of the last bytes before `end` of the file at `path`."""
    with path.open("rb") as stream:
        return tail_hash(stream, end)


def content_hash(raw: bytes) -> bytes:
    """Return the hash of a whole file."""
    return hashlib.blake2b(raw, digest_size=16).digest()


def _status(stat_result: os.stat_result) -> FileStatus:
    return FileStatus(stat_result.st_ino & 0x7FFF_FFFF_FFFF_FFFF, stat_result.st_size, stat_result.st_mtime_ns)
