"""Whether a transcript that is not in the archive, or not to its end, has words from outside: read, and not filed.

Nobody may have asked for the session to be kept, capture may be off, or there may be too much of it to wait for. What
is written in it is to be judged all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from palazzo.feeders import Feeder, Message

_LARGEST = 32_000_000
"""Bytes that are read, of all transcripts together, in some seconds: what a day of work comes to. What is longer may
hold anything."""


def met_outside(files: Iterable[tuple[Path, int]], is_here: Callable[[str], bool]) -> bool:
    """Whether a tool brought words from outside into the session of one of these files, from a byte of it on.

    Sessions that say in which directory they are, of which `is_here` says no, are passed over.
    """
    from palazzo.errors import SourceUnreadable

    left = _LARGEST
    for path, start in files:
        try:
            feeder, directory = _begins(path)
            if feeder is None or (directory and not is_here(directory)):
                continue
            left -= path.stat().st_size - start
            if left < 0 or _brings_outside(feeder, path, start):
                return True
        except (OSError, SourceUnreadable):  # such a file says nothing of what was met, as none does that is not there
            continue
    return False


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


def _brings_outside(feeder: Feeder, path: Path, start: int) -> bool:
    from palazzo.mining.heads import read_whole

    whole = read_whole(path, start + _LARGEST)
    said = _messages(feeder, whole, start if feeder.appends else 0)
    return any(part.trust == "external" for one in said for part in one.parts)


def _messages(feeder: Feeder, whole: bytes, start: int) -> Iterator[Message]:
    from palazzo.feeders import Message

    stream = BytesIO(whole)
    at = stream.seek(start)
    return (row.content for row in feeder.rows(stream, at) if isinstance(row.content, Message))
