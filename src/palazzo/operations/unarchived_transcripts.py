"""Taint check of a transcript that is not, or not completely, in the archive. Nothing is filed.

The session may be excluded from capture, or its transcript may be too long to wait for. Its content is judged all the
same, by the cutter's rules and with the state that earlier calls of the session left.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from palazzo.errors import SourceUnreadable
from palazzo.model import Micros
from palazzo.sessions.unarchived_taint import brings_untrusted_content
from palazzo.sources.file_heads import HEAD, read_whole
from palazzo.sources.formats import Message
from palazzo.sources.formats.transcript_formats import TRANSCRIPTS
from palazzo.sources.new_items import Clockwork, filing_of

if TYPE_CHECKING:
    from palazzo.sources.formats import Feeder

_LARGEST = 32_000_000
"""The most bytes that are read of all transcripts together, within some seconds: a day of work. Longer ones count as
untrusted.
"""


TranscriptContent = Literal["nothing", "untrusted", "unreadable"]
"""What transcripts hold: no untrusted content, some, or unknown because no transcript could be read."""


def content_of(files: Iterable[tuple[Path, int]], is_wanted: Callable[[str], bool]) -> TranscriptContent:
    """Return whether tools brought untrusted content into these files' sessions, each from a start byte on.

    A session whose directory `is_wanted` rejects is skipped. If some files cannot be read, the others decide.
    """
    files = list(files)
    agents = frozenset(path.stem.removeprefix("agent-") for path, _ in files)
    remaining_bytes, read, unreadable = _LARGEST, 0, 0
    for path, start in files:
        try:
            feeder, directory = _begins(path)
            if feeder is None:
                unreadable += 1
                continue
            read += 1
            if directory and not is_wanted(directory):
                continue
            remaining_bytes -= path.stat().st_size - start
            if remaining_bytes < 0 or _brings_outside(feeder, path, start, agents):
                return "untrusted"
        except (OSError, SourceUnreadable):
            unreadable += 1
    return "unreadable" if unreadable and not read else "nothing"


def directory_of(path: Path) -> str:
    """Return the directory of a transcript's session; empty if it is not stated, or cannot be read."""
    try:
        return _begins(path)[1]
    except (OSError, SourceUnreadable):
        return ""


def began_at(path: Path) -> Micros | None:
    """Return when the first message of a transcript was written, if its beginning says so."""
    try:
        feeder, _ = _begins(path)
        messages = [] if feeder is None else _messages(feeder, read_whole(path, HEAD), 0)
        return next((message.created_at for message in messages if message.created_at is not None), None)
    except (OSError, SourceUnreadable):
        return None


def _begins(path: Path) -> tuple[Feeder | None, str]:
    """Return the reader for a file, and the directory of its session if the beginning of the file states it."""
    head = read_whole(path, HEAD)
    feeder = next((candidate for candidate in TRANSCRIPTS if candidate.recognises(path, head)), None)
    if feeder is None:
        return None, ""
    return feeder, feeder.identify(path, head).cwd or _stated_directory(feeder, head)


def _stated_directory(feeder: Feeder, head: bytes) -> str:
    try:
        return next((message.cwd for message in _messages(feeder, head, 0) if message.cwd), "")
    except SourceUnreadable:  # of a format that is read whole, its beginning is nothing
        return ""


def _brings_outside(feeder: Feeder, path: Path, start: int, agents: Collection[str]) -> bool:
    """Return whether a transcript brings untrusted content from a byte on. A short one is read from its beginning."""
    whole = read_whole(path, start + _LARGEST)
    position = start if feeder.appends else 0
    first = position if len(whole) > _LARGEST else 0
    stream = BytesIO(whole)
    rows = feeder.rows(stream, stream.seek(first))
    identity = feeder.identify(path, whole[:HEAD])
    clockwork = Clockwork(Micros(0))
    filings = (
        filing_of(feeder.kind, feeder.version, identity, row, clockwork)
        for row in rows
        if isinstance(row.content, Message)
    )
    return brings_untrusted_content(filings, position, agents)


def _messages(feeder: Feeder, whole: bytes, start: int) -> Iterator[Message]:
    stream = BytesIO(whole)
    at = stream.seek(start)
    return (row.content for row in feeder.rows(stream, at) if isinstance(row.content, Message))
