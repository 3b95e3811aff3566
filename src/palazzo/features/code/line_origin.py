"""Line origin: which recorded edit gave one line of a file its present text. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from palazzo.text.cited_lines import says_enough

if TYPE_CHECKING:
    from palazzo.features.code.edit_texts import EditText
    from palazzo.sessions.file_calls import Piece

_FEWEST_WORDS, _FEWEST_LETTERS = 2, 6
"""The words, and the letters and digits, that a line needs to be compared: `port: 80` has enough, `return` and a brace
have not. A line with fewer than `says_enough` needs is never certain. Not measured.
"""


class LineOrigin(NamedTuple):
    """The edit that gave a line its present text, and how. `is_certain` if it added this line, which is distinctive.

    With `is_partial`, the edit has only a part of the line.
    """

    edit: EditText
    is_certain: bool
    act: str
    is_partial: bool = False


class LineAttribution(NamedTuple):
    """The origin of a line, and its text; without an origin, `obstacle` says why, as a clause.

    `is_compared` says that the line was compared with the recorded edits.
    """

    origin: LineOrigin | None = None
    text: str = ""
    obstacle: str = ""
    is_compared: bool = False

    @property
    def recorded_text(self) -> str:
        """The text of the line if an edit has all of it: a text that is only in the file may be a secret."""
        return "" if self.origin is None or self.origin.is_partial else self.text


def attribute_line(lines: Sequence[str], number: int, edits: Iterable[EditText]) -> LineAttribution:
    """Return which edit wrote a line of a file, given its lines of today and its recorded edits, oldest first."""
    if not lines:
        return LineAttribution(obstacle="no such file of the current project can be read")
    if obstacle := _obstacle(lines, number):
        return LineAttribution(obstacle=obstacle)
    origin = find_origin(lines[number - 1], edits)
    if origin is None:
        return LineAttribution(obstacle="no recorded edit wrote it", is_compared=True)
    return LineAttribution(origin, lines[number - 1].strip(), is_compared=True)


def normalize_line(line: str) -> str:
    """Return a line with single blanks, as lines are compared."""
    return " ".join(line.split())


def _obstacle(lines: Sequence[str], number: int) -> str:
    """Return why the text of a line does not identify it, as a clause; '' if it does."""
    if number > len(lines):
        return f"the file has only {len(lines):,} lines"
    line = normalize_line(lines[number - 1])
    if not line:
        return "it is empty"
    if len(re.findall(r"\w+", line)) < _FEWEST_WORDS or sum(map(str.isalnum, line)) < _FEWEST_LETTERS:
        return "it is too short to be recognised"
    count = sum(normalize_line(other) == line for other in lines)
    return f"the file has {count:,} lines like it" if count > 1 else ""


def find_origin(line: str, edits: Iterable[EditText]) -> LineOrigin | None:
    """Return the origin of a line, given the edits of its file, oldest first.

    An edit that only repeats the line is not its origin, nor is an edit before the line was last removed.
    """
    text = normalize_line(line)
    origin: LineOrigin | None = None
    for edit in edits:
        for piece in edit.pieces:
            origin = _origin_after(origin, edit, piece, text)
    return origin


def _origin_after(origin: LineOrigin | None, edit: EditText, piece: Piece, text: str) -> LineOrigin | None:
    """Return the origin of a line after one more piece of an edit."""
    new_lines = _normalized_lines(piece.new)
    if edit.writes_all:
        if text not in new_lines:
            return None
        return origin or LineOrigin(edit, False, "wrote the whole file, with this line")
    old_lines = _normalized_lines(piece.old)
    if text in new_lines:
        return origin if text in old_lines else LineOrigin(edit, says_enough([text]), "wrote this line")
    if not piece.whole and any(_is_part(end, text, piece.old) for end in (new_lines[0], new_lines[-1])):
        return LineOrigin(edit, False, "changed a part of this line", is_partial=True)
    return None if text in old_lines else origin


def _is_part(end: str, text: str, old: str) -> bool:
    """Return whether an end of a new text is a part of a line that is distinctive and was not there before."""
    return end in text and says_enough([end]) and end not in normalize_line(old)


def _normalized_lines(text: str) -> list[str]:
    return [normalize_line(line) for line in text.split("\n")]
