"""Ids: what makes a thing the same thing on every machine.

A message is known by its host's uuid, or by where it stands and what it says; a document version by its
project, relative path and text; a note by a time-ordered random id. A drawer is known by its spans.
Never by an absolute path.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence

from palazzo.model import ItemId, Span

ID_BYTES = 16


def message_id(host: str, session: str, uuid: str) -> ItemId:
    """Return the id of a message that its host gave a uuid."""
    return _hash("message", host, session, uuid)


def positioned_id(key: Sequence[str], thread: str, ordinal: int, text: str) -> ItemId:
    """Return the id of a row without a uuid: where it stands in its source, and what it says."""
    return _hash("row", *key, thread, str(ordinal), text)


def version_id(key: Sequence[str], text: str) -> ItemId:
    """Return the id of one version of a document; `key` is its project's identity and relative path."""
    return _hash("version", *key, text)


def variant_id(original: ItemId, raw: bytes) -> ItemId:
    """Return the id of a row that repeats `original`'s uuid with other bytes."""
    return _hash("variant", original, hashlib.blake2b(raw, digest_size=32).hexdigest())


def new_id(micros: int) -> ItemId:
    """Return a fresh UUIDv7 (RFC 9562): 48 bits of milliseconds, then random bits."""
    value = (micros // 1000 & (1 << 48) - 1) << 80 | int.from_bytes(os.urandom(10))
    value = value & ~(0xF << 76) | 0x7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    return ItemId(f"{value:032x}")


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
