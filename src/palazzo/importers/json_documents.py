"""JSON documents that other memories export as one text, read whole within limits, and access to their members.

A member of another type than expected counts as absent: the reader decides what that means for the thing it belongs to.
Keys contain no text or names of a memory: `key_of` hashes them.
"""

from __future__ import annotations

import hashlib
import json
import math
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping
from pathlib import Path

from palazzo.errors import SourceUnreadable
from palazzo.sources.formats.jsonl_rows import JsonObject
from palazzo.sync.carried_files import pieces

LARGEST = 512 << 20
"""Maximum bytes of one unpacked text. It is in memory as a whole, and again as parsed values."""
MOST_PARTS = 16_000_000
"""Maximum number of commas, colons and opening brackets in it: an export of 30,000 memories with their vectors has that
many, and no part needs more than a few hundred bytes.
"""
_LEVELS = 8
HEAD = 64 << 10
"""Number of bytes at the beginning from which a format is recognised."""


def document(path: Path) -> JsonObject:
    """Return the object in a file, compressed or not; raises SourceUnreadable, in one sentence, otherwise."""
    parts, size = [], 0
    for piece in pieces(path):
        size += len(piece)
        if size > LARGEST:
            raise SourceUnreadable(f"{path} has more than {LARGEST >> 20} MiB and was not read. Export it in parts.")
        parts.append(piece)
    text = b"".join(parts)
    if parts_of(text) > MOST_PARTS:
        raise SourceUnreadable(f"{path} has more than {MOST_PARTS:,} values and was not read. Export it in parts.")
    try:
        value = json.loads(text.removeprefix(BOM_UTF8).decode("utf-8", "surrogateescape"), strict=False)
    except RecursionError:
        raise SourceUnreadable(f"{path} is nested too deeply to be an export; export it again.") from None
    except ValueError as error:
        raise SourceUnreadable(
            f"{path} is not valid JSON, or is truncated ({_short(error)}). Export or copy it again."
        ) from None
    if not isinstance(value, dict):
        raise SourceUnreadable(f"{path} is JSON but not an object, so it is not a known export.")
    return value


def parts_of(text: bytes) -> int:
    """Return the largest number of values that a JSON text can have, without parsing it."""
    return sum(map(text.count, (b",", b":", b"[", b"{")))


def head(path: Path) -> bytes:
    """Return the first bytes of a file; b"" if it is not a file or cannot be read."""
    try:
        if not path.is_file():
            return b""
        with path.open("rb") as stream:
            return stream.read(HEAD)
    except OSError:
        return b""


def is_directory(path: Path) -> bool:
    """Return whether a path is a directory; False also if it cannot be checked."""
    try:
        return path.is_dir()
    except OSError:
        return False


def text_at(record: JsonObject, *keys: str) -> str:
    """Return the string at the first of these keys that has one, "" if none has."""
    return next((value for key in keys if isinstance(value := record.get(key), str) and value), "")


def texts_at(record: JsonObject, key: str) -> tuple[str, ...]:
    """Return the strings of the list at `key`, without duplicates and blank ones."""
    values = record.get(key)
    texts = (value.strip() for value in values if isinstance(value, str)) if isinstance(values, list) else ()
    return tuple(dict.fromkeys(value for value in texts if value))


def objects_at(record: JsonObject, key: str) -> Iterator[JsonObject | None]:
    """Yield the objects of the list at `key`, None for each other element."""
    values = record.get(key)
    for value in values if isinstance(values, list) else ():
        yield value if isinstance(value, dict) else None


def object_at(record: JsonObject, key: str) -> JsonObject:
    """Return the object at `key`, an empty one if there is none."""
    value = record.get(key)
    return value if isinstance(value, dict) else {}


def number_at(record: JsonObject, key: str) -> float | None:
    """Return the number from 0 to 1 at `key`, None for anything else."""
    value = record.get(key)
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return float(value) if 0 <= value <= 1 else None


def plain(record: JsonObject) -> JsonObject:
    """Return an object's members that are JSON without deep nesting and with finite numbers only."""
    return {name: value for name, value in record.items() if _is_plain(value, _LEVELS)}


def _is_plain(value: object, levels: int) -> bool:
    match value:
        case dict():
            return levels > 0 and all(_is_plain(member, levels - 1) for member in value.values())
        case list():
            return levels > 0 and all(_is_plain(member, levels - 1) for member in value)
        case float():
            return math.isfinite(value)
    return True


def present(values: Mapping[str, object]) -> dict[str, object]:
    """Return those of these values that are not empty."""
    return {name: value for name, value in values.items() if value not in (None, "", (), [], {})}


def key_of(*parts: str) -> str:
    """Return 32 hexadecimal digits that identify these words without revealing them."""
    state = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        state.update(len(data).to_bytes(8, "big") + data)
    return state.hexdigest()


def _short(error: ValueError) -> str:
    return str(error).split(": line")[0][:100]
