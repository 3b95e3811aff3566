"""The process that prepares transcripts for another: it reads, parses, redacts and packs, and opens no palace.

Run as `python -m palazzo.sources.preparation_process`; its owner is `sources/preparation_pool`. Standard input has the
redaction and the pauses of the run, then a request for each transcript; standard output has the answers. Each is a
pickled tuple, after its size and whether it is the last of its transcript. The process ends with its input, and when
nobody reads its answers.
"""

from __future__ import annotations

import contextlib
import pickle
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple

from palazzo.archive.ingest_guard import Guard
from palazzo.errors import SourceUnreadable
from palazzo.sources.batch_codec import encode_batch
from palazzo.sources.formats.transcript_formats import TRANSCRIPTS
from palazzo.sources.pause_gaps import Pause
from palazzo.sources.transcript_preparation import prepare_transcript
from palazzo.store.source_rows import FileState

_HEADER = struct.Struct("<Q?")
_READERS = {feeder.kind: feeder for feeder in TRANSCRIPTS}
AnswerKind = Literal["begin", "batch", "end", "failed"]
Answer = tuple[AnswerKind, Any]
"""`begin` has the status, the start, the identity and the preview; `batch` a batch; `failed` why there are no more."""


class Request(NamedTuple):
    """A transcript to prepare, its reader, and what was recorded of it."""

    path: Path
    kind: str
    state: FileState | None


def main() -> None:
    """Answer requests until standard input ends."""
    stream, answers = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr
    with contextlib.suppress(BrokenPipeError, EOFError, KeyboardInterrupt):
        guard, pauses = _read_frame(stream)
        while True:
            request = Request(*_read_frame(stream))
            for answer in prepare(request, guard, pauses):
                write_frame(answers, answer, is_last=answer[0] in ("end", "failed"))


def prepare(request: Request, guard: Guard, pauses: tuple[Pause, ...]) -> Iterator[Answer]:
    """Yield the answers to a request."""
    try:
        with request.path.open("rb") as stream:
            prepared = prepare_transcript(_READERS[request.kind], request.path, stream, request.state, pauses, guard)
            yield "begin", (prepared.status, prepared.start, prepared.identity, prepared.preview)
            for batch in prepared.batches:
                yield "batch", encode_batch(batch)
    except (OSError, SourceUnreadable, MemoryError) as error:
        yield "failed", str(error)  # its owner reads the file itself, and reports what it meets
    else:
        yield "end", None


def write_frame(stream: IO[bytes], value: object, is_last: bool = False) -> None:
    """Write one pickled value."""
    payload = pickle.dumps(value, protocol=5)
    stream.write(_HEADER.pack(len(payload), is_last))
    stream.write(payload)
    stream.flush()


def read_payload(stream: IO[bytes]) -> tuple[bytes, bool]:
    """Return the next value, still pickled, and whether it is its transcript's last. Raises EOFError at the end."""
    header = stream.read(_HEADER.size)
    if len(header) < _HEADER.size:
        raise EOFError
    size, is_last = _HEADER.unpack(header)
    payload = stream.read(size)
    if len(payload) < size:
        raise EOFError
    return payload, is_last


def _read_frame(stream: IO[bytes]) -> Any:
    return pickle.loads(read_payload(stream)[0])  # noqa: S301 (from the process that started this one)


if __name__ == "__main__":
    main()
