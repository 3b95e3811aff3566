"""Items of a salvaged palace whose columns can be read and whose contents cannot be decoded."""

from __future__ import annotations

import json
import zlib

from palazzo.store.database import Connection, Value
from palazzo.store.items import DEFLATED, decode_text, encode_text, load_parts

_LEAST_TRUST = "external"


def mend(connection: Connection) -> None:
    """Keep of each such item what can be decoded.

    A text keeps what is before the damage. Parts say who spoke which words, so an item without them gets least trust.
    """
    for (row,) in list(connection.execute("SELECT id FROM item")):
        stored, codec, parts, meta, trust = next(
            connection.execute("SELECT text, text_codec, parts, meta, trust FROM item WHERE id = ?", (row,))
        )
        text, text_codec = _readable_text(stored, codec)
        readable_parts, readable_meta = _readable_parts(parts), _readable_meta(meta)
        readable_trust = trust if readable_parts == parts else _LEAST_TRUST
        mended = (text, text_codec, readable_parts, readable_meta, readable_trust)
        if mended != (stored, codec, parts, meta, trust):
            connection.execute(
                "UPDATE item SET text = ?, text_codec = ?, parts = ?, meta = ?, trust = ? WHERE id = ?", (*mended, row)
            )


def _readable_text(stored: Value, codec: Value) -> tuple[Value, Value]:
    try:
        decode_text(stored, codec)  # type: ignore[arg-type]  # a damaged column may hold a value of any type
    except (zlib.error, UnicodeDecodeError, TypeError, AttributeError):
        plain = stored if isinstance(stored, bytes) else b""
        if codec == DEFLATED:
            plain = _inflated(plain)
        return encode_text(plain.decode("utf-8", "replace"))
    return stored, codec


def _inflated(stored: bytes) -> bytes:
    """Decompress as much as can be, byte by byte: an error takes the whole call's output with it."""
    decompressor, plain = zlib.decompressobj(), bytearray()
    try:
        for n in range(len(stored)):
            plain += decompressor.decompress(stored[n : n + 1])
    except zlib.error:
        pass  # what follows it cannot be read
    return bytes(plain)


def _readable_parts(parts: Value) -> Value:
    try:
        load_parts(parts)  # type: ignore[arg-type]
    except (ValueError, TypeError):
        return ""
    return parts


def _readable_meta(meta: Value) -> Value:
    try:
        if isinstance(json.loads(meta), dict):  # type: ignore[arg-type]
            return meta
    except (ValueError, TypeError):
        pass  # answered below, as a value that is no object
    return "{}"
