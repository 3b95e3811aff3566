"""Conversations kept as text in which the person's messages are quoted and the answers are not.

    > Which port does the gateway listen on?
    It listens on 8443.

    > And the health check?
    Port 8080.

MemPalace uses this form. Mail with answers between the quoted lines and many pages of documentation look the same, so a
file is read in this form only if a person states that it is a conversation, and if the form holds from the first line
to the last: each quotation is answered, and only a title stands above the first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from palazzo.errors import SourceUnreadable
from palazzo.model import Part, Role
from palazzo.sources.formats import Content, Identity, Message, Noise, Row, Session
from palazzo.sources.formats.marked_lines import Line, lines_of, words_of
from palazzo.sources.formats.plain_text import SUFFIXES
from palazzo.sources.formats.row_records import stamp_of
from palazzo.sources.formats.speaker_marks import is_preamble
from palazzo.sources.formats.whole_files import read_file
from palazzo.text.lazy_patterns import make_regex

KIND = "quoted-turns"
_QUOTE_MARK = make_regex(r" {0,3}>(?!>)[ \t]?")
_LEAST_QUESTIONS = 2
_LEAST_ANSWERED = 0.8
"""Minimum share of quotations that are followed by an answer. The last quotation may lack one."""

Turn = tuple[Role | None, bytes]


class QuotedTurns:
    """Reads conversations in which the user's messages are quoted."""

    kind = KIND
    version = 1

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether quotations and answers alternate from the first line to the last."""
        if path.suffix.lower() not in SUFFIXES or b"\x00" in head[:1024] or not _alternate(_turns(lines_of(head))):
            return False
        try:
            return _alternate(_turns(lines_of(read_file(path))))
        except (SourceUnreadable, ValueError):
            return True

    def sessions(self, path: Path) -> Iterator[Session]:
        """Yield the file's one conversation."""
        turns = _turns(lines_of(read_file(path)))
        if not _alternate(turns):
            raise SourceUnreadable(f"{path} is not a conversation of quoted questions and answers.")
        first = next(raw for role, raw in turns if role == "user")
        begins = stamp_of(first.strip())
        above = words_of(turns[0][1]) if turns[0][0] is None else ""
        title = above.strip().splitlines()[0].strip("#=-*~ \t")[:200] if above.strip() else ""
        stamp = stamp_of(*(raw for _, raw in turns))
        yield Session(Identity((KIND, path.name, begins), f"{path.name}/{begins}"), stamp, partial(_rows, turns), title)


def _turns(lines: Sequence[Line]) -> list[Turn]:
    """Return the sections of the file, each with its speaker: None above the first quotation."""
    turns: list[tuple[Role | None, list[bytes]]] = []
    speaker: Role | None = None
    for line in lines:
        role = _role_of_line(line, speaker)
        if not turns or role != speaker:
            turns.append((role, []))
        speaker = role
        turns[-1][1].append(line.raw)
    return [(role, b"".join(raws)) for role, raws in turns]


def _role_of_line(line: Line, speaker: Role | None) -> Role | None:
    if not line.in_fence and _QUOTE_MARK.match(line.text):
        return "user"
    if speaker == "user" and not line.raw.strip():
        return "user"  # the blank line after a question
    return "assistant" if speaker else None


def _alternate(turns: Sequence[Turn]) -> bool:
    above = [raw for role, raw in turns if role is None]
    if any(not is_preamble(line) for raw in above for line in lines_of(raw)):
        return False
    questions = sum(role == "user" for role, _ in turns)
    answers = sum(role == "assistant" and bool(raw.strip()) for role, raw in turns)
    return questions >= _LEAST_QUESTIONS and answers >= _LEAST_ANSWERED * (questions - 1) and answers > 0


def _rows(turns: Sequence[Turn]) -> Iterator[Row]:
    for position, (role, raw) in enumerate(turns):
        yield Row(position, raw, _content(role, raw))


def _content(role: Role | None, raw: bytes) -> Content:
    text = words_of(raw)
    if role == "user":
        text = "\n".join(_QUOTE_MARK.sub("", line, count=1) for line in text.splitlines()).strip("\n")
    if not text.strip():
        return Noise("a turn without text" if role else "blank")
    parts = (Part("text", 0, len(text)),)
    if role is None:
        return Message(text, "author", kind="note", parts=parts)
    return Message(text, role, parts=parts)
