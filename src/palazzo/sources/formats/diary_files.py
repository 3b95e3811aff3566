"""Diaries kept as one Markdown file per day: `2026-03-04.md`, an entry under each heading.

This is a convention of journals and daily notes (Obsidian and Logseq name their daily notes so), not a format. A file
whose name is only a date belongs to a diary. A file whose name continues after the date (`2026-03-04-standup.md`) does
so only in a folder with a diary-like name, because blog posts, minutes and plans have such names too.

Entries are notes. The time of an entry is the file's day, and the hour at the beginning of its heading (UTC).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from palazzo.errors import SourceUnreadable
from palazzo.model import Part
from palazzo.sources.formats import Content, Identity, Message, Noise, Row, Session
from palazzo.sources.formats.document_kinds import LARGEST, is_binary
from palazzo.sources.formats.marked_lines import lines_of, words_of
from palazzo.sources.formats.row_records import stamp_of
from palazzo.sources.formats.source_times import moment
from palazzo.text.lazy_patterns import make_regex

KIND = "diary"
_NAME = make_regex(r"(?P<day>\d{4}-\d{2}-\d{2})(?P<rest>[ _.-].*)?\.(?:md|markdown)", re.IGNORECASE | re.DOTALL)
_FOLDERS = frozenset(
    {
        *("diary", "diaries", "journal", "journals", "daily", "dailies", "daily notes", "daily-notes", "daily_notes"),
        *("logbook", "memory", "dagbok", "tagebuch"),
    }
)
_HEADING = make_regex(r"#{1,2}[ \t]+(?P<title>.*?)[ \t#]*$")
_HOUR = make_regex(r"\W*(\d{4}-\d{2}-\d{2})?[ T]?((?:[01]?\d|2[0-3]):[0-5]\d)?\b")


class DiaryFiles:
    """Reads one day of a diary."""

    kind = KIND
    version = 1

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether this is a text file whose name is a day; a longer name counts only in a diary folder."""
        match = _NAME.fullmatch(path.name)
        if not match or not head or is_binary(head) or moment(match["day"]) is None:
            return False
        return not match["rest"] or path.parent.name.lower() in _FOLDERS

    def sessions(self, path: Path) -> Iterator[Session]:
        """Yield the one day as a session."""
        try:
            if path.stat().st_size > LARGEST:
                raise SourceUnreadable(f"{path} is over {LARGEST:,} bytes, more than one diary day can have.")
            data = path.read_bytes()
        except OSError as error:
            raise SourceUnreadable(f"{path} cannot be read ({error}).") from None
        match = _NAME.fullmatch(path.name)
        day = match["day"] if match else ""
        identity = Identity((KIND, path.parent.name, path.name), f"{path.parent.name}/{path.stem}")
        yield Session(identity, stamp_of(data), partial(_rows, data, day), path.stem)


def _rows(data: bytes, day: str) -> Iterator[Row]:
    for position, (heading, raw) in enumerate(_entries(data)):
        yield Row(position, raw, _content(heading, raw, day))


def _entries(data: bytes) -> list[tuple[str, bytes]]:
    """Return the section under each heading, with the heading; joined, they are the file."""
    entries: list[tuple[str, list[bytes]]] = []
    for line in lines_of(data):
        match = None if line.in_fence else _HEADING.match(line.text)
        if match or not entries:
            entries.append((match["title"] if match else "", []))
        entries[-1][1].append(line.raw)
    return [(heading, b"".join(raws)) for heading, raws in entries]


def _content(heading: str, raw: bytes, day: str) -> Content:
    text = words_of(raw)
    if not text:
        return Noise("blank")
    hour_match = _HOUR.match(heading)
    date = (hour_match and hour_match.group(1)) or day
    hour = f"{hour_match.group(2):0>5}" if hour_match and hour_match.group(2) else ""
    said_at = moment(f"{date} {hour}") if hour else None
    return Message(
        text,
        "author",
        kind="note",
        parts=(Part("text", 0, len(text)),),
        created_at=said_at if said_at is not None else moment(date) if moment(date) is not None else moment(day),
        meta={"heading": heading} if heading else {},
    )
