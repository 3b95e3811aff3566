"""Reading a collection of conversations (a database, an export, a storage tree) into the archive.

Each conversation counts by its stamp: one whose stamp is what it was is not read. One that changed is read
from its beginning, and the door recognises what it has.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from palazzo.errors import SourceUnreadable
from palazzo.feeders import Collection, Session
from palazzo.mining.placing import Placing
from palazzo.mining.report import Failed
from palazzo.mining.sessions import Taken, file_session, note_reached, open_session
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


def take_collection(
    database: Database,
    collection: Collection,
    path: Path,
    placing: Placing,
    clock: Callable[[], Micros],
    wanted: Callable[[Session], bool],
    committed: Callable[[int], None],
) -> Iterator[Taken | Failed]:
    """Archive what is new of each conversation that is `wanted`; yield what each brought, or why it failed.

    Raises SourceUnreadable when the collection itself cannot be read.
    """
    with database.snapshot() as connection:
        states = sources.read_file_states(connection)
    modified_at = Micros(path.stat().st_mtime_ns // 1000)
    for session in collection.sessions(path):
        if not wanted(session):
            continue
        uri = f"{path.as_uri()}#session={quote(session.identity.session_id or session.identity.key[-1])}"
        state = states.get(uri)
        stamp = hashlib.blake2b(session.stamp.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        if state is not None and (state.content, state.version) == (stamp, collection.version):
            yield Taken("unchanged")
            continue
        try:
            yield _take(database, collection, session, uri, stamp, state, placing, clock, modified_at, committed)
        except (OSError, SourceUnreadable) as error:
            yield Failed(uri, str(error))


def _take(
    database: Database,
    collection: Collection,
    session: Session,
    uri: str,
    stamp: bytes,
    state: FileState | None,
    placing: Placing,
    clock: Callable[[], Micros],
    modified_at: Micros,
    committed: Callable[[int], None],
) -> Taken:
    taken = Taken("new" if state is None else "grown")

    def unfinished(source: int, end: int) -> FileState:
        """Until all is filed, the stamp is one that no conversation has."""
        return FileState(uri, source, collection.kind, collection.version, 0, 0, 0, end, b"", b"")

    def finished(source: int, end: int) -> FileState:
        return FileState(uri, source, collection.kind, collection.version, 0, 0, 0, end, b"", stamp)

    opened = open_session(
        database, collection.kind, session.identity, uri, session.rows(), placing, session.title, session.cwd
    )
    end = file_session(database, collection, opened, placing, clock, modified_at, taken, unfinished, committed)
    note_reached(database, opened, end or 0, finished)
    if state is not None and not taken.items and not taken.noise:
        taken.standing = "unchanged"
    return taken
