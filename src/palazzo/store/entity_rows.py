"""Entities and their links: the names that facts are about, their aliases, and merged entities.

Nothing is deleted: a link that no longer counts is retired. A reader states the moment for which it asks, and sees the
links that counted then; `LATEST` is now.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from palazzo.model import Micros
from palazzo.store import uids
from palazzo.store.database import Connection

LATEST = Micros(1 << 62)
"""Later than any time: requests the current state."""

LinkKind = Literal["alias", "merge"]

_LIVE = "l.recorded_at <= ?1 AND (l.retired_at IS NULL OR l.retired_at > ?1)"
_VERSION_LIVE = "v.recorded_at <= ?1 AND (v.retired_at IS NULL OR v.retired_at > ?1)"
_IN_USE_CONDITION = (
    "(EXISTS (SELECT 1 FROM fact f JOIN fact_version v ON v.fact = f.id"
    f" WHERE (f.subject = e.id OR f.object = e.id) AND {_VERSION_LIVE})"
    f" OR EXISTS (SELECT 1 FROM entity_link l WHERE (l.entity = e.id OR l.other = e.id) AND {_LIVE}))"
)


class Link(NamedTuple):
    """An alias (`name` means `entity`) or a merge (`other` is `entity`); entities are row ids."""

    row: int
    kind: LinkKind
    entity: int
    name: str
    folded: str
    other: int | None
    recorded_at: Micros
    retired_at: Micros | None


def create_entity(connection: Connection, name: str, name_key: str, at: Micros) -> int:
    """Add an entity; return its row id. Its id follows from its name, unless one with erased words has that id."""
    uid = uids.of_entity(name)
    if any(True for _ in connection.execute("SELECT 1 FROM entity WHERE uid = ?", (uid,))):
        uid = os.urandom(uids.ID_BYTES)
    rows = connection.execute(
        "INSERT INTO entity(uid, name, folded, recorded_at) VALUES(?, ?, ?, ?) RETURNING id", (uid, name, name_key, at)
    )
    return int(next(rows)[0])


def entity_named(connection: Connection, name: str) -> int | None:
    """Return the row id of the entity with exactly that name."""
    for (row,) in connection.execute("SELECT id FROM entity WHERE name = ?", (name,)):
        return int(row)
    return None


def is_known(connection: Connection, row: int, at: Micros) -> bool:
    """Whether a fact or link that was active at `at` refers to the entity."""
    return any(
        True for _ in connection.execute(f"SELECT 1 FROM entity e WHERE e.id = ?2 AND {_IN_USE_CONDITION}", (at, row))
    )


def find_by_name_key(connection: Connection, name_key: str, at: Micros) -> list[tuple[int, str]]:
    """Return (row id, name) of the entities known at `at` whose folded name or alias is `folded`."""
    rows = connection.execute(
        f"SELECT e.id, e.name FROM entity e WHERE e.folded = ?2 AND {_IN_USE_CONDITION}"
        f" UNION SELECT e.id, e.name FROM entity_link l JOIN entity e ON e.id = l.entity"
        f" WHERE l.kind = 'alias' AND l.folded = ?2 AND {_LIVE} ORDER BY 1",
        (at, name_key),
    )
    return [(int(row), str(name)) for row, name in rows]


def known_among(connection: Connection, name_keys: Iterable[str], at: Micros) -> list[int]:
    """Return the entities known at `at` whose folded name or alias is one of these."""
    rows = connection.execute(
        "SELECT e.id FROM json_each(?2) AS asked CROSS JOIN entity e ON e.folded = asked.value WHERE "
        f"{_IN_USE_CONDITION} UNION SELECT l.entity FROM json_each(?2) AS asked CROSS JOIN entity_link l ON l.folded "
        f"= asked.value WHERE l.kind = 'alias' AND {_LIVE} ORDER BY 1",
        (at, json.dumps(sorted(name_keys))),
    )
    return [int(row) for (row,) in rows]


def known_names(connection: Connection, at: Micros) -> Iterator[tuple[int, str, str]]:
    """Yield (row id, name, folded name) for all entity names and aliases known at `at`."""
    rows = connection.execute(
        f"SELECT e.id, e.name, e.folded FROM entity e WHERE {_IN_USE_CONDITION}"
        f" UNION ALL SELECT l.entity, l.name, l.folded FROM entity_link l WHERE l.kind = 'alias' AND {_LIVE}",
        (at,),
    )
    return ((int(row), str(name), str(name_key)) for row, name, name_key in rows)


def names_of(connection: Connection, rows: Iterable[int]) -> dict[int, str]:
    """Return the names of entities by row id."""
    entity_rows = list(set(rows))
    names_by_row: dict[int, str] = {}
    for start in range(0, len(entity_rows), 500):
        part = entity_rows[start : start + 500]
        marks = ",".join("?" * len(part))
        for row, name in connection.execute(f"SELECT id, name FROM entity WHERE id IN ({marks})", part):
            names_by_row[int(row)] = str(name)
    return names_by_row


def count_known(connection: Connection, at: Micros) -> int:
    """Return the number of entities known at `at`."""
    return int(next(connection.execute(f"SELECT count(*) FROM entity e WHERE {_IN_USE_CONDITION}", (at,)))[0])


# --- links -------------------------------------------------------------------------------------------------

_LINK = "SELECT l.id, l.kind, l.entity, l.name, l.folded, l.other, l.recorded_at, l.retired_at FROM entity_link l"


def create_link(
    connection: Connection,
    uid: bytes,
    kind: LinkKind,
    entity: int,
    at: Micros,
    *,
    name: str = "",
    name_key: str = "",
    merged_entity: int | None = None,
) -> int:
    """Record a link; return its row id."""
    rows = connection.execute(
        "INSERT INTO entity_link(uid, kind, entity, name, folded, other, recorded_at) VALUES(?,?,?,?,?,?,?)"
        " RETURNING id",
        (uid, kind, entity, name, name_key, merged_entity, at),
    )
    return int(next(rows)[0])


def retire_link(connection: Connection, row: int, at: Micros) -> None:
    """Retire a link."""
    connection.execute("UPDATE entity_link SET retired_at = ? WHERE id = ? AND retired_at IS NULL", (at, row))


def read_link(connection: Connection, row: int) -> Link:
    """Return the link with that row id."""
    return _link(next(connection.execute(f"{_LINK} WHERE l.id = ?", (row,))))


def links(connection: Connection, kind: LinkKind, at: Micros) -> list[Link]:
    """Return the links of one kind that were active at `at`, oldest first."""
    rows = connection.execute(f"{_LINK} WHERE {_LIVE} AND l.kind = ?2 ORDER BY l.recorded_at, l.uid", (at, kind))
    return [_link(row) for row in rows]


def alias(connection: Connection, name: str, at: Micros) -> Link | None:
    """Return the alias with exactly the name `name` that was active at `at`."""
    rows = connection.execute(f"{_LINK} WHERE {_LIVE} AND l.kind = 'alias' AND l.name = ?2", (at, name))
    return next((_link(row) for row in rows), None)


def merge_of(connection: Connection, entity: int, at: Micros) -> Link | None:
    """Return the link that identifies this entity with another one, if it was active at `at`."""
    rows = connection.execute(f"{_LINK} WHERE {_LIVE} AND l.kind = 'merge' AND l.other = ?2", (at, entity))
    return next((_link(row) for row in rows), None)


def _link(row: tuple[object, ...]) -> Link:
    return Link(*row)  # type: ignore[arg-type]
