"""The state of reading a text for names: the text, and the names found so far."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection
from typing import Literal, NamedTuple

Kind = Literal["identifier", "package", "file", "person", "product", "reference"]
KINDS: tuple[Kind, ...] = ("identifier", "package", "file", "person", "product", "reference")
Voice = Literal["user", "assistant", "tool", "document", "commit", "chat"]
"""The speaker, as far as it affects how names are written."""


class Mention(NamedTuple):
    """A name in the text, from `start` to `end`, and the kind of thing it names."""

    text: str
    kind: Kind
    start: int
    end: int


class Page:
    """A text being scanned: the mentions found, and the rest of the text with those blanked out.

    `people` are the full names of people known from elsewhere.
    """

    def __init__(self, text: str, voice: Voice, people: Collection[str] = ()) -> None:
        self.text, self.voice, self.people = text, voice, people
        self.found: list[Mention] = []
        self._blanked = bytearray(len(text))
        self._left: str | None = text
        self.fences = [(fence.start(), fence.end()) for fence in _FENCE.finditer(text)]

    def take(self, mention: Mention) -> None:
        """Add a mention unless part of it is already claimed."""
        if (
            mention.start < mention.end
            and self._blanked.find(1, mention.start, mention.end) < 0
            and self.text[mention.start : mention.end] == mention.text
        ):
            self.found.append(mention)
            self.blank(mention.start, mention.end)

    def blank(self, start: int, end: int) -> None:
        """Hide a range from later rules."""
        self._blanked[start:end] = b"\1" * (end - start)
        self._left = None

    @property
    def rest(self) -> str:
        """Return the text with all claimed ranges blanked. It is built once for all ranges blanked since last time."""
        if self._left is None:
            pieces: list[str] = []
            at = 0
            for stretch in _BLANK_STRETCH.finditer(self._blanked):
                pieces += (self.text[at : stretch.start()], SPOKEN_FOR * (stretch.end() - stretch.start()))
                at = stretch.end()
            self._left = "".join([*pieces, self.text[at:]])
        return self._left

    def is_code(self, place: int) -> bool:
        """Whether a position is in a fenced block."""
        fence_number = bisect_right(self.fences, (place, len(self.text) + 1))
        return fence_number > 0 and place < self.fences[fence_number - 1][1]


_FENCE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
_BLANK_STRETCH = re.compile(rb"[\x01]+")
SPOKEN_FOR = "\0"


def make_mention(match: re.Match[str], kind: Kind, group: int | str = 0) -> Mention:
    """Return a group of a match as a mention."""
    return Mention(match[group], kind, match.start(group), match.end(group))
