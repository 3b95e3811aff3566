"""The files that drawers and facts cite.

The citations of drawers are derived (`derived/citation_consumer`), but the citations given with a note are stored in
the note itself (`item.meta`). `anchors` names files (`PATH` or `PATH:L1-L2`). `cited` has, for each file, the number of
lines, their digest and the file's blob at that time; the latter two are numbers, so that ingest does not mistake them
for a secret. The citations of facts are truth, and belong to each source that stated the fact.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from palazzo.model import Anchor, Micros
from palazzo.store import change_log
from palazzo.store.database import Connection
from palazzo.store.json_columns import decode_string, string_at
from palazzo.text.cited_lines import DIGEST_BYTES

CONSUMER = "anchor"
"""The consumer that maintains the citations of drawers (`derived/citation_consumer`)."""
_IN_WING = "JOIN room r ON r.id = d.room JOIN wing w ON w.id = r.wing"
_COLUMNS = "path, first, last, digest, lines, blob"
_LINES = re.compile(r"(?P<path>.+):(?P<first>\d+)-(?P<last>\d+)", re.DOTALL)


class DrawerAnchor(NamedTuple):
    """A citation in a drawer (its row id)."""

    drawer: int
    anchor: Anchor


# --- what a note was given ---------------------------------------------------------------------------------


def to_meta(anchors: Sequence[Anchor]) -> dict[str, object]:
    """Return the metadata that records the files given with a note."""
    if not anchors:
        return {}
    names = [name_of(anchor) for anchor in anchors]
    return {
        "anchors": names,
        "cited": [[anchor.lines, int.from_bytes(anchor.digest), int(anchor.blob or "0", 16)] for anchor in anchors],
    }


def from_meta(meta: Mapping[str, object]) -> tuple[Anchor, ...]:
    """Return the files given with a note; for notes from before digests were recorded, without digests."""
    names, stored_details = meta.get("anchors"), meta.get("cited")
    if not isinstance(names, list):
        return ()
    details = (
        stored_details
        if isinstance(stored_details, list) and len(stored_details) == len(names)
        else [(0, 0, 0)] * len(names)
    )
    return tuple(
        replace(
            parse_anchor(str(name)),
            lines=lines,
            digest=(digest and digest.to_bytes(DIGEST_BYTES)) or b"",
            blob=_blob(blob),
        )
        for name, (lines, digest, blob) in zip(names, details, strict=True)
    )


def name_of(anchor: Anchor) -> str:
    """Return `PATH` or `PATH:L1-L2`."""
    return f"{anchor.path}:{anchor.first}-{anchor.last}" if anchor.first > 0 else anchor.path


def can_be_kept(path: str) -> bool:
    """Whether a path can be stored in a table: it contains no NUL and no bytes of another encoding."""
    return "\0" not in path and not any("\ud800" <= letter <= "\udfff" for letter in path)


def parse_anchor(name: str) -> Anchor:
    """Return the anchor that `PATH` or `PATH:L1-L2` names."""
    match = _LINES.fullmatch(name)
    return Anchor(match["path"], int(match["first"]), int(match["last"])) if match else Anchor(name)


def _blob(number: int) -> str:
    """Return a blob id: of SHA-1, or of SHA-256 if it has more digits."""
    return f"{number:0{40 if number >> 160 == 0 else 64}x}" if number else ""


# --- of drawers --------------------------------------------------------------------------------------------


def insert(connection: Connection, rows: Iterable[DrawerAnchor]) -> None:
    """Store the citations of drawers."""
    connection.executemany(
        f"INSERT INTO anchor(drawer, {_COLUMNS}, how) VALUES(?,?,?,?,?,?,?,?)",
        ((drawer, *values_of(anchor), anchor.how) for drawer, anchor in rows),
    )


def drop(connection: Connection, drawers: Iterable[int]) -> None:
    """Delete the stored citations of these drawers."""
    connection.executemany("DELETE FROM anchor WHERE drawer = ?", ((drawer,) for drawer in drawers))


def drop_beside(connection: Connection, drawers: Iterable[int]) -> None:
    """Delete the stored citations of these drawers, and those of all drawers of their sessions.

    What one drawer of a session shows of a file may be identified from another.
    """
    connection.execute(
        "DELETE FROM anchor WHERE drawer IN (WITH touched AS (SELECT value AS id FROM json_each(?))"
        " SELECT id FROM touched UNION SELECT id FROM drawer WHERE source IN (SELECT s.id FROM touched"
        " JOIN drawer d ON d.id = touched.id JOIN source s ON s.id = d.source WHERE s.session_id <> ''))",
        (json.dumps(list(drawers)),),
    )


def of_rows(connection: Connection, drawers: Collection[int]) -> list[DrawerAnchor]:
    """Return the stored citations of drawers (row ids), in stored order."""
    rows = connection.execute(
        f"SELECT drawer, {_COLUMNS}, how FROM anchor WHERE drawer IN (SELECT value FROM json_each(?))"
        " ORDER BY drawer, id",
        (json.dumps(list(drawers)),),
    )
    return [DrawerAnchor(drawer, _anchor(*rest)) for drawer, *rest in rows]


def of_drawers(connection: Connection, uids: Iterable[str]) -> dict[str, tuple[Anchor, ...]]:
    """Return the citations of drawers (ids); drawers without citations are absent.

    Files given with a note are available at once; other citations are derived a moment later.
    """
    anchors_by_uid: dict[str, dict[Anchor, None]] = {}
    parameters = (json.dumps(sorted(set(uids))),)
    notes = connection.execute(
        "SELECT asked.value, item.meta FROM json_each(?) AS asked JOIN drawer ON drawer.uid = unhex(asked.value)"
        " JOIN drawer_span span ON span.drawer = drawer.id JOIN item ON item.id = span.item"
        " WHERE item.kind = 'note' AND item.meta LIKE '%\"anchors\"%' ORDER BY drawer.id, span.n",
        parameters,
    )
    for uid, meta in notes:
        anchors_by_uid.setdefault(uid, {}).update(dict.fromkeys(from_meta(json.loads(meta))))
    rows = connection.execute(
        f"SELECT asked.value, {_COLUMNS}, how FROM (SELECT value FROM json_each(?)) AS asked"
        " JOIN drawer ON drawer.uid = unhex(asked.value) JOIN anchor ON anchor.drawer = drawer.id"
        " ORDER BY drawer.id, anchor.id",
        parameters,
    )
    for uid, *rest in rows:
        anchors_by_uid.setdefault(uid, {})[_anchor(*rest)] = None
    return {uid: tuple(anchors) for uid, anchors in anchors_by_uid.items() if anchors}


def count(connection: Connection) -> int:
    """Return the number of stored citations of drawers."""
    return int(next(connection.execute("SELECT count(*) FROM anchor"))[0])


def strays(connection: Connection) -> int:
    """Return the number of citations that belong to no live drawer."""
    rows = connection.execute(
        "SELECT count(*) FROM anchor WHERE drawer NOT IN (SELECT id FROM drawer WHERE retired_at IS NULL)"
    )
    return int(next(rows)[0])


def given_in(connection: Connection, wing: str) -> dict[str, tuple[Anchor, ...]]:
    """Return the files given with a wing's live notes, by the id of each note's first drawer, oldest first."""
    rows = connection.execute(
        f"SELECT hex(d.uid), i.id, i.meta FROM drawer d {_IN_WING} JOIN drawer_span p ON p.drawer = d.id AND p.n = 0"
        " JOIN item i ON i.id = p.item WHERE w.name = ? AND d.kind = 'note' AND d.retired_at IS NULL"
        " AND i.meta LIKE '%\"anchors\"%' ORDER BY i.created_at, i.uid, p.start",
        (wing,),
    )
    notes_by_item: dict[int, tuple[str, tuple[Anchor, ...]]] = {}
    for uid, item, meta in rows:
        notes_by_item.setdefault(item, (str(uid).lower(), from_meta(json.loads(meta))))
    return dict(notes_by_item.values())


def facts_in(connection: Connection, wing: str, now: Micros) -> list[str]:
    """Return the ids of a wing's facts that are believed, have not ended and cite files, oldest first."""
    rows = connection.execute(
        "SELECT hex(f.uid) FROM fact f JOIN wing w ON w.id = f.wing JOIN fact_version v ON v.fact = f.id"
        " AND v.retired_at IS NULL WHERE w.name = ? AND (v.valid_to IS NULL OR v.valid_to > ?)"
        " AND EXISTS (SELECT 1 FROM fact_anchor c WHERE c.version = v.id) ORDER BY v.recorded_at, f.uid",
        (wing, now),
    )
    return [str(uid).lower() for (uid,) in rows]


# --- of facts ----------------------------------------------------------------------------------------------


def insert_of_fact(connection: Connection, version: int, n: int, anchors: Iterable[Anchor]) -> None:
    """Store the citations of the n-th source of a fact version."""
    connection.executemany(
        f"INSERT INTO fact_anchor(version, n, {_COLUMNS}) VALUES(?,?,?,?,?,?,?,?)",
        ((version, n, *values_of(anchor)) for anchor in anchors),
    )


def of_versions(connection: Connection, rows: Collection[int]) -> dict[tuple[int, int], tuple[Anchor, ...]]:
    """Return the citations of the sources of fact versions, by (version, n)."""
    anchors_by_source: dict[tuple[int, int], list[Anchor]] = {}
    for version, n, *rest in connection.execute(
        f"SELECT version, n, {_COLUMNS}, 'stated' FROM fact_anchor"
        " WHERE version IN (SELECT value FROM json_each(?)) ORDER BY id",
        (json.dumps(list(rows)),),
    ):
        anchors_by_source.setdefault((int(version), int(n)), []).append(_anchor(*rest))
    return {key: tuple(anchors) for key, anchors in anchors_by_source.items()}


def of_facts(connection: Connection, uids: Iterable[str]) -> dict[str, tuple[Anchor, ...]]:
    """Return the citations of the current versions of facts (ids); facts without citations are absent."""
    anchors_by_uid: dict[str, dict[Anchor, None]] = {}
    for uid, *rest in connection.execute(
        f"SELECT asked.value, {_COLUMNS}, 'stated' FROM (SELECT value FROM json_each(?)) AS asked"
        " JOIN fact ON fact.uid = unhex(asked.value) JOIN fact_version v ON v.fact = fact.id AND v.retired_at IS NULL"
        " JOIN fact_anchor cited ON cited.version = v.id ORDER BY cited.id",
        (json.dumps(sorted(set(uids))),),
    ):
        anchors_by_uid.setdefault(uid, {})[_anchor(*rest)] = None
    return {uid: tuple(anchors) for uid, anchors in anchors_by_uid.items()}


def values_of(anchor: Anchor) -> tuple[str, int, int, bytes, int, bytes]:
    """Return the stored values of a cited file: path, first, last, digest, lines, blob."""
    return anchor.path, anchor.first, anchor.last, anchor.digest, anchor.lines, bytes.fromhex(anchor.blob)


def _anchor(path: str, first: int, last: int, digest: bytes, lines: int, blob: bytes, relation: object) -> Anchor:
    return Anchor(path, first, last, bytes(digest), lines, bytes(blob).hex(), relation)  # type: ignore[arg-type]


# --- by file -----------------------------------------------------------------------------------------------


def notes_on(connection: Connection, wing: str, names: Sequence[str], limit: int) -> list[int]:
    """Return the row ids of a wing's notes that cite a file by one of these names, newest first.

    Notes filed a moment ago are found by the files given with them.
    """
    rows = connection.execute(
        "SELECT DISTINCT i.created_at, i.id FROM anchor a JOIN drawer d ON d.id = a.drawer AND d.kind = 'note'"
        f" AND d.retired_at IS NULL {_IN_WING} JOIN drawer_span p ON p.drawer = d.id JOIN item i ON i.id = p.item"
        " WHERE w.name = ?1 AND a.path IN (SELECT value FROM json_each(?2)) ORDER BY 1 DESC, 2 DESC LIMIT ?3",
        (wing, json.dumps(list(names)), limit),
    )
    dated_rows = {(int(at), int(row)) for at, row in rows} | set(_not_read_yet(connection, wing, names))
    return [row for _, row in sorted(dated_rows, reverse=True)[:limit]]


def _not_read_yet(connection: Connection, wing: str, names: Collection[str]) -> Iterator[tuple[int, int]]:
    """Yield (when, row id) of notes that were given such a file and whose citations are not derived yet."""
    version, seq = change_log.cursor(connection, CONSUMER)
    if version and not change_log.cursor(connection, f"{CONSUMER}/anew")[0]:
        subquery = "(SELECT ref AS id FROM change WHERE seq > ?2 AND kind = 'drawer+')"
    else:
        subquery = "(SELECT id FROM drawer WHERE kind = 'note' AND ?2 IS NOT NULL)"
    for at, row, meta in connection.execute(
        f"SELECT DISTINCT i.created_at, i.id, i.meta FROM {subquery} AS new"
        f" CROSS JOIN drawer d ON d.id = new.id AND d.kind = 'note' AND d.retired_at IS NULL {_IN_WING}"
        " JOIN drawer_span p ON p.drawer = d.id JOIN item i ON i.id = p.item"
        " WHERE w.name = ?1 AND i.meta LIKE '%\"anchors\"%'",
        (wing, seq),
    ):
        if any(anchor.path in names for anchor in from_meta(json.loads(meta))):
            yield int(at), int(row)


def said_of(
    connection: Connection,
    wing: str,
    names: Collection[str],
    trusts: Collection[str],
    but: tuple[str, int],
    limit: int,
) -> list[int]:
    """Return a wing's drawers (row ids) that mention such a file or its changes, newest first.

    Excluded is what was said in the session `but` and by its sub-agents, since that moment.
    """
    rows = connection.execute(
        "SELECT DISTINCT d.created_at, d.id FROM anchor a JOIN drawer d ON d.id = a.drawer AND d.kind = 'exchange'"
        f" AND d.retired_at IS NULL {_IN_WING} JOIN source s ON s.id = d.source"
        " WHERE w.name = ?1 AND a.path IN (SELECT value FROM json_each(?2)) AND a.how IN ('mentioned', 'edited')"
        " AND d.trust IN (SELECT value FROM json_each(?3)) AND NOT (d.created_at >= ?5 AND (s.session_id = ?4"
        " OR substr(s.session_id, 1, length(?4) + 1) = ?4 || '/')) ORDER BY 1 DESC, 2 DESC LIMIT ?6",
        (wing, json.dumps(list(names)), json.dumps(list(trusts)), *but, limit),
    )
    return [int(row) for _, row in rows]


def facts_on(connection: Connection, wing: str, names: Collection[str], ended_by: Micros, limit: int) -> list[int]:
    """Return versions (row ids) of a wing's facts that cite such a file, newest first; none `ended_by` that time."""
    rows = connection.execute(
        "SELECT DISTINCT v.id FROM fact_anchor c JOIN fact_version v ON v.id = c.version AND v.retired_at IS NULL"
        " JOIN fact f ON f.id = v.fact JOIN wing w ON w.id = f.wing"
        " WHERE w.name = ?1 AND c.path IN (SELECT value FROM json_each(?2))"
        " AND (v.valid_to IS NULL OR v.valid_to > ?3) ORDER BY 1 DESC LIMIT ?4",
        (wing, json.dumps(list(names)), ended_by, limit),
    )
    return [int(row) for (row,) in rows]


def files_of(connection: Connection, uids: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return the files of the anchors or pending reminders of drawers and items (ids); without any, absent."""
    files_by_uid: dict[str, dict[str, None]] = {}
    rows = connection.execute(
        "WITH asked AS (SELECT value AS uid, unhex(value) AS own FROM json_each(?1)),"
        " named AS (SELECT asked.uid, item.id FROM asked JOIN item ON item.uid = asked.own UNION"
        " SELECT asked.uid, span.item FROM asked JOIN drawer ON drawer.uid = asked.own"
        " JOIN drawer_span span ON span.drawer = drawer.id)"
        " SELECT named.uid, CAST(anchor.value AS BLOB) FROM named JOIN item ON item.id = named.id,"
        " json_each(item.meta, '$.anchors') AS anchor WHERE item.meta LIKE '%\"anchors\"%'"
        f" UNION ALL SELECT named.uid, {string_at('item.meta', '$.file')} FROM named JOIN task ON task.item = named.id"
        " JOIN item ON item.id = named.id WHERE json_extract(item.meta, '$.file') <> ''",
        (json.dumps(sorted(set(uids))),),
    )
    for uid, file in rows:
        files_by_uid.setdefault(str(uid), {})[decode_string(file)] = None
    return {uid: tuple(files) for uid, files in files_by_uid.items()}
