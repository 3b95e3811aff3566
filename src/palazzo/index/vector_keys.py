"""Keys of vectors: the hash of a text, and that of the words of a source. A search loads this without the cutter."""

from __future__ import annotations

import hashlib

from palazzo.store import source_headings
from palazzo.store.database import Connection


def text_hash(text: str) -> bytes:
    """Return the key of a vector: 16 bytes of the text's hash."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def heading_hash(connection: Connection, source: int, drawer: int | None) -> bytes | None:
    """Return the hash of the words of a source that `drawer` stands for; None if there are none."""
    words = "" if drawer is None else source_headings.source_words(connection, source, drawer)
    return text_hash(words) if words else None
