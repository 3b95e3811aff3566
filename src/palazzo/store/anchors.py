"""Notes that are about a file: those that were given it as an anchor (`PATH` or `PATH:L1-L2`)."""

from __future__ import annotations

import json

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
