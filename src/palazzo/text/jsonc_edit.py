"""Changes to JSON with comments that keep the comments: as opencode and editors read it (`//`, `/* */`, a last comma).

    added(text, trail, value, key) · replaced(text, trail, value) · without(text, trail)

Works like `json_edit`, which does not know comments: that module gets the text with each comment replaced by blanks, so
all positions stay the same. If the line of a value ends in a comment, an addition after the value goes behind that
line. Comments before a removed member stay.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from palazzo.text import json_edit
from palazzo.text.json_edit import Node

_COMMENT = r"//[^\r\n]*(?=[\r\n]|\Z)|/\*[^*]*\*+(?:[^/*][^*]*\*+)*/"
"""Each matches in only one way: a search for something after it cannot end a comment too early or too late."""
_TOKEN = re.compile(
    rf'"[^"\\\r\n]*(?:\\.[^"\\\r\n]*)*"|(?P<comment>{_COMMENT})|(?P<comma>,(?=(?:[ \t\r\n]|{_COMMENT})*[}}\]]))',
    re.DOTALL,
)
_COMMENTS = re.compile(rf'"[^"\\\r\n]*(?:\\.[^"\\\r\n]*)*"|(?P<comment>{_COMMENT})', re.DOTALL)
_REST_OF_LINE = re.compile(rf"(?:[ \t]|{_COMMENT})*(?:,(?:[ \t]|{_COMMENT})*)?(?=[\r\n])")
_MARK = " "


def plain(text: str) -> str:
    """Return the text as JSON: spaces replace comments and a comma after the last part."""
    return _TOKEN.sub(lambda found: found[0] if found[0][0] == '"' else re.sub(r"[^\r\n]", " ", found[0]), text)


def read(text: str) -> Node:
    """Return the document's value, as `json_edit.read` does. Raises ValueError if it is not JSON with comments."""
    return json_edit.read(plain(text))


def value(text: str, node: Node) -> Any:
    """Return the value of a node of the text."""
    return json_edit.value(plain(text), node)


def added(text: str, trail: Sequence[int], value: Any, key: str | None = None) -> str:
    """Return the text with one more part at the end of the container at `trail`."""
    bare = plain(text)
    changed = json_edit.added(bare, trail, value, key)
    place = _first_difference(bare, changed)
    new = changed[place : place + len(changed) - len(bare)]
    rest, comma = _REST_OF_LINE.match(text, place), _comma(text, place)
    if rest is None or not new.startswith((",\n", ",\r")) or not _has_comment(rest[0]):
        return text[:place] + new + text[place:]
    line_end = place + len(rest[0].rstrip(" \t"))
    if comma < line_end:
        return f"{text[:line_end]}{new[1:]},{text[line_end:]}"
    if comma < len(text):  # on a line of its own, behind ours from now on
        return text[:place] + new + text[place:]
    return f"{text[:place]},{text[place:line_end]}{new[1:]}{text[line_end:]}"


def replace_value(text: str, trail: Sequence[int], value: Any) -> str:
    """Return the text with another value at `trail`; comments inside the old value are removed with it."""
    bare = plain(text)
    node = json_edit.at(json_edit.read(bare), trail)
    changed = json_edit.replace_value(bare, trail, value)
    return text[: node.start] + changed[node.start : len(changed) - len(bare) + node.end] + text[node.end :]


def remove_part(text: str, trail: Sequence[int]) -> str | None:
    """Return the text without the part at `trail`, and without the containers that were created for it.

    None if nothing else is left. A container with a comment is kept.
    """
    root = json_edit.read(plain(text))
    trail = list(trail)
    while trail:
        *above, place = trail
        container = json_edit.at(root, above)
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


def _first_difference(first: str, second: str) -> int:
    return next((place for place, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), len(first))


def _empty_before(gap: str) -> str | None:
    """Return an empty container's original content, from the text before its only part; None if created for it."""
    line = max(gap.rfind("\n"), gap.rfind("\r"))
    if line >= 0:
        gap = gap[: line - 1] if gap[line - 1 : line + 1] == "\r\n" else gap[:line]
    return gap.removesuffix(_MARK) if gap.endswith(_MARK) else None
