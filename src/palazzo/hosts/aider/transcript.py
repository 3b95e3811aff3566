"""Aider's chat history: `.aider.chat.history.md`, one file per project, only ever appended to.

Learned from aider's own source (`aider/io.py`, which writes it, and `split_chat_history_markdown` in `aider/utils.py`,
which reads it back).

Each start writes `# aider chat started at YYYY-MM-DD HH:MM:SS` (local time, taken as UTC). A person's input becomes
lines that begin with `#### ` and end in two spaces; aider's own output becomes lines that begin with `> ` and end in
two spaces; everything between is the model's answer, unchanged. The two spaces distinguish aider's own lines from a
heading or a quotation in an answer, which aider's own reader mistakes for its lines.

A session is one start. It has no id, so the directory's name and the time of the start are its identity.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Literal

from palazzo.errors import SourceUnreadable
from palazzo.frozen_class import frozen
from palazzo.model import Micros, Part
from palazzo.sources.formats import Collection, Content, Identity, Message, Noise, Row, Session
from palazzo.sources.formats.row_records import stamp_of
from palazzo.sources.formats.source_times import moment
from palazzo.sources.formats.whole_files import read_file

KIND = "aider"
LARGEST = 512 * 1024 * 1024
_START_LINE = re.compile(rb"^# aider chat started at (\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2})[ \t]*\r?$", re.MULTILINE)
_PROMPT_LINE = re.compile(rb"####(?: (.*?))?  \r?\n?$", re.DOTALL)
_OUTPUT_LINE = re.compile(rb">(?: (.*?))?  \r?\n?$", re.DOTALL)

Speaker = Literal["person", "aider", "model"]


@frozen
class _Turn:
    speaker: Speaker
    raw: bytes
    words: bytes


class Aider:
    """Reads aider's chat histories."""

    kind = KIND
    version = 2

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether the file begins like an aider file, whatever its name."""
        first = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:80].split(b"\n")[0]
        return bool(_START_LINE.match(first))

    def sessions(self, path: Path) -> Iterator[Session]:
        """Yield one session per start of aider."""
        data = read_file(path, LARGEST)
        starts = [match.start() for match in _START_LINE.finditer(data)]
        if not starts:
            raise SourceUnreadable(f"{path} has no line that marks the start of an aider chat.")
        starts[0] = 0
        start_counts: dict[str, int] = {}
        for start, end in zip(starts, [*starts[1:], len(data)], strict=True):
            yield _session(path, data[start:end], start_counts)


def _session(path: Path, data: bytes, start_counts: dict[str, int]) -> Session:
    match = _START_LINE.search(data)
    start_text = match.group(1).decode() if match else ""
    start_counts[start_text] = start_counts.get(start_text, 0) + 1
    session = start_text if start_counts[start_text] == 1 else f"{start_text} #{start_counts[start_text]}"
    folder = path.parent.name
    identity = Identity((KIND, folder, session), f"{folder}/{session}")
    return Session(identity, stamp_of(data), partial(_rows, data, moment(start_text)), cwd=str(path.parent))


def _rows(data: bytes, start_time: Micros | None) -> Iterator[Row]:
    for position, turn in enumerate(_turns(data)):
        yield Row(position, turn.raw, _content(turn, start_time))


def _turns(data: bytes) -> Iterator[_Turn]:
    """Join adjacent lines of one speaker. A blank line belongs to the turn that contains it."""
    speaker: Speaker = "aider"
    raw: list[bytes] = []
    words: list[bytes] = []
    for line in data.splitlines(keepends=True):
        is_blank = not line.strip()
        by, content = (speaker, line if speaker == "model" else b"") if is_blank else _line(line)
        is_new_prompt = by == "person" and not is_blank and raw and not raw[-1].strip()
        if raw and (by != speaker or is_new_prompt):
            yield _Turn(speaker, b"".join(raw), b"".join(words))
            raw, words = [], []
        speaker = by
        raw.append(line)
        words.append(content)
    if raw:
        yield _Turn(speaker, b"".join(raw), b"".join(words))


def _line(line: bytes) -> tuple[Speaker, bytes]:
    """Return the speaker of a line, and its text."""
    if _START_LINE.match(line):
        return "aider", b""
    prompt_match = _PROMPT_LINE.match(line)
    if prompt_match:
        return "person", (prompt_match.group(1) or b"") + b"\n"
    output_match = _OUTPUT_LINE.match(line)
    if output_match:
        return "aider", (output_match.group(1) or b"") + b"\n"
    return "model", line


def _content(turn: _Turn, start_time: Micros | None) -> Content:
    text = turn.words.decode("utf-8", "surrogateescape").strip("\r\n")
    if not text.strip():
        return Noise("aider chat started" if _START_LINE.match(turn.raw.lstrip()) else "blank")
    if turn.speaker == "aider":
        parts = (Part("tool_result", 0, len(text), name="aider", trust="tool"),)
        return Message(text, "tool", parts=parts, created_at=start_time)
    role: Literal["user", "assistant"] = "user" if turn.speaker == "person" else "assistant"
    return Message(text, role, parts=(Part("text", 0, len(text)),), created_at=start_time)


COLLECTIONS: tuple[Collection, ...] = (Aider(),)
