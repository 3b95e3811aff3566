"""A block of lines at the end of a text, after a blank line, that can be removed again without a trace.

If the text has no final newline, neither has the block. If the text is empty, the blank line is kept, so that a text
that was empty and a text that was created for the block can be distinguished.
"""

from __future__ import annotations

import re


def newline_of(text: str) -> str:
    """Return the text's line ending, as in its first line."""
    match = re.search(r"\r\n|\n|\r", text)
    return match[0] if match else "\n"


def new(lines: list[str]) -> str:
    """Return a text that contains only the block; `remove_block` turns it into None."""
    return "\n".join(lines) + "\n"


def append_block(text: str, lines: list[str]) -> str:
    """Return the text with the block, of two lines or more, appended."""
    newline = newline_of(text)
    block = newline.join(lines)
    if text and text[-1] not in "\r\n":
        return text + newline + newline + block
    return text + newline + block + newline


def remove_block(text: str, start: int, end: int) -> str | None:
    """Return the text without the block from `start` to before `end`, where its last line ends.

    None if there is no other text, and never was.
    """
    newline = newline_of(text[start:end])
    head, tail = text[:start], text[end:]
    if not tail and head:
        return head.removesuffix(newline).removesuffix(newline)
    tail = tail.removeprefix(newline)
    shorter = head.removesuffix(newline)
    if shorter != head and (not shorter or shorter[-1] in "\r\n"):
        return shorter + tail
    return head + tail or None
