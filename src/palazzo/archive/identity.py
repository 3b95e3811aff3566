"""Ids: what identifies the same thing on every machine.

A message is identified by its host's uuid, or by its position and its text; a document version by its project, relative
path and text; a note by a time-ordered random id; a drawer by its spans. Absolute paths are never used.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Sequence

from palazzo.model import ItemId, Span

ID_BYTES = 16
_CHANCE = (1 << 74) - 1
_STEP = 32
"""Random bits by which consecutive ids of one millisecond differ."""


def message_id(host: str, session: str, uuid: str) -> ItemId:
    """Return the id of a message with a uuid of its host."""
    return _hash("message", host, session, uuid)


def positioned_id(key: Sequence[str], thread: str, ordinal: int, text: str) -> ItemId:
    """Return the id of a row without a uuid: from its place in its source, and its content."""
    return _hash("row", *key, thread, str(ordinal), text)


def version_id(key: Sequence[str], text: str) -> ItemId:
    """Return the id of one version of a document; `key` is its project's identity and relative path."""
    return _hash("version", *key, text)


def variant_id(original: ItemId, raw: bytes) -> ItemId:
    """Return the id of a row that repeats `original`'s uuid with other bytes."""
    return _hash("variant", original, hashlib.blake2b(raw, digest_size=32).hexdigest())


def new_id(micros: int) -> ItemId:
    """Return a fresh UUIDv7 (RFC 9562): 48 bits of milliseconds, then random bits.

    Ids that one process makes in one millisecond are in the order in which they were made: if two records have the same
    time, their ids show which was first, on every machine that knows both.
    """
    milliseconds = micros // 1000 & (1 << 48) - 1
    chance = _fresh.draw_bits(milliseconds)
    value = milliseconds << 80 | 0x7 << 76 | (chance >> 62) << 64 | 0x2 << 62 | chance & (1 << 62) - 1
    return ItemId(f"{value:032x}")


class _Fresh:
    """The random bits of the last id. The next id of the same millisecond must be greater."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._milliseconds, self._chance = -1, 0

    def draw_bits(self, milliseconds: int) -> int:
        """Return 74 random bits, greater than any earlier ones in the same millisecond."""
        random_bits = int.from_bytes(os.urandom(10))
        with self._lock:
            if milliseconds == self._milliseconds:
                chance = self._chance + 1 + (random_bits & (1 << _STEP) - 1)
            else:
                chance = random_bits & _CHANCE >> 1  # the upper half is room to count in
            self._milliseconds, self._chance = milliseconds, chance & _CHANCE
            return self._chance


_fresh = _Fresh()


def drawer_uid(spans: Sequence[tuple[bytes, int, int]]) -> bytes:
    """Return a drawer's id from its spans, each (item id, start, end)."""
    state = hashlib.blake2b(b"drawer", digest_size=ID_BYTES)
    for item, start, end in spans:
        state.update(item + start.to_bytes(8) + end.to_bytes(8))
    return state.digest()


def drawer_id(spans: Sequence[Span]) -> str:
    """Return a drawer's id from its spans."""
    return drawer_uid([(bytes.fromhex(span.item), span.start, span.end) for span in spans]).hex()


def _hash(*parts: str) -> ItemId:
    """Hash the parts with their lengths, so that no two lists of parts collide by concatenation."""
    state = hashlib.blake2b(digest_size=ID_BYTES)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        state.update(len(data).to_bytes(8) + data)
    return ItemId(state.hexdigest())
