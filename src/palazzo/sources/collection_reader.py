"""Reading a collection of conversations (a database, an export, a storage tree) into the archive.

Each conversation has a stamp. If its stamp is unchanged, the conversation is skipped. If it changed, the conversation
is read from its beginning, and ingest recognises the rows that it already has.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from urllib.parse import quote

from palazzo.errors import SourceUnreadable
from palazzo.frozen_class import frozen
from palazzo.model import Micros
from palazzo.sources.conversation_filter import SessionFilter
from palazzo.sources.formats import Collection, Session
from palazzo.sources.mining_report import Failed, Skipped
from palazzo.sources.pause_gaps import without_pauses
from palazzo.sources.session_mining import SourceTally, file_session, note_reached, open_session
from palazzo.sources.source_places import Placer
from palazzo.store import source_rows
from palazzo.store.database import Database
from palazzo.store.source_rows import FileState

_LOG_SUFFIX = "-wal"
"""Suffix of the file that grows for a database in write-ahead-log mode; the database file itself stays unchanged."""


@frozen
class CollectionState:
    """The size in bytes and the modification time in nanoseconds of a collection's file; None for a directory."""

    size: int
    mtime: int


def state_of(path: Path) -> CollectionState | None:
    """Return a value that tells whether a collection may have changed; a directory must be read through."""
    if path.is_dir():
        return None
    status = path.stat()
    size, mtime = status.st_size, status.st_mtime_ns
    log = path.with_name(path.name + _LOG_SUFFIX)
    if log.exists():
        log_status = log.stat()
        size, mtime = size + log_status.st_size, max(mtime, log_status.st_mtime_ns)
    return CollectionState(size, mtime)


@frozen
class Conversation:
    """A conversation of a collection.

    `state` is its recorded state, and `is_known` says whether that is still current.
    """

    session: Session
    uri: str
    stamp: bytes
    state: FileState | None
    is_known: bool


def conversations(
    collection: Collection, path: Path, states: Mapping[str, FileState], session_filter: SessionFilter
) -> Iterator[Conversation]:
    """Yield the conversations that are `session_filter`, as far as their cheap attributes tell.

    Raises SourceUnreadable if the collection cannot be read, or not to its end; what was yielded remains valid.
    """
    for session in collection.sessions(path):
        if session_filter.by_time(session.updated_at) and session_filter.by_identity(session.identity):
            uri = f"{path.as_uri()}#session={quote(session.identity.session_id or session.identity.key[-1])}"
            state = states.get(uri)
            stamp = hashlib.blake2b(session.stamp.encode("utf-8", "surrogatepass"), digest_size=16).digest()
            is_known = state is not None and (state.content, state.version) == (stamp, collection.version)
            yield Conversation(session, uri, stamp, state, is_known)


@frozen
class Reading:
    """The parameters for reading a collection, common to all its conversations."""

    database: Database
    collection: Collection
    path: Path
    placer: Placer
    clock: Callable[[], Micros]
    session_filter: SessionFilter


def take_conversation(
    reading: Reading, conversation: Conversation, on_commit: Callable[[int], None]
) -> SourceTally | Failed:
    """Archive the new rows of a conversation; return what was added, or why it failed."""
    try:
        return _take(reading, conversation, on_commit)
    except (OSError, SourceUnreadable) as error:
        return Failed(conversation.uri, str(error))


def _take(reading: Reading, conversation: Conversation, on_commit: Callable[[int], None]) -> SourceTally:
    source_tally = SourceTally("new" if conversation.state is None else "grown")
    collection, session = reading.collection, conversation.session
    modified_at = session.updated_at or Micros(reading.path.stat().st_mtime_ns // 1000)

    def make_partial_state(source: int, end: int) -> FileState:
        """Return the state until all is filed: its stamp matches no conversation."""
        return FileState(conversation.uri, source, collection.kind, collection.version, 0, 0, 0, end, b"", b"")

    def make_final_state(source: int, end: int) -> FileState:
        return FileState(
            conversation.uri, source, collection.kind, collection.version, 0, 0, 0, end, b"", conversation.stamp
        )

    pending_session = open_session(
        reading.database,
        collection.kind,
        session.identity,
        conversation.uri,
        without_pauses(session.rows(), reading.session_filter.pauses),
        reading.placer,
        reading.session_filter,
        session.title,
        session.cwd,
    )
    if isinstance(pending_session, str):
        return SourceTally("left out", skipped=[Skipped(conversation.uri, pending_session)])
    end = file_session(
        reading.database,
        collection,
        pending_session,
        reading.placer,
        reading.clock,
        modified_at,
        source_tally,
        make_partial_state,
        on_commit,
    )
    note_reached(reading.database, pending_session, end or 0, make_final_state)
    has_content = bool(source_tally.items or source_tally.noise)
    source_tally.change = (
        pending_session.judge_change(source_tally.change, has_content)
        if has_content or conversation.state is None
        else "unchanged"
    )
    return source_tally


def note_whole(database: Database, collection: Collection, path: Path, state: CollectionState) -> None:
    """Remember that all of a collection was read in the state `state`."""
    whole = FileState(path.as_uri(), None, collection.kind, collection.version, 0, state.size, state.mtime, 0, b"", b"")
    with database.transaction() as connection:
        source_rows.write_file_state(connection, whole)
