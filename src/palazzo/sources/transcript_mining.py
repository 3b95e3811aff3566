"""Reading one transcript into the archive, from the last read position."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from palazzo.model import Micros
from palazzo.sources import file_changes
from palazzo.sources.conversation_filter import SessionFilter
from palazzo.sources.formats import Feeder
from palazzo.sources.mining_report import Skipped
from palazzo.sources.pause_gaps import without_pauses
from palazzo.sources.session_mining import SourceTally, file_session, note_reached, open_session
from palazzo.sources.source_places import Placer
from palazzo.store import source_rows
from palazzo.store.database import Database
from palazzo.store.source_rows import FileState

_HEAD = 64 * 1024


def take_transcript(
    database: Database,
    feeder: Feeder,
    path: Path,
    placer: Placer,
    clock: Callable[[], Micros],
    session_filter: SessionFilter,
    on_commit: Callable[[int], None],
) -> SourceTally:
    """Archive what is new in the transcript at `path`; `on_commit` is called with items once they are on disk."""
    uri = path.as_uri()
    with path.open("rb") as stream:
        status = file_changes.status_of_stream(stream)
        with database.snapshot() as connection:
            state = source_rows.read_file_state(connection, uri)
        start = file_changes.resume_at(state, stream, status, feeder.version) if feeder.appends else 0
        stream.seek(0)
        identity = feeder.identify(path, stream.read(_HEAD))
        stream.seek(start)
        source_tally = SourceTally("new" if state is None else "grown" if start else "rewritten")

        def make_state(source: int, end: int) -> FileState:
            # A line that is still being written is not read: the file then counts as changed at the next look.
            size = status.size if end >= status.size else end
            tail = file_changes.tail_hash_at(path, end)
            return FileState(uri, source, feeder.kind, feeder.version, status.inode, size, status.mtime, end, tail, b"")

        rows = without_pauses(feeder.rows(stream, start), session_filter.pauses)
        pending_session = open_session(
            database, feeder.kind, identity, uri, rows, placer, session_filter, cwd=identity.cwd
        )
        if isinstance(pending_session, str):
            return SourceTally("left out", skipped=[Skipped(uri, pending_session)])
        modified_at = Micros(status.mtime // 1000)
        end = file_session(
            database, feeder, pending_session, placer, clock, modified_at, source_tally, make_state, on_commit
        )
    if end is None:
        note_reached(database, pending_session, start, make_state)
        source_tally.change = "new" if state is None else "unchanged"
    source_tally.change = pending_session.judge_change(
        source_tally.change, bool(source_tally.items or source_tally.noise)
    )
    return source_tally
