"""A block of lines at the end of a text, a blank line before it, that can be taken away again without a trace.

Of a text without a last newline the block has none either; of an empty one the blank line is kept, so that a text that
was empty and one that was made for the block are told apart.
"""

from __future__ import annotations

import re


def newline_of(text: str) -> str:
    """Return how lines end in the text, by its first."""
    found = re.search(r"\r\n|\n|\r", text)
    return found[0] if found else "\n"


def new(lines: list[str]) -> str:
    """Return a text that has only the block; `without` it gives None."""
    return "\n".join(lines) + "\n"


def appended(text: str, lines: list[str]) -> str:
    """Return the text with the block, of two lines or more, behind it."""
    newline = newline_of(text)
    block = newline.join(lines)
    if text and text[-1] not in "\r\n":
        return text + newline + newline + block
    return text + newline + block + newline


def without(text: str, start: int, end: int) -> str | None:
    """Return the text without the block from `start` to before `end`, which is where its last line ends.

    None where there is nothing else, and never was.
    """
    newline = newline_of(text[start:end])
    before, after = text[:start], text[end:]
    if not after and before:
        return before.removesuffix(newline).removesuffix(newline)
    after = after.removeprefix(newline)
    shorter = before.removesuffix(newline)
    if shorter != before and (not shorter or shorter[-1] in "\r\n"):
        return shorter + after
    return before + after or None
