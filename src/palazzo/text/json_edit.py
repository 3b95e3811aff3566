"""Changes to a JSON text that leave every other character unchanged, also where it has comments.

An addition goes behind the existing members, in the style of its neighbour; a removal also removes the comma that came
with the member. So adding and then removing gives the same text again, whatever its whitespace, escapes and repeated
keys.

An empty container that must be kept, such as `"hooks": {}`, gets one more space behind its bracket when something is
put into it. A container that becomes empty without that mark was created for the removed content, and is removed as
well.

Some hosts and editors read comments (`//`, `/* */`) and a comma after the last part. They are found in the text's
`plain` form, where blanks replace them, so that all positions stay the same. If the line of a value ends in a comment,
an addition after the value goes behind that line. Comments before a removed member stay.
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
_COMMENT = r"//[^\r\n]*(?=[\r\n]|\Z)|/\*[^*]*\*+(?:[^/*][^*]*\*+)*/"
"""Each matches in only one way: a search for something after it cannot end a comment too early or too late."""
_TOKEN = re.compile(
    rf'"[^"\\\r\n]*(?:\\.[^"\\\r\n]*)*"|(?P<comment>{_COMMENT})|(?P<comma>,(?=(?:[ \t\r\n]|{_COMMENT})*[}}\]]))',
    re.DOTALL,
)
_COMMENTS = re.compile(rf'"[^"\\\r\n]*(?:\\.[^"\\\r\n]*)*"|(?P<comment>{_COMMENT})', re.DOTALL)
_REST_OF_LINE = re.compile(rf"(?:[ \t]|{_COMMENT})*(?:,(?:[ \t]|{_COMMENT})*)?(?=[\r\n])")
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
    """A value, from `start` to before `end` in the text's plain form. Its content is parsed on demand."""

    __slots__ = ("_parts", "end", "kind", "start", "text")

    def __init__(self, text: str, start: int, end: int) -> None:
        self.text, self.start, self.end = text, start, end
        self.kind: Kind = _KINDS.get(text[start], "plain")
        self._parts: list[Part] | None = None

    @property
    def parts(self) -> list[Part]:
        """Return its parts, in order; none if it is not a container."""
        if self._parts is None:
            self._parts = [] if self.kind == "plain" else list(_parts(self.text, self.start, self.kind))
        return self._parts

    @property
    def content(self) -> Any:
        """Return what it stands for."""
        return json.loads(self.text[self.start : self.end], parse_int=_number)

    def last(self, key: str) -> tuple[int, Node] | None:
        """Return the position and value of the effective member with this key, the last one; None if there is none."""
        matches = [(n, part.value) for n, part in enumerate(self.parts) if part.key == key]
        return matches[-1] if matches and self.kind == "object" else None


def read(text: str, has_comments: bool = False) -> Node:
    """Return the document's value with everything below it. Raises ValueError if it is not JSON.

    `has_comments` accepts comments, and a comma after the last part.
    """
    bare = plain(text) if has_comments else text
    _check(bare)
    return Node(bare, _behind_space(bare, 0), len(bare.rstrip(_SPACE)))


def plain(text: str) -> str:
    """Return the text as JSON: spaces replace comments and a comma after the last part."""
    try:
        _check(text)
    except ValueError:
        return _TOKEN.sub(lambda match: match[0] if match[0][0] == '"' else re.sub(r"[^\r\n]", " ", match[0]), text)
    return text


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
    root = read(text, has_comments=True)
    container = at(root, trail)
    style = _Style(root)
    if not container.parts:
        end = container.end - 1
        return text[:end] + _only_part(container, style, value, key) + text[end:]
    last = container.parts[-1]
    gap_start = container.parts[-2].value.end if len(container.parts) > 1 else container.start + 1
    gap = root.text[gap_start : last.start].rpartition(",")[2]
    if "\n" in gap or "\r" in gap:
        gap = style.newline + re.split(r"[\r\n]", gap)[-1]
        return _with_line(text, last.value.end, gap + style.on_lines(value, key, gap))
    end = last.value.end
    part = style.on_one_line(value, key)
    return f"{text[:end]},{'' if style.is_compact else ' '}{part}{text[end:]}"


def replace_value(text: str, trail: Sequence[int], value: Any) -> str:
    """Return the text with another value at `trail`; comments inside the old value are removed with it."""
    root = read(text, has_comments=True)
    node = at(root, trail)
    style = _Style(root)
    gap = style.newline + _indentation(root.text, node.start)
    old = root.text[node.start : node.end]
    is_spread = "\n" in old or "\r" in old
    new_text = style.on_lines(value, None, gap) if is_spread else style.on_one_line(value, None)
    return text[: node.start] + new_text + text[node.end :]


def remove_part(text: str, trail: Sequence[int]) -> str | None:
    """Return the text without the part at `trail`, and without the containers that were created for it.

    None if nothing else is left. A container with a comment is kept.
    """
    root = read(text, has_comments=True)
    trail = list(trail)
    while trail:
        *above, place = trail
        container = at(root, above)
        part = container.parts[place]
        if place:
            return _without_later(text, container.parts[place - 1].value.end, part.start, part.value.end)
        if len(container.parts) > 1:
            return _without_first(text, part.start, part.value.end, container.parts[1].start)
        head, tail = text[container.start + 1 : part.start], text[part.value.end : container.end - 1]
        was = _empty_before(head)
        if was is None and (_has_comment(head) or _has_comment(tail)):
            was = head
        if was is not None:
            remainder = _without_comma(tail) if _has_comment(tail) else ""
            return text[: container.start + 1] + was + remainder + text[container.end - 1 :]
        trail = above
    rest = text[: root.start] + text[root.end :]
    return f"{text[: root.start]}{{}}{text[root.end :]}" if _has_comment(rest) else None


def _without_later(text: str, previous_end: int, start: int, end: int) -> str:
    """Return the text without the part from `start` to `end`; the previous part ends at `previous_end`."""
    comments = _comment_ends(text, previous_end, start)
    if not comments:
        return text[:previous_end] + text[end:]
    own, next_comma = _comma(text, previous_end), _comma(text, end)
    if next_comma < len(text):
        keep_end = max(comments[-1], own + 1)
        return text[:keep_end] + text[end:next_comma] + text[next_comma + 1 :]
    return text[:own] + text[own + 1 : comments[-1]] + text[end:]


def _without_first(text: str, start: int, end: int, next_start: int) -> str:
    between = _without_comma(text[end:next_start])
    return text[:start] + (between.lstrip() if _has_comment(between) else "") + text[next_start:]


# --- reading -----------------------------------------------------------------------------------------------


def _check(text: str) -> None:
    try:
        json.loads(text, parse_constant=_no_constant, parse_int=str, parse_float=str)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


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


def _comma(text: str, place: int) -> int:
    """Return the position of the comma after the value; the text's length if there is none."""
    match = re.compile(rf"(?:[ \t\r\n]|{_COMMENT})*,", re.DOTALL).match(text, place)
    return match.end() - 1 if match else len(text)


def _without_comma(gap: str) -> str:
    place = _comma(gap, 0)
    return gap[:place] + gap[place + 1 :]


def _has_comment(gap: str) -> bool:
    return bool(_comment_ends(gap, 0, len(gap)))


def _comment_ends(text: str, start: int, end: int) -> list[int]:
    return [match.end() for match in _COMMENTS.finditer(text, start, end) if match["comment"]]


# --- writing -----------------------------------------------------------------------------------------------


class _Style:
    """The formatting of the text: line ends, indentation, and whether optional spaces are omitted."""

    def __init__(self, root: Node) -> None:
        text = root.text
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


def _with_line(text: str, place: int, line: str) -> str:
    """Return the text with a part's line behind the part that ends at `place`, and behind a comment on its line."""
    rest, comma = _REST_OF_LINE.match(text, place), _comma(text, place)
    if rest is None or not _has_comment(rest[0]):
        return f"{text[:place]},{line}{text[place:]}"
    line_end = place + len(rest[0].rstrip(" \t"))
    if comma < line_end:
        return f"{text[:line_end]}{line},{text[line_end:]}"
    if comma < len(text):  # on a line of its own, behind ours from now on
        return f"{text[:place]},{line}{text[place:]}"
    return f"{text[:place]},{text[place:line_end]}{line}{text[line_end:]}"


def _only_part(container: Node, style: _Style, value: Any, key: str | None) -> str:
    """Return what to add to an empty container."""
    if not style.is_spread:
        return f"{_MARK}{style.on_one_line(value, key)}"
    outer = style.newline + _indentation(container.text, container.start)
    gap = outer + style.unit
    return f"{_MARK}{gap}{style.on_lines(value, key, gap)}{outer}"


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
