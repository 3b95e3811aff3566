"""Known people: authors of commits of mined projects. Names alone."""

from __future__ import annotations

from collections.abc import Iterable

from palazzo.store import tombstones
from palazzo.store.database import Connection


def add(connection: Connection, names: Iterable[str]) -> int:
    """Add names that are not stored yet, without erased words; return how many were new."""
    existing_names = everybody(connection)
    new = list(
        dict.fromkeys(
            clean_name for name in names if (clean_name := tombstones.name(connection, name)) not in existing_names
        )
    )
    connection.executemany("INSERT INTO known_person(name) VALUES(?)", ((name,) for name in new))
    return len(new)


def everybody(connection: Connection) -> frozenset[str]:
    """Return all names."""
    return frozenset(str(name) for (name,) in connection.execute("SELECT name FROM known_person"))
