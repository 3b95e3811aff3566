"""Transactions in the write-ahead log that SQLite can no longer read, because something in front of them was damaged.

SQLite reads the log up to the first frame whose checksum is wrong, and takes that for the end: after a crash it is. A
flipped bit in the log therefore drops every later transaction without an error. Behind the end of a sound log no frame
of the same generation is marked as the end of a transaction, since SQLite starts a generation (two random salts) at the
front and never overwrites what was committed in it. Formats: https://www.sqlite.org/walformat.html

Only the log itself is read: SQLite's locks stand on the palace's file and on the log's index (`raw_database`).
"""

from __future__ import annotations

import struct
import time
from pathlib import Path

_HEADER = struct.Struct(">4s4s I 4s 8s II")
"""The log's head: magic, format, page size, number of the checkpoint, salts, checksum of the rest."""
_FRAME_HEADER = struct.Struct(">I I 8s II")
"""A frame's head: page, pages of the database after a commit (else 0), salts, checksum of all up to here."""
_BIG_ENDIAN_MAGIC = b"\x37\x7f\x06\x83"
"""The first bytes of a log whose checksums are of big-endian words."""
_SALTS, _CHECKED_HEAD = slice(8, 16), 8
"""Where a frame's salts stand in its head, and how many bytes of the head its checksum covers."""
_LOOKS, _PAUSE = 4, 0.1
"""A writer may be at work, so a finding must be the same at several looks."""


def count_unreadable(palace: Path, page_size: int) -> int:
    """Return how many committed transactions in a palace's log SQLite cannot read. `page_size` is in bytes."""
    count = _count_once(palace, page_size)
    for _ in range(_LOOKS - 1):
        if not count:
            return 0
        time.sleep(_PAUSE)
        count = min(count, _count_once(palace, page_size))
    return count


def _count_once(palace: Path, page_size: int) -> int:
    try:
        raw = palace.with_name(f"{palace.name}-wal").read_bytes()
    except OSError:
        return 0
    if len(raw) < _HEADER.size + _FRAME_HEADER.size:
        return 0
    magic, _, _, _, salts, *stored_sum = _HEADER.unpack_from(raw)
    is_big_endian = magic == _BIG_ENDIAN_MAGIC
    size = _FRAME_HEADER.size + page_size
    checksum = _checksum(raw[: _HEADER.size - 8], is_big_endian, (0, 0))
    frames = [raw[start : start + size] for start in range(_HEADER.size, len(raw) - size + 1, size)]
    sound_count = 0
    if checksum != tuple(stored_sum):  # the head is damaged, so SQLite reads no frame
        salts = raw[_HEADER.size :][_SALTS]
    else:
        for frame in frames:
            _, _, frame_salts, *frame_sum = _FRAME_HEADER.unpack_from(frame)
            checksum = _checksum(frame[:_CHECKED_HEAD], is_big_endian, checksum)
            checksum = _checksum(frame[_FRAME_HEADER.size :], is_big_endian, checksum)
            if frame_salts != salts or checksum != tuple(frame_sum):
                break
            sound_count += 1
    return sum(_ends_transaction(frame, salts) for frame in frames[sound_count:])


def _ends_transaction(frame: bytes, salts: bytes) -> bool:
    _, committed_pages, frame_salts, *_ = _FRAME_HEADER.unpack_from(frame)
    return bool(frame_salts == salts and committed_pages > 0)


def _checksum(content: bytes, is_big_endian: bool, start: tuple[int, int]) -> tuple[int, int]:
    """Continue SQLite's checksum over 32-bit words of the log's byte order."""
    order = ">" if is_big_endian else "<"
    first, second = start
    for one, two in struct.iter_unpack(f"{order}II", content):
        first = (first + one + second) & 0xFFFFFFFF
        second = (second + two + first) & 0xFFFFFFFF
    return first, second
