"""Changes to a TOML text that leave every other character unchanged.

tomlkit replaces and removes values. Tables and keys are added, and tables removed, by their place in the text: for
tomlkit, the comment above a table belongs to the table before it, and would be removed with that one.
"""

from __future__ import annotations

import contextlib
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import tomlkit

from palazzo.frozen_class import frozen
from palazzo.text.appended_block import append_block, new, newline_of

_HEADER = re.compile(r"^[ \t]*\[[^\r\n]*", re.MULTILINE)
_BLANK_OR_COMMENT = re.compile(r"[ \t]*(?:#[^\r\n]*)?")


@frozen
class Table:
    """A table with its header: from the header's line to before the end of the table's last line with content."""

    name: tuple[str, ...]
    start: int
    end: int


def parse(text: str) -> dict[str, Any]:
    """Return a text's content, with numbers that are not integers as text: `nan` is not equal to itself.

    Raises ValueError if the text is not TOML.
    """
    return tomllib.loads(text.replace("\r\n", "\n"), parse_float=str)


def below(document: Any, name: Sequence[str]) -> Any:
    """Return the value of a dotted name in a text's content; None if there is none."""
    for key in name:
        document = document.get(key) if isinstance(document, Mapping) else None
    return document


def put(document: Mapping[str, Any], name: Sequence[str], value: Any) -> dict[str, Any]:
    """Return a text's content with the value of a dotted name changed."""
    first, *rest = name
    inner = document.get(first)
    return {**document, first: put(inner if isinstance(inner, Mapping) else {}, rest, value) if rest else value}


def tables(text: str) -> Iterator[Table]:
    """Yield the tables with a header of a valid text, in order; text before the first belongs to none."""
    starts = []
    since = 0
    for match in _HEADER.finditer(text):
        if _is_toml(text[since : match.start()]):  # else it is inside a list, or a text of several lines
            since = match.start()
            starts.append((since, match[0]))
    ends = [*(start for start, _ in starts), len(text)][1:]
    for (start, header), end in zip(starts, ends, strict=True):
        yield Table(_name(header), start, _last_line(text, start, end))


def lines(name: Sequence[str], values: Mapping[str, Any]) -> list[str]:
    """Return the lines of a table of texts, lists of texts, numbers and flags."""
    return [f"[{'.'.join(name)}]", *(format_line(key, value) for key, value in values.items())]


def format_line(key: str, value: Any) -> str:
    """Return the line of a text, a list of texts, a number or a flag."""
    return f"{key} = {tomlkit.item(value).as_string()}"


def with_value(text: str, name: Sequence[str], value: Any) -> str:
    """Return the text with another value of a dotted name, which gets a line, and a table, if it has none.

    Raises ValueError if the text is not TOML, or if something that is no table is in the way.
    """
    expected = put(parse(text), name, value)
    with contextlib.suppress(TypeError, ValueError):
        changed = _replace_or_add(text, tuple(name), value)
        if parse(changed) == expected:
            return changed
    raise ValueError(f"`{'.'.join(name)}` cannot be written there")


def without_key(text: str, key: str) -> str:
    """Return the text without a key that stands in no table."""
    document = tomlkit.parse(text)
    document.pop(key, None)
    return tomlkit.dumps(document)


def _replace_or_add(text: str, name: tuple[str, ...], value: Any) -> str:
    *above, key = name
    document = tomlkit.parse(text)
    container: Any = below(document, above)
    own_table = next((table for table in tables(text) if table.name == tuple(above)), None)
    if container is not None and (key in container or (own_table is None and above)):
        container[key] = value
        return tomlkit.dumps(document)
    if own_table is not None:
        return f"{text[: own_table.end]}{newline_of(text)}{format_line(key, value)}{text[own_table.end :]}"
    if above:
        block = lines(above, {key: value})
        return append_block(text, block) if text else new(block)
    return _with_first_line(text, format_line(key, value))


def _with_first_line(text: str, line: str) -> str:
    """Return the text with a line behind the last value that stands in no table; else before the first table."""
    first = next((table.start for table in tables(text)), len(text))
    end = _last_line(text, 0, first)
    newline = newline_of(text)
    if end:
        return f"{text[:end]}{newline}{line}{text[end:]}"
    gap = newline if text[:first].rstrip(" \t")[-1:] not in ("", "\n", "\r") else ""
    return f"{text[:first]}{gap}{line}{newline}{text[first:]}"


def _is_toml(text: str) -> bool:
    try:
        parse(text)
    except tomllib.TOMLDecodeError:
        return False
    return True


def _name(header: str) -> tuple[str, ...]:
    node: Any = tomllib.loads(header)
    name = []
    while node:
        ((key, node),) = node.items()
        name.append(key)
        node = node[0] if isinstance(node, list) else node
    return tuple(name)


def _last_line(text: str, start: int, end: int) -> int:
    """Return the end of the last line that is neither blank nor a comment. No value ends in such a line."""
    last = start
    for line in re.compile(r"[^\r\n]+").finditer(text, start, end):
        if not _BLANK_OR_COMMENT.fullmatch(line[0]):
            last = line.end()
    return last
