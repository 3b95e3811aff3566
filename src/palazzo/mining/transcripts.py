"""Reading one transcript into the archive, from where it was left."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from palazzo.feeders import Feeder
from palazzo.mining import files
from palazzo.mining.pauses import without_pauses
from palazzo.mining.placing import Placer
from palazzo.mining.report import Skipped
from palazzo.mining.sessions import SourceTally, file_session, note_reached, open_session
from palazzo.mining.wanted import SessionFilter
from palazzo.model import Micros
from palazzo.store import sources
from palazzo.store.database import Database
from palazzo.store.sources import FileState

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
    """Archive what is new in the transcript at `path`; `committed` is told of items as they are safe on disk."""
    uri = path.as_uri()
    with path.open("rb") as stream:
        status = files.status_of_stream(stream)
        with database.snapshot() as connection:
            state = sources.read_file_state(connection, uri)
        start = files.resume_at(state, stream, status, feeder.version) if feeder.appends else 0
        stream.seek(0)
        identity = feeder.identify(path, stream.read(_HEAD))
        stream.seek(start)
        source_tally = SourceTally("new" if state is None else "grown" if start else "rewritten")

        def make_state(source: int, end: int) -> FileState:
            # A line that is still being written is not read: the file then counts as changed at the next look.
            size = status.size if end >= status.size else end
            tail = files.tail_hash_at(path, end)
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
