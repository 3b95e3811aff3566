"""Graph record reader: reads facts and the arrangement of the palace as records.

These are names, facts, conflicts, wings and rooms, and tunnels. It is a part of `record_reader`, which describes the
order.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from palazzo.store import change_groups, fact_rows
from palazzo.store.change_groups import MEMBER_TABLES
from palazzo.store.database import Connection
from palazzo.sync.record_selection import Selection
from palazzo.sync.record_types import (
    Arrangement,
    Conflict,
    Entity,
    EntityLink,
    Erasure,
    Fact,
    FactVersion,
    FileCitation,
    Member,
    PredicateRule,
    Record,
    Side,
    Statement,
    Tombstone,
    Tunnel,
    UnwantedFact,
)

_AT_ONCE = 500


def records(connection: Connection, selection: Selection | None, tombstones: bool) -> Iterator[Record]:
    """Yield the records of the graph in canonical order, from entities on."""
    yield from _names(connection, selection)
    yield from _facts(connection, selection)
    yield from _conflicts(connection, selection)
    yield from _arrangement(connection, selection)
    yield from _tunnels(connection, selection)
    yield from _erasures(connection, selection, tombstones)
    if tombstones:
        for uid, at, retired_at in connection.execute(
            "SELECT uid, at, retired_at FROM unwanted_fact ORDER BY uid, at, id"
        ):
            yield UnwantedFact(_hex(uid), at, retired_at)
    yield from _members(connection, selection, tombstones)


def _names(connection: Connection, selection: Selection | None) -> Iterator[Record]:
    for row, uid, name, recorded_at in connection.execute("SELECT id, uid, name, recorded_at FROM entity ORDER BY uid"):
        if selection is None or row in selection.entities:
            yield Entity(_hex(uid), name, recorded_at)
    for row, uid, kind, entity, name, merged_entity, recorded_at, retired_at in connection.execute(
        "SELECT l.id, l.uid, l.kind, e.uid, l.name, o.uid, l.recorded_at, l.retired_at FROM entity_link l"
        " JOIN entity e ON e.id = l.entity LEFT JOIN entity o ON o.id = l.other ORDER BY l.uid"
    ):
        if selection is None or row in selection.entity_links:
            yield EntityLink(_hex(uid), kind, _hex(entity), recorded_at, name, _hex_or_none(merged_entity), retired_at)
    for row, uid, predicate, functional, recorded_at, retired_at in connection.execute(
        "SELECT r.id, r.uid, p.name, r.functional, r.recorded_at, r.retired_at FROM predicate_rule r"
        " JOIN predicate p ON p.id = r.predicate ORDER BY r.uid"
    ):
        if selection is None or row in selection.rules:
            yield PredicateRule(_hex(uid), predicate, bool(functional), recorded_at, retired_at)


def _facts(connection: Connection, selection: Selection | None) -> Iterator[Record]:
    for row, uid, subject, predicate, thing, wing in connection.execute(
        "SELECT f.id, f.uid, s.uid, p.name, o.uid, w.uid FROM fact f JOIN entity s ON s.id = f.subject"
        " JOIN predicate p ON p.id = f.predicate JOIN entity o ON o.id = f.object LEFT JOIN wing w ON w.id = f.wing"
        " ORDER BY f.uid"
    ):
        if selection is None or row in selection.facts:
            yield Fact(_hex(uid), _hex(subject), predicate, _hex(thing), _hex_or_none(wing))
    rows = connection.execute(
        "SELECT v.id, f.id, v.uid, f.uid, v.confidence, v.recorded_at, v.valid_from, v.valid_to, s.uid, v.retired_at,"
        " v.nth FROM fact_version v JOIN fact f ON f.id = v.fact LEFT JOIN fact s ON s.id = v.superseded_by"
        " ORDER BY v.uid"
    )
    while batch := list(islice(rows, _AT_ONCE)):
        version_rows = [entry for entry in batch if selection is None or entry[1] in selection.facts]
        sources_by_row = fact_rows.sources_of(connection, [int(entry[0]) for entry in version_rows])
        for row, _, uid, fact, confidence, recorded_at, start, end, successor, retired_at, nth in version_rows:
            sources = tuple(_statement(entry) for entry in sources_by_row[row])
            by = _hex_or_none(successor)
            yield FactVersion(_hex(uid), _hex(fact), confidence, recorded_at, start, end, by, retired_at, sources, nth)


def _statement(provenance: fact_rows.Provenance) -> Statement:
    citations = tuple(
        FileCitation(at.path, at.first, at.last, at.digest, at.lines, bytes.fromhex(at.blob))
        for at in provenance.anchors
    )
    return Statement(
        provenance.stated_by,
        provenance.item,
        provenance.start,
        provenance.end,
        provenance.trust,
        provenance.tainted_by,
        provenance.branch,
        provenance.commit,
        citations,
    )


def _conflicts(connection: Connection, selection: Selection | None) -> Iterator[Conflict]:
    """Yield conflicts that were dismissed, or restored after that. Others are found again from the facts."""
    for row, uid, kind, found_at, dismissed_at, restored_at, *sides in connection.execute(
        "SELECT c.id, c.uid, c.kind, c.found_at, c.dismissed_at, c.restored_at, a.uid, c.earlier_item, c.earlier_start,"
        " c.earlier_end, b.uid, c.later_item, c.later_start, c.later_end FROM conflict c"
        " LEFT JOIN fact a ON a.id = c.earlier_fact LEFT JOIN fact b ON b.id = c.later_fact"
        " WHERE c.dismissed_at IS NOT NULL OR c.restored_at IS NOT NULL ORDER BY c.uid"
    ):
        if selection is None or row in selection.conflicts:
            yield Conflict(_hex(uid), kind, _side(*sides[:4]), _side(*sides[4:]), found_at, dismissed_at, restored_at)


def _side(fact: bytes | None, item: bytes | None, start: int | None, end: int | None) -> Side:
    return Side(_hex_or_none(fact), _hex_or_none(item), start, end)


def _arrangement(connection: Connection, selection: Selection | None) -> Iterator[Arrangement]:
    for row, uid, kind, wing, room, name, target, recorded_at, retired_at in connection.execute(
        "SELECT a.id, a.uid, a.kind, w.uid, r.uid, a.name, CASE WHEN a.kind = 'merge' AND a.room IS NOT NULL"
        " THEN (SELECT uid FROM room WHERE id = a.target) ELSE (SELECT uid FROM wing WHERE id = a.target) END,"
        " a.recorded_at, a.retired_at FROM arrangement a LEFT JOIN wing w ON w.id = a.wing"
        " LEFT JOIN room r ON r.id = a.room ORDER BY a.uid"
    ):
        if selection is None or row in selection.arrangements:
            of_wing, of_room, to = _hex_or_none(wing), _hex_or_none(room), _hex_or_none(target)
            yield Arrangement(_hex(uid), kind, recorded_at, of_wing, of_room, name, to, retired_at)


def _tunnels(connection: Connection, selection: Selection | None) -> Iterator[Tunnel]:
    for row, uid, source, target, label, actor, recorded_at, retired_at, restored_at in connection.execute(
        "SELECT t.id, t.uid, a.uid, b.uid, t.label, t.actor, t.recorded_at, t.retired_at, t.restored_at FROM tunnel t"
        " JOIN room a ON a.id = t.source JOIN room b ON b.id = t.target ORDER BY t.uid"
    ):
        if selection is not None and row not in selection.tunnels:
            continue
        drawers: dict[str, list[str]] = {"source": [], "target": []}
        for side, drawer in connection.execute(
            "SELECT side, drawer_uid FROM tunnel_drawer WHERE tunnel = ? ORDER BY side, n", (row,)
        ):
            drawers[side].append(_hex(drawer))
        ends = tuple(drawers["source"]), tuple(drawers["target"])
        yield Tunnel(_hex(uid), _hex(source), _hex(target), label, actor, recorded_at, retired_at, restored_at, *ends)


def _erasures(connection: Connection, selection: Selection | None, tombstones: bool) -> Iterator[Erasure]:
    """Yield erasures with their items. An export with part of an erasure names only that part, and no certificate."""
    for row, uid, at, certificate in connection.execute("SELECT id, uid, at, certificate FROM erasure ORDER BY uid"):
        erased_ids = [
            bytes(item)
            for (item,) in connection.execute(
                "SELECT item_uid FROM erased_item WHERE erasure = ? ORDER BY item_uid", (row,)
            )
        ]
        item_ids = erased_ids if selection is None else [item for item in erased_ids if item in selection.item_ids]
        if selection is not None and not item_ids:
            continue
        words = _tombstones(connection, row) if tombstones else ()
        yield Erasure(
            _hex(uid), at, certificate if selection is None else "", tuple(item.hex() for item in item_ids), words
        )


def _tombstones(connection: Connection, erasure: int) -> tuple[Tombstone, ...]:
    rows = connection.execute(
        "SELECT size, standing, head, tail, hash FROM tombstone WHERE erasure = ? ORDER BY hash, standing", (erasure,)
    )
    return tuple(Tombstone(size, mode, head, tail, bytes(digest)) for size, mode, head, tail, digest in rows)


_TABLES = {**MEMBER_TABLES, "unwanted": "unwanted_fact"}
_CASES = " ".join(f"WHEN '{kind}' THEN (SELECT uid FROM {table} WHERE id = m.ref)" for kind, table in _TABLES.items())


def _members(connection: Connection, selection: Selection | None, tombstones: bool) -> Iterator[Member]:
    rows: Iterator[Any] = connection.execute(
        f"SELECT g.id, m.ref, g.uid, m.n, m.kind, CASE m.kind {_CASES} END, CASE m.kind WHEN 'unwanted' THEN (SELECT "
        "at FROM unwanted_fact WHERE id = m.ref) END FROM change_group g CROSS JOIN group_member m ON m.grp = g.id "
        f"WHERE {change_groups.IS_SHARED} ORDER BY g.uid, m.n"
    )
    for row, ref, group, n, kind, uid, at in rows:
        if selection is not None and (row not in selection.groups or not selection.has(kind, ref)):
            continue
        if kind == "undone":
            yield Member(_hex(group), n, kind, None, ref)
        elif uid is not None and (tombstones or kind != "unwanted"):
            yield Member(_hex(group), n, kind, _hex(uid), at)


def _hex(uid: bytes) -> str:
    return bytes(uid).hex()


def _hex_or_none(uid: bytes | None) -> str | None:
    return None if uid is None else bytes(uid).hex()
