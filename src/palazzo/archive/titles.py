"""Titles of sessions as they are shown: one that was taken from a host's words is taken from the person's instead."""

from __future__ import annotations

from palazzo.guard.titles import is_of_host, title_from
from palazzo.store import transcripts
from palazzo.store.database import Connection

_MOST_READ = 20
"""Messages of the person that are read for a title."""


def shown_title(connection: Connection, source: int, title: str) -> str:
    """Return the title of a session (its source's row), '' where nothing would be one."""
    if not is_of_host(title):
        return title
    said = transcripts.first_of_person(connection, source, _MOST_READ)
    return next(filter(None, map(title_from, said)), "")
