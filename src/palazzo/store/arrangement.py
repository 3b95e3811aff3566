"""How wings and rooms are named and put together: rows that are only added and retired, and what follows from them.

A wing or a room is what it was created as, changed by the rows that count, in their order: it has the last name, a
room stands in the wing it was last moved to, and one that is merged is a part of another. `settle` writes what follows
into the tables `wing` and `room`, where everybody reads it; it is a function of the rows alone. Rows that were recorded
apart from each other may claim more than can be: the first that has a name keeps it and the next gets a number, and
a merge that would close a circle does not count.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from palazzo.model import Micros
from palazzo.store.database import Connection

ArrangementKind = Literal["name", "move", "merge"]


class Stands(NamedTuple):
    """What a room is called, in which wing (a row id) it stands, and what room it is a part of, if of any."""

    wing: int
    name: str
    merged_into: int | None


class Called(NamedTuple):
    """What a wing is called, and what wing it is a part of, if of any."""

    name: str
    merged_into: int | None


@dataclass(frozen=True, slots=True)
class Settled:
    """What follows from the rows that count: by row id, how wings are called and where rooms stand.

    `numbered` are the names that were given a number, because another has them: (wing's row id, room's, name).
    """

    wings: Mapping[int, Called]
    rooms: Mapping[int, Stands]
    numbered: tuple[tuple[int, int | None, str], ...]


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
    """Record what is arranged of a wing or of a room; return its row id. Nothing follows before `settle`."""
    rows = connection.execute(
        "INSERT INTO arrangement(uid, kind, wing, room, name, target, recorded_at) VALUES(?,?,?,?,?,?,?) RETURNING id",
        (uid, kind, wing, room, name, target, at),
    )
    return int(next(rows)[0])


def retire(connection: Connection, row: int, at: Micros) -> None:
    """Let what was arranged no longer count. Nothing follows before `settle`."""
    connection.execute("UPDATE arrangement SET retired_at = ? WHERE id = ? AND retired_at IS NULL", (at, row))


def settle(connection: Connection) -> list[tuple[int, int | None, str]]:
    """Write what follows from the rows that count; return those of what changed that had to get a number.

    Each is (wing's row id, room's or None, the name that another has).
    """
    wanted = settled(connection)
    wings_now, rooms_now = _wings(connection), _rooms(connection)
    wings = [(row, called) for row, called in wanted.wings.items() if wings_now[row] != called]
    rooms = [(row, stands) for row, stands in wanted.rooms.items() if rooms_now[row] != stands]
    # Out of the way first: in between two of them would be called the same.
    connection.executemany("UPDATE wing SET merged_into = id WHERE id = ?", ((row,) for row, _ in wings))
    connection.executemany("UPDATE room SET merged_into = id WHERE id = ?", ((row,) for row, _ in rooms))
    connection.executemany(
        "UPDATE wing SET name = ?, merged_into = ? WHERE id = ?", ((*called, row) for row, called in wings)
    )
    connection.executemany(
        "UPDATE room SET wing = ?, name = ?, merged_into = ? WHERE id = ?", ((*stands, row) for row, stands in rooms)
    )
    touched = {row for row, _ in wings}, {row for row, _ in rooms}
    return [one for one in wanted.numbered if (one[0] in touched[0] if one[1] is None else one[1] in touched[1])]


def settled(connection: Connection) -> Settled:
    """Return what follows from the rows that count."""
    wing_names = {int(row): (0, str(name)) for row, name in connection.execute("SELECT id, first_name FROM wing")}
    firsts = list(connection.execute("SELECT id, first_wing, first_name FROM room"))
    room_names = {int(row): (0, str(name)) for row, _, name in firsts}
    standing = {int(row): (0, int(wing)) for row, wing, _ in firsts}
    wing_parents: dict[int, int] = {}
    room_parents: dict[int, int] = {}
    for own, kind, wing, room, name, target in connection.execute(
        "SELECT id, kind, wing, room, name, target FROM arrangement WHERE retired_at IS NULL ORDER BY id"
    ):
        one = wing if room is None else room
        if kind == "merge":
            _join(wing_parents if room is None else room_parents, one, target)
        elif kind == "move":
            standing[one] = (own, target)
        else:
            (wing_names if room is None else room_names)[one] = (own, name)
    wings, numbered = _wings_called(wing_names, wing_parents)
    rooms, others = _rooms_stand(room_names, standing, room_parents, wing_parents)
    return Settled(wings, rooms, tuple(numbered + others))


def differing(connection: Connection) -> tuple[int, int]:
    """Return how many wings and how many rooms the tables tell otherwise than the rows that count."""
    wanted = settled(connection)
    wings, rooms = _wings(connection), _rooms(connection)
    return (
        sum(wings.get(row) != called for row, called in wanted.wings.items()),
        sum(rooms.get(row) != stands for row, stands in wanted.rooms.items()),
    )


def _wings(connection: Connection) -> dict[int, Called]:
    return {row: Called(name, into) for row, name, into in connection.execute("SELECT id, name, merged_into FROM wing")}


def _rooms(connection: Connection) -> dict[int, Stands]:
    rows = connection.execute("SELECT id, wing, name, merged_into FROM room")
    return {row: Stands(wing, name, into) for row, wing, name, into in rows}


def _join(parents: dict[int, int], one: int, into: int) -> None:
    if _root(parents, into) != one:
        parents[one] = into


def _root(parents: Mapping[int, int], one: int) -> int:
    while one in parents:
        one = parents[one]
    return one


_Claim = tuple[int, str]
"""Since which row something is called so (0: from the first), and how."""


def _wings_called(
    names: Mapping[int, _Claim], parents: Mapping[int, int]
) -> tuple[dict[int, Called], list[tuple[int, int | None, str]]]:
    given, numbered = _distinct((since, row, name) for row, (since, name) in names.items() if row not in parents)
    roots = {row: _root(parents, row) for row in names}
    called = {row: Called(given[root], None if root == row else root) for row, root in roots.items()}
    return called, [(row, None, names[row][1]) for row in numbered]


def _rooms_stand(
    names: Mapping[int, _Claim],
    standing: Mapping[int, tuple[int, int]],
    parents: Mapping[int, int],
    wing_parents: Mapping[int, int],
) -> tuple[dict[int, Stands], list[tuple[int, int | None, str]]]:
    wings = {row: _root(wing_parents, wing) for row, (_, wing) in standing.items()}
    by_wing: dict[int, list[tuple[int, int, str]]] = {}
    for row, (since, name) in names.items():
        if row not in parents:
            by_wing.setdefault(wings[row], []).append((max(since, standing[row][0]), row, name))
    given: dict[int, str] = {}
    numbered: list[tuple[int, int | None, str]] = []
    for wing, claims in by_wing.items():
        own, others = _distinct(claims)
        given.update(own)
        numbered += [(wing, row, names[row][1]) for row in others]
    roots = {row: _root(parents, row) for row in names}
    stands = {row: Stands(wings[root], given[root], None if root == row else root) for row, root in roots.items()}
    return stands, numbered


def _distinct(claims: Iterable[tuple[int, int, str]]) -> tuple[dict[int, str], list[int]]:
    """Give each row, of (since when, row, name), a name of its own; return also the rows whose name had to differ."""
    ordered = sorted(claims)
    wanted = {name for _, _, name in ordered}
    given: dict[int, str] = {}
    taken: set[str] = set()
    numbered = []
    for _, row, name in ordered:
        own, number = name, 1
        while own in taken or (number > 1 and own in wanted):
            number += 1
            own = f"{name}-{number}"
        taken.add(own)
        given[row] = own
        if own != name:
            numbered.append(row)
    return given, numbered
