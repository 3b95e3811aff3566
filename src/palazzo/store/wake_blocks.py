"""What sessions were told when they woke up, kept so that a session is told the same to the byte again.

A block belongs to a session's epoch (a host that drops what it was told begins another) and to what was asked for. It
quotes words that are cut short, which no search for erased words would find: an erase drops all blocks.
"""

from __future__ import annotations

from palazzo.model import Micros
from palazzo.store.database import Connection

RETENTION_MICROS = 30 * 24 * 60 * 60 * 1_000_000
"""How long a block is kept, in microseconds. Sessions that are resumed later than that are told anew."""


def find(connection: Connection, session: str, epoch: int, request: str) -> str | None:
    """Return what a session was told in this epoch when it asked the same; None when it has not asked."""
    rows = connection.execute(
        "SELECT told FROM wake_block WHERE session = ? AND epoch = ? AND asked = ?", (session, epoch, request)
    )
    return next((str(text) for (text,) in rows), None)


def keep(connection: Connection, session: str, epoch: int, request: str, text: str, at: Micros) -> str:
    """Keep what a session is told, unless it was told something already; return what it is told. Drops old blocks."""
    connection.execute("DELETE FROM wake_block WHERE at < ?", (at - RETENTION_MICROS,))
    connection.execute(
        "INSERT INTO wake_block(session, epoch, asked, told, at) VALUES(?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (session, epoch, request, text, at),
    )
    return find(connection, session, epoch, request) or text


def drop_all(connection: Connection) -> None:
    """Drop every block."""
    connection.execute("DELETE FROM wake_block")
