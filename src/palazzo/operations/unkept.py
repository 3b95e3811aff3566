"""Whether a transcript that is not in the archive, or not to its end, has words from outside: read, and not filed.

Nobody may have asked for the session to be kept, capture may be off, or there may be too much of it to wait for. What
is written in it is judged all the same, by the cutter's rules and with what earlier calls of the session did.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from palazzo.feeders import Feeder, Message
    from palazzo.model import Micros

_LARGEST = 32_000_000
"""Bytes that are read, of all transcripts together, in some seconds: what a day of work comes to. What is longer may
hold anything."""


Finding = Literal["nothing", "untrusted", "unreadable"]
"""What transcripts hold: no untrusted content, some, or nobody can say because none of them could be read."""


def content_of(files: Iterable[tuple[Path, int]], is_wanted: Callable[[str], bool]) -> Finding:
    """Return what a tool brought into the session of one of these files, from a byte of it on.

    Sessions that say in which directory they are, which `is_wanted` does not want, are passed over. Of files of which
    some can be read, those count.
    """
    from palazzo.errors import SourceUnreadable

    files = list(files)
    agents = frozenset(path.stem.removeprefix("agent-") for path, _ in files)
    left, read, unreadable = _LARGEST, 0, 0
    for path, start in files:
        try:
            feeder, directory = _begins(path)
            if feeder is None:
                unreadable += 1
                continue
            read += 1
            if directory and not is_wanted(directory):
                continue
            left -= path.stat().st_size - start
            if left < 0 or _brings_outside(feeder, path, start, agents):
                return "untrusted"
        except (OSError, SourceUnreadable):
            unreadable += 1
    return "unreadable" if unreadable and not read else "nothing"


def directory_of(path: Path) -> str:
    """Return in which directory the session of a transcript is; empty where it does not say, or cannot be read."""
    from palazzo.errors import SourceUnreadable

    try:
        return _begins(path)[1]
    except (OSError, SourceUnreadable):
        return ""


def began_at(path: Path) -> Micros | None:
    """Return when the first message of a transcript was written, if its beginning says so."""
    from palazzo.errors import SourceUnreadable
    from palazzo.mining.heads import HEAD, read_whole

    try:
        feeder, _ = _begins(path)
        messages = [] if feeder is None else _messages(feeder, read_whole(path, HEAD), 0)
        return next((message.created_at for message in messages if message.created_at is not None), None)
    except (OSError, SourceUnreadable):
        return None


def _begins(path: Path) -> tuple[Feeder | None, str]:
    """What reads a file, and in which directory its session is, where its beginning says so."""
    from palazzo.feeders.registry import TRANSCRIPTS
    from palazzo.mining.heads import HEAD, read_whole

    head = read_whole(path, HEAD)
    feeder = next((one for one in TRANSCRIPTS if one.recognises(path, head)), None)
    if feeder is None:
        return None, ""
    return feeder, feeder.identify(path, head).cwd or _stated_directory(feeder, head)


def _stated_directory(feeder: Feeder, head: bytes) -> str:
    from palazzo.errors import SourceUnreadable

    try:
        return next((one.cwd for one in _messages(feeder, head, 0) if one.cwd), "")
    except SourceUnreadable:  # of a format that is read whole, its beginning is nothing
        return ""


def _brings_outside(feeder: Feeder, path: Path, start: int, agents: Collection[str]) -> bool:
    """Whether a transcript brings untrusted content from a byte on. One that is not long is read from its beginning."""
    from palazzo.derive.unarchived import brings_untrusted_content
    from palazzo.feeders import Message
    from palazzo.mining.filings import Clockwork, filing_of
    from palazzo.mining.heads import HEAD, read_whole
    from palazzo.model import Micros

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
    from palazzo.feeders import Message

    stream = BytesIO(whole)
    at = stream.seek(start)
    return (row.content for row in feeder.rows(stream, at) if isinstance(row.content, Message))
