"""Resume context: what a read that begins in the middle of a transcript must know about the rows before it.

A tool's result refers to its call, and a row's place in the session follows, only from rows earlier in the file. So
that a row has the same meaning wherever reading began, a feeder replays the earlier rows before it continues. Where
that may need all of them, the read before has left a mark that tells when it does not (`ResumePoint`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from palazzo.model import Trust
from palazzo.security.tool_trust import trust_of_tool
from palazzo.sources.formats.jsonl_rows import JsonObject, parse_line

LOOK_BACK = 4 * 1024 * 1024
"""Number of bytes before the start of a read from which rows are replayed. A turn's calls and its context are well
within it.
"""


def trust_of_call(name: str, arguments: object) -> Trust:
    """Return the trust of a tool's output; external if its arguments are nested too deeply to read."""
    try:
        return trust_of_tool(name, arguments)
    except RecursionError:
        return "external"


class Calls:
    """The tool of each call id, the trust of its output, and which calls failed."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, Trust]] = {}
        self._unjudged: dict[str, tuple[str, object]] = {}
        self._failed: set[str] = set()

    def record_call(self, call: str, name: str, trust: Trust) -> None:
        """Remember a call and the trust of its output."""
        if call:
            self._known[call] = (name, trust)
            self._unjudged.pop(call, None)

    def record_arguments(self, call: str, name: str, arguments: object) -> None:
        """Remember a call; its output is judged when it is asked for, which most replayed calls are not."""
        if call:
            self._unjudged[call] = (name, arguments)

    def fail(self, call: str) -> None:
        """Record that the host saw a call fail."""
        self._failed.add(call)

    def tool_of(self, call: str) -> tuple[str, Trust]:
        """Return a tool's name and the trust of its output; for an unknown call, "" and external."""
        if call in self._unjudged:
            name, arguments = self._unjudged.pop(call)
            self._known[call] = (name, trust_of_call(name, arguments))
        return self._known.get(call) or ("", trust_of_tool(""))

    def failed(self, call: str) -> bool:
        """Whether the host saw the call fail."""
        return call in self._failed


def lines_before(stream: BinaryIO, start: int, reach: int | None = LOOK_BACK) -> Iterator[tuple[int, bytes]]:
    """Yield the first line of a file, then those of the `reach` bytes before `start` (None: all), with positions.

    Afterwards the stream is at `start` again. For a stream that cannot seek, nothing is yielded.
    """
    if not start or not stream.seekable():
        return
    stream.seek(0)
    first = stream.readline(start)
    yield 0, first
    position = len(first)
    if reach is not None and start - reach > position:
        stream.seek(start - reach - 1)
        position = start - reach - 1 + len(stream.readline(reach + 1))
    while position < start and (raw := stream.readline(start - position)):
        yield position, raw
        position += len(raw)
    stream.seek(start)


def rows_before(stream: BinaryIO, start: int, reach: int | None = LOOK_BACK) -> Iterator[JsonObject]:
    """Yield the objects among `lines_before`."""
    for _, raw in lines_before(stream, start, reach):
        row = parse_line(raw)
        if isinstance(row, dict):
            yield row
