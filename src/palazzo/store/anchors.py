"""The files that drawers and facts cite.

Those of drawers are derived (`derive/anchoring`), but what a note was given stands in the note itself (`item.meta`):
`anchors` names files (`PATH` or `PATH:L1-L2`), `cited` is beside it, of each the number of lines, their digest and the
file's blob, as they were then: the latter two as numbers, so that the door takes neither for a secret. Those of facts
are truth, and belong to who stated the fact.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from palazzo.model import Anchor
from palazzo.store.database import Connection
from palazzo.text.cited import DIGEST_BYTES

_COLUMNS = "path, first, last, digest, lines, blob"
_LINES = re.compile(r"(?P<path>.+):(?P<first>\d+)-(?P<last>\d+)", re.DOTALL)


class Cited(NamedTuple):
    """What a drawer (its row id) cites."""

    drawer: int
    anchor: Anchor


# --- what a note was given ---------------------------------------------------------------------------------


def to_meta(given: Sequence[Anchor]) -> dict[str, object]:
    """Return what is kept in a note of the files that it was given."""
    if not given:
        return {}
    names = [name_of(one) for one in given]
    return {
        "anchors": names,
        "cited": [[one.lines, int.from_bytes(one.digest), int(one.blob or "0", 16)] for one in given],
    }


def from_meta(meta: Mapping[str, object]) -> tuple[Anchor, ...]:
    """Return the files that a note was given; of notes from before digests were kept, without."""
    names, seen = meta.get("anchors"), meta.get("cited")
    if not isinstance(names, list):
        return ()
    beside = seen if isinstance(seen, list) and len(seen) == len(names) else [(0, 0, 0)] * len(names)
    return tuple(
        replace(
            named(str(name)), lines=lines, digest=(digest and digest.to_bytes(DIGEST_BYTES)) or b"", blob=_blob(blob)
        )
        for name, (lines, digest, blob) in zip(names, beside, strict=True)
    )


def name_of(cited: Anchor) -> str:
    """Return `PATH` or `PATH:L1-L2`."""
    return f"{cited.path}:{cited.first}-{cited.last}" if cited.first > 0 else cited.path


def named(name: str) -> Anchor:
    """Return what `PATH` or `PATH:L1-L2` names."""
    placed = _LINES.fullmatch(name)
    return Anchor(placed["path"], int(placed["first"]), int(placed["last"])) if placed else Anchor(name)


def _blob(number: int) -> str:
    """A blob's id: SHA-1's, or, where it has more digits, SHA-256's."""
    return f"{number:0{40 if number >> 160 == 0 else 64}x}" if number else ""


# --- of drawers --------------------------------------------------------------------------------------------


def insert(connection: Connection, rows: Iterable[Cited]) -> None:
    """Keep what drawers cite."""
    connection.executemany(
        f"INSERT INTO anchor(drawer, {_COLUMNS}, how) VALUES(?,?,?,?,?,?,?,?)",
        ((drawer, *_values(one), one.how) for drawer, one in rows),
    )


def drop(connection: Connection, drawers: Iterable[int]) -> None:
    """Keep nothing any more of what these drawers cite."""
    connection.executemany("DELETE FROM anchor WHERE drawer = ?", ((drawer,) for drawer in drawers))


def drop_beside(connection: Connection, drawers: Iterable[int]) -> None:
    """Keep nothing any more of what these drawers cite, nor, of those of a session, the others of it.

    What one shows of a file may be known from another.
    """
    connection.execute(
        "DELETE FROM anchor WHERE drawer IN (WITH touched AS (SELECT value AS id FROM json_each(?))"
        " SELECT id FROM touched UNION SELECT id FROM drawer WHERE source IN (SELECT s.id FROM touched"
        " JOIN drawer d ON d.id = touched.id JOIN source s ON s.id = d.source WHERE s.session_id <> ''))",
        (json.dumps(list(drawers)),),
    )


def of_rows(connection: Connection, drawers: Collection[int]) -> list[Cited]:
    """Return what drawers (row ids) cite, as it is kept, in its order."""
    rows = connection.execute(
        f"SELECT drawer, {_COLUMNS}, how FROM anchor WHERE drawer IN (SELECT value FROM json_each(?))"
        " ORDER BY drawer, id",
        (json.dumps(list(drawers)),),
    )
    return [Cited(drawer, _anchor(*rest)) for drawer, *rest in rows]


def of_drawers(connection: Connection, uids: Iterable[str]) -> dict[str, tuple[Anchor, ...]]:
    """Return what drawers (ids) cite; those that cite nothing are absent.

    What a note was given is there at once; what else is derived a moment later.
    """
    found: dict[str, dict[Anchor, None]] = {}
    asked = (json.dumps(sorted(set(uids))),)
    notes = connection.execute(
        "SELECT asked.value, item.meta FROM json_each(?) AS asked JOIN drawer ON drawer.uid = unhex(asked.value)"
        " JOIN drawer_span span ON span.drawer = drawer.id JOIN item ON item.id = span.item"
        " WHERE item.kind = 'note' AND item.meta LIKE '%\"anchors\"%' ORDER BY drawer.id, span.n",
        asked,
    )
    for uid, meta in notes:
        found.setdefault(uid, {}).update(dict.fromkeys(from_meta(json.loads(meta))))
    rows = connection.execute(
        f"SELECT asked.value, {_COLUMNS}, how FROM (SELECT value FROM json_each(?)) AS asked"
        " JOIN drawer ON drawer.uid = unhex(asked.value) JOIN anchor ON anchor.drawer = drawer.id"
        " ORDER BY drawer.id, anchor.id",
        asked,
    )
    for uid, *rest in rows:
        found.setdefault(uid, {})[_anchor(*rest)] = None
    return {uid: tuple(cited) for uid, cited in found.items() if cited}


def count(connection: Connection) -> int:
    """Return how many citations of drawers are kept."""
    return int(next(connection.execute("SELECT count(*) FROM anchor"))[0])


def strays(connection: Connection) -> int:
    """Return how many citations belong to no live drawer."""
    rows = connection.execute(
        "SELECT count(*) FROM anchor WHERE drawer NOT IN (SELECT id FROM drawer WHERE retired_at IS NULL)"
    )
    return int(next(rows)[0])


# --- of facts ----------------------------------------------------------------------------------------------


def insert_of_fact(connection: Connection, version: int, n: int, given: Iterable[Anchor]) -> None:
    """Keep what the n-th who states a version of a fact cites."""
    connection.executemany(
        f"INSERT INTO fact_anchor(version, n, {_COLUMNS}) VALUES(?,?,?,?,?,?,?,?)",
        ((version, n, *_values(one)) for one in given),
    )


def of_versions(connection: Connection, rows: Collection[int]) -> dict[tuple[int, int], tuple[Anchor, ...]]:
    """Return what those cite who state versions of facts, by (version, n)."""
    found: dict[tuple[int, int], list[Anchor]] = {}
    for version, n, *rest in connection.execute(
        f"SELECT version, n, {_COLUMNS}, 'stated' FROM fact_anchor"
        " WHERE version IN (SELECT value FROM json_each(?)) ORDER BY id",
        (json.dumps(list(rows)),),
    ):
        found.setdefault((int(version), int(n)), []).append(_anchor(*rest))
    return {key: tuple(cited) for key, cited in found.items()}


def of_facts(connection: Connection, uids: Iterable[str]) -> dict[str, tuple[Anchor, ...]]:
    """Return what facts (ids) cite, as they are believed now; those that cite nothing are absent."""
    found: dict[str, dict[Anchor, None]] = {}
    for uid, *rest in connection.execute(
        f"SELECT asked.value, {_COLUMNS}, 'stated' FROM (SELECT value FROM json_each(?)) AS asked"
        " JOIN fact ON fact.uid = unhex(asked.value) JOIN fact_version v ON v.fact = fact.id AND v.retired_at IS NULL"
        " JOIN fact_anchor cited ON cited.version = v.id ORDER BY cited.id",
        (json.dumps(sorted(set(uids))),),
    ):
        found.setdefault(uid, {})[_anchor(*rest)] = None
    return {uid: tuple(cited) for uid, cited in found.items()}


def _values(one: Anchor) -> tuple[str, int, int, bytes, int, bytes]:
    return one.path, one.first, one.last, one.digest, one.lines, bytes.fromhex(one.blob)


def _anchor(path: str, first: int, last: int, digest: bytes, lines: int, blob: bytes, how: object) -> Anchor:
    return Anchor(path, first, last, bytes(digest), lines, bytes(blob).hex(), how)  # type: ignore[arg-type]


# --- by file -----------------------------------------------------------------------------------------------


def notes_on(connection: Connection, wing: str, names: list[str], limit: int) -> list[int]:
    """Return the row ids of a wing's notes that are anchored to a file by one of these names, newest first."""
    rows = connection.execute(
        "SELECT DISTINCT item.id FROM source CROSS JOIN item ON item.source = source.id AND item.thread = ''"
        " JOIN room ON room.id = item.room JOIN wing ON wing.id = room.wing,"
        " json_each(item.meta, '$.anchors') AS anchor"
        " WHERE source.kind = 'note' AND source.key LIKE '[\"notes\"%' AND wing.name = ?1"
        " AND item.meta LIKE '%\"anchors\"%'"
        " AND EXISTS (SELECT 1 FROM json_each(?2) AS named WHERE anchor.value = named.value"
        " OR (substr(anchor.value, 1, length(named.value) + 1) = named.value || ':'"
        " AND substr(anchor.value, length(named.value) + 2) GLOB '[0-9]*'))"
        " ORDER BY item.created_at DESC, item.id DESC LIMIT ?3",
        (wing, json.dumps(names), limit),
    )
    return [int(row) for (row,) in rows]


def files_of(connection: Connection, uids: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return the files that drawers and items (ids) are anchored to, or wait for as reminders; without one, absent."""
    found: dict[str, dict[str, None]] = {}
    rows = connection.execute(
        "WITH asked AS (SELECT value AS uid, unhex(value) AS own FROM json_each(?1)),"
        " named AS (SELECT asked.uid, item.id FROM asked JOIN item ON item.uid = asked.own UNION"
        " SELECT asked.uid, span.item FROM asked JOIN drawer ON drawer.uid = asked.own"
        " JOIN drawer_span span ON span.drawer = drawer.id)"
        " SELECT named.uid, anchor.value FROM named JOIN item ON item.id = named.id,"
        " json_each(item.meta, '$.anchors') AS anchor WHERE item.meta LIKE '%\"anchors\"%'"
        " UNION ALL SELECT named.uid, json_extract(item.meta, '$.file') FROM named JOIN task ON task.item = named.id"
        " JOIN item ON item.id = named.id WHERE json_extract(item.meta, '$.file') <> ''",
        (json.dumps(sorted(set(uids))),),
    )
    for uid, file in rows:
        found.setdefault(str(uid), {})[str(file)] = None
    return {uid: tuple(files) for uid, files in found.items()}
