"""A session's transcript as it stands in the archive: what was said in it by whom, and what last.

A session is known by its file; where a file holds many (a database), by its id.
"""

from __future__ import annotations

from collections.abc import Iterator

from palazzo.model import Part
from palazzo.store.database import Connection
from palazzo.store.items import decode_text, load_parts


def session_source(connection: Connection, uri: str, session: str) -> int | None:
    """Return the row of the source that holds a session; None while nothing of it is archived."""
    rows = connection.execute(
        "SELECT f.source FROM file_state f JOIN source s ON s.id = f.source WHERE f.uri = ?"
        " UNION ALL SELECT id FROM (SELECT id FROM source WHERE session_id = ? AND session_id <> '' ORDER BY id)",
        (uri, session),
    )
    return next((int(row) for (row,) in rows), None)


def from_users(connection: Connection, source: int) -> Iterator[tuple[str, tuple[Part, ...]]]:
    """Yield the text and the parts of each message that a user said in a session; of sub-agents' sessions, none.

    What tools put out and commands echo is none: feeders have told it apart.
    """
    rows = connection.execute(
        "SELECT text, text_codec, parts FROM item WHERE source = ? AND kind = 'message' AND standing = 'said'"
        " AND role = 'user' AND trust <> 'agent'",
        (source,),
    )
    for text, codec, parts in rows:
        yield decode_text(text, codec), load_parts(parts)


def last_texts(connection: Connection, source: int, at_most: int) -> list[str]:
    """Return the texts of the last messages of the agent in a session, the last one first."""
    rows = connection.execute(
        "SELECT text, text_codec FROM item WHERE source = ? AND kind = 'message' AND role = 'assistant'"
        " ORDER BY ordinal DESC LIMIT ?",
        (source, at_most),
    )
    return [decode_text(text, codec) for text, codec in rows]
