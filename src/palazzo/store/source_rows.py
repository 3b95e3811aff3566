"""Sources, the versions of documents, and mining's records of files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from palazzo.frozen_class import frozen
from palazzo.model import Micros, Place, Source
from palazzo.store import change_log, tombstones
from palazzo.store.database import Connection

_COLUMNS = "kind, key, uri, session_id, title, project"
_REVISIONS = "SELECT r.item, r.at FROM revision r JOIN item i ON i.id = r.item"
_LAST = "r.at DESC, i.uid DESC"
"""The latest version first: by the time it was current, then by its id. Versions may arrive in any order."""


def source_uid(kind: str, key: tuple[str, ...]) -> bytes:
    """Return the identity of a source: 16 bytes derived from its kind and key."""
    return hashlib.blake2b(json.dumps([kind, *key]).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def file_source(connection: Connection, source: Source, at: Micros = Micros(0)) -> int:
    """Return the row id of `source`, creating it if needed; update its current location and title.

    It is identified by its original key, and stored without erased words. `at` is when its title was stated.
    """
    uid = source_uid(source.kind, source.key)
    source = _strip_erasures(connection, source)
    for row, uri, title in connection.execute("SELECT id, uri, title FROM source WHERE uid = ?", (uid,)):
        if uri != source.uri:
            connection.execute("UPDATE source SET uri = ? WHERE id = ?", (source.uri, row))
        if source.title and title != source.title:
            connection.execute(
                "UPDATE source SET title = ?1, changed_at = max(changed_at, ?2) WHERE id = ?3", (source.title, at, row)
            )
            change_log.append(connection, "source", [int(row)])
        return int(row)
    (created,) = next(
        connection.execute(
            f"INSERT INTO source(uid, {_COLUMNS}, changed_at) VALUES(?,?,?,?,?,?,?,?) RETURNING id",
            (
                uid,
                source.kind,
                json.dumps(source.key),
                source.uri,
                source.session_id,
                source.title,
                source.project,
                at,
            ),
        )
    )
    return int(created)


def _strip_erasures(connection: Connection, source: Source) -> Source:
    if not tombstones.finder(connection):
        return source
    return replace(
        source,
        key=tuple(tombstones.name(connection, part) for part in source.key),
        uri=tombstones.address(connection, source.uri),
        session_id=tombstones.name(connection, source.session_id),
        title=tombstones.title(connection, source.title),
        project=tombstones.name(connection, source.project),
    )


def find_source(connection: Connection, source: Source) -> int | None:
    """Return the row id of a previously filed source."""
    for (row,) in connection.execute("SELECT id FROM source WHERE uid = ?", (source_uid(source.kind, source.key),)):
        return int(row)
    return None


def place_of_first_item(connection: Connection, row: int) -> Place | None:
    """Return the place in which the first item of a source was filed."""
    rows = connection.execute(
        "SELECT wing.name, room.name FROM item JOIN room ON room.id = item.room JOIN wing ON wing.id = room.wing"
        " WHERE item.source = ? ORDER BY thread, ordinal LIMIT 1",
        (row,),
    )
    for wing, room in rows:
        return Place(wing, room)
    return None


def count_live_drawers(connection: Connection, row: int) -> int:
    """Return the number of live drawers of a source."""
    rows = connection.execute("SELECT count(*) FROM drawer WHERE source = ? AND retired_at IS NULL", (row,))
    return int(next(rows)[0])


def count_drawers_since(connection: Connection, row: int, since: Micros) -> int:
    """Return the number of live drawers of a source recorded at `since` or later."""
    rows = connection.execute(
        "SELECT count(*) FROM drawer WHERE source = ? AND recorded_at >= ? AND retired_at IS NULL", (row, since)
    )
    return int(next(rows)[0])


def read_source(connection: Connection, row: int) -> Source:
    """Return the source with that row id."""
    return read_sources(connection, [row])[row]


def read_sources(connection: Connection, rows: Iterable[int]) -> dict[int, Source]:
    """Return the sources with those row ids."""
    records = connection.execute(
        f"SELECT id, {_COLUMNS} FROM source WHERE id IN (SELECT value FROM json_each(?))", (json.dumps([*rows]),)
    )
    return {
        int(row): Source(tuple(json.loads(key)), kind, uri, session_id, title, project)
        for row, kind, key, uri, session_id, title, project in records
    }


def sources_of_session(connection: Connection, session_id: str) -> list[int]:
    """Return the sources whose session id is `session_id` or starts with it, in order."""
    rows = connection.execute(
        "SELECT id FROM source WHERE session_id <> '' AND substr(session_id, 1, ?) = ? ORDER BY session_id",
        (len(session_id), session_id),
    )
    return [int(row) for (row,) in rows]


def source_rows(connection: Connection) -> Iterator[int]:
    """Yield every source's row id."""
    for (row,) in connection.execute("SELECT id FROM source ORDER BY id"):
        yield int(row)


def current_revision(connection: Connection, source: int) -> tuple[int, Micros] | None:
    """Return (item row id, since when) of the document's current version, or None for other sources."""
    rows = connection.execute(f"{_REVISIONS} WHERE r.source = ? ORDER BY {_LAST} LIMIT 1", (source,))
    for item, at in rows:
        return int(item), Micros(at)
    return None


def revisions(connection: Connection, source: int) -> list[tuple[int, Micros]]:
    """Return the versions of a document, oldest first, as (item row id, since when)."""
    rows = connection.execute(f"{_REVISIONS} WHERE r.source = ? ORDER BY r.at, i.uid", (source,))
    return [(int(item), Micros(at)) for item, at in rows]


def last_versions(connection: Connection, revision: int, count: int) -> list[int]:
    """Return the items of a revision and of up to `count` - 1 earlier ones of its document, newest first."""
    rows = connection.execute(
        f"{_REVISIONS} JOIN revision this ON this.id = ?1 JOIN item own ON own.id = this.item"
        f" WHERE r.source = this.source AND (r.at, i.uid) <= (this.at, own.uid) ORDER BY {_LAST} LIMIT ?2",
        (revision, count),
    )
    return [int(item) for item, _ in rows]


def file_revision(connection: Connection, source: int, item: int, at: Micros) -> bool:
    """Make `item` the document's current version; return False if it already was."""
    current = current_revision(connection, source)
    if current is not None and current[0] == item:
        return False
    (row,) = next(
        connection.execute("INSERT INTO revision(source, item, at) VALUES(?,?,?) RETURNING id", (source, item, at))
    )
    change_log.append(connection, "revision", [int(row)])
    return True


@frozen
class FileState:
    """What mining knows of a file: its identity, and how many bytes of it are archived.

    `source` is None for a file of many conversations, each of which is recorded separately. `tail` is a hash of the
    last bytes before `consumed`: if they are unchanged, the file has only grown. `content` is a hash of the whole file
    if the format is read as a whole, else the mark with which its reader resumes at `consumed`, or empty.
    """

    uri: str
    source: int | None
    feeder: str
    version: int
    inode: int
    size: int
    mtime: int
    consumed: int
    tail: bytes
    content: bytes


def read_file_states(connection: Connection) -> dict[str, FileState]:
    """Return the stored state of every file, by uri."""
    rows = connection.execute(
        "SELECT uri, source, feeder, version, inode, size, mtime, consumed, tail, content FROM file_state"
    )
    states = {row[0]: FileState(*row) for row in rows}
    finder = tombstones.finder(connection)
    return _RedactedFileStates(states, partial(tombstones.marked_address, finder)) if finder else states


class _RedactedFileStates(dict[str, FileState]):
    """States stored under addresses without erased words, looked up by the original addresses."""

    def __init__(self, states: Mapping[str, FileState], address: Callable[[str], str]) -> None:
        super().__init__(states)
        self._address = address

    def __contains__(self, uri: object) -> bool:
        return isinstance(uri, str) and super().__contains__(self._address(uri))

    def __getitem__(self, uri: str) -> FileState:
        return super().__getitem__(self._address(uri))

    def get(self, uri: str, default: Any = None) -> Any:
        return super().get(self._address(uri), default)


def feeders_used(connection: Connection) -> frozenset[str]:
    """Return the names of the feeders that read files."""
    return frozenset(str(feeder) for (feeder,) in connection.execute("SELECT DISTINCT feeder FROM file_state"))


def read_file_state(connection: Connection, uri: str) -> FileState | None:
    """Return the stored state of one file."""
    rows = connection.execute(
        "SELECT uri, source, feeder, version, inode, size, mtime, consumed, tail, content FROM file_state"
        " WHERE uri = ?",
        (tombstones.address(connection, uri),),
    )
    for row in rows:
        return FileState(*row)
    return None


def file_states_of_source(connection: Connection, source: int) -> list[FileState]:
    """Return the stored state of every file that held the source: a session may have been copied or moved."""
    rows = connection.execute(
        "SELECT uri, source, feeder, version, inode, size, mtime, consumed, tail, content FROM file_state"
        " WHERE source = ? ORDER BY uri",
        (source,),
    )
    return [FileState(*row) for row in rows]


def write_file_state(connection: Connection, state: FileState) -> None:
    """Store the state of a file, replacing its earlier state."""
    connection.execute(
        "INSERT OR REPLACE INTO file_state(uri, source, feeder, version, inode, size, mtime, consumed, tail, content)"
        " VALUES(?,?,?,?,?,?,?,?,?,?)",
        (
            tombstones.address(connection, state.uri),
            state.source,
            state.feeder,
            state.version,
            state.inode,
            state.size,
            state.mtime,
            state.consumed,
            state.tail,
            state.content,
        ),
    )


def titles_of_sessions(connection: Connection, sessions: Iterable[str]) -> dict[str, str]:
    """Return the titles of sessions by id; sessions without one are absent."""
    rows = connection.execute(
        "SELECT session_id, title FROM source WHERE session_id IN (SELECT value FROM json_each(?)) AND title <> ''"
        " ORDER BY id DESC",
        (json.dumps(sorted(sessions)),),
    )
    return {str(session): str(title) for session, title in rows}


def titles_over(connection: Connection, item: int) -> set[str]:
    """Return the titles shown for an item's words: of its sources, and of its sections, even retired ones."""
    rows = connection.execute(
        "SELECT source.title FROM item JOIN source ON source.id = item.source WHERE item.id = ?1"
        " UNION SELECT source.title FROM repetition JOIN source ON source.id = repetition.source"
        " WHERE repetition.item = ?1 UNION SELECT drawer.title FROM drawer_span JOIN drawer"
        " ON drawer.id = drawer_span.drawer WHERE drawer_span.item = ?1 AND drawer.kind = 'section'",
        (item,),
    )
    return {str(title) for (title,) in rows if title}


def forget_files(connection: Connection, rows: Iterable[int]) -> None:
    """Delete the hashes and marks of the files that hold these sources, as they are of words; they are read again."""
    connection.executemany(
        "UPDATE file_state SET tail = x'', content = x'', mtime = 0 WHERE source = ?", ((row,) for row in rows)
    )
