"""Claims of drawers, rejected suggestions of facts, and what has superseded a drawer's words."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from palazzo.model import Micros
from palazzo.store.database import Connection
from palazzo.store.json_columns import decode_string, string_at


class ClaimRow(NamedTuple):
    """A stored claim. `predicate` and `object` are those of the fact that it states, `value` is its new value."""

    drawer: int
    item: int
    start: int
    end: int
    kind: str
    subject: str
    predicate: str
    object: str
    old: str
    value: str
    said_at: Micros


class ToRead(NamedTuple):
    """The source of a drawer's claims: its row, wing, time and source, and the items of its spans."""

    drawer: int
    wing: int
    said_at: Micros
    source: int
    spans: tuple[tuple[int, int, int], ...]


class Successor(NamedTuple):
    """What superseded a text: the item or fact, its replacement (None: nothing), and since when."""

    by: str
    value: str | None
    at: Micros


_COLUMNS = "drawer, item, start, end, kind, subject, predicate, object, old, value, said_at"

_OF_CLAIM = ", ".join(f"c.{name}" for name in _COLUMNS.split(", "))


def insert(connection: Connection, rows: Iterable[ClaimRow]) -> None:
    """Add claims."""
    connection.executemany(f"INSERT INTO claim({_COLUMNS}) VALUES(?,?,?,?,?,?,?,?,?,?,?)", rows)


def drop(connection: Connection, drawers: Iterable[int]) -> None:
    """Drop the claims of drawers."""
    connection.executemany("DELETE FROM claim WHERE drawer = ?", ((drawer,) for drawer in drawers))


def of_drawers(connection: Connection, drawers: Iterable[int]) -> list[ClaimRow]:
    """Return the claims of drawers, in order."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM claim WHERE drawer IN (SELECT value FROM json_each(?)) ORDER BY drawer, id",
        (json.dumps(list(drawers)),),
    )
    return [ClaimRow(*row) for row in rows]


def worth_a_fact(connection: Connection, session: str | None) -> list[tuple[ClaimRow, str]]:
    """Return the claims that qualify as facts, with their wing's name, oldest first; of one session if given."""
    rows = connection.execute(
        f"SELECT {_OF_CLAIM}, wing.name FROM claim c"
        " JOIN drawer d ON d.id = c.drawer JOIN room ON room.id = d.room JOIN wing ON wing.id = room.wing"
        " JOIN source ON source.id = d.source"
        " WHERE c.predicate <> '' AND d.retired_at IS NULL AND (?1 IS NULL OR source.session_id = ?1)"
        " ORDER BY c.said_at, c.id",
        (session,),
    )
    return [(ClaimRow(*row[:-1]), str(row[-1])) for row in rows]


def document_paths(connection: Connection, drawers: Iterable[int]) -> dict[int, str]:
    """Return the path, within its project, of each of the drawers that is part of a document."""
    rows = connection.execute(
        f"SELECT d.id, {string_at('s.key', '$[#-1]')} FROM drawer d JOIN source s ON s.id = d.source"
        " WHERE s.kind = 'document' AND d.id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(drawers)),),
    )
    return {int(drawer): decode_string(path) for drawer, path in rows}


def changes_in(connection: Connection, wing: int) -> list[ClaimRow]:
    """Return the claims in a wing that state what held before."""
    rows = connection.execute(
        f"SELECT {_OF_CLAIM} FROM claim c JOIN drawer d ON d.id = c.drawer"
        " JOIN room ON room.id = d.room WHERE c.old <> '' AND room.wing = ? AND d.retired_at IS NULL",
        (wing,),
    )
    return [ClaimRow(*row) for row in rows]


def count(connection: Connection) -> int:
    """Return the number of stored claims."""
    return int(next(connection.execute("SELECT count(*) FROM claim"))[0])


def strays(connection: Connection) -> int:
    """Return the number of claims that belong to no live drawer."""
    return int(
        next(
            connection.execute(
                "SELECT count(*) FROM claim WHERE drawer NOT IN (SELECT id FROM drawer WHERE retired_at IS NULL)"
            )
        )[0]
    )


# --- what claims are read from -----------------------------------------------------------------------------


def to_read(connection: Connection, drawers: Sequence[int]) -> list[ToRead]:
    """Return the texts of these drawers to extract claims from, except for retired and external ones, and reasoning."""
    rows = connection.execute(
        "SELECT d.id, room.wing, d.created_at, d.source, json_group_array(json_array(s.item, s.start, s.end))"
        " FROM drawer d JOIN room ON room.id = d.room JOIN drawer_span s ON s.drawer = d.id"
        " WHERE d.id IN (SELECT value FROM json_each(?)) AND d.retired_at IS NULL AND d.trust <> 'external'"
        " AND d.kind <> 'reasoning' GROUP BY d.id ORDER BY d.id",
        (json.dumps(list(drawers)),),
    )
    return [
        ToRead(drawer, wing, said_at, source, tuple(tuple(span) for span in json.loads(spans)))
        for drawer, wing, said_at, source, spans in rows
    ]


def find_holders(connection: Connection, words: Sequence[str], wing: int, limit: int) -> list[int]:
    """Return live drawers of a wing that contain all these words, newest first."""
    match = " AND ".join('"{}"'.format(word.replace('"', '""')) for word in words)
    rows = connection.execute(
        "SELECT keyword.rowid FROM keyword CROSS JOIN drawer d ON d.id = keyword.rowid JOIN room ON room.id = d.room"
        " WHERE keyword MATCH ? AND room.wing = ? AND d.retired_at IS NULL AND d.trust <> 'external'"
        " ORDER BY keyword.rowid DESC LIMIT ?",
        (f"{{body}} : ({match})", wing, limit),
    )
    return [int(row) for (row,) in rows]


def live_drawers(connection: Connection, last_row: int, limit: int) -> list[int]:
    """Return live drawers after a row id, ascending."""
    rows = connection.execute(
        "SELECT id FROM drawer WHERE id > ? AND retired_at IS NULL ORDER BY id LIMIT ?", (last_row, limit)
    )
    return [int(row) for (row,) in rows]


# --- suggested facts ---------------------------------------------------------------------------------------


def read_rejections(connection: Connection) -> set[bytes]:
    """Return the rejected suggestions."""
    return {bytes(uid) for (uid,) in connection.execute("SELECT uid FROM unwanted_fact WHERE retired_at IS NULL")}


def reject(connection: Connection, uid: bytes, at: Micros) -> int:
    """Reject a suggested fact; return the row id of the rejection."""
    rows = connection.execute("INSERT INTO unwanted_fact(uid, at) VALUES(?, ?) RETURNING id", (uid, at))
    return int(next(rows)[0])


def want_again(connection: Connection, row: int, at: Micros) -> None:
    """Undo a rejection."""
    connection.execute("UPDATE unwanted_fact SET retired_at = ? WHERE id = ? AND retired_at IS NULL", (at, row))


# --- what has been superseded ------------------------------------------------------------------------------


def find_successors(connection: Connection, drawers: Sequence[str], by: Micros) -> dict[str, Successor]:
    """Return, by drawer id, what last superseded words of these drawers by `by`.

    That is a later claim, or the fact that replaced one for which the drawer is cited.
    """
    successors: dict[str, Successor] = {}
    for query in (_BY_CLAIM, _BY_FACT):
        for drawer, uid, value, at in connection.execute(query, (json.dumps(list(drawers)), by)):
            successor = Successor(bytes(uid).hex(), value or None, Micros(at))
            name = bytes(drawer).hex()
            if name not in successors or successors[name].at <= successor.at:
                successors[name] = successor
    return successors


_BY_CLAIM = (
    "SELECT drawer.uid, c.later_item, claim.value, item.created_at FROM drawer"
    " JOIN drawer_span s ON s.drawer = drawer.id"
    " JOIN item AS own ON own.id = s.item JOIN conflict c ON c.earlier_item = own.uid AND c.dismissed_at IS NULL"
    " AND c.earlier_start >= s.start AND c.earlier_end <= s.end"
    " JOIN item ON item.uid = c.later_item JOIN claim ON claim.item = item.id AND claim.start = c.later_start"
    " AND (claim.kind = c.kind OR claim.old <> '') WHERE drawer.uid IN (SELECT unhex(value) FROM json_each(?1))"
    " AND item.created_at <= ?2 ORDER BY item.created_at"
)
_BY_FACT = (
    "SELECT drawer.uid, successor.uid, entity.name, v.valid_to FROM drawer JOIN drawer_span s ON s.drawer = drawer.id"
    " JOIN item ON item.id = s.item JOIN fact_source f ON f.item_uid = item.uid"
    " AND (f.start IS NULL OR f.start < s.end AND f.end > s.start)"
    " JOIN fact_version v ON v.id = f.version AND v.retired_at IS NULL AND v.superseded_by IS NOT NULL"
    " JOIN fact AS successor ON successor.id = v.superseded_by JOIN entity ON entity.id = successor.object"
    " AND EXISTS (SELECT 1 FROM fact_version said JOIN fact_source who ON who.version = said.id"
    " WHERE said.fact = successor.id AND said.retired_at IS NULL AND who.trust <> 'external')"
    " WHERE drawer.uid IN (SELECT unhex(value) FROM json_each(?1)) AND v.valid_to <= ?2 ORDER BY v.valid_to"
)


def is_said(connection: Connection, item: str, start: int, end: int) -> bool:
    """Whether a live drawer contains this range of an item."""
    rows = connection.execute(
        "SELECT 1 FROM item JOIN drawer_span s ON s.item = item.id JOIN drawer d ON d.id = s.drawer"
        " WHERE item.uid = ? AND d.retired_at IS NULL AND s.start <= ? AND s.end >= ? LIMIT 1",
        (bytes.fromhex(item), start, end),
    )
    return any(True for _ in rows)
