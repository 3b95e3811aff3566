"""Positions, to the byte, of the elements of a list in a JSON text.

Some hosts keep a whole conversation in one JSON text. To archive it message by message, its bytes are cut between the
list's elements; `json` itself parses an element, but does not report its position.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

_DECODER = json.JSONDecoder(strict=False)
_AROUND = " \t\r\n\0\ufeff"


def elements(raw: bytes, path: Sequence[str]) -> list[tuple[int, int, object]]:
    """Return (start, end, value) in bytes of each element of the list at the keys `path`.

    Returns nothing if there is no list at that path. Raises ValueError if the text is not JSON.
    """
    text = raw.decode("utf-8", "surrogateescape")
    at: int | None = _skip(text, 0)
    for key in path:
        at = None if at is None else next((value for name, value in _members(text, at) if name == key), None)
    if at is None or text[at : at + 1] != "[":
        return []
    spans, characters, offset = [], 0, 0
    for start, end, value in _items(text, at):
        offset += _size(text[characters:start])
        end_offset = offset + _size(text[start:end])
        spans.append((offset, end_offset, value))
        characters, offset = end, end_offset
    return spans


def _members(text: str, at: int) -> Iterator[tuple[str, int]]:
    """Yield each key of the object at `at`, and where its value begins."""
    if text[at : at + 1] != "{":
        return
    at = _skip(text, at + 1)
    while text[at : at + 1] not in ("}", ""):
        key, at = _DECODER.raw_decode(text, at)
        value = _skip(text, _skip(text, at) + 1)
        yield str(key), value
        at = _skip_comma(text, _DECODER.raw_decode(text, value)[1])


def _items(text: str, at: int) -> Iterator[tuple[int, int, object]]:
    at = _skip(text, at + 1)
    while text[at : at + 1] not in ("]", ""):
        value, end = _DECODER.raw_decode(text, at)
        yield at, end, value
        at = _skip_comma(text, end)


def _skip_comma(text: str, end: int) -> int:
    """Return where the next member begins after a value that ends at `end`, or where the closing bracket is."""
    at = _skip(text, end)
    return _skip(text, at + 1) if text[at : at + 1] == "," else at


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _AROUND:
        at += 1
    return at


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogateescape"))
