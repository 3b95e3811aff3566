"""Notes that are about a file: those that were given it as an anchor (`PATH` or `PATH:L1-L2`)."""

from __future__ import annotations

import json
from collections.abc import Iterable

from palazzo.store.database import Connection


def notes_on(connection: Connection, wing: str, names: list[str], limit: int) -> list[int]:
    """Return the row ids of a wing's notes that are anchored to a file by one of these names, newest first."""
    rows = connection.execute(
        "SELECT DISTINCT item.id FROM source CROSS JOIN item ON item.source = source.id AND item.thread = ''"
        " JOIN room ON room.id = item.room JOIN wing ON wing.id = room.wing,"
        " json_each(item.meta, '$.anchors') AS anchor"
        " WHERE source.kind = 'note' AND source.key LIKE '[\"notes\"%' AND wing.name = ?1"
        " AND item.meta LIKE '%\"anchors\"%'"
        " AND EXISTS (SELECT 1 FROM json_each(?2) AS named WHERE anchor.value = named.value"
        " OR (substr(anchor.value, 1, length(named.value) + 1) = named.value || ':'"
        " AND substr(anchor.value, length(named.value) + 2) GLOB '[0-9]*'))"
        " ORDER BY item.created_at DESC, item.id DESC LIMIT ?3",
        (wing, json.dumps(names), limit),
    )
    return [int(row) for (row,) in rows]


def files_of(connection: Connection, uids: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return the files that drawers and items (ids) are anchored to, or wait for as reminders; without one, absent."""
    found: dict[str, dict[str, None]] = {}
    rows = connection.execute(
        "WITH asked AS (SELECT value AS uid, unhex(value) AS own FROM json_each(?1)),"
        " named AS (SELECT asked.uid, item.id FROM asked JOIN item ON item.uid = asked.own UNION"
        " SELECT asked.uid, span.item FROM asked JOIN drawer ON drawer.uid = asked.own"
        " JOIN drawer_span span ON span.drawer = drawer.id)"
        " SELECT named.uid, anchor.value FROM named JOIN item ON item.id = named.id,"
        " json_each(item.meta, '$.anchors') AS anchor WHERE item.meta LIKE '%\"anchors\"%'"
        " UNION ALL SELECT named.uid, json_extract(item.meta, '$.file') FROM named JOIN task ON task.item = named.id"
        " JOIN item ON item.id = named.id WHERE json_extract(item.meta, '$.file') <> ''",
        (json.dumps(sorted(set(uids))),),
    )
    for uid, file in rows:
        found.setdefault(str(uid), {})[str(file)] = None
    return {uid: tuple(files) for uid, files in found.items()}
