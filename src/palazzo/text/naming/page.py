"""A text that is being read for names, and what was found in it so far."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Literal, NamedTuple

Kind = Literal["identifier", "package", "file", "person", "product", "reference"]
KINDS: tuple[Kind, ...] = ("identifier", "package", "file", "person", "product", "reference")
Voice = Literal["user", "assistant", "tool", "document", "commit", "chat"]
"""Who speaks, as far as it matters to how names are written."""


class Mention(NamedTuple):
    """A name as it stands in the text, between `start` and `end`, and what it names."""

    text: str
    kind: Kind
    start: int
    end: int


class Page:
    """A text that is being read: what was found, and the rest of the text with that blanked out.

    `people` are the full names of those who are known otherwise.
    """

    def __init__(self, text: str, voice: Voice, people: Collection[str] = ()) -> None:
        self.text, self.voice, self.people = text, voice, people
        self.left = text
        self.found: list[Mention] = []
        self.fences = [(one.start(), one.end()) for one in _FENCE.finditer(text)]

    def take(self, found: Mention) -> None:
        """Keep a mention unless something in it is spoken for."""
        if found.start < found.end and self.left[found.start : found.end] == found.text:
            self.found.append(found)
            self.blank(found.start, found.end)

    def blank(self, start: int, end: int) -> None:
        """Let no further rule see a stretch."""
        self.left = self.left[:start] + SPOKEN_FOR * (end - start) + self.left[end:]

    def is_code(self, place: int) -> bool:
        """Whether a place is in a fenced block."""
        return any(start <= place < end for start, end in self.fences)


_FENCE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
SPOKEN_FOR = "\0"


def found(match: re.Match[str], kind: Kind, group: int | str = 0) -> Mention:
    """Return a group of a match as a mention."""
    return Mention(match[group], kind, match.start(group), match.end(group))
