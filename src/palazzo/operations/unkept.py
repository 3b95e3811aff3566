"""Whether a transcript that is not in the archive, or not to its end, has words from outside: read, and not filed.

Nobody may have asked for the session to be kept, capture may be off, or there may be too much of it to wait for. What
is written in it is to be judged all the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

_LARGEST = 32_000_000
"""Bytes of a transcript that are read, in some seconds: what a day of work comes to. Longer ones may hold anything."""


def met_outside(files: Iterable[tuple[Path, int]]) -> bool:
    """Whether a tool brought words from outside into the session of one of these files, from a byte of it on."""
    return any(_brings_outside(path, start) for path, start in files)


def _brings_outside(path: Path, start: int) -> bool:
    from palazzo.errors import SourceUnreadable
    from palazzo.feeders import Message

    try:
        if path.stat().st_size > start + _LARGEST:
            return True
        return any(
            part.trust == "external" for row in _rows(path, start) if isinstance(row, Message) for part in row.parts
        )
    except (OSError, SourceUnreadable):  # such a file says nothing of what was met, as none does that is not there
        return False


def _rows(path: Path, start: int) -> Iterator[object]:
    from io import BytesIO

    from palazzo.feeders.registry import TRANSCRIPTS
    from palazzo.mining.heads import HEAD, read_whole

    whole = read_whole(path, start + _LARGEST)
    feeder = next((one for one in TRANSCRIPTS if one.recognises(path, whole[:HEAD])), None)
    if feeder is not None:
        stream = BytesIO(whole)
        at = stream.seek(start if feeder.appends else 0)
        yield from (row.content for row in feeder.rows(stream, at))
