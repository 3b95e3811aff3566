"""Whether a session of which nothing is kept has met words from outside: its transcript is read, and nothing filed.

Nobody may have asked for the session to be kept; what is written in it is to be judged all the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from palazzo.operations.context import Context

_LARGEST = 64_000_000
"""Bytes of a transcript that are read: what a day of work comes to, several times over."""
_SHORTEST_NAME = 8
"""Characters of a session's name that files are looked for by."""


def met_outside(context: Context, session: str) -> bool:
    """Whether a tool brought words from outside into the session of that name, as its transcript says."""
    from palazzo.operations.tainting import files_of
    from palazzo.operations.watched import histories_here

    if len(session) < _SHORTEST_NAME:
        return False
    files = (path for history in histories_here(context) for path in files_of(history, session))
    return any(_brings_outside(path) for path in files)


def _brings_outside(path: Path) -> bool:
    from palazzo.errors import SourceUnreadable
    from palazzo.feeders import Message

    try:
        return any(part.trust == "external" for row in _rows(path) if isinstance(row, Message) for part in row.parts)
    except (OSError, SourceUnreadable):  # such a file says nothing of what was met, as none does that is not there
        return False


def _rows(path: Path) -> Iterator[object]:
    from io import BytesIO

    from palazzo.feeders.registry import TRANSCRIPTS
    from palazzo.mining.heads import HEAD, read_whole

    whole = read_whole(path, _LARGEST)
    feeder = next((one for one in TRANSCRIPTS if one.recognises(path, whole[:HEAD])), None)
    if feeder is not None:
        yield from (row.content for row in feeder.rows(BytesIO(whole)))
