"""The messages of a session as one list: which items they are, in the order in which they were said."""

from __future__ import annotations

import json
from collections.abc import Iterable

from palazzo.store.database import Connection


def message_rows(connection: Connection, sources: Iterable[int]) -> list[int]:
    """Return the row ids of the messages of these sources, in the order of the sources and of their rows."""
    rows = connection.execute(
        "SELECT item.id FROM json_each(?) named JOIN item ON item.source = named.value"
        " WHERE item.kind = 'message' ORDER BY named.key, item.ordinal, item.id",
        (json.dumps([*sources]),),
    )
    return [int(row) for (row,) in rows]


def changed_sessions(connection: Connection, seq: int, limit: int) -> list[tuple[int, str]]:
    """Return the source and the id of sessions that got messages after `seq` of the change log, the last one first."""
    rows = connection.execute(
        "SELECT source.id, source.session_id, max(change.seq) AS last FROM change JOIN item ON item.id = change.ref"
        " JOIN source ON source.id = item.source WHERE change.seq > ? AND change.kind = 'item'"
        " AND item.kind = 'message' AND source.session_id <> '' GROUP BY source.session_id ORDER BY last DESC LIMIT ?",
        (seq, limit),
    )
    return [(int(source), str(session)) for source, session, _ in rows]


def was_given_something(connection: Connection, session: str) -> bool:
    """Return whether hooks gave a session anything."""
    rows = connection.execute(
        "SELECT EXISTS (SELECT 1 FROM hook_session s JOIN injection ON injection.session = s.id WHERE s.session = ?)",
        (session,),
    )
    return bool(next(rows)[0])


def newest_injection(connection: Connection) -> int:
    """Return the row id of the newest injection, 0 without any."""
    return int(next(connection.execute("SELECT coalesce(max(id), 0) FROM injection"))[0])
