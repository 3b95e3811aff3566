"""Items of a list at the top of a YAML text: read, add and remove one; every other character stays.

    read:                read: [NOTES.md, more.md]      read: NOTES.md
      - NOTES.md
      - more.md

An item is any value that YAML can write on one line, such as a mapping in braces.

Programs that take a list often take one item without the brackets too. Such an item becomes a list, with a comment
behind it, so that it can be restored. ValueError says in a few words why a text cannot be changed.
"""

from __future__ import annotations

from typing import Any

import yaml

from palazzo.text import appended_block, yaml_edit

_WAS_ONE = "  # was one item"


def items(text: str, key: str) -> list[Any]:
    """Return the items of a list; a single value is a list of one item."""
    node = yaml_edit.value_of(text, key)
    if isinstance(node, yaml.SequenceNode):
        return [_content_of(child) for child in node.value]
    return [_content_of(node)] if isinstance(node, yaml.ScalarNode) and node.value else []


def with_item(text: str | None, key: str, item: str) -> str:
    """Return the text with an item, which is given as YAML of one line."""
    lines = [f"{key}:", f"  - {item}"]
    if text is None:
        return appended_block.new(lines)
    node = yaml_edit.value_of(text, key)
    if node is None:
        return appended_block.append_block(text, lines)
    content = yaml.safe_load(item)
    if content in items(text, key):
        return text
    changed = _added(text, node, key, item)
    if content not in items(changed, key) or len(items(changed, key)) != len(items(text, key)) + 1:
        raise ValueError(f"its `{key}` cannot be extended: write it with one item on each line")
    return changed


def _added(text: str, node: yaml.Node, key: str, item: str) -> str:
    start, end = node.start_mark.index, node.end_mark.index
    if isinstance(node, yaml.SequenceNode) and node.flow_style:
        return f"{text[: start + 1]}{item}{', ' if node.value else ''}{text[start + 1 :]}"
    if isinstance(node, yaml.SequenceNode):
        line_start = start - node.start_mark.column
        line = f"{' ' * node.start_mark.column}- {item}{appended_block.newline_of(text)}"
        return text[:line_start] + line + text[line_start:]
    if not isinstance(node, yaml.ScalarNode) or not node.value or _rest_of_line(text, end):
        raise ValueError(f"its `{key}` is not a list: write it with one item on each line")
    return f"{text[:start]}[{item}, {text[start:end]}]{_WAS_ONE}{text[end:]}"


def without_item(text: str, key: str, content: Any) -> str | None:
    """Return the text without the item of that content; None if nothing else is left, and never was."""
    node = yaml_edit.value_of(text, key)
    if not isinstance(node, yaml.SequenceNode):
        return text
    child = next((child for child in node.value if _content_of(child) == content), None)
    if child is None:
        return text
    start, end = child.start_mark.index, yaml_edit.last_index(child)
    if node.flow_style:
        return _without_flow_item(text, node, child)
    line_start = start - child.start_mark.column
    line_end = text.find("\n", end) + 1 or len(text)
    if len(node.value) > 1:
        return text[:line_start] + text[line_end:]
    key_start = text.rfind("\n", 0, text.rfind(key, 0, line_start)) + 1
    return appended_block.remove_block(text, key_start, len(text[:line_end].rstrip("\r\n")))


def _without_flow_item(text: str, node: yaml.SequenceNode, child: yaml.Node) -> str:
    start, end = child.start_mark.index, child.end_mark.index
    if child is not node.value[0]:
        return text[: text.rindex(",", 0, start)] + text[end:]
    if len(node.value) == 1:
        return text[:start] + text[end:]
    next_start, list_end = node.value[1].start_mark.index, node.end_mark.index
    if len(node.value) == 2 and text.startswith(_WAS_ONE, list_end):
        single = text[next_start : list_end - 1]
        return text[: node.start_mark.index] + single + text[list_end + len(_WAS_ONE) :]
    return text[:start] + text[next_start:]


def _content_of(node: yaml.Node) -> Any:
    """Return what a node stands for; None if that is not plain YAML."""
    try:
        return yaml.SafeLoader("").construct_document(node)
    except yaml.YAMLError:
        return None


def _rest_of_line(text: str, start: int) -> str:
    return text[start:].splitlines()[0].strip() if text[start:] and text[start] not in "\r\n" else ""
