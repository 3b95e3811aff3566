"""How wings and rooms are named and put together: rows that are only added and retired, and what follows from them.

A wing or a room is what it was created as, changed by the rows that count, in their order: it has the last name, a
room stands in the wing it was last moved to, and one that is merged is a part of another. Their order is that of when
they were recorded, and of their ids. `settle` writes what follows into the tables `wing` and `room`, where everybody
reads it; it is a function of the rows alone, whichever device they came from and in whatever order. Rows that were
recorded apart from each other may claim more than can be: the first that has a name keeps it and the next gets a
number, and a merge that would close a circle does not count.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
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


Numbered = tuple[int, int | None, str]
"""Something whose name another has, so that it got a number: (a wing's row id, a room's or None, the name)."""


@dataclass(frozen=True, slots=True)
class Settled:
    """What follows from the rows that count, by row id. Everything else is called, and stands, as it was created."""

    wings: Mapping[int, Called]
    rooms: Mapping[int, Stands]
    numbered: tuple[Numbered, ...]


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


def settle(connection: Connection) -> list[Numbered]:
    """Write what follows from the rows that count; return what of it that changed had to get a number."""
    wanted = settled(connection)
    wings_now, rooms_now = _wings(connection), _rooms(connection)
    wings = [(row, called) for row, called in wanted.wings.items() if wings_now[row] != called]
    rooms = [(row, stands) for row, stands in wanted.rooms.items() if rooms_now[row] != stands]
    # Out of the way first: in between two of them would be called the same.
    connection.executemany("UPDATE wing SET merged_into = id WHERE id = ?", ((row,) for row, _ in wings))
    connection.executemany("UPDATE room SET merged_into = id WHERE id = ?", ((row,) for row, _ in rooms))
    connection.execute(f"UPDATE wing SET name = first_name, merged_into = NULL WHERE {_OTHER_WINGS}")
    connection.execute(f"UPDATE room SET wing = first_wing, name = first_name, merged_into = NULL WHERE {_OTHER_ROOMS}")
    connection.executemany(
        "UPDATE wing SET name = ?, merged_into = ? WHERE id = ?", ((*called, row) for row, called in wings)
    )
    connection.executemany(
        "UPDATE room SET wing = ?, name = ?, merged_into = ? WHERE id = ?", ((*stands, row) for row, stands in rooms)
    )
    changed_wings, changed_rooms = {row for row, _ in wings}, {row for row, _ in rooms}
    return [one for one in wanted.numbered if (one[0] in changed_wings if one[1] is None else one[1] in changed_rooms)]


def settled(connection: Connection) -> Settled:
    """Return what follows from the rows that count."""
    rows = connection.execute(f"SELECT id, first_name FROM wing WHERE id IN {_WINGS} ORDER BY uid")
    wing_names = {int(row): (0, str(name)) for row, name in rows}
    firsts = list(
        connection.execute(f"SELECT id, first_wing, first_name FROM room WHERE {_ARRANGED_ROOM} ORDER BY uid")
    )
    room_names = {int(row): (0, str(name)) for row, _, name in firsts}
    standing = {int(row): (0, int(wing)) for row, wing, _ in firsts}
    wing_parents: _Parents = {}
    room_parents: _Parents = {}
    rows = connection.execute(
        "SELECT kind, wing, room, name, target FROM arrangement WHERE retired_at IS NULL ORDER BY recorded_at, uid"
    )
    for own, (kind, wing, room, name, target) in enumerate(rows, 1):
        one = wing if room is None else room
        if kind == "merge":
            _join(wing_parents if room is None else room_parents, one, own, target)
        elif kind == "move":
            standing[one] = (own, target)
        else:
            (wing_names if room is None else room_names)[one] = (own, name)
    wings, numbered = _wings_called(connection, wing_names, wing_parents)
    rooms, others = _rooms_stand(connection, room_names, standing, room_parents, wing_parents)
    return Settled(wings, rooms, tuple(numbered + others))


def differing(connection: Connection) -> tuple[int, int]:
    """Return how many wings and how many rooms the tables tell otherwise than the rows that count."""
    wanted = settled(connection)
    wings, rooms = _wings(connection), _rooms(connection)
    (other_wings,) = next(connection.execute(f"SELECT count(*) FROM wing WHERE {_OTHER_WINGS}"))
    (other_rooms,) = next(connection.execute(f"SELECT count(*) FROM room WHERE {_OTHER_ROOMS}"))
    return (
        sum(wings.get(row) != called for row, called in wanted.wings.items()) + int(other_wings),
        sum(rooms.get(row) != stands for row, stands in wanted.rooms.items()) + int(other_rooms),
    )


_WINGS = (
    "(SELECT wing FROM arrangement WHERE wing IS NOT NULL AND retired_at IS NULL UNION SELECT id FROM wing"
    " WHERE first_name IN (SELECT first_name FROM wing GROUP BY first_name HAVING count(*) > 1))"
)
"""What has a row that counts, and what was created under the name that another was: on another device."""
_ARRANGED_ROOM = (
    "(id IN (SELECT room FROM arrangement WHERE room IS NOT NULL AND retired_at IS NULL) OR first_wing IN"
    " (SELECT wing FROM arrangement WHERE kind = 'merge' AND wing IS NOT NULL AND retired_at IS NULL)"
    " OR (first_wing, first_name) IN (SELECT first_wing, first_name FROM room GROUP BY 1, 2 HAVING count(*) > 1))"
)
_OTHER_WINGS = f"id NOT IN {_WINGS} AND (name <> first_name OR merged_into IS NOT NULL)"
_OTHER_ROOMS = f"NOT {_ARRANGED_ROOM} AND (wing <> first_wing OR name <> first_name OR merged_into IS NOT NULL)"
"""Those that should be as they were created, and are not."""


def _wings(connection: Connection) -> dict[int, Called]:
    rows = connection.execute(f"SELECT id, name, merged_into FROM wing WHERE id IN {_WINGS}")
    return {row: Called(name, into) for row, name, into in rows}


def _rooms(connection: Connection) -> dict[int, Stands]:
    rows = connection.execute(f"SELECT id, wing, name, merged_into FROM room WHERE {_ARRANGED_ROOM}")
    return {row: Stands(wing, name, into) for row, wing, name, into in rows}


_Parents = dict[int, tuple[int, int]]
"""By what is a part of another: since which of the rows that count (the first is 1), and of what."""


def _join(parents: _Parents, one: int, since: int, into: int) -> None:
    if _root(parents, into) != one:
        parents[one] = since, into


def _root(parents: _Parents, one: int) -> int:
    while one in parents:
        _, one = parents[one]
    return one


def _since(parents: _Parents, one: int) -> int:
    """Since which row something is a part of what it is a part of; 0 where it stands for itself."""
    latest = 0
    while one in parents:
        since, one = parents[one]
        latest = max(latest, since)
    return latest


_Claim = tuple[int, str]
"""Since which row something is called so (0: from the first), and how."""


def _wings_called(
    connection: Connection, names: Mapping[int, _Claim], parents: _Parents
) -> tuple[dict[int, Called], list[Numbered]]:
    given, numbered = _distinct(
        ((since, row, name) for row, (since, name) in names.items() if row not in parents),
        lambda name: _is_another(connection.execute("SELECT id FROM wing WHERE first_name = ?", (name,)), names),
    )
    roots = {row: _root(parents, row) for row in names}
    for root in set(roots.values()) - set(given):  # something was merged into one of which nothing else was recorded
        given[root] = str(next(connection.execute("SELECT first_name FROM wing WHERE id = ?", (root,)))[0])
    called = {row: Called(given[root], None if root == row else root) for row, root in roots.items()}
    return called, [(row, None, names[row][1]) for row in numbered]


def _rooms_stand(
    connection: Connection,
    names: Mapping[int, _Claim],
    standing: Mapping[int, tuple[int, int]],
    parents: _Parents,
    wing_parents: _Parents,
) -> tuple[dict[int, Stands], list[Numbered]]:
    wings = {row: _root(wing_parents, wing) for row, (_, wing) in standing.items()}
    by_wing: dict[int, list[tuple[int, int, str]]] = {}
    for row, (since, name) in names.items():
        if row not in parents:
            moved, wing = standing[row]
            by_wing.setdefault(wings[row], []).append((max(since, moved, _since(wing_parents, wing)), row, name))
    stands: dict[int, Stands] = {}
    numbered: list[Numbered] = []
    for wing, claims in by_wing.items():
        given, others = _distinct(claims, partial(_is_created_in, connection, wing, names))
        stands.update((row, Stands(wing, name, None)) for row, name in given.items())
        numbered += [(wing, row, names[row][1]) for row in others]
    for row in names:
        root = _root(parents, row)
        if root != row:
            own = stands[root] if root in stands else _as_created(connection, root)
            stands[row] = own._replace(merged_into=root)
    return stands, numbered


def _is_created_in(connection: Connection, wing: int, arranged: Collection[int], name: str) -> bool:
    """Whether a room of which no row counts has the name in a wing."""
    rows = connection.execute("SELECT id FROM room WHERE first_wing = ? AND first_name = ?", (wing, name))
    return _is_another(rows, arranged)


def _as_created(connection: Connection, room: int) -> Stands:
    wing, name = next(connection.execute("SELECT first_wing, first_name FROM room WHERE id = ?", (room,)))
    return Stands(int(wing), str(name), None)


def _is_another(rows: Iterable[tuple[int]], arranged: Collection[int]) -> bool:
    return any(row not in arranged for (row,) in rows)


def _distinct(
    claims: Iterable[tuple[int, int, str]], is_taken: Callable[[str], bool]
) -> tuple[dict[int, str], list[int]]:
    """Give each row, of (since when, row, name), a name of its own; return also the rows whose name had to differ.

    Of those that have a name since the same moment (from the first, as it were) the one that is told first keeps it.

    `is_taken` says of a name whether something else has it from the first.
    """
    ordered = sorted(claims, key=lambda claim: claim[0])
    wanted = {name for _, _, name in ordered}
    given: dict[int, str] = {}
    taken: set[str] = set()
    numbered = []
    for _, row, name in ordered:
        own, number = name, 1
        while own in taken or is_taken(own) or (number > 1 and own in wanted):
            number += 1
            own = f"{name}-{number}"
        taken.add(own)
        given[row] = own
        if own != name:
            numbered.append(row)
    return given, numbered
