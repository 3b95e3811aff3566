"""Conversations that somebody kept as plain text or Markdown, with a mark before each turn.

There is no such format, only habits: `User:` and `Assistant:`, the same in bold, as headings, in brackets, or with a
time before or after the name. `speaker_marks` knows them. A file counts as a conversation only if one habit holds
throughout; everything else is a document. A line that begins with `>` is a quotation, never a turn (`quoted_turns`
reads conversations in which it is a turn).

A file may hold several sessions, each begun by a line such as `# Session 3` or `=== Chat 2026-03-04 ===` with the first
turn right below. Text before the first turn is kept as a note.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from palazzo.errors import SourceUnreadable
from palazzo.model import Micros, Part
from palazzo.sources.formats import Content, Identity, Message, Noise, Row, Session
from palazzo.sources.formats.marked_lines import Line, lines_of, words_of
from palazzo.sources.formats.row_records import stamp_of
from palazzo.sources.formats.source_times import moment
from palazzo.sources.formats.speaker_marks import Mark, Style, find_style, is_preamble, session_mark
from palazzo.sources.formats.whole_files import read_file
from palazzo.text.lazy_patterns import make_regex

KIND = "transcript"
SUFFIXES = frozenset({".txt", ".md", ".markdown", ".text", ".log"})
_DATE = make_regex(r"\d{4}-\d{2}-\d{2}(?:[ T]\d{2}:\d{2}(?::\d{2})?)?")


class PlainText:
    """Reads conversations stored as plain text."""

    kind = KIND
    version = 1

    def __init__(self, is_stated: bool = False) -> None:
        """Create a reader. If a person states that files are conversations, one question and answer suffice."""
        self._is_stated = is_stated

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether one style of marking turns is used throughout the file."""
        if path.suffix.lower() not in SUFFIXES or b"\x00" in head[:1024]:
            return False
        if find_style(lines_of(head), self._is_stated) is None:
            return False
        try:
            return find_style(lines_of(read_file(path)), self._is_stated) is not None
        except (SourceUnreadable, ValueError):
            return True

    def sessions(self, path: Path) -> Iterator[Session]:
        """Yield the file's conversations."""
        data = read_file(path)
        lines = lines_of(data)
        style = find_style(lines, self._is_stated)
        if style is None:
            raise SourceUnreadable(f"{path} has no consistent speaker marks, so it is read as a document.")
        starts = _session_starts(lines, style)
        for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
            yield _session(path.name, lines[start:end], style)


def _session_starts(lines: list[Line], style: Style) -> list[int]:
    """Return the line of each session mark that a first turn follows; the first session begins with the file."""
    starts = [0]
    has_turn = False
    for n, line in enumerate(lines):
        if style.mark(line):
            has_turn = True
        elif has_turn and session_mark(line) and _turn_follows(lines, n + 1, style):
            starts.append(n)
            has_turn = False
    return starts


def _turn_follows(lines: list[Line], at: int, style: Style) -> bool:
    for line in lines[at : at + 12]:
        if style.mark(line):
            return True
        if not is_preamble(line):
            return False
    return False


def _session(name: str, lines: list[Line], style: Style) -> Session:
    """Identify a session by the file's name and its beginning, which stays as the file grows."""
    pieces = _pieces(lines, style)
    first = next((raw for mark, raw in pieces if mark), b"")
    begins = stamp_of(b"".join(raw for mark, raw in pieces[:1] if not mark).strip(), first.strip())
    identity = Identity((KIND, name, begins), f"{name}/{begins}")
    title, began = _heading(lines, style)
    stamp = stamp_of(*(line.raw for line in lines))
    return Session(identity, stamp, partial(_rows, pieces, title, began), title)


def _heading(lines: list[Line], style: Style) -> tuple[str, Micros | None]:
    """Return the title and the time given above the first turn."""
    title, began = "", None
    for line in lines:
        if style.mark(line):
            break
        words = line.text.strip().strip("#=-*~ \t")
        title = title or words
        date_match = _DATE.search(line.text)
        began = began or (moment(date_match.group()) if date_match else None)
    return title[:200], began


def _pieces(lines: list[Line], style: Style) -> list[tuple[Mark | None, bytes]]:
    """Return the turns with their marks; first the text above them, which has none."""
    pieces: list[tuple[Mark | None, list[bytes]]] = []
    for line in lines:
        mark = style.mark(line)
        if mark or not pieces:
            pieces.append((mark, []))
        pieces[-1][1].append(line.raw)
    return [(mark, b"".join(raws)) for mark, raws in pieces]


def _rows(pieces: list[tuple[Mark | None, bytes]], title: str, began: Micros | None) -> Iterator[Row]:
    for position, (mark, raw) in enumerate(pieces):
        yield Row(position, raw, _content(mark, raw, began), title if position == 0 else "")


def _content(mark: Mark | None, raw: bytes, began: Micros | None) -> Content:
    text = words_of(raw[mark.size :] if mark else raw)
    if not text:
        return Noise("a turn without text" if mark else "blank")
    parts = (Part("text", 0, len(text)),)
    if mark is None:
        return Message(text, "author", kind="note", parts=parts, created_at=began)
    said_at = mark.said_at if mark.said_at is not None else began
    return Message(
        text, mark.role, standing="meta" if mark.role == "system" else "said", parts=parts, created_at=said_at
    )
