"""Members of a mapping at the top of a YAML text: read, add, replace and remove one; every other character stays.

    extensions:          the section
      palazzo:           a member, added before the others
        enabled: true
      developer: …

A section that has no member but the removed one is removed with it. ValueError says in a few words why a text cannot be
changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from palazzo.text import appended_block

_WIDTH = 1_000_000
"""The most characters of a line that is written: a long path is not broken."""

Member = tuple[yaml.Node, yaml.Node]


def members(text: str, section: str) -> list[tuple[str, Any]]:
    """Return the name and value of each member of a section; empty if there is none."""
    root = _root(text)
    if root is None or _section(root, section) is None:
        return []
    try:
        value = yaml.safe_load(text)[section]
    except yaml.YAMLError:
        raise ValueError("it has values that are not plain YAML") from None
    return list(value.items()) if isinstance(value, dict) else []


def value_of(text: str, key: str) -> yaml.Node | None:
    """Return the node of a key at the top; None if there is none."""
    root = _root(text)
    pair = None if root is None else _section(root, key)
    return None if pair is None else pair[1]


def with_member(text: str | None, section: str, name: str, value: Mapping[str, Any]) -> str:
    """Return the text with a member, in place of one of that name."""
    lines = [f"{section}:", *_lines(name, value, "  ")]
    if text is None:
        return appended_block.new(lines)
    root = _root(text)
    pair = None if root is None else _section(root, section)
    if pair is None:
        return appended_block.append_block(text, lines)
    newline = appended_block.newline_of(text)
    children = _children(pair[1], section)
    first_key = children[0][0]
    body = newline.join(_lines(name, value, " " * first_key.start_mark.column)) + newline
    same_name = next((child for child in children if child[0].value == name), None)
    if same_name is None:
        at = _line_start(text, first_key)
        return text[:at] + body + text[at:]
    start, end = _lines_of(text, same_name)
    return (
        text[:start] + (body if end < len(text) or text.endswith(newline) else body.removesuffix(newline)) + text[end:]
    )


def without_member(text: str, section: str, name: str) -> str | None:
    """Return the text without a member; None if nothing else is left, and never was."""
    root = _root(text)
    pair = None if root is None else _section(root, section)
    children = [] if pair is None else _children(pair[1], section)
    child = next((child for child in children if child[0].value == name), None)
    if pair is None or child is None:
        return text
    start, end = _lines_of(text, child)
    if len(children) > 1:
        return text[:start] + text[end:]
    start = _line_start(text, pair[0])
    return appended_block.remove_block(text, start, len(text[:end].rstrip("\r\n")))


def _root(text: str) -> yaml.MappingNode | None:
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError:
        raise ValueError("it is not valid YAML") from None
    if root is None:
        return None
    if not isinstance(root, yaml.MappingNode) or root.flow_style or root.start_mark.column:
        raise ValueError("it is not a YAML mapping of one line for each key")
    return root


def _section(root: yaml.MappingNode, section: str) -> Member | None:
    return next((member for member in reversed(root.value) if member[0].value == section), None)


def _children(node: yaml.Node, section: str) -> list[Member]:
    if not isinstance(node, yaml.MappingNode) or node.flow_style or not node.value:
        raise ValueError(f"its `{section}` is not a mapping of one line for each key")
    children: list[Member] = node.value
    return children


def _lines(name: str, value: Mapping[str, Any], indentation: str) -> list[str]:
    dumped = yaml.safe_dump({name: dict(value)}, sort_keys=False, allow_unicode=True, width=_WIDTH)
    return [f"{indentation}{line}" for line in dumped.splitlines()]


def _line_start(text: str, node: yaml.Node) -> int:
    return node.start_mark.index - node.start_mark.column


def _lines_of(text: str, member: Member) -> tuple[int, int]:
    """Return where the lines of a member begin and end."""
    end = last_index(member[1])
    line_end = text.find("\n", end)
    return _line_start(text, member[0]), len(text) if line_end < 0 else line_end + 1


def last_index(node: yaml.Node) -> int:
    """Return where the last token of a node ends; the end mark of a block is behind the comments that follow it."""
    if isinstance(node, yaml.MappingNode) and not node.flow_style and node.value:
        return last_index(node.value[-1][1])
    if isinstance(node, yaml.SequenceNode) and not node.flow_style and node.value:
        return last_index(node.value[-1])
    return int(node.end_mark.index)
