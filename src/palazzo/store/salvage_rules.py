"""A salvage's rules for tables: derived tables, the values of lost rows that indexes contain, and references.

A lost row with references to it is created again from the known values, if the referring rows make sense without the
rest: an item without its source's address is still an item. Otherwise the referring rows are dropped, or refer to
nothing.
"""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Iterator, Mapping
from typing import Any

import apsw

from palazzo.store import source_rows, uids
from palazzo.store.database import SqliteConnection, Value
from palazzo.store.redaction_state import make_fingerprint_key

DERIVED_TABLES = (
    *("drawer", "drawer_span", "drawer_tag", "tag", "passage", "pending", "past", "claim", "mention", "digest_line"),
    *("source_heading", "mending", "mending_place", "anchor", "outside", "dead_letter"),
)
"""Derived tables. If one of them lost a row, all are emptied. Vectors are stored by the hash of their text, so each
remaining one is valid."""
LOST_BODY = "damaged"
"""In `link.absent`: the page that held the body was damaged."""
NO_DIGEST = bytes(32)

_DEFAULTS: dict[str, dict[str, Value]] = {
    "device": {},
    "wing": {},
    "room": {},
    "source": {"kind": "recovered", "key": "[]", "uri": ""},
    "entity": {"recorded_at": 0},
    "predicate": {},
    "fact": {},
    "change_group": {"actor": "user", "at": 0, "verb": "recovered", "summary": ""},
    "erasure": {"at": 0, "certificate": ""},
    "link": {"digest": NO_DIGEST, "hash": NO_DIGEST, "absent": LOST_BODY},
    "embedder": {},
}
"""Defaults for the columns of a lost row that no index holds."""
_SHELVES = ("notes", "diary", "todo", "reminder")
"""The shelves after which sources of notes are named (`archive/notes.Shelf`)."""
_WHOLE = ("predicate",)
"""Tables whose indexes contain all values of a row."""

Key = tuple[Value, ...]


def recover(
    connection: apsw.Connection, table: str, key: tuple[str, ...], missing: Mapping[Key, Mapping[str, Value]]
) -> set[Key]:
    """Reinsert lost rows that other rows refer to, from the indexes' values; return those that are complete."""
    if table not in _DEFAULTS:
        return set()
    whole: set[Key] = set()
    for own, known_values in missing.items():
        values = {**_DEFAULTS[table], **dict(zip(key, own, strict=True)), **known_values}
        values |= _complete_row(connection, table, values)
        names = list(values)
        try:
            connection.execute(
                f'INSERT OR IGNORE INTO "{table}"({", ".join(names)}) VALUES({",".join("?" * len(names))})',
                [values[name] for name in names],
            )
        except (apsw.ConstraintError, apsw.SQLError):
            continue
        if table in _WHOLE:
            whole.add(own)
    return whole


def _complete_row(connection: apsw.Connection, table: str, values: Mapping[str, Value]) -> dict[str, Value]:
    """Return the values of a row that can be derived from its other values and from other tables."""
    row = values.get("id")
    match table:
        case "device":
            return {"name": socket.gethostname(), "uid": values.get("uid") or os.urandom(uids.ID_BYTES)}
        case "wing":
            name = values.get("name") or values.get("first_name") or f"recovered-{row!s}"
            return {
                "name": name,
                "first_name": values.get("first_name") or name,
                "uid": values.get("uid") or os.urandom(uids.ID_BYTES),
            }
        case "room":
            name = values.get("name") or values.get("first_name") or f"recovered-{row!s}"
            wing = values.get("wing") or values.get("first_wing") or _any_wing(connection)
            return {
                "name": name,
                "first_name": values.get("first_name") or name,
                "wing": wing,
                "first_wing": values.get("first_wing") or wing,
                "uid": values.get("uid") or os.urandom(uids.ID_BYTES),
            }
        case "source":
            return _source(connection, values)
        case "entity" if values.get("name") is None:
            name = f"recovered-{row!s}"
            return {"name": name, "folded": name, "uid": values.get("uid") or uids.of_entity(name)}
        case "change_group" | "erasure" if values.get("uid") is None:
            return {"uid": os.urandom(uids.ID_BYTES)}
        case "fact":
            return _fact(connection, values)
        case "embedder":
            lengths = connection.execute(
                "SELECT length(body) FROM vector WHERE embedder = ? LIMIT 1", (row,)
            ).fetchall()
            return {"dimension": lengths[0][0] if lengths else 0}
    return {}


def _source(connection: apsw.Connection, values: Mapping[str, Value]) -> dict[str, Value]:
    """Return a source's values that its files and items still show."""
    row, uid = values.get("id"), values.get("uid")
    uid = uid if isinstance(uid, bytes) else os.urandom(uids.ID_BYTES)
    columns: dict[str, Value] = {"uid": uid}
    for uri, feeder in connection.execute("SELECT uri, feeder FROM file_state WHERE source = ? LIMIT 1", (row,)):
        columns |= {"uri": str(uri), "kind": str(feeder)}
    for (kind,) in connection.execute("SELECT kind FROM item WHERE source = ? LIMIT 1", (row,)):
        if kind in ("note", "document"):
            columns["kind"] = str(kind)
    columns["key"] = json.dumps(["recovered", uid.hex()])
    if columns.get("kind") == "note":
        for wing, shelf in _shelves(connection):
            if source_rows.source_uid("note", (shelf, wing)) == uid:
                columns |= {"key": json.dumps((shelf, wing)), "uri": f"palazzo:{shelf}/{wing}"}
    return columns


def _shelves(connection: apsw.Connection) -> Iterator[tuple[str, str]]:
    for name, first in connection.execute("SELECT name, first_name FROM wing"):
        for wing in {str(name), str(first)}:
            for shelf in _SHELVES:
                yield wing, shelf


_FACT_PARTS = (("uid", "entity", "subject"), ("uid", "entity", "object"), ("name", "predicate", "predicate"))


def _fact(connection: apsw.Connection, values: Mapping[str, Value]) -> dict[str, Value]:
    """Return the wing of a fact: its id is a hash that includes the wing."""
    try:
        (subject,), (thing,), (predicate,) = (
            connection.execute(f"SELECT {column} FROM {table} WHERE id = ?", (values.get(name),)).fetchall()[0]
            for column, table, name in _FACT_PARTS
        )  # fmt: skip
    except IndexError:
        return {}
    wings: list[tuple[Any, Any]] = [(None, None), *connection.execute("SELECT id, uid FROM wing")]
    ends = [None, *(end for (end,) in connection.execute(
        "SELECT DISTINCT valid_to FROM fact_version WHERE fact = ? AND valid_to IS NOT NULL", (values.get("id"),)
    ))]  # fmt: skip
    for row, wing in wings:
        for end in ends:
            if uids.of_fact(subject, str(predicate), thing, wing, end) == values.get("uid"):  # type: ignore[arg-type]
                return {"wing": row}
    return {}


def name_of(key: Key, values: Mapping[str, Value]) -> str:
    """Return a label by which a person may recognise a lost row: its id, its name, or its subject."""
    for column in ("uid", "item_uid", "name", "uri", "identity", "drawer_uid", "hash"):
        value = values.get(column)
        if isinstance(value, bytes):
            return value.hex()
        if value is not None:
            return str(value)
    return "/".join(value.hex() if isinstance(value, bytes) else str(value) for value in key)


def indexed_columns(sql: str, key: tuple[str, ...]) -> list[str]:
    """Return the columns of an index's entries: those in its statement, and the row's key."""
    own = [name.strip() for name in sql.split("(", 1)[1].split(")", 1)[0].split(",")]
    return [*own, *(name for name in key if name not in own)]


# --- references --------------------------------------------------------------------------------------------


def settle(connection: apsw.Connection, lost_tables: frozenset[str]) -> None:
    """Complete the salvaged palace: add required rows, and repair dangling references."""
    _settle_singles(connection, lost_tables)
    _settle_documents(connection)
    for _ in range(10):
        if not _settle_references(connection):
            break
    connection.execute(
        "INSERT OR IGNORE INTO pending SELECT p.id FROM passage p WHERE NOT EXISTS"
        " (SELECT 1 FROM vector v WHERE v.hash = p.hash)"
    )
    for table in _OF_DRAWERS:
        column = "id" if table == "drawer" else "drawer"
        connection.execute(
            f"DELETE FROM {table} WHERE {column} IN (SELECT drawer FROM drawer_span WHERE {_ITEM_IS_GONE})"
        )
    connection.execute(
        f"DELETE FROM drawer_span WHERE drawer IN (SELECT drawer FROM drawer_span WHERE {_ITEM_IS_GONE})"
    )


_ITEM_IS_GONE = "item NOT IN (SELECT id FROM item)"
_OF_DRAWERS = ("drawer", "drawer_tag", "passage", "past", "claim", "mention", "anchor")
"""Tables whose rows are deleted together with a drawer of a lost item; `derive` cuts the remaining text again."""


_DOCUMENTS = (("act", "detail", "object", "{}"), ("fact_source", "tainted_by", "array", "[]"))
"""Columns of JSON that readers parse without a check, with the JSON type and what replaces a damaged value. (Damaged
columns of items are treated where the chain is settled.)
"""


def _settle_documents(connection: apsw.Connection) -> None:
    """Replace JSON that a flipped bit made unreadable. A tag whose name is lost is taken back."""
    for table, column, kind, replacement in _DOCUMENTS:
        is_sound = f"CASE WHEN json_valid({column}) THEN json_type({column}) = '{kind}' ELSE 0 END"
        connection.execute(
            f"UPDATE {table} SET {column} = ? WHERE {column} IS NOT NULL AND {column} <> '' AND NOT {is_sound}",
            (replacement,),
        )
    connection.execute("DELETE FROM act WHERE kind IN ('tag', 'untag') AND json_extract(detail, '$.tag') IS NULL")


def _settle_singles(connection: apsw.Connection, lost_tables: frozenset[str]) -> None:
    plain = SqliteConnection(connection)
    if not connection.execute("SELECT 1 FROM device WHERE id = 1").fetchall():
        connection.execute(
            "INSERT INTO device(id, uid, name, created_at) VALUES(1, ?, ?, ?)",
            (os.urandom(uids.ID_BYTES), socket.gethostname(), time.time_ns() // 1000),
        )
    if "meta" in lost_tables:
        keys = {key for (key,) in connection.execute("SELECT key FROM meta")}
        if "palace" not in keys:
            connection.execute("INSERT INTO meta(key, value) VALUES('palace', ?)", (os.urandom(16).hex(),))
        if "fingerprint key" not in keys:
            make_fingerprint_key(plain)
    if "migration" in lost_tables:
        _settle_migrations(connection)
    ((head,),) = connection.execute(
        "SELECT max(coalesce((SELECT max(seq) FROM change), 0), coalesce((SELECT max(seq) FROM cursor), 0),"
        " coalesce((SELECT max(seq) FROM sqlite_sequence WHERE name = 'change'), 0))"
    ).fetchall()
    connection.execute("DELETE FROM sqlite_sequence WHERE name = 'change'")
    connection.execute("INSERT INTO sqlite_sequence(name, seq) VALUES('change', ?)", (head,))


def _settle_migrations(connection: apsw.Connection) -> None:
    """Find the applied migrations by the tables that exist."""
    from palazzo.store import schema

    table_names = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    columns = {name: _columns(connection, str(name)) for name in table_names}
    for count in range(len(schema.MIGRATIONS), 0, -1):
        with apsw.Connection(":memory:") as expected:
            for kind, name, _, sql in schema.objects(count):
                if kind == "table" and sql and not name.startswith(("sqlite_", "keyword")):
                    expected.execute(sql)
            names = {str(name) for (name,) in expected.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
            if all(name in table_names and set(_columns(expected, name)) <= set(columns[name]) for name in names):
                migrated_at = time.time_ns() // 1000
                connection.executemany(
                    "INSERT OR IGNORE INTO migration(name, applied_at) VALUES(?, ?)",
                    [(step.__name__, migrated_at) for step in schema.MIGRATIONS[:count]],
                )
                return


def _columns(connection: apsw.Connection, table: str) -> list[str]:
    return [str(name) for (name,) in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))]


def _settle_references(connection: apsw.Connection) -> bool:
    """Repair references to missing rows; return whether there were any."""
    changed = False
    tables = [str(name) for (name,) in connection.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name NOT LIKE 'keyword%'"
    )]  # fmt: skip
    for table in tables:
        nullable = {
            str(name) for name, is_not_null, pk in connection.execute(
                'SELECT name, "notnull", pk FROM pragma_table_info(?)', (table,)) if not is_not_null and not pk
        }  # fmt: skip
        parents = connection.execute(
            'SELECT "table", "from", "to" FROM pragma_foreign_key_list(?)', (table,)
        ).fetchall()
        for parent, column, to in parents:
            dangling_values = connection.execute(
                f'SELECT DISTINCT "{column}" FROM "{table}" WHERE "{column}" IS NOT NULL AND "{column}" NOT IN'
                f' (SELECT "{to or _key(connection, str(parent))}" FROM "{parent}")'
            ).fetchall()
            for (row,) in dangling_values:
                changed = True
                _settle_reference(connection, table, str(column), str(parent), row, str(column) in nullable)
    return changed


def _settle_reference(
    connection: apsw.Connection, table: str, column: str, parent: str, row: Value, is_nullable: bool
) -> None:
    if parent in _STAND_INS:
        recover(connection, parent, ("id",), {(row,): {}})
        if connection.execute(f'SELECT 1 FROM "{parent}" WHERE id = ?', (row,)).fetchall():
            return
    if is_nullable:
        connection.execute(f'UPDATE "{table}" SET "{column}" = NULL WHERE "{column}" = ?', (row,))
    else:
        connection.execute(f'DELETE FROM "{table}" WHERE "{column}" = ?', (row,))


_STAND_INS = ("device", "wing", "room", "source", "entity", "change_group", "erasure")


def _key(connection: apsw.Connection, table: str) -> str:
    ((name,),) = connection.execute("SELECT name FROM pragma_table_info(?) WHERE pk = 1", (table,)).fetchall()
    return str(name)


def _any_wing(connection: apsw.Connection) -> Value:
    for (row,) in connection.execute("SELECT id FROM wing WHERE name = 'recovered' LIMIT 1"):
        return int(str(row))
    ((row,),) = connection.execute(
        "INSERT INTO wing(first_name, name, uid) VALUES('recovered', 'recovered', ?) RETURNING id",
        (os.urandom(uids.ID_BYTES),),
    ).fetchall()
    return int(str(row))
