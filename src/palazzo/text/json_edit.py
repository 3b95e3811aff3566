"""Changes to a JSON text that leave every other character unchanged.

An addition goes behind the existing members, in the style of its neighbour; a removal also removes the comma that came
with the member. So adding and then removing gives the same text again, whatever its whitespace, escapes and repeated
keys.

An empty container that must be kept, such as `"hooks": {}`, gets one more space behind its bracket when something is
put into it. A container that becomes empty without that mark was created for the removed content, and is removed as
well.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["object", "array", "plain"]

_SPACE = " \t\r\n"
_GAP = re.compile(rf"[{_SPACE}]*")
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str)
_KINDS: dict[str, Kind] = {"{": "object", "[": "array"}
_UNIT = "  "
_MARK = " "
_MOST_DIGITS = 1_000
"""The most digits of an integer. Python refuses to read one of more than 4,300."""


@dataclass(slots=True)
class Part:
    """A member of an object (with its key) or an element of an array; it begins at `start`."""

    start: int
    key: str | None
    value: Node


class Node:
    """A value, from `start` to before `end` in the text. Its content is parsed on demand."""

    __slots__ = ("_parts", "_text", "end", "kind", "start")

    def __init__(self, text: str, start: int, end: int) -> None:
        self._text, self.start, self.end = text, start, end
        self.kind: Kind = _KINDS.get(text[start], "plain")
        self._parts: list[Part] | None = None

    @property
    def parts(self) -> list[Part]:
        """Return its parts, in order; none if it is not a container."""
        if self._parts is None:
            self._parts = [] if self.kind == "plain" else list(_parts(self._text, self.start, self.kind))
        return self._parts

    def last(self, key: str) -> tuple[int, Node] | None:
        """Return the position and value of the effective member with this key, the last one; None if there is none."""
        matches = [(n, part.value) for n, part in enumerate(self.parts) if part.key == key]
        return matches[-1] if matches and self.kind == "object" else None


def read(text: str) -> Node:
    """Return the document's value with everything below it. Raises ValueError if it is not JSON."""
    try:
        json.loads(text, parse_constant=_no_constant, parse_int=str, parse_float=str)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return Node(text, _behind_space(text, 0), len(text.rstrip(_SPACE)))


def value(text: str, node: Node) -> Any:
    """Return the value of a node of the text."""
    return json.loads(text[node.start : node.end], parse_int=_number)


def new(value: Any) -> str:
    """Return a new document; `remove_part`, applied to all of its content, turns it into None."""
    return json.dumps(value, indent=_UNIT, ensure_ascii=False) + "\n"


def at(root: Node, trail: Sequence[int]) -> Node:
    """Return the node at the end of a trail of positions."""
    for place in trail:
        root = root.parts[place].value
    return root


def added(text: str, trail: Sequence[int], value: Any, key: str | None = None) -> str:
    """Return the text with one more part at the end of the container at `trail`: a member if `key` is given."""
    root = read(text)
    container = at(root, trail)
    style = _Style(text, root)
    if not container.parts:
        return _into_empty(text, container, style, value, key)
    last = container.parts[-1]
    gap_start = container.parts[-2].value.end if len(container.parts) > 1 else container.start + 1
    gap = text[gap_start : last.start].partition(",")[2] if len(container.parts) > 1 else text[gap_start : last.start]
    if "\n" in gap or "\r" in gap:
        gap = style.newline + re.split(r"[\r\n]", gap)[-1]
        part = style.on_lines(value, key, gap)
    else:
        gap = "" if style.is_compact else " "
        part = style.on_one_line(value, key)
    end = last.value.end
    return f"{text[:end]},{gap}{part}{text[end:]}"


def replace_value(text: str, trail: Sequence[int], value: Any) -> str:
    """Return the text with another value at `trail`."""
    root = read(text)
    node = at(root, trail)
    style = _Style(text, root)
    gap = style.newline + _indentation(text, node.start)
    old = text[node.start : node.end]
    is_spread = "\n" in old or "\r" in old
    new_text = style.on_lines(value, None, gap) if is_spread else style.on_one_line(value, None)
    return text[: node.start] + new_text + text[node.end :]


def remove_part(text: str, trail: Sequence[int]) -> str | None:
    """Return the text without the part at `trail`, and without the containers that were created for it.

    None if nothing else is left.
    """
    root = read(text)
    trail = list(trail)
    while trail:
        *above, place = trail
        container = at(root, above)
        part = container.parts[place]
        if place:
            return text[: container.parts[place - 1].value.end] + text[part.value.end :]
        if len(container.parts) > 1:
            return text[: part.start] + text[container.parts[1].start :]
        was = _empty_before(text[container.start + 1 : part.start])
        if was is not None:
            return text[: container.start + 1] + was + text[container.end - 1 :]
        trail = above
    return None


# --- reading -----------------------------------------------------------------------------------------------


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no value in JSON")


def _number(digits: str) -> float:
    return int(digits) if len(digits) < _MOST_DIGITS else float(digits)


def _parts(text: str, start: int, kind: Kind) -> Iterator[Part]:
    """Yield the parts of the container that begins at `start`; the text is known to be valid JSON and is not checked.

    The standard library, which parses in C, finds where a value ends: settings may have megabytes of other data.
    """
    place = _behind_space(text, start + 1)
    while text[place] not in "}]":
        begin, key = place, None
        if kind == "object":
            key, place = _DECODER.raw_decode(text, place)
            place = _behind_space(text, _behind_space(text, place) + 1)
        end = _DECODER.raw_decode(text, place)[1]
        yield Part(begin, key, Node(text, place, end))
        place = _behind_space(text, end)
        if text[place] == ",":
            place = _behind_space(text, place + 1)


def _behind_space(text: str, place: int) -> int:
    match = _GAP.match(text, place)
    return match.end() if match else place


# --- writing -----------------------------------------------------------------------------------------------


class _Style:
    """The formatting of the text: line ends, indentation, and whether optional spaces are omitted."""

    def __init__(self, text: str, root: Node) -> None:
        inside = text[root.start : root.end]
        first = re.search(r"\r\n|\n|\r", text)
        self.newline = first[0] if first else "\n"
        self.is_spread = not root.parts or re.search(r"[\r\n]", inside) is not None
        indent_match = re.search(r"[\r\n]([ \t]+)[^ \t\r\n]", inside)
        self.unit = indent_match[1] if indent_match else _UNIT
        self.is_compact = not self.is_spread and re.search(r'":\S', inside) is not None

    def on_lines(self, value: Any, key: str | None, gap: str) -> str:
        """Return a part on several lines, each of which begins with `gap`."""
        json_text = json.dumps(value, indent=self.unit, ensure_ascii=False).replace("\n", gap)
        return json_text if key is None else f"{json.dumps(key, ensure_ascii=False)}: {json_text}"

    def on_one_line(self, value: Any, key: str | None) -> str:
        """Return a part on one line."""
        colon = ":" if self.is_compact else ": "
        comma = "," if self.is_compact else ", "
        json_text = json.dumps(value, separators=(comma, colon), ensure_ascii=False)
        return json_text if key is None else f"{json.dumps(key, ensure_ascii=False)}{colon}{json_text}"


def _into_empty(text: str, container: Node, style: _Style, value: Any, key: str | None) -> str:
    was = text[container.start + 1 : container.end - 1]
    if style.is_spread:
        outer = style.newline + _indentation(text, container.start)
        gap = outer + style.unit
        inside = f"{was}{_MARK}{gap}{style.on_lines(value, key, gap)}{outer}"
    else:
        inside = f"{was}{_MARK}{style.on_one_line(value, key)}"
    return text[: container.start + 1] + inside + text[container.end - 1 :]


def _empty_before(gap: str) -> str | None:
    """Return an empty container's original content, from the text before its only part; None if created for it."""
    line = max(gap.rfind("\n"), gap.rfind("\r"))
    if line >= 0:
        gap = gap[: line - 1] if gap[line - 1 : line + 1] == "\r\n" else gap[:line]
    return gap.removesuffix(_MARK) if gap.endswith(_MARK) else None


def _indentation(text: str, place: int) -> str:
    """Return the indentation of the line that contains `place`."""
    begin = max(text.rfind("\n", 0, place), text.rfind("\r", 0, place)) + 1
    match = re.compile(r"[ \t]*").match(text, begin)
    return match[0] if match else ""
