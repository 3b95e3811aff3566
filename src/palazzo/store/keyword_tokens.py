"""The tokens of the keyword index, without a palace: for indexes that are kept elsewhere, such as a team's."""

from __future__ import annotations

import threading

import apsw

from palazzo.store.database import SqliteConnection

_LOCAL = threading.local()


def stems(text: str) -> list[str]:
    """Return the tokens of a text as the keyword index of a palace stores them. Threads may call this."""
    connection = getattr(_LOCAL, "connection", None)
    if connection is None:
        connection = _LOCAL.connection = SqliteConnection(apsw.Connection(":memory:"))
    tokens: list[str] = connection.stems(text)
    return tokens
