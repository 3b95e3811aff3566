"""Items of a salvaged palace whose columns are readable and whose contents cannot be decoded."""

from __future__ import annotations

import json
import zlib

from palazzo.store import items
from palazzo.store.database import Connection, Value

_LEAST_TRUST = "external"


def mend(connection: Connection) -> None:
    """Keep the decodable part of each such item.

    A text keeps what precedes the damage. Parts tell who said which words, so an item without them gets the least
    trust.
    """
    for (row,) in list(connection.execute("SELECT id FROM item")):
        blob, codec, parts, meta = next(
            connection.execute("SELECT text, text_codec, parts, meta FROM item WHERE id = ?", (row,))
        )
        if not _is_text(blob, codec):
            items.set_text(connection, row, _readable_text(blob, codec))
        if not _are_parts(parts):
            items.forget_parts(connection, row, _LEAST_TRUST)
        if not _is_meta(meta):
            items.set_meta(connection, row, "{}")


def _is_text(blob: Value, codec: Value) -> bool:
    try:
        items.decode_text(blob, codec)  # type: ignore[arg-type]  # a damaged column may hold a value of any type
    except (zlib.error, UnicodeDecodeError, TypeError, AttributeError):
        return False
    return True


def _readable_text(blob: Value, codec: Value) -> str:
    plain = blob if isinstance(blob, bytes) else b""
    return (_decompress_prefix(plain) if codec == items.DEFLATE else plain).decode("utf-8", "replace")


def _decompress_prefix(blob: bytes) -> bytes:
    """Decompress as much as possible, byte by byte: an error discards the whole output of its call."""
    decompressor, plain = zlib.decompressobj(), bytearray()
    try:
        for n in range(len(blob)):
            plain += decompressor.decompress(blob[n : n + 1])
    except zlib.error:
        pass  # what follows it cannot be read
    return bytes(plain)


def _are_parts(parts: Value) -> bool:
    try:
        items.load_parts(parts)  # type: ignore[arg-type]
    except (ValueError, TypeError):
        return False
    return True


def _is_meta(meta: Value) -> bool:
    try:
        return isinstance(json.loads(meta), dict)  # type: ignore[arg-type]
    except (ValueError, TypeError):
        return False
