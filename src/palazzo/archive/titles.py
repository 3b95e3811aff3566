"""Titles of sessions as they are shown: a title that a host wrote is replaced by one from the person's messages."""

from __future__ import annotations

from palazzo.guard.titles import is_of_host, title_from
from palazzo.store import transcripts
from palazzo.store.database import Connection

_MOST_READ = 20
"""Messages of the person that are searched for a title."""


def shown_title(connection: Connection, source: int, title: str) -> str:
    """Return the title to show for a session (its source's row), or ''."""
    if not is_of_host(title):
        return title
    texts = transcripts.first_of_person(connection, source, _MOST_READ)
    return next(filter(None, map(title_from, texts)), "")
