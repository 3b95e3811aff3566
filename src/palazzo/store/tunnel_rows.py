"""Tunnels: links that people and agents make between rooms, with a label, and optional drawers on each side.

A removed tunnel stays as a retired row. If its rooms were renamed, moved or merged, it leads to their current place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from palazzo.frozen_class import frozen
from palazzo.model import Micros, Place
from palazzo.store.database import Connection

_COLUMNS = (
    "SELECT t.id, t.uid, t.label, t.actor, t.recorded_at, t.retired_at, coalesce(a.merged_into, a.id), aw.name, a.name,"
    " coalesce(b.merged_into, b.id), bw.name, b.name FROM tunnel t"
    " JOIN room a ON a.id = t.source JOIN wing aw ON aw.id = a.wing"
    " JOIN room b ON b.id = t.target JOIN wing bw ON bw.id = b.wing"
)
_OLDEST_FIRST = "ORDER BY t.recorded_at, t.uid"


class End(NamedTuple):
    """The end of a tunnel: a room's row id, its place, and the drawers that it leads to there (ids, 16 bytes)."""

    room: int
    place: Place
    drawers: tuple[bytes, ...]


@frozen
class Tunnel:
    """A tunnel from one room to another."""

    row: int
    uid: str
    label: str
    actor: str
    recorded_at: Micros
    retired_at: Micros | None
    source: End
    target: End

    def says_the_same(self, tunnel: Tunnel) -> bool:
        """Whether both have the same ends, including drawers, and the same label."""
        return (self.source, self.target, self.label) == (tunnel.source, tunnel.target, tunnel.label)


def insert(
    connection: Connection,
    uid: bytes,
    source: tuple[int, Sequence[bytes]],
    target: tuple[int, Sequence[bytes]],
    label: str,
    actor: str,
    at: Micros,
) -> int:
    """Add a tunnel between two (room row id, drawer ids); return its row id."""
    rows = connection.execute(
        "INSERT INTO tunnel(uid, source, target, label, actor, recorded_at) VALUES(?,?,?,?,?,?) RETURNING id",
        (uid, source[0], target[0], label, actor, at),
    )
    row = int(next(rows)[0])
    connection.executemany(
        "INSERT INTO tunnel_drawer(tunnel, side, n, drawer_uid) VALUES(?,?,?,?)",
        (
            (row, side, n, drawer)
            for side, (_, drawers) in (("source", source), ("target", target))
            for n, drawer in enumerate(drawers)
        ),
    )
    return row


def retire(connection: Connection, row: int, at: Micros) -> None:
    """Retire a tunnel."""
    connection.execute("UPDATE tunnel SET retired_at = ? WHERE id = ? AND retired_at IS NULL", (at, row))


def restore(connection: Connection, row: int, at: Micros) -> None:
    """Restore a retired tunnel."""
    connection.execute("UPDATE tunnel SET retired_at = NULL, restored_at = ? WHERE id = ?", (at, row))


def read(connection: Connection, row: int) -> Tunnel:
    """Return the tunnel with that row id."""
    return _tunnel(connection, next(connection.execute(f"{_COLUMNS} WHERE t.id = ?", (row,))))


def live(connection: Connection, wing: int | None = None) -> list[Tunnel]:
    """Return the live tunnels, oldest first; with a wing (row id), those that end in it.

    A tunnel whose ends were merged into one room is left out, and the newest of equal ones represents all.
    """
    rows = connection.execute(
        f"{_COLUMNS} WHERE t.retired_at IS NULL AND (?1 IS NULL OR a.wing = ?1 OR b.wing = ?1) {_OLDEST_FIRST}", (wing,)
    )
    return _distinct(_tunnel(connection, row) for row in list(rows))


def of_room(connection: Connection, room: int) -> list[Tunnel]:
    """Return the tunnels that end in a room or in one that was merged into it, oldest first."""
    rows = connection.execute(
        f"{_COLUMNS} WHERE t.retired_at IS NULL AND t.id IN (SELECT tunnel.id FROM room"
        " JOIN tunnel ON tunnel.source = room.id OR tunnel.target = room.id"
        " WHERE room.id = ?1 OR room.merged_into = ?1)"
        f" {_OLDEST_FIRST}",
        (room,),
    )
    return _distinct(_tunnel(connection, row) for row in list(rows))


def _distinct(tunnels: Iterable[Tunnel]) -> list[Tunnel]:
    leading = (tunnel for tunnel in tunnels if tunnel.source.room != tunnel.target.room)
    return list({(tunnel.source, tunnel.target, tunnel.label): tunnel for tunnel in leading}.values())


def ever_dug(connection: Connection, source: int, target: int, label: str) -> list[int]:
    """Return the row ids of all tunnels with that label that ever led from one room to another."""
    rows = connection.execute(
        "SELECT id FROM tunnel WHERE source = ? AND target = ? AND label = ? ORDER BY id", (source, target, label)
    )
    return [int(row) for (row,) in rows]


def between(connection: Connection, low: bytes, high: bytes, limit: int) -> list[Tunnel]:
    """Return the tunnels with ids in [low, high], including retired ones, at most `limit`."""
    rows = connection.execute(f"{_COLUMNS} WHERE t.uid BETWEEN ? AND ? ORDER BY t.uid LIMIT ?", (low, high, limit))
    return [_tunnel(connection, row) for row in list(rows)]


def count(connection: Connection, at: Micros | None = None) -> int:
    """Return the number of live tunnels, now or at a moment."""
    rows = connection.execute(
        "SELECT count(*) FROM tunnel WHERE (?1 IS NOT NULL OR retired_at IS NULL)"
        " AND (?1 IS NULL OR (recorded_at <= ?1 AND coalesce(retired_at, ?1 + 1) > ?1))",
        (at,),
    )
    return int(next(rows)[0])


def _tunnel(connection: Connection, row: tuple[Any, ...]) -> Tunnel:
    own, uid, label, actor, recorded_at, retired_at, source, *rest = row
    (source_wing, source_room, target, target_wing, target_room) = rest
    drawers: dict[str, list[bytes]] = {"source": [], "target": []}
    for side, drawer in connection.execute(
        "SELECT side, drawer_uid FROM tunnel_drawer WHERE tunnel = ? ORDER BY side, n", (own,)
    ):
        drawers[side].append(bytes(drawer))
    return Tunnel(
        row=int(own),
        uid=bytes(uid).hex(),
        label=label,
        actor=actor,
        recorded_at=Micros(recorded_at),
        retired_at=None if retired_at is None else Micros(retired_at),
        source=End(int(source), Place(source_wing, source_room), tuple(drawers["source"])),
        target=End(int(target), Place(target_wing, target_room), tuple(drawers["target"])),
    )
