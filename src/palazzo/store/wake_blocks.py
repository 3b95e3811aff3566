"""Wake-up texts of sessions, stored so that a session that asks again gets exactly the same bytes.

A block belongs to a session's epoch (a host that drops the text begins another one) and to a request. It quotes
truncated words, which a search for erased words would not find: an erase drops all blocks.
"""

from __future__ import annotations

from palazzo.model import Micros
from palazzo.store.database import Connection

RETENTION_MICROS = 30 * 24 * 60 * 60 * 1_000_000
"""How long a block is kept, in microseconds. Sessions resumed later get a new text."""


def find(connection: Connection, session: str, epoch: int, request: str) -> str | None:
    """Return the stored answer to a session's same request in this epoch; None if there was no such request."""
    rows = connection.execute(
        "SELECT told FROM wake_block WHERE session = ? AND epoch = ? AND asked = ?", (session, epoch, request)
    )
    return next((str(text) for (text,) in rows), None)


def keep(connection: Connection, session: str, epoch: int, request: str, text: str, at: Micros) -> str:
    """Store the text for a session's request unless there is one; return the stored text. Drops old blocks."""
    connection.execute("DELETE FROM wake_block WHERE at < ?", (at - RETENTION_MICROS,))
    connection.execute(
        "INSERT INTO wake_block(session, epoch, asked, told, at) VALUES(?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (session, epoch, request, text, at),
    )
    return find(connection, session, epoch, request) or text


def drop_all(connection: Connection) -> None:
    """Delete every block."""
    connection.execute("DELETE FROM wake_block")
