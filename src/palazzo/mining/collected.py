"""Reading a collection of conversations (a database, an export, a storage tree) into the archive.

Each conversation counts by its stamp: one whose stamp is what it was is not read. One that changed is read
from its beginning, and the door recognises what it has.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from palazzo.errors import SourceUnreadable
from palazzo.feeders import Collection, Session
from palazzo.mining.pauses import without_pauses
from palazzo.mining.placing import Placing
from palazzo.mining.report import Failed, Skipped
from palazzo.mining.sessions import Taken, file_session, note_reached, open_session
from palazzo.mining.wanted import Wanted
from palazzo.model import Micros
from palazzo.store import sources
from palazzo.store.database import Database
from palazzo.store.sources import FileState

_LOG_SUFFIX = "-wal"
"""A database in write-ahead-log mode grows in the file of this suffix, and its own file stays as it was."""


@dataclass(frozen=True, slots=True)
class CollectionState:
    """The size in bytes and the time of change in nanoseconds of a collection's file; None for a directory."""

    size: int
    mtime: int


def state_of(path: Path) -> CollectionState | None:
    """Return what tells whether a collection may have changed; a directory must be looked through."""
    if path.is_dir():
        return None
    found = path.stat()
    size, mtime = found.st_size, found.st_mtime_ns
    log = path.with_name(path.name + _LOG_SUFFIX)
    if log.exists():
        beside = log.stat()
        size, mtime = size + beside.st_size, max(mtime, beside.st_mtime_ns)
    return CollectionState(size, mtime)


@dataclass(frozen=True, slots=True)
class Met:
    """A conversation of a collection. `state` is what was remembered of it, and `is_known` whether that still holds."""

    session: Session
    uri: str
    stamp: bytes
    state: FileState | None
    is_known: bool


def conversations(collection: Collection, path: Path, states: Mapping[str, FileState], wanted: Wanted) -> Iterator[Met]:
    """Yield the conversations that are `wanted`, by what is cheap to know of them.

    Raises SourceUnreadable when the collection cannot be read, or not to its end; what was yielded stands.
    """
    for session in collection.sessions(path):
        if wanted.by_time(session.updated_at) and wanted.by_identity(session.identity):
            uri = f"{path.as_uri()}#session={quote(session.identity.session_id or session.identity.key[-1])}"
            state = states.get(uri)
            stamp = hashlib.blake2b(session.stamp.encode("utf-8", "surrogatepass"), digest_size=16).digest()
            is_known = state is not None and (state.content, state.version) == (stamp, collection.version)
            yield Met(session, uri, stamp, state, is_known)


@dataclass(frozen=True, slots=True)
class Reading:
    """What reading a collection takes, whichever of its conversations is read."""

    database: Database
    collection: Collection
    path: Path
    placing: Placing
    clock: Callable[[], Micros]
    wanted: Wanted


def take_conversation(reading: Reading, met: Met, committed: Callable[[int], None]) -> Taken | Failed:
    """Archive what is new of a conversation; return what it brought, or why it failed."""
    try:
        return _take(reading, met, committed)
    except (OSError, SourceUnreadable) as error:
        return Failed(met.uri, str(error))


def _take(reading: Reading, met: Met, committed: Callable[[int], None]) -> Taken:
    taken = Taken("new" if met.state is None else "grown")
    collection, session = reading.collection, met.session
    modified_at = session.updated_at or Micros(reading.path.stat().st_mtime_ns // 1000)

    def unfinished(source: int, end: int) -> FileState:
        """Until all is filed, the stamp is one that no conversation has."""
        return FileState(met.uri, source, collection.kind, collection.version, 0, 0, 0, end, b"", b"")

    def finished(source: int, end: int) -> FileState:
        return FileState(met.uri, source, collection.kind, collection.version, 0, 0, 0, end, b"", met.stamp)

    opened = open_session(
        reading.database,
        collection.kind,
        session.identity,
        met.uri,
        without_pauses(session.rows(), reading.wanted.pauses),
        reading.placing,
        reading.wanted,
        session.title,
        session.cwd,
    )
    if isinstance(opened, str):
        return Taken("left out", skipped=[Skipped(met.uri, opened)])
    end = file_session(
        reading.database,
        collection,
        opened,
        reading.placing,
        reading.clock,
        modified_at,
        taken,
        unfinished,
        committed,
    )
    note_reached(reading.database, opened, end or 0, finished)
    brought = bool(taken.items or taken.noise)
    taken.standing = opened.standing(taken.standing, brought) if brought or met.state is None else "unchanged"
    return taken


def note_whole(database: Database, collection: Collection, path: Path, state: CollectionState) -> None:
    """Remember that all of a collection was read as it was in `state`."""
    whole = FileState(path.as_uri(), None, collection.kind, collection.version, 0, state.size, state.mtime, 0, b"", b"")
    with database.transaction() as connection:
        sources.write_file_state(connection, whole)
