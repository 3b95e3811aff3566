"""Wings, rooms and projects: names to row ids.

Row ids never change. A wing and a room keep their first names. Their current names, and the wing that a room is in,
follow from that and from later arrangements by people (`store/arrangements`). A merged wing or room has the target's
name and wing in the tables, so a reader who looks them up by name finds both.

A former name *leads* to its former owner as long as nothing else has that name: content filed under the name, and
requests for it, go there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

from palazzo.model import Micros, Place
from palazzo.store import tombstones, uids
from palazzo.store.change_groups import IMPORT_OF_EXPORT
from palazzo.store.database import Connection
from palazzo.store.json_columns import decode_string

# --- filing ------------------------------------------------------------------------------------------------


def room_id(connection: Connection, place: Place) -> int:
    """Return the row id of the room that a place resolves to, creating the room and its wing if they are new."""
    wing, name = wing_id(connection, place.wing), tombstones.name(connection, place.room)
    room = room_led_to(connection, wing, name)
    if room is not None:
        return room
    (first,) = next(connection.execute("SELECT uid FROM wing WHERE id = ?", (wing,)))
    uid = uids.free(lambda number: uids.of_room(bytes(first), name, number), partial(_is_taken, connection, "room"))
    rows = connection.execute(
        "INSERT INTO room(uid, first_wing, first_name, wing, name) VALUES(?3, ?1, ?2, ?1, ?2) RETURNING id",
        (wing, name, uid),
    )
    return int(next(rows)[0])


def wing_id(connection: Connection, name: str) -> int:
    """Return the row id of the wing that a name resolves to, creating it if it is new."""
    name = tombstones.name(connection, name)
    wing = wing_led_to(connection, name)
    if wing is not None:
        return wing
    uid = uids.free(lambda number: uids.of_wing(name, number), partial(_is_taken, connection, "wing"))
    rows = connection.execute("INSERT INTO wing(uid, first_name, name) VALUES(?2, ?1, ?1) RETURNING id", (name, uid))
    return int(next(rows)[0])


def _is_taken(connection: Connection, table: str, uid: bytes) -> bool:
    return any(True for _ in connection.execute(f"SELECT 1 FROM {table} WHERE uid = ?", (uid,)))


def room_of_move(connection: Connection, detail: Mapping[str, str]) -> int:
    """Return the row id of the room to which an act moved drawers."""
    return int(detail["row"]) if "row" in detail else room_id(connection, Place(detail["wing"], detail["room"]))


# --- what names lead to ------------------------------------------------------------------------------------


def wing_led_to(connection: Connection, name: str) -> int | None:
    """Return the wing with the current name `name`, else the last one that had it."""
    for (wing,) in connection.execute("SELECT id FROM wing WHERE name = ? AND merged_into IS NULL", (name,)):
        return int(wing)
    rows = connection.execute(
        "SELECT coalesce(wing.merged_into, wing.id) FROM (SELECT wing AS was, recorded_at AS at, uid AS own"
        " FROM arrangement WHERE kind = 'name' AND wing IS NOT NULL AND name = ?1 AND retired_at IS NULL"
        " UNION ALL SELECT id, 0, uid FROM wing WHERE first_name = ?1)"
        " CROSS JOIN wing ON wing.id = was ORDER BY at DESC, own DESC LIMIT 1",
        (name,),
    )
    return next((int(wing) for (wing,) in rows), None)


def wing_called_then(connection: Connection, name: str, at: Micros) -> int | None:
    """Return the wing named `name` at a time (or its current whole), else the wing that the name resolves to.

    This is for recorded names: another wing with that name since, or a renaming that was undone, is not meant.
    """
    rows = connection.execute(
        "SELECT coalesce(wing.merged_into, wing.id) FROM wing WHERE id IN (SELECT wing FROM arrangement"
        " WHERE kind = 'name' AND wing IS NOT NULL AND name = ?1 UNION SELECT id FROM wing WHERE first_name = ?1)"
        " AND coalesce((SELECT name FROM arrangement WHERE kind = 'name' AND arrangement.wing = wing.id"
        " AND recorded_at <= ?2 AND (retired_at IS NULL OR retired_at > ?2)"
        " ORDER BY recorded_at DESC, arrangement.uid DESC LIMIT 1), first_name) = ?1 ORDER BY wing.uid DESC LIMIT 1",
        (name, at),
    )
    wing = next((int(row) for (row,) in rows), None)
    return wing_led_to(connection, name) if wing is None else wing


def room_led_to(connection: Connection, wing: int, name: str) -> int | None:
    """Return the room with the name `name` in the wing with that row id, else the last one that had it."""
    rows = connection.execute("SELECT id FROM room WHERE wing = ? AND name = ? AND merged_into IS NULL", (wing, name))
    for (room,) in rows:
        return int(room)
    rows = connection.execute(
        "SELECT coalesce(room.merged_into, room.id) FROM (SELECT arrangement.room AS was, recorded_at AS at,"
        " arrangement.uid AS own FROM arrangement JOIN wing ON wing.id = target"
        " WHERE arrangement.name = ?2 AND kind IN ('name', 'move') AND arrangement.room IS NOT NULL"
        " AND retired_at IS NULL AND coalesce(merged_into, wing.id) = ?1"
        " UNION ALL SELECT room.id, 0, room.uid FROM wing CROSS JOIN room ON room.first_wing = wing.id"
        " AND room.first_name = ?2 WHERE wing.id = ?1 OR wing.merged_into = ?1)"
        " CROSS JOIN room ON room.id = was ORDER BY at DESC, own DESC LIMIT 1",
        (wing, name),
    )
    return next((int(room) for (room,) in rows), None)


def rooms_led_to(connection: Connection, name: str) -> list[int]:
    """Return the rooms of any wing with the name `name`; if there are none, those that had it before."""
    rows = list(connection.execute("SELECT id FROM room WHERE name = ? AND merged_into IS NULL ORDER BY id", (name,)))
    if not rows:
        rows = list(
            connection.execute(
                "SELECT DISTINCT coalesce(merged_into, id) FROM room WHERE first_name = ?1 OR id IN (SELECT room"
                " FROM arrangement WHERE name = ?1 AND kind IN ('name', 'move') AND retired_at IS NULL) ORDER BY 1",
                (name,),
            )
        )
    return [int(row) for (row,) in rows]


def wing_name(connection: Connection, wing: int) -> str:
    """Return the name of the wing with that row id."""
    return str(next(connection.execute("SELECT name FROM wing WHERE id = ?", (wing,)))[0])


def place_of(connection: Connection, room: int) -> Place:
    """Return the place of the room with that row id."""
    rows = connection.execute(
        "SELECT wing.name, room.name FROM room JOIN wing ON wing.id = room.wing WHERE room.id = ?", (room,)
    )
    return Place(*next(rows))


def leads_to(connection: Connection, place: Place) -> Place:
    """Return the place that `place` resolves to: itself if neither its wing nor its room has another name."""
    wing = wing_led_to(connection, place.wing)
    if wing is None:
        return place
    room = room_led_to(connection, wing, place.room)
    return place_of(connection, room) if room is not None else Place(wing_name(connection, wing), place.room)


# --- where to look -----------------------------------------------------------------------------------------


class Scope(NamedTuple):
    """The scope of a search: the row ids of the rooms, None for everywhere.

    `wing` is the wing's current name, `places` are the places of the rooms if a room was named; the other is None.
    """

    wing: str | None
    rooms: tuple[int, ...] | None
    places: frozenset[Place] | None


def scope(connection: Connection, wing: str | None, room: str | None) -> Scope:
    """Return the scope of a search in `wing` and `room`; both may be former names."""
    if wing is None and room is None:
        return Scope(None, None, None)
    at = None if wing is None else wing_led_to(connection, wing)
    if wing is not None and at is None:
        return Scope(wing, (), None)
    if room is None and at is not None:
        return Scope(wing_name(connection, at), _rooms_where(connection, "wing = ?", (at,)), None)
    room = room or ""
    room_rows = rooms_led_to(connection, room) if at is None else [room_led_to(connection, at, room)]
    rows = [row for row in room_rows if row is not None]
    same = "(id IN (SELECT value FROM json_each(?1)) OR merged_into IN (SELECT value FROM json_each(?1)))"
    own = frozenset(place_of(connection, row) for row in rows)
    return Scope(None, _rooms_where(connection, same, (json.dumps(rows),)), own)


def _rooms_where(connection: Connection, condition: str, parameters: tuple[int | str | None, ...]) -> tuple[int, ...]:
    return tuple(int(room) for (room,) in connection.execute(f"SELECT id FROM room WHERE {condition}", parameters))


class Stretch(NamedTuple):
    """Rooms created in one wing: all of them (`rooms` is empty), only these, or all `but` these."""

    first_wing: int
    but: bool
    rooms: tuple[int, ...]


def stretches(connection: Connection, wing: str) -> list[Stretch]:
    """Return the rooms of a wing in the keyword index's terms: by the wing in which each was created.

    Of the rooms created in one wing, those that have moved elsewhere are excluded one by one, unless they are the
    majority.
    """
    row = wing_led_to(connection, wing)
    stretch_list = []
    firsts = connection.execute("SELECT first_wing, count(*) FROM room WHERE wing = ? GROUP BY first_wing", (row,))
    for first, inside in list(firsts):
        moved_rooms = _rooms_where(connection, "first_wing = ? AND wing <> ?", (first, row))
        but = len(moved_rooms) < inside
        rooms = moved_rooms if but else _rooms_where(connection, "first_wing = ? AND wing = ?", (first, row))
        stretch_list.append(Stretch(int(first), but, rooms))
    return stretch_list


def first_place(connection: Connection, room: int) -> tuple[int, str]:
    """Return the wing (row id) and the name with which a room was created: the keyword index uses these."""
    wing, name = next(connection.execute("SELECT first_wing, first_name FROM room WHERE id = ?", (room,)))
    return int(wing), str(name)


# --- lists -------------------------------------------------------------------------------------------------


class RoomRow(NamedTuple):
    """A room that was not merged into another, and its place."""

    row: int
    wing: int
    place: Place


def rooms(connection: Connection, wing: int | None = None) -> list[RoomRow]:
    """Return all rooms, or the rooms of a wing, by wing and name."""
    rows = connection.execute(
        "SELECT room.id, wing.id, wing.name, room.name FROM room JOIN wing ON wing.id = room.wing"
        " WHERE room.merged_into IS NULL AND (?1 IS NULL OR room.wing = ?1) ORDER BY wing.name, room.name",
        (wing,),
    )
    return [RoomRow(int(row), int(own), Place(at, name)) for row, own, at, name in rows]


def wings_of_rooms(connection: Connection) -> dict[int, str]:
    """Return, by room (row id), the name of its wing; rooms that were merged into others are included."""
    rows = connection.execute("SELECT room.id, wing.name FROM room JOIN wing ON wing.id = room.wing ORDER BY room.id")
    return {int(room): str(wing) for room, wing in rows}


def left_by_imports(connection: Connection) -> tuple[set[int], set[int]]:
    """Return the wings and rooms (row ids) with only items of undone imports: lists omit them."""
    rows = connection.execute(
        "WITH brought(item) AS (SELECT ref FROM group_member WHERE kind = 'note' AND grp IN (SELECT u.undoes"
        " FROM change_group u JOIN change_group g ON g.id = u.undoes WHERE g.verb IN ('import', ?)))"
        " SELECT room.wing, room.id, (SELECT count(*) FROM item WHERE item.room = room.id),"
        " (SELECT count(*) FROM item WHERE item.room = room.id AND id IN brought) FROM room"
        " WHERE EXISTS (SELECT 1 FROM brought)",
        (IMPORT_OF_EXPORT,),
    )
    rooms: dict[bool, set[int]] = {True: set(), False: set()}
    wings: dict[bool, set[int]] = {True: set(), False: set()}
    for wing, room, count, count_brought in rows:
        is_left = 0 < count == count_brought
        rooms[is_left].add(int(room))
        wings[is_left].add(int(wing))
    return wings[True] - wings[False], rooms[True]


def wings(connection: Connection) -> dict[int, str]:
    """Return the wings that are not part of another, by row id, sorted by name."""
    rows = connection.execute("SELECT id, name FROM wing WHERE merged_into IS NULL ORDER BY name")
    return {int(row): str(name) for row, name in rows}


def wing_names(connection: Connection) -> list[str]:
    """Return the names of all wings, sorted."""
    return list(wings(connection).values())


def room_names(connection: Connection, wing: str | None = None) -> list[str]:
    """Return the distinct names of all rooms, or of a wing's rooms, sorted."""
    rows = connection.execute(
        "SELECT DISTINCT room.name FROM room JOIN wing ON wing.id = room.wing"
        " WHERE room.merged_into IS NULL AND (?1 IS NULL OR wing.name = ?1) ORDER BY 1",
        (wing,),
    )
    return [str(name) for (name,) in rows]


def former_wing_names(connection: Connection) -> dict[int, list[str]]:
    """Return, by wing, the other names that resolve to it, sorted."""
    rows = connection.execute(
        "SELECT DISTINCT coalesce(wing.merged_into, wing.id), was FROM (SELECT wing AS own, name AS was FROM"
        " arrangement WHERE kind = 'name' AND wing IS NOT NULL AND retired_at IS NULL"
        " UNION ALL SELECT id, first_name FROM wing) JOIN wing ON wing.id = own WHERE was <> wing.name ORDER BY was"
    )
    names_by_wing: dict[int, list[str]] = {}
    for wing, was in list(rows):
        if wing_led_to(connection, was) == wing:
            names_by_wing.setdefault(int(wing), []).append(str(was))
    return names_by_wing


def former_room_places(connection: Connection) -> dict[int, list[Place]]:
    """Return, by room, the other places that resolve to it, by the current names of their wings, sorted."""
    rows = connection.execute(
        "SELECT DISTINCT coalesce(room.merged_into, room.id), at.id, at.name, was FROM (SELECT room AS own,"
        " target AS there, name AS was FROM arrangement WHERE kind IN ('name', 'move') AND room IS NOT NULL"
        " AND retired_at IS NULL UNION ALL SELECT id, first_wing, first_name FROM room) JOIN room ON room.id = own"
        " JOIN wing ON wing.id = there JOIN wing at ON at.id = coalesce(wing.merged_into, wing.id)"
        " WHERE was <> room.name OR at.id <> room.wing ORDER BY at.name, was"
    )
    places_by_room: dict[int, list[Place]] = {}
    for room, wing, current_name, was in list(rows):
        if room_led_to(connection, wing, was) == room:
            places_by_room.setdefault(int(room), []).append(Place(current_name, was))
    return places_by_room


# --- projects ----------------------------------------------------------------------------------------------


def wing_of_project(connection: Connection, identity: str) -> str | None:
    """Return the wing that holds the project, or None if the project has not been seen."""
    identity = tombstones.name(connection, identity)
    rows = connection.execute(
        "SELECT wing.name FROM project JOIN wing ON wing.id = project.wing WHERE identity = ?", (identity,)
    )
    for (name,) in rows:
        return str(name)
    return None


def projects_of_wing(connection: Connection, wing: int) -> list[str]:
    """Return the identities of the projects in a wing."""
    rows = connection.execute("SELECT identity FROM project WHERE wing = ? ORDER BY id", (wing,))
    return [str(identity) for (identity,) in rows]


def names_of_projects(connection: Connection) -> set[str]:
    """Return the current and former names that resolve to a wing with a project."""
    rows = connection.execute(
        "SELECT name FROM wing WHERE id IN (SELECT wing FROM project)"
        " UNION SELECT first_name FROM wing WHERE id IN (SELECT wing FROM project)"
        " UNION SELECT name FROM arrangement WHERE kind = 'name' AND wing IN (SELECT wing FROM project)"
        " AND retired_at IS NULL"
    )
    return {str(name) for (name,) in rows}


def project_at(connection: Connection, root: str) -> str | None:
    """Return the identity of the project last seen at the directory `root`."""
    root = tombstones.name(connection, root)
    rows = connection.execute(
        "SELECT identity FROM project, json_each(project.roots) WHERE CAST(json_each.value AS BLOB) = ?"
        " ORDER BY project.id",
        (root.encode("utf-8", "surrogatepass"),),
    )
    for (identity,) in rows:
        return str(identity)
    return None


def roots_of_project(connection: Connection, identity: str) -> list[str]:
    """Return the local directories in which the project was seen, newest first."""
    identity = tombstones.name(connection, identity)
    for (roots,) in connection.execute("SELECT roots FROM project WHERE identity = ?", (identity,)):
        return list(json.loads(roots))
    return []


def roots_of_wing(connection: Connection, wing: str) -> list[str]:
    """Return the local directories in which a wing's projects were seen."""
    rows = connection.execute(
        "SELECT DISTINCT CAST(json_each.value AS BLOB) FROM project JOIN wing ON wing.id = project.wing,"
        " json_each(project.roots) WHERE wing.name = ? ORDER BY project.id, json_each.key",
        (wing,),
    )
    return [decode_string(root) for (root,) in rows]


def all_roots(connection: Connection) -> list[str]:
    """Return every local directory in which a project was seen."""
    rows = connection.execute("SELECT DISTINCT CAST(json_each.value AS BLOB) FROM project, json_each(project.roots)")
    return [decode_string(root) for (root,) in rows]


def file_project(connection: Connection, identity: str, wing: str, root: str, at: Micros = Micros(0)) -> None:
    """Record that `identity` was seen at `root`, and if it is new, that it is in `wing` since `at`.

    A known project stays in its wing, whatever the wing's current name: a person may have renamed or merged it.
    """
    identity, root = tombstones.name(connection, identity), tombstones.name(connection, root)
    old_roots = roots_of_project(connection, identity)
    roots = [root, *(old_root for old_root in old_roots if old_root != root)][:16] if root else old_roots
    if wing_of_project(connection, identity) is None:
        connection.execute(
            "INSERT INTO project(identity, wing, roots, changed_at) VALUES(?, ?, ?, ?)",
            (identity, wing_id(connection, wing), json.dumps(roots), at),
        )
    elif roots != old_roots:
        connection.execute("UPDATE project SET roots = ? WHERE identity = ?", (json.dumps(roots), identity))


def names_of_places(connection: Connection) -> list[tuple[str, str]]:
    """Return (wing or room, name) for all current and former names of wings and rooms, each once."""
    select = (
        "SELECT 'wing', name FROM wing UNION SELECT 'wing', first_name FROM wing"
        " UNION SELECT 'room', name FROM room UNION SELECT 'room', first_name FROM room"
        " UNION SELECT iif(wing IS NULL, 'room', 'wing'), name FROM arrangement WHERE name <> ''"
    )
    return [(str(kind), str(name)) for kind, name in connection.execute(select)]
