"""Counts and lists of a palace's content: for status, wake-up, and finding what to forget."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Sequence
from typing import NamedTuple

import apsw

from palazzo.model import Micros, Place
from palazzo.store import place_rows
from palazzo.store.database import Connection


def sqlite_version() -> str:
    """Return the version of the SQLite library that stores palaces."""
    return apsw.sqlite_lib_version()


def count_items(connection: Connection) -> int:
    """Return the number of archived items, without noise."""
    rows = connection.execute(
        "SELECT (SELECT count(*) FROM item) - (SELECT count(*) FROM item WHERE kind = 'noise')"  # both from an index
    )
    return int(next(rows)[0])


def count_drawers(connection: Connection, rooms: Sequence[int]) -> int:
    """Return the number of live drawers in rooms."""
    rows = connection.execute(
        "SELECT count(*) FROM drawer WHERE room IN (SELECT value FROM json_each(?)) AND retired_at IS NULL",
        (json.dumps([*rooms]),),
    )
    return int(next(rows)[0])


def last_filed(connection: Connection, window: int) -> tuple[Micros, int] | None:
    """Return the newest item's archival time, and how many items came within the `window` microseconds before it.

    None for an empty palace. Noise does not count, and at most the last 100,000 rows are examined.
    """
    rows = connection.execute("SELECT recorded_at FROM item WHERE kind <> 'noise' ORDER BY id DESC LIMIT 100000")
    newest: int | None = None
    item_count = 0
    for (at,) in rows:
        newest = int(at) if newest is None else newest
        if at < newest - window:
            break
        item_count += 1
    return None if newest is None else (Micros(newest), item_count)


def drawers_by_place(connection: Connection) -> dict[str, dict[str, int]]:
    """Return the number of live drawers in each room of each wing; a wing without any is included, empty."""
    counts_by_wing: dict[str, dict[str, int]] = {}
    for (wing,) in connection.execute("SELECT name FROM wing WHERE merged_into IS NULL ORDER BY name"):
        counts_by_wing[wing] = {}
    rows = connection.execute(
        "SELECT wing.name, room.name, n FROM (SELECT room AS id, count(*) AS n FROM drawer WHERE retired_at IS NULL"
        " GROUP BY room) JOIN room USING (id) JOIN wing ON wing.id = room.wing ORDER BY 1, 2"
    )
    for wing, room, count in rows:
        counts_by_wing[wing][room] = counts_by_wing[wing].get(room, 0) + int(
            count
        )  # rooms that were merged count as one
    return counts_by_wing


def size_in_bytes(connection: Connection) -> int:
    """Return the size of the palace file, including pages that wait for reuse."""
    (pages,) = next(connection.execute("PRAGMA page_count"))
    (size,) = next(connection.execute("PRAGMA page_size"))
    return int(pages) * int(size)


class SessionRow(NamedTuple):
    """An ingested session: the time of its last row, and its number of rows with text."""

    source: int
    session_id: str
    title: str
    last_at: Micros
    room: int


def sessions(
    connection: Connection,
    limit: int,
    wing: str | None = None,
    trusts: Collection[str] | None = None,
    excluded_session: str = "",
) -> list[SessionRow]:
    """Return the sessions with the newest last row, newest first; only those filed in `wing` if it is given.

    With `trusts`, only sessions with a message of such trust: other titles are not the user's words. The
    `excluded_session` and its sub-agents are left out.
    """
    rows = connection.execute(
        "SELECT s.id, s.session_id, s.title, i.created_at, i.room FROM source s JOIN item i ON i.id ="
        " (SELECT id FROM item WHERE source = s.id AND thread = '' AND kind = 'message' ORDER BY ordinal DESC LIMIT 1)"
        " JOIN room ON room.id = i.room JOIN wing ON wing.id = room.wing"
        " WHERE s.session_id <> '' AND (?1 IS NULL OR wing.name = ?1) AND (?3 IS NULL OR EXISTS"
        " (SELECT 1 FROM item said WHERE said.source = s.id AND said.kind = 'message'"
        " AND said.trust IN (SELECT value FROM json_each(?3))))"
        " AND substr(s.session_id, 1, instr(s.session_id || '/', '/') - 1) <> ?4"
        " ORDER BY i.created_at DESC LIMIT ?2",
        (wing, limit, None if trusts is None else json.dumps([*trusts]), excluded_session),
    )
    return [SessionRow(int(row), sid, title, Micros(at), int(room)) for row, sid, title, at, room in rows]


class SourceCounts(NamedTuple):
    """The number of sessions, without those of sub-agents, and of documents."""

    sessions: int
    documents: int


def count_sources(connection: Connection) -> SourceCounts:
    """Return the number of ingested sessions and documents."""
    sessions = "SELECT count(DISTINCT session_id) FROM source WHERE session_id <> '' AND instr(session_id, '/') = 0"
    documents = "SELECT count(*) FROM source WHERE kind = 'document'"
    return SourceCounts(*(int(next(connection.execute(query))[0]) for query in (sessions, documents)))


class NewCounts(NamedTuple):
    """What came since a moment: documents that are new or have changed, notes, and decisions in sessions."""

    documents: int
    notes: int
    decisions: int


def count_new(connection: Connection, since: Micros) -> NewCounts:
    """Return how much was written or said since a moment: decisions that are derived already, and notes that are not
    forgotten, without to-dos, reminders and diary entries.
    """
    documents = "SELECT count(DISTINCT source) FROM revision WHERE at >= ?"
    notes = (
        "SELECT count(*) FROM item JOIN source ON source.id = item.source"
        " WHERE source.kind = 'note' AND source.key LIKE '[\"notes\"%' AND item.created_at >= ?"
        " AND EXISTS (SELECT 1 FROM drawer_span s JOIN drawer d ON d.id = s.drawer WHERE s.item = item.id"
        " AND d.retired_at IS NULL)"
    )
    decisions = "SELECT count(*) FROM digest_line WHERE kind = 'decided' AND said_at >= ?"
    return NewCounts(*(int(next(connection.execute(query, (since,)))[0]) for query in (documents, notes, decisions)))


def session_ids(connection: Connection, prefix: str, limit: int) -> list[str]:
    """Return the session ids that begin with `prefix`, at most `limit`; an exact match alone."""
    rows = connection.execute(
        "SELECT DISTINCT session_id FROM source WHERE session_id <> ''"
        " AND session_id BETWEEN ?2 AND ?2 || char(1114111) AND substr(session_id, 1, ?1) = ?2"
        " ORDER BY session_id LIMIT ?3",
        (len(prefix), prefix, limit),
    )
    ids = [str(session) for (session,) in rows]
    return [prefix] if prefix in ids else ids


def newest_notes(connection: Connection, wing: str, limit: int) -> list[int]:
    """Return the row ids of the newest notes written to a wing that have a live drawer, newest first."""
    note_rows: list[tuple[int, int]] = []
    # A source of notes is called after the wing they were written to, which may be called otherwise now.
    for (source,) in list(connection.execute("SELECT id FROM source WHERE kind = 'note' AND key LIKE '[\"notes\"%'")):
        rows = connection.execute(
            "SELECT ordinal, id FROM item WHERE source = ?1 AND thread = '' AND room IN (SELECT room.id FROM room"
            " JOIN wing ON wing.id = room.wing WHERE wing.name = ?2) AND"
            " EXISTS (SELECT 1 FROM drawer_span s JOIN drawer d ON d.id = s.drawer WHERE s.item = item.id"
            " AND d.retired_at IS NULL) ORDER BY ordinal DESC LIMIT ?3",
            (source, wing, limit),
        )
        note_rows += [(int(ordinal), int(row)) for ordinal, row in rows]
    return [row for _, row in sorted(note_rows, reverse=True)[:limit]]


def live_drawers_of_wing(connection: Connection, wing: str) -> list[bytes]:
    """Return the ids of a wing's live drawers."""
    rows = connection.execute(
        "SELECT d.uid FROM drawer d JOIN room ON room.id = d.room JOIN wing ON wing.id = room.wing"
        " WHERE wing.name = ? AND d.retired_at IS NULL ORDER BY d.id",
        (wing,),
    )
    return [bytes(uid) for (uid,) in rows]


def live_drawers_of_sources(connection: Connection, sources: list[int]) -> list[bytes]:
    """Return the ids of the live drawers that were cut from these sources."""
    uids: list[bytes] = []
    for source in sources:
        rows = connection.execute(
            "SELECT uid FROM drawer WHERE source = ? AND retired_at IS NULL ORDER BY ordinal, id", (source,)
        )
        uids.extend(bytes(uid) for (uid,) in rows)
    return uids


def count_by_place(connection: Connection, uids: Sequence[bytes]) -> dict[Place, int]:
    """Return the number of these drawers in each place, the fullest first."""
    rows = connection.execute(
        "SELECT room, count(*) AS n FROM drawer WHERE uid IN (SELECT unhex(value) FROM json_each(?))"
        " GROUP BY room ORDER BY n DESC, room",
        (json.dumps([uid.hex() for uid in uids]),),
    )
    counts: Counter[Place] = Counter()
    for room, number in rows:
        counts[place_rows.place_of(connection, room)] += number
    return dict(counts)


def sources_at(connection: Connection, uri: str) -> list[int]:
    """Return the sources last seen at `uri`, or below it if it ends with a slash."""
    rows = connection.execute(
        "SELECT id FROM source WHERE uri = ?1 OR (substr(?1, -1) = '/' AND substr(uri, 1, length(?1)) = ?1)"
        " ORDER BY id",
        (uri,),
    )
    return [int(row) for (row,) in rows]


class DocumentRow(NamedTuple):
    """A document, its last known path, and its current version."""

    source: int
    uri: str
    item: int
    item_uid: bytes


def documents_at(connection: Connection, uri: str) -> list[DocumentRow]:
    """Return the documents last seen at `uri` or below it."""
    rows = connection.execute(
        "SELECT s.id, s.uri, i.id, i.uid FROM source s JOIN item i ON i.id ="
        " (SELECT r.item FROM revision r JOIN item v ON v.id = r.item WHERE r.source = s.id"
        " ORDER BY r.at DESC, v.uid DESC LIMIT 1)"
        " WHERE s.kind = 'document' AND (s.uri = ?1 OR substr(s.uri, 1, length(?1) + 1) = ?1 || '/') ORDER BY s.id",
        (uri.rstrip("/"),),
    )
    return [DocumentRow(int(source), at, int(item), bytes(uid)) for source, at, item, uid in rows]


def wings_of_items(connection: Connection, items: Sequence[int]) -> dict[int, str]:
    """Return the current wing of each item, by row id."""
    rows = connection.execute(
        "SELECT item.id, wing.name FROM item JOIN room ON room.id = item.room JOIN wing ON wing.id = room.wing"
        " WHERE item.id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(items)),),
    )
    return {int(row): str(wing) for row, wing in rows}


def branches_of_items(connection: Connection, items: Sequence[int]) -> dict[int, str]:
    """Return the branch on which each item was written, by row id."""
    rows = connection.execute(
        "SELECT id, branch FROM item WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(list(items)),)
    )
    return {int(row): str(branch) for row, branch in rows}


def any_passages(connection: Connection) -> bool:
    """Whether anything exists that gets a vector."""
    return any(True for _ in connection.execute("SELECT 1 FROM passage LIMIT 1"))
