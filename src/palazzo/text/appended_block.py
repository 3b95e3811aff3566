"""A block of lines at the end of a text, a blank line before it, that can be taken away again without a trace.

Of a text without a last newline the block has none either; of an empty one the blank line is kept, so that a text that
was empty and one that was made for the block are told apart.
"""

from __future__ import annotations

import re


def newline_of(text: str) -> str:
    """Return how lines end in the text, by its first."""
    match = re.search(r"\r\n|\n|\r", text)
    return match[0] if match else "\n"


def new(lines: list[str]) -> str:
    """Return a text that has only the block; `without` it gives None."""
    return "\n".join(lines) + "\n"


def append_block(text: str, lines: list[str]) -> str:
    """Return the text with the block, of two lines or more, behind it."""
    newline = newline_of(text)
    block = newline.join(lines)
    if text and text[-1] not in "\r\n":
        return text + newline + newline + block
    return text + newline + block + newline


def remove_block(text: str, start: int, end: int) -> str | None:
    """Return the text without the block from `start` to before `end`, which is where its last line ends.

    None where there is nothing else, and never was.
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
