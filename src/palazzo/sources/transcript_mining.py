"""Archiving one transcript from the last read position, prepared here or by another process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from palazzo.archive.ingest_guard import Guard
from palazzo.model import Micros
from palazzo.sources import file_changes
from palazzo.sources.conversation_filter import SessionFilter
from palazzo.sources.formats import Feeder, Identity
from palazzo.sources.mining_report import Skipped
from palazzo.sources.preparation_pool import PreparationLost
from palazzo.sources.session_mining import (
    SourceTally,
    file_batches,
    find_least_messages,
    note_reached,
    open_previewed_session,
)
from palazzo.sources.source_places import Placer
from palazzo.sources.transcript_preparation import PreparedTranscript, prepare_transcript
from palazzo.store import source_rows
from palazzo.store.database import Database
from palazzo.store.source_rows import FileState


def take_transcript(
    database: Database,
    feeder: Feeder,
    path: Path,
    placer: Placer,
    clock: Callable[[], Micros],
    session_filter: SessionFilter,
    on_commit: Callable[[int], None],
    prepared: PreparedTranscript | None = None,
) -> SourceTally:
    """Archive what is new in the transcript at `path`; `on_commit` is called with items once they are on disk.

    What another process `prepared` is used if it is based on the recorded state of the file. If that process is lost,
    the rest is prepared here.
    """
    uri = path.as_uri()
    source_tally = SourceTally("new")
    state = _read_state(database, uri)
    if prepared is not None and prepared.state == state:
        try:
            return _archive(database, feeder, path, prepared, placer, clock, session_filter, on_commit, source_tally)
        except PreparationLost:
            state = _read_state(database, uri)

    def find_least(identity: Identity) -> int:
        return find_least_messages(database, feeder.kind, identity, uri, session_filter)

    with path.open("rb") as stream:
        prepared = prepare_transcript(
            feeder, path, stream, state, session_filter.pauses, Guard.of(database), find_least
        )
        return _archive(database, feeder, path, prepared, placer, clock, session_filter, on_commit, source_tally)


def _read_state(database: Database, uri: str) -> FileState | None:
    with database.snapshot() as connection:
        return source_rows.read_file_state(connection, uri)


def _archive(
    database: Database,
    feeder: Feeder,
    path: Path,
    prepared: PreparedTranscript,
    placer: Placer,
    clock: Callable[[], Micros],
    session_filter: SessionFilter,
    on_commit: Callable[[int], None],
    source_tally: SourceTally,
) -> SourceTally:
    uri, state, status = path.as_uri(), prepared.state, prepared.status
    is_continued = source_tally.rows > 0
    if not is_continued:
        source_tally.change = "new" if state is None else "grown" if prepared.start else "rewritten"

    def make_state(source: int, end: int) -> FileState:
        # A line that is still being written is not read: the file then counts as changed at the next look.
        size = status.size if end >= status.size else end
        tail = file_changes.tail_hash_at(path, end)
        mark = file_changes.mark_at(state, end, feeder.kind) if end == prepared.start else b""
        return FileState(uri, source, feeder.kind, feeder.version, status.inode, size, status.mtime, end, tail, mark)

    pending_session = open_previewed_session(
        database, feeder.kind, prepared.identity, uri, prepared.preview, placer, session_filter
    )
    if isinstance(pending_session, str):
        return SourceTally("left out", skipped=[Skipped(uri, pending_session)])
    end = file_batches(database, pending_session, prepared.batches, placer, clock, source_tally, make_state, on_commit)
    if end is None:
        note_reached(database, pending_session, prepared.start, make_state)
        if not is_continued:
            source_tally.change = "new" if state is None else "unchanged"
    source_tally.change = pending_session.judge_change(
        source_tally.change, bool(source_tally.items or source_tally.noise)
    )
    return source_tally
