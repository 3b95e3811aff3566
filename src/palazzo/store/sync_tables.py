"""The migration `m013_exchange`: ids for rows that had none, the data that merging needs, and the state of sync.

Never edited, like the tables of `first_tables`; it reads the tables as they were then.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any

from palazzo.store import remote_rows, uids
from palazzo.store.database import Connection

_COLUMNS = (
    "ALTER TABLE wing ADD COLUMN uid BLOB",
    "ALTER TABLE room ADD COLUMN uid BLOB",
    "ALTER TABLE fact_version ADD COLUMN uid BLOB",
    # How many versions of the fact were recorded at that moment before: which of two of one moment is the later.
    "ALTER TABLE fact_version ADD COLUMN nth INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE task_state ADD COLUMN uid BLOB",
    # When its title or its wing was told last: of two devices that say otherwise the later counts.
    "ALTER TABLE source ADD COLUMN changed_at INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE project ADD COLUMN changed_at INTEGER NOT NULL DEFAULT 0",
    # When a dismissal or a removal was taken back last. What was done later counts, wherever it is heard of first.
    "ALTER TABLE conflict ADD COLUMN restored_at INTEGER",
    "ALTER TABLE tunnel ADD COLUMN restored_at INTEGER",
    # Whether the erased words were looked for in all that is here: not yet, where another device erased them.
    "ALTER TABLE erasure ADD COLUMN sought INTEGER NOT NULL DEFAULT 0",
    "UPDATE erasure SET sought = 1",
)
_INDEXES = (
    "CREATE UNIQUE INDEX wing_uid ON wing(uid)",
    "CREATE UNIQUE INDEX room_uid ON room(uid)",
    "CREATE UNIQUE INDEX fact_version_uid ON fact_version(uid)",
    "CREATE INDEX fact_version_recorded ON fact_version(recorded_at)",
    "CREATE UNIQUE INDEX task_state_uid ON task_state(uid)",
    "CREATE INDEX link_item ON link(item_uid)",
)
# Two devices may take back one command apart from each other: `undoes` is no longer unique. SQLite cannot drop that
# from a table, so it is made anew under its name; what refers to it is looked at again at the end of the transaction.
_GROUPS = (
    "PRAGMA defer_foreign_keys=ON",
    "CREATE TEMP TABLE group_before AS SELECT * FROM main.change_group",
    "DROP TABLE main.change_group",
    "CREATE TABLE change_group(id INTEGER PRIMARY KEY, uid BLOB NOT NULL UNIQUE, actor TEXT NOT NULL,"
    " at INTEGER NOT NULL, verb TEXT NOT NULL, size INTEGER NOT NULL DEFAULT 0,"
    " summary TEXT NOT NULL, undoes INTEGER REFERENCES change_group)",
    "INSERT INTO change_group SELECT id, uid, actor, at, verb, size, summary, undoes FROM temp.group_before",
    "DROP TABLE temp.group_before",
    "CREATE INDEX change_group_undoes ON change_group(undoes) WHERE undoes IS NOT NULL",
    "CREATE INDEX change_group_last ON change_group(at / 1000, uid)",
)


def create(connection: Connection) -> None:
    """Add the tables for exchange to a palace."""
    for statement in (*_COLUMNS, *_GROUPS, *remote_rows.TABLES):
        for _ in connection.execute(statement):
            pass
    _places(connection)
    connection.executemany(
        "UPDATE entity SET uid = ? WHERE id = ?",
        [(uids.of_entity(name), row) for row, name in connection.execute("SELECT id, name FROM entity")],
    )
    _versions(connection)
    _states(connection)
    _conflicts(connection)
    for statement in _INDEXES:
        connection.execute(statement)


def _places(connection: Connection) -> None:
    wings: dict[int, bytes] = {}
    counts: Counter[object] = Counter()
    for row, name in connection.execute("SELECT id, first_name FROM wing ORDER BY id"):
        wings[row] = uids.of_wing(name, counts[name])
        counts[name] += 1
    rooms: dict[int, bytes] = {}
    for row, wing, name in connection.execute("SELECT id, first_wing, first_name FROM room ORDER BY id"):
        rooms[row] = uids.of_room(wings[wing], name, counts[wing, name])
        counts[wing, name] += 1
    connection.executemany("UPDATE wing SET uid = ? WHERE id = ?", [(uid, row) for row, uid in wings.items()])
    connection.executemany("UPDATE room SET uid = ? WHERE id = ?", [(uid, row) for row, uid in rooms.items()])


def _versions(connection: Connection) -> None:
    facts = {int(row): bytes(uid) for row, uid in connection.execute("SELECT id, uid FROM fact")}
    anchors_by_source: dict[tuple[int, int], list[Any]] = {}
    for version, n, *anchor in connection.execute(
        "SELECT version, n, path, first, last, digest, lines, blob FROM fact_anchor ORDER BY id"
    ):
        anchors_by_source.setdefault((version, n), []).extend(anchor)
    sources: dict[int, list[tuple[Any, ...]]] = {}
    for version, n, *columns in connection.execute(
        "SELECT version, n, stated_by, item_uid, start, end, trust, tainted_by, branch, commit_id FROM fact_source"
        " ORDER BY version, n"
    ):
        sources.setdefault(version, []).append((*columns, *anchors_by_source.get((version, n), ())))
    used_uids: set[bytes] = set()
    uid_rows = []
    for row, fact, start, end, confidence, successor, at in connection.execute(
        "SELECT id, fact, valid_from, valid_to, confidence, superseded_by, recorded_at FROM fact_version ORDER BY id"
    ):
        by = None if successor is None else facts[successor]
        source_rows = sources.get(row, [])
        known_by = partial(uids.of_version, facts[fact], (start, end), float(confidence), by, at, source_rows)
        uid = uids.free(known_by, used_uids.__contains__)
        used_uids.add(uid)
        uid_rows.append((uid, row))
    connection.executemany("UPDATE fact_version SET uid = ? WHERE id = ?", uid_rows)
    connection.execute(
        "UPDATE fact_version SET nth = (SELECT count(*) FROM fact_version before WHERE before.fact = fact_version.fact"
        " AND before.recorded_at = fact_version.recorded_at AND before.id < fact_version.id)"
    )


def _states(connection: Connection) -> None:
    used_uids: set[bytes] = set()
    uid_rows = []
    for row, note, state, at in connection.execute(
        "SELECT s.id, item.uid, s.state, s.recorded_at FROM task_state s JOIN task ON task.id = s.task"
        " JOIN item ON item.id = task.item ORDER BY s.id"
    ):
        uid = uids.free(partial(uids.of_state, bytes(note), state, at), used_uids.__contains__)
        used_uids.add(uid)
        uid_rows.append((uid, row))
    connection.executemany("UPDATE task_state SET uid = ? WHERE id = ?", uid_rows)


def _conflicts(connection: Connection) -> None:
    """Name conflicts by their sides. Of duplicates, the first gets that id, and the others keep theirs."""
    used_uids: set[bytes] = set()
    uid_rows = []
    for row, kind, *sides in connection.execute(
        "SELECT c.id, c.kind, a.uid, c.earlier_item, c.earlier_start, c.earlier_end, b.uid, c.later_item,"
        " c.later_start, c.later_end FROM conflict c LEFT JOIN fact a ON a.id = c.earlier_fact"
        " LEFT JOIN fact b ON b.id = c.later_fact ORDER BY c.id"
    ):
        uid = uids.of_conflict(kind, tuple(sides[:4]), tuple(sides[4:]))
        if uid not in used_uids:
            used_uids.add(uid)
            uid_rows.append((uid, row))
    connection.executemany("UPDATE conflict SET uid = ? WHERE id = ?", uid_rows)
