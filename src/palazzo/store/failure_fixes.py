"""Failures in sessions and their fixes: derived (`derived/fix_consumer`).

The commands and their output are stored as keyed hashes, so that they are recognised again, and as positions: the words
are in the items.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from itertools import islice
from typing import Any, NamedTuple

from palazzo.model import Micros
from palazzo.store import digest_rows, items
from palazzo.store.database import Connection

_LOOKED_AT = 50
_MAY_BE_TOLD = (
    "(d.trust IN (SELECT value FROM json_each(?4))"
    " OR (m.kind <> 'error' AND i.trust IN (SELECT value FROM json_each(?4))))"
)
"""An SQL condition for what may be shown. A call counts as its agent's text, whatever it returned; a drawer that shows
both has the lower of the two trust levels.
"""


class PlaceRow(NamedTuple):
    """The place of words about a failure. `kind` is `command`, `error`, a change (`edited`, `ran`), or `passed`.

    `unknown` marks a command that may have passed later without being seen.
    """

    kind: str
    item: int
    start: int
    end: int


class MendingRow(NamedTuple):
    """A stored failure: the n-th of a source. `passed_at` is None if its target never passed."""

    source: int
    n: int
    target: bytes
    signature: bytes
    failed_at: int
    passed_at: int | None
    places: tuple[PlaceRow, ...]


class FailureRecord(NamedTuple):
    """A failure with its text, by the id of the item that contains the error; with its session and room.

    An untrusted error has no lines, and the id is that of the call. `passed_as` is the call that passed, if it is a
    different one. If `passed_at` is None, `is_known` says whether it is certain that nothing passed.
    """

    id: str
    session: str
    wing: str
    room: str
    failed_at: Micros
    passed_at: Micros | None
    command: str
    lines: tuple[str, ...]
    edited: tuple[str, ...]
    ran: tuple[str, ...]
    passed_as: str = ""
    is_known: bool = True


def find(
    connection: Connection,
    target: bytes,
    signature: bytes,
    wings: Collection[str],
    trusts: Collection[str],
    limit: int,
    but: tuple[str, Micros | None] = ("", None),
) -> list[FailureRecord]:
    """Return the failures with this signature, then those of this target that were fixed.

    Fixed ones come first, newest first. Only failures that a live drawer of these wings and trusts shows are included.
    Excluded are failures in the session `but`, since that moment (None: at any time).
    """
    rows = connection.execute(
        "SELECT m.source, m.n, m.failed_at, m.passed_at, s.session_id FROM mending m JOIN source s ON s.id = m.source"
        " WHERE ((m.signature = ?1 AND ?1 <> x'') OR (m.target = ?2 AND ?2 <> x'' AND m.passed_at IS NOT NULL))"
        " AND NOT (s.session_id = ?3 AND m.failed_at >= ?4)"
        " ORDER BY m.signature = ?1 DESC, m.passed_at IS NULL, m.failed_at DESC, m.source, m.n LIMIT ?5",
        (signature, target, but[0], but[1] or 0, _LOOKED_AT),
    )
    read = (read_failure(connection, row, wings, trusts) for row in list(rows))
    return list(islice((failure for failure in read if failure is not None), limit))


def read_failure(
    connection: Connection, columns: tuple[Any, ...], wings: Collection[str], trusts: Collection[str]
) -> FailureRecord | None:
    """Return a failure with its text; None if its command or its error may not be shown."""
    source, n, failed_at, passed_at, session = columns
    rows = list(
        connection.execute(
            "SELECT m.kind, m.item, m.start, m.end, w.name, r.name FROM mending_place m JOIN item i ON i.id = m.item"
            " JOIN room r ON r.id = i.room JOIN wing w ON w.id = r.wing WHERE m.source = ?1 AND m.n = ?2"
            " AND w.name IN (SELECT value FROM json_each(?3))"
            f" AND {digest_rows.make_visibility_sql('m.item', 'm.start', 'm.end', _MAY_BE_TOLD)}"
            " ORDER BY m.m",
            (source, n, json.dumps(list(wings)), json.dumps(list(trusts))),
        )
    )
    item_rows = sorted({int(row[1]) for row in rows})
    texts, uids = items.read_texts(connection, item_rows), items.item_ids(connection, item_rows)
    words: dict[str, list[str]] = {}
    for kind, item, start, end, _, _ in rows:
        words.setdefault(kind, []).append(texts[item][start:end])
    if "command" not in words or ("error" not in words and _has_place(connection, source, n, "error")):
        return None
    first = next(row for row in rows if row[0] == ("error" if "error" in words else "command"))
    return FailureRecord(
        id=uids[first[1]],
        session=session,
        wing=first[4],
        room=first[5],
        failed_at=Micros(failed_at),
        passed_at=None if passed_at is None else Micros(passed_at),
        command=words["command"][0],
        lines=tuple(words.get("error", ())),
        edited=tuple(words.get("edited", ())),
        ran=tuple(words.get("ran", ())),
        passed_as=next(iter(words.get("passed", ())), ""),
        is_known=not _has_place(connection, source, n, "unknown"),
    )


def _has_place(connection: Connection, source: int, n: int, kind: str) -> bool:
    rows = connection.execute(
        "SELECT 1 FROM mending_place WHERE source = ? AND n = ? AND kind = ? LIMIT 1", (source, n, kind)
    )
    return next(iter(rows), None) is not None


# --- keeping them ------------------------------------------------------------------------------------------


def replace(connection: Connection, source: int, rows: Iterable[MendingRow]) -> None:
    """Replace a source's failures by these."""
    _drop(connection, [source])
    for row in rows:
        connection.execute(
            "INSERT INTO mending(source, n, target, signature, failed_at, passed_at) VALUES(?, ?, ?, ?, ?, ?)", row[:6]
        )
        connection.executemany(
            "INSERT INTO mending_place(source, n, m, kind, item, start, end) VALUES(?, ?, ?, ?, ?, ?, ?)",
            [(source, row.n, m, *place) for m, place in enumerate(row.places)],
        )


def of_source(connection: Connection, source: int) -> list[MendingRow]:
    """Return the failures of a source, in order."""
    places: dict[int, list[PlaceRow]] = {}
    for n, *place in connection.execute(
        "SELECT n, kind, item, start, end FROM mending_place WHERE source = ? ORDER BY n, m", (source,)
    ):
        places.setdefault(n, []).append(PlaceRow(*place))
    rows = connection.execute(
        "SELECT source, n, target, signature, failed_at, passed_at FROM mending WHERE source = ? ORDER BY n", (source,)
    )
    return [
        MendingRow(own, n, target, signature, failed_at, passed_at, tuple(places.get(n, ())))
        for own, n, target, signature, failed_at, passed_at in rows
    ]


def sources(connection: Connection) -> list[int]:
    """Return the sources that have failures."""
    return [int(row) for (row,) in connection.execute("SELECT DISTINCT source FROM mending ORDER BY 1")]


def count(connection: Connection) -> int:
    """Return the number of stored failures."""
    return int(next(connection.execute("SELECT count(*) FROM mending"))[0])


def drop(connection: Connection, rows: Iterable[int]) -> None:
    """Delete the failures of these items' sessions: a hash of removed words would confirm a guess."""
    source_rows = connection.execute(
        "SELECT DISTINCT source FROM item WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(list(rows)),)
    )
    _drop(connection, [int(source) for (source,) in source_rows])


def _drop(connection: Connection, source_rows: Sequence[int]) -> None:
    for table in ("mending", "mending_place"):
        connection.executemany(f"DELETE FROM {table} WHERE source = ?", [(source,) for source in source_rows])
