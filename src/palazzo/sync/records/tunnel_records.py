"""Tunnels between rooms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from palazzo.frozen_class import frozen
from palazzo.model import Trust
from palazzo.store.database import Connection
from palazzo.sync.field_codecs import Id, Name, Time
from palazzo.sync.merge_state import Outcome, Work, merge_end_states
from palazzo.sync.records.foreign_checks import is_foreign, mark_name
from palazzo.sync.records.palace_snapshot import PalaceSnapshot, Selection, hex_id
from palazzo.sync.records.record_kind import Record, RecordKind


@frozen
class Tunnel(Record):
    """A tunnel from one room to another, and the drawers to which it leads on each side."""

    id: Id
    source: Id
    target: Id
    label: Name
    actor: Name
    recorded_at: Time
    retired_at: Time | None = None
    restored_at: Time | None = None
    source_drawers: tuple[Id, ...] = ()
    target_drawers: tuple[Id, ...] = ()


def _read(snapshot: PalaceSnapshot) -> Iterator[Tunnel]:
    for row, uid, source, target, label, actor, recorded_at, retired_at, restored_at in snapshot.connection.execute(
        "SELECT t.id, t.uid, a.uid, b.uid, t.label, t.actor, t.recorded_at, t.retired_at, t.restored_at FROM tunnel t"
        " JOIN room a ON a.id = t.source JOIN room b ON b.id = t.target ORDER BY t.uid"
    ):
        if not snapshot.includes("tunnel", row):
            continue
        drawers: dict[str, list[str]] = {"source": [], "target": []}
        for side, drawer in snapshot.connection.execute(
            "SELECT side, drawer_uid FROM tunnel_drawer WHERE tunnel = ? ORDER BY side, n", (row,)
        ):
            drawers[side].append(hex_id(drawer))
        ends = tuple(drawers["source"]), tuple(drawers["target"])
        yield Tunnel(
            hex_id(uid), hex_id(source), hex_id(target), label, actor, recorded_at, retired_at, restored_at, *ends
        )


def _select(connection: Connection, selection: Selection) -> None:
    rooms = selection.rows["room"]
    for row, source, target in connection.execute("SELECT id, source, target FROM tunnel"):
        if source in rooms and target in rooms:
            selection.rows["tunnel"].add(row)


def _merge(work: Work, record: Tunnel) -> Outcome:
    row = work.find("tunnel", record.id)
    if row is not None:
        stored_state = next(work.connection.execute("SELECT retired_at, restored_at FROM tunnel WHERE id = ?", (row,)))
        new_state = merge_end_states(stored_state, (record.retired_at, record.restored_at))
        if new_state == stored_state:
            return "same"
        work.connection.execute("UPDATE tunnel SET retired_at = ?, restored_at = ? WHERE id = ?", (*new_state, row))
        return "changed"
    own = work.insert(
        "tunnel",
        record.id,
        source=work.need("room", record.source),
        target=work.need("room", record.target),
        label=work.words(record.label),
        actor=work.name(record.actor),
        recorded_at=record.recorded_at,
        retired_at=record.retired_at,
        restored_at=record.restored_at,
    )
    work.connection.executemany(
        "INSERT INTO tunnel_drawer(tunnel, side, n, drawer_uid) VALUES(?,?,?,?)",
        [
            (own, side, n, bytes.fromhex(drawer))
            for side, drawers in (("source", record.source_drawers), ("target", record.target_drawers))
            for n, drawer in enumerate(drawers)
        ],
    )
    return "added"


def _limit(record: Tunnel, trust: Trust) -> Tunnel:
    return replace(record, actor=mark_name(record.actor))


def _judge(work: Work, tunnel: Tunnel) -> bool:
    return is_foreign(work, "room", tunnel.source) and is_foreign(work, "room", tunnel.target)


TUNNEL = RecordKind(
    "tunnel",
    Tunnel,
    references={"source": "room", "target": "room"},
    read=_read,
    select=_select,
    merge=_merge,
    undo_member="tunnel+",
    limit=_limit,
    judge=_judge,
)
