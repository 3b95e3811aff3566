"""JSON that other memories export as one text, read whole within limits, and what its members are.

A member of another type than expected is as if it were not there: what that means for the thing it belongs to is the
reader's to say. Nothing of a memory's own words or names stands in a key: `key_of` hashes them.
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
"""Bytes of one text, unpacked; it is in memory as a whole, and once more as what it says."""
MOST_PARTS = 16_000_000
"""Commas, colons and opening brackets in it: an export of 30,000 memories with their vectors has that many, and no part
needs more than some hundred bytes."""
_LEVELS = 8
HEAD = 64 << 10
"""Bytes from the beginning by which a format is recognised."""


def document(path: Path) -> JsonObject:
    """Return the object that a file is, packed or not; SourceUnreadable, in one sentence, for anything else."""
    parts, size = [], 0
    for piece in pieces(path):
        size += len(piece)
        if size > LARGEST:
            raise SourceUnreadable(f"{path} has more than {LARGEST >> 20} MiB, and was not read. Export it in parts.")
        parts.append(piece)
    text = b"".join(parts)
    if parts_of(text) > MOST_PARTS:
        raise SourceUnreadable(f"{path} has more than {MOST_PARTS:,} values, and was not read. Export it in parts.")
    try:
        value = json.loads(text.removeprefix(BOM_UTF8).decode("utf-8", "surrogateescape"), strict=False)
    except RecursionError:
        raise SourceUnreadable(f"{path} is nested too deeply to be an export; export it anew.") from None
    except ValueError as error:
        raise SourceUnreadable(
            f"{path} is no JSON, or ends in the middle ({_short(error)}). Export or copy it anew."
        ) from None
    if not isinstance(value, dict):
        raise SourceUnreadable(f"{path} is JSON, but no object: it is no export that is known.")
    return value


def parts_of(text: bytes) -> int:
    """Return how many values a JSON text has at most, without reading it as JSON."""
    return sum(map(text.count, (b",", b":", b"[", b"{")))


def head(path: Path) -> bytes:
    """Return how a file begins; b"" where it is no file, or cannot be read."""
    try:
        if not path.is_file():
            return b""
        with path.open("rb") as stream:
            return stream.read(HEAD)
    except OSError:
        return b""


def is_directory(path: Path) -> bool:
    """Whether a path is a directory; False also where it cannot even be asked for."""
    try:
        return path.is_dir()
    except OSError:
        return False


def text_at(record: JsonObject, *keys: str) -> str:
    """Return the string at the first of these keys that has one, "" where none has."""
    return next((value for key in keys if isinstance(value := record.get(key), str) and value), "")


def texts_at(record: JsonObject, key: str) -> tuple[str, ...]:
    """Return the strings of the list at `key`, each once, without those that are blank."""
    values = record.get(key)
    texts = (value.strip() for value in values if isinstance(value, str)) if isinstance(values, list) else ()
    return tuple(dict.fromkeys(value for value in texts if value))


def objects_at(record: JsonObject, key: str) -> Iterator[JsonObject | None]:
    """Yield the objects of the list at `key`, None for each element that is something else."""
    values = record.get(key)
    for value in values if isinstance(values, list) else ():
        yield value if isinstance(value, dict) else None


def object_at(record: JsonObject, key: str) -> JsonObject:
    """Return the object at `key`, an empty one where there is none."""
    value = record.get(key)
    return value if isinstance(value, dict) else {}


def number_at(record: JsonObject, key: str) -> float | None:
    """Return the number from 0 to 1 at `key`, None for anything else."""
    value = record.get(key)
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return float(value) if 0 <= value <= 1 else None


def plain(record: JsonObject) -> JsonObject:
    """Return the members of an object that are JSON of a few levels and of numbers that are some."""
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
    """Return what of these says anything."""
    return {name: value for name, value in values.items() if value not in (None, "", (), [], {})}


def key_of(*parts: str) -> str:
    """Return 32 hexadecimal digits that say of these words no more than that they are the same."""
    state = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        state.update(len(data).to_bytes(8, "big") + data)
    return state.hexdigest()


def _short(error: ValueError) -> str:
    return str(error).split(": line")[0][:100]
