"""Tables of a TOML text: finding, appending and removing them, with every other character unchanged."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from palazzo.text.appended_block import newline_of

_HEADER = re.compile(r"^[ \t]*\[[^\r\n]*", re.MULTILINE)
_BLANK_OR_COMMENT = re.compile(r"[ \t]*(?:#[^\r\n]*)?")


@dataclass(frozen=True, slots=True)
class Table:
    """A table with its header: from the header's line to before the end of the table's last line with content."""

    name: tuple[str, ...]
    start: int
    end: int


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
    """Return the lines of a table of texts, lists of texts and numbers."""
    return [f"[{'.'.join(name)}]", *(f"{key} = {_format_value(value)}" for key, value in values.items())]


def with_value(text: str, table: Table, key: str, value: Any) -> str:
    """Return the text with another value of `key`, which must be on its own lines in the table.

    Raises ValueError if it is written in another way.
    """
    for match in re.compile(rf"^[ \t]*(?:{re.escape(key)}|\"{re.escape(key)}\")[ \t]*=", re.MULTILINE).finditer(
        text, table.start, table.end
    ):
        if not _is_toml(text[table.start : match.start()]):
            continue
        for line in re.compile(r"[^\r\n]*").finditer(text, match.end(), table.end):
            if line[0] and _is_toml(text[match.start() : line.end()]):
                return f"{text[: match.end()]} {_format_value(value)}{text[line.end() :]}"
    raise ValueError(f"`{key}` of [{'.'.join(table.name)}] is written in a way that is not known")


def with_key(text: str, table: Table, key: str, value: Any) -> str:
    """Return the text with one more key at the end of the table."""
    return f"{text[: table.end]}{newline_of(text)}{key} = {_format_value(value)}{text[table.end :]}"


def _is_toml(text: str) -> bool:
    try:
        tomllib.loads(text.replace("\r\n", "\n"))
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


def _format_value(value: Any) -> str:
    """Return a value as TOML; JSON's strings are TOML's basic strings, but TOML requires U+007F to be escaped."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
