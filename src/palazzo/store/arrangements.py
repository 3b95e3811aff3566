"""Arrangements: names, moves and merges of wings and rooms, as rows that are only added and retired, and their result.

A wing or a room is what it was created as, changed by the valid rows, in their order: it has the last name, a room is
in the wing that it was last moved to, and a merged wing or room is part of another. The order is by the time of
recording, then by id. `settle` writes the result into the tables `wing` and `room`, which everything else reads. The
result depends only on the rows, whichever device they came from and in whatever order. Rows that were recorded
independently may conflict: the first one with a name keeps it and the next gets a number, and a merge that would close
a circle does not count.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from typing import Literal, NamedTuple

from palazzo.frozen_class import frozen
from palazzo.model import Micros
from palazzo.store.database import Connection

ArrangementKind = Literal["name", "move", "merge"]


class Stands(NamedTuple):
    """The current name of a room, its wing (a row id), and the room that it was merged into, if any."""

    wing: int
    name: str
    merged_into: int | None


class WingState(NamedTuple):
    """The current name of a wing, and the wing that it was merged into, if any."""

    name: str
    merged_into: int | None


NameClash = tuple[int, int | None, str]
"""A place that got a number because its name was taken: (a wing's row id, a room's or None, the name)."""


@frozen
class ArrangementState:
    """The result of the effective rows, by row id. Everything else keeps the name and the place of its creation."""

    wings: Mapping[int, WingState]
    rooms: Mapping[int, Stands]
    clashes: tuple[NameClash, ...]


def record(
    connection: Connection,
    uid: bytes,
    kind: ArrangementKind,
    at: Micros,
    *,
    wing: int | None = None,
    room: int | None = None,
    name: str = "",
    target: int | None = None,
) -> int:
    """Record an arrangement of a wing or a room; return its row id. It takes effect at `settle`."""
    rows = connection.execute(
        "INSERT INTO arrangement(uid, kind, wing, room, name, target, recorded_at) VALUES(?,?,?,?,?,?,?) RETURNING id",
        (uid, kind, wing, room, name, target, at),
    )
    return int(next(rows)[0])


def retire(connection: Connection, row: int, at: Micros) -> None:
    """Retire an arrangement. This takes effect at `settle`."""
    connection.execute("UPDATE arrangement SET retired_at = ? WHERE id = ? AND retired_at IS NULL", (at, row))


def settle(connection: Connection) -> list[NameClash]:
    """Apply the active rows; return the changed entries that had to get a number."""
    arrangement = compute_arrangement(connection)
    wings_now, rooms_now = _wings(connection), _rooms(connection)
    wings = [(row, wing_state) for row, wing_state in arrangement.wings.items() if wings_now[row] != wing_state]
    rooms = [(row, stands) for row, stands in arrangement.rooms.items() if rooms_now[row] != stands]
    # Out of the way first: in between two of them would be called the same.
    connection.executemany("UPDATE wing SET merged_into = id WHERE id = ?", ((row,) for row, _ in wings))
    connection.executemany("UPDATE room SET merged_into = id WHERE id = ?", ((row,) for row, _ in rooms))
    connection.execute(f"UPDATE wing SET name = first_name, merged_into = NULL WHERE {_OTHER_WINGS}")
    connection.execute(f"UPDATE room SET wing = first_wing, name = first_name, merged_into = NULL WHERE {_OTHER_ROOMS}")
    connection.executemany(
        "UPDATE wing SET name = ?, merged_into = ? WHERE id = ?", ((*wing_state, row) for row, wing_state in wings)
    )
    connection.executemany(
        "UPDATE room SET wing = ?, name = ?, merged_into = ? WHERE id = ?", ((*stands, row) for row, stands in rooms)
    )
    changed_wings, changed_rooms = {row for row, _ in wings}, {row for row, _ in rooms}
    return [
        clash
        for clash in arrangement.clashes
        if (clash[0] in changed_wings if clash[1] is None else clash[1] in changed_rooms)
    ]


def compute_arrangement(connection: Connection) -> ArrangementState:
    """Return the state that results from the active rows."""
    rows = connection.execute(f"SELECT id, first_name FROM wing WHERE id IN {_WINGS} ORDER BY uid")
    wing_names = {int(row): (0, str(name)) for row, name in rows}
    firsts = list(
        connection.execute(f"SELECT id, first_wing, first_name FROM room WHERE {_ARRANGED_ROOM} ORDER BY uid")
    )
    room_names = {int(row): (0, str(name)) for row, _, name in firsts}
    room_wings = {int(row): (0, int(wing)) for row, wing, _ in firsts}
    wing_parents: _Parents = {}
    room_parents: _Parents = {}
    rows = connection.execute(
        "SELECT kind, wing, room, name, target FROM arrangement WHERE retired_at IS NULL ORDER BY recorded_at, uid"
    )
    for own, (kind, wing, room, name, target) in enumerate(rows, 1):
        subject = wing if room is None else room
        if kind == "merge":
            _join(wing_parents if room is None else room_parents, subject, own, target)
        elif kind == "move":
            room_wings[subject] = (own, target)
        else:
            (wing_names if room is None else room_names)[subject] = (own, name)
    wings, wing_clashes = _wings_called(connection, wing_names, wing_parents)
    rooms, room_clashes = _rooms_stand(connection, room_names, room_wings, room_parents, wing_parents)
    return ArrangementState(wings, rooms, tuple(wing_clashes + room_clashes))


def count_differences(connection: Connection) -> tuple[int, int]:
    """Return how many wings and how many rooms in the tables differ from what the active rows imply."""
    arrangement = compute_arrangement(connection)
    wings, rooms = _wings(connection), _rooms(connection)
    (other_wings,) = next(connection.execute(f"SELECT count(*) FROM wing WHERE {_OTHER_WINGS}"))
    (other_rooms,) = next(connection.execute(f"SELECT count(*) FROM room WHERE {_OTHER_ROOMS}"))
    return (
        sum(wings.get(row) != wing_state for row, wing_state in arrangement.wings.items()) + int(other_wings),
        sum(rooms.get(row) != stands for row, stands in arrangement.rooms.items()) + int(other_rooms),
    )


_WINGS = (
    "(SELECT wing FROM arrangement WHERE wing IS NOT NULL AND retired_at IS NULL UNION SELECT id FROM wing"
    " WHERE first_name IN (SELECT first_name FROM wing GROUP BY first_name HAVING count(*) > 1))"
)
"""Wings with an effective row, and wings created with the same name as another (on another device)."""
_ARRANGED_ROOM = (
    "(id IN (SELECT room FROM arrangement WHERE room IS NOT NULL AND retired_at IS NULL) OR first_wing IN"
    " (SELECT wing FROM arrangement WHERE kind = 'merge' AND wing IS NOT NULL AND retired_at IS NULL)"
    " OR (first_wing, first_name) IN (SELECT first_wing, first_name FROM room GROUP BY 1, 2 HAVING count(*) > 1))"
)
_OTHER_WINGS = f"id NOT IN {_WINGS} AND (name <> first_name OR merged_into IS NOT NULL)"
_OTHER_ROOMS = f"NOT {_ARRANGED_ROOM} AND (wing <> first_wing OR name <> first_name OR merged_into IS NOT NULL)"
"""Rooms that should be as created, but are not."""


def _wings(connection: Connection) -> dict[int, WingState]:
    rows = connection.execute(f"SELECT id, name, merged_into FROM wing WHERE id IN {_WINGS}")
    return {row: WingState(name, into) for row, name, into in rows}


def _rooms(connection: Connection) -> dict[int, Stands]:
    rows = connection.execute(f"SELECT id, wing, name, merged_into FROM room WHERE {_ARRANGED_ROOM}")
    return {row: Stands(wing, name, into) for row, wing, name, into in rows}


_Parents = dict[int, tuple[int, int]]
"""By a part's row: the effective row that merged it (the first is 1), and what it is part of."""


def _join(parents: _Parents, node: int, since: int, into: int) -> None:
    if _root(parents, into) != node:
        parents[node] = since, into


def _root(parents: _Parents, node: int) -> int:
    while node in parents:
        _, node = parents[node]
    return node


def _since(parents: _Parents, node: int) -> int:
    """Return the time since which something is part of its current whole; 0 if it is independent."""
    latest = 0
    while node in parents:
        since, node = parents[node]
        latest = max(latest, since)
    return latest


_Claim = tuple[int, str]
"""The effective row that gave a name (0: the name from creation), and the name."""


def _wings_called(
    connection: Connection, names: Mapping[int, _Claim], parents: _Parents
) -> tuple[dict[int, WingState], list[NameClash]]:
    unique_names, clash_rows = _distinct(
        ((since, row, name) for row, (since, name) in names.items() if row not in parents),
        lambda name: _is_another(connection.execute("SELECT id FROM wing WHERE first_name = ?", (name,)), names),
    )
    roots = {row: _root(parents, row) for row in names}
    for root in set(roots.values()) - set(
        unique_names
    ):  # something was merged into one of which nothing else was recorded
        unique_names[root] = str(next(connection.execute("SELECT first_name FROM wing WHERE id = ?", (root,)))[0])
    states = {row: WingState(unique_names[root], None if root == row else root) for row, root in roots.items()}
    return states, [(row, None, names[row][1]) for row in clash_rows]


def _rooms_stand(
    connection: Connection,
    names: Mapping[int, _Claim],
    room_wings: Mapping[int, tuple[int, int]],
    parents: _Parents,
    wing_parents: _Parents,
) -> tuple[dict[int, Stands], list[NameClash]]:
    wings = {row: _root(wing_parents, wing) for row, (_, wing) in room_wings.items()}
    by_wing: dict[int, list[tuple[int, int, str]]] = {}
    for row, (since, name) in names.items():
        if row not in parents:
            move_row, wing = room_wings[row]
            by_wing.setdefault(wings[row], []).append((max(since, move_row, _since(wing_parents, wing)), row, name))
    stands: dict[int, Stands] = {}
    clashes: list[NameClash] = []
    for wing, claims in by_wing.items():
        unique_names, clash_rows = _distinct(claims, partial(_is_created_in, connection, wing, names))
        stands.update((row, Stands(wing, name, None)) for row, name in unique_names.items())
        clashes += [(wing, row, names[row][1]) for row in clash_rows]
    for row in names:
        root = _root(parents, row)
        if root != row:
            own = stands[root] if root in stands else _as_created(connection, root)
            stands[row] = own._replace(merged_into=root)
    return stands, clashes


def _is_created_in(connection: Connection, wing: int, excluded_rows: Collection[int], name: str) -> bool:
    """Whether a room without active rows has the name in a wing."""
    rows = connection.execute("SELECT id FROM room WHERE first_wing = ? AND first_name = ?", (wing, name))
    return _is_another(rows, excluded_rows)


def _as_created(connection: Connection, room: int) -> Stands:
    wing, name = next(connection.execute("SELECT first_wing, first_name FROM room WHERE id = ?", (room,)))
    return Stands(int(wing), str(name), None)


def _is_another(rows: Iterable[tuple[int]], excluded_rows: Collection[int]) -> bool:
    return any(row not in excluded_rows for (row,) in rows)


def _distinct(
    claims: Iterable[tuple[int, int, str]], is_taken: Callable[[str], bool]
) -> tuple[dict[int, str], list[int]]:
    """Give each of the rows (since when, row, name) a unique name; return also the rows whose name had to change.

    If several rows have the same name since the same moment (such as the very beginning), the first in the list keeps
    it.

    `is_taken` tells whether something else has a name from the beginning.
    """
    sorted_claims = sorted(claims, key=lambda claim: claim[0])
    all_names = {name for _, _, name in sorted_claims}
    unique_names: dict[int, str] = {}
    used_names: set[str] = set()
    clash_rows = []
    for _, row, name in sorted_claims:
        own, number = name, 1
        while own in used_names or is_taken(own) or (number > 1 and own in all_names):
            number += 1
            own = f"{name}-{number}"
        used_names.add(own)
        unique_names[row] = own
        if own != name:
            clash_rows.append(row)
    return unique_names, clash_rows
