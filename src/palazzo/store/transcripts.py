"""A session's transcript as it stands in the archive: how many messages a human sent in it, and what was said last.

A session is known by its file; where a file holds many (a database), by its id.
"""

from __future__ import annotations

from palazzo.store.database import Connection
from palazzo.store.items import decode_text


def session_source(connection: Connection, uri: str, session: str) -> int | None:
    """Return the row of the source that holds a session; None while nothing of it is archived."""
    rows = connection.execute(
        "SELECT f.source FROM file_state f JOIN source s ON s.id = f.source WHERE f.uri = ?"
        " UNION ALL SELECT id FROM (SELECT id FROM source WHERE session_id = ? AND session_id <> '' ORDER BY id)",
        (uri, session),
    )
    return next((int(row) for (row,) in rows), None)


def human_messages(connection: Connection, source: int) -> int:
    """Return how many messages a human sent in a session.

    What tools put out, commands echo and hosts insert is none: feeders have told it apart.
    """
    ((count,),) = connection.execute(
        "SELECT count(*) FROM item WHERE source = ? AND kind = 'message' AND standing = 'said' AND role = 'user'",
        (source,),
    )
    return int(count)


def last_texts(connection: Connection, source: int, at_most: int) -> list[str]:
    """Return the texts of the last messages of the agent in a session, the last one first."""
    rows = connection.execute(
        "SELECT text, text_codec FROM item WHERE source = ? AND kind = 'message' AND role = 'assistant'"
        " ORDER BY ordinal DESC LIMIT ?",
        (source, at_most),
    )
    return [decode_text(text, codec) for text, codec in rows]
