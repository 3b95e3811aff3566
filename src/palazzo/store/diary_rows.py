"""Diary rows: the live drawers of kind `diary`, by writer and time."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from palazzo.model import Micros
from palazzo.store.database import Connection
from palazzo.store.json_columns import decode_string, string_at


class Writer(NamedTuple):
    """A name that entries were written under: the number of live entries, and the times of the first and the last."""

    name: str
    entries: int
    first_at: Micros
    last_at: Micros


class EntryRow(NamedTuple):
    """An entry's item, its time, and the metadata stored with it: topic and project, '' for none."""

    item: int
    at: Micros
    topic: str
    project: str


def writers(connection: Connection) -> list[Writer]:
    """Return all author names of live entries, in the order of their first use."""
    rows = connection.execute(
        "SELECT author, count(DISTINCT s.item), min(created_at), max(created_at) FROM drawer"
        " JOIN drawer_span s ON s.drawer = drawer.id WHERE kind = 'diary' AND retired_at IS NULL"
        " GROUP BY author ORDER BY min(drawer.id)"
    )
    return [Writer(name, int(count), Micros(first), Micros(last)) for name, count, first, last in rows]


def entries(
    connection: Connection, names: Sequence[str] | None, since: Micros | None, until: Micros | None
) -> Iterator[EntryRow]:
    """Yield the live entries by any of the author names (None: all), newest first.

    `since` is inclusive, `until` is exclusive.
    """
    rows = connection.execute(
        f"SELECT DISTINCT s.item, d.created_at, {string_at('item.meta', '$.topic')},"
        f" {string_at('item.meta', '$.project')}"
        " FROM drawer d JOIN drawer_span s ON s.drawer = d.id JOIN item ON item.id = s.item"
        " WHERE d.kind = 'diary' AND d.retired_at IS NULL"
        " AND (?1 IS NULL OR d.author IN (SELECT value FROM json_each(?1)))"
        " AND (?2 IS NULL OR d.created_at >= ?2) AND (?3 IS NULL OR d.created_at < ?3)"
        " ORDER BY d.created_at DESC, s.item DESC",
        (None if names is None else json.dumps(list(names)), since, until),
    )
    for item, at, topic, project in rows:
        yield EntryRow(int(item), Micros(at), decode_string(topic), decode_string(project))
