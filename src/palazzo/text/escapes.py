"""JSON strings, also nested within one another, and a text with its JSON escapes decoded."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

_ESCAPE = re.compile(r'\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))')
_LETTERS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_DEEPEST = 6
"""The most levels of JSON within JSON that are examined. A tool call inside an export inside a transcript has three."""


def spellings(text: str) -> Iterator[str]:
    """Yield `text` unchanged, then repeatedly with one level of JSON escapes decoded, until none is left."""
    yield text
    for _ in range(_DEEPEST):
        if "\\" not in text:
            return
        plain = _ESCAPE.sub(_letter, text)
        if plain == text:
            return
        text = _pairs_joined(plain)
        yield text


def strings(raw: bytes) -> Iterator[str]:
    """Yield every string and number in a JSON text, also in nested JSON strings; for other bytes, their spellings."""
    text = raw.decode("utf-8", "surrogateescape")
    root = _parse_json(text)
    if root is None:
        yield from spellings(text)
        return
    stack: list[tuple[object, int]] = [(root, 0)]
    while stack:
        value, depth = stack.pop()
        if isinstance(value, dict):
            stack += [(element, depth) for pair in value.items() for element in pair]
        elif isinstance(value, list):
            stack += [(element, depth) for element in value]
        elif isinstance(value, str):
            yield value
            inner = _parse_json(value) if depth < _DEEPEST and value.lstrip()[:1] in ("{", "[", '"') else None
            if inner is not None:
                stack.append((inner, depth + 1))


def _parse_json(text: str) -> object:
    """Return a JSON value, with its numbers as written; None for anything else."""
    try:
        return json.loads(text, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return None


def _letter(match: re.Match[str]) -> str:
    code, letter = match.groups()
    return chr(int(code, 16)) if code else _LETTERS.get(letter, letter)


def _pairs_joined(text: str) -> str:
    """Join surrogate pairs, which escapes write as two characters; lone surrogates stay."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
