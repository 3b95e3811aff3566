"""Preparation of one transcript: from its file to batches that can be archived. Reads the file, and needs no palace."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from palazzo.archive.ingest_guard import Guard
from palazzo.frozen_class import frozen
from palazzo.model import Micros
from palazzo.sources import file_changes
from palazzo.sources.file_changes import FileStatus
from palazzo.sources.formats import Feeder, Identity, ResumePoint, rows_from
from palazzo.sources.pause_gaps import Pause, without_pauses
from palazzo.sources.session_batches import Origin, SessionBatch, make_batches
from palazzo.sources.session_preview import Preview, look_ahead
from palazzo.store.source_rows import FileState

_HEAD = 64 * 1024


@frozen
class PreparedTranscript:
    """What is new in a transcript: its file's status, the byte where the new part starts, and its rows in batches.

    `state` is what was recorded of the file. `preview` is without its rows, which are in the batches.
    """

    state: FileState | None
    status: FileStatus
    start: int
    identity: Identity
    preview: Preview
    batches: Iterator[SessionBatch]


def prepare_transcript(
    feeder: Feeder,
    path: Path,
    stream: BinaryIO,
    state: FileState | None,
    pauses: Sequence[Pause],
    guard: Guard,
    least_messages: Callable[[Identity], int] = lambda identity: 0,
) -> PreparedTranscript:
    """Read the beginning of what is new in `stream`, the open file at `path`; the batches read the rest on demand.

    The preview reads on until there are as many messages as `least_messages` requires of the conversation.
    """
    status = file_changes.status_of_stream(stream)
    start = file_changes.resume_at(state, stream, status, feeder.version) if feeder.appends else 0
    stream.seek(0)
    identity = feeder.identify(path, stream.read(_HEAD))
    stream.seek(start)
    point = ResumePoint(file_changes.mark_at(state, start, feeder.kind))
    rows = without_pauses(rows_from(feeder, stream, start, point), pauses)
    preview = look_ahead(rows, least_messages(identity), identity.cwd)
    origin = Origin(feeder.kind, feeder.version, identity, preview.directory, Micros(status.mtime // 1000))
    batches = make_batches(origin, chain(preview.rows, rows), guard, point)
    return PreparedTranscript(state, status, start, identity, replace(preview, rows=()), batches)
