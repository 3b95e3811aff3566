"""Wings, rooms and projects: names to row ids."""

from __future__ import annotations

import json

from palazzo.model import Place
from palazzo.store import tombstones
from palazzo.store.database import Connection


def room_id(connection: Connection, place: Place) -> int:
    """Return the row id of the room, creating it and its wing when they are new."""
    wing, name = wing_id(connection, place.wing), tombstones.name(connection, place.room)
    for (found,) in connection.execute("SELECT id FROM room WHERE wing = ? AND name = ?", (wing, name)):
        return int(found)
    (created,) = next(connection.execute("INSERT INTO room(wing, name) VALUES(?, ?) RETURNING id", (wing, name)))
    return int(created)


def wing_exists(connection: Connection, name: str) -> bool:
    """Whether a wing of that name is there."""
    name = tombstones.name(connection, name)
    return any(True for _ in connection.execute("SELECT 1 FROM wing WHERE name = ?", (name,)))


def wing_names(connection: Connection) -> list[str]:
    """Return all wings, sorted."""
    return [str(name) for (name,) in connection.execute("SELECT name FROM wing ORDER BY name")]


def room_names(connection: Connection, wing: str) -> list[str]:
    """Return the rooms of a wing, sorted."""
    rows = connection.execute(
        "SELECT room.name FROM room JOIN wing ON wing.id = room.wing WHERE wing.name = ? ORDER BY 1", (wing,)
    )
    return [str(name) for (name,) in rows]


def rooms_in_scope(connection: Connection, wing: str | None, room: str | None) -> list[tuple[int, int]]:
    """Return (room id, wing id) of every room that a search in `wing` and `room` covers."""
    rows = connection.execute(
        "SELECT room.id, room.wing FROM room JOIN wing ON wing.id = room.wing"
        " WHERE (?1 IS NULL OR wing.name = ?1) AND (?2 IS NULL OR room.name = ?2)",
        (wing, room),
    )
    return [(int(a), int(b)) for a, b in rows]


def places(connection: Connection) -> dict[int, tuple[Place, int]]:
    """Return every room id with its place and its wing id."""
    rows = connection.execute(
        "SELECT room.id, wing.name, room.name, wing.id FROM room JOIN wing ON wing.id = room.wing"
    )
    return {int(rid): (Place(wing, room), int(wid)) for rid, wing, room, wid in rows}


def wing_and_name(connection: Connection, room: int) -> tuple[int, str]:
    """Return the wing's row id and the name of a room."""
    wing, name = next(connection.execute("SELECT wing, name FROM room WHERE id = ?", (room,)))
    return int(wing), str(name)


def wing_of_project(connection: Connection, identity: str) -> str | None:
    """Return the wing that holds the project, or None when it has not been seen."""
    identity = tombstones.name(connection, identity)
    rows = connection.execute(
        "SELECT wing.name FROM project JOIN wing ON wing.id = project.wing WHERE identity = ?", (identity,)
    )
    for (name,) in rows:
        return str(name)
    return None


def wings_of_projects(connection: Connection) -> set[str]:
    """Return the wings that belong to a project."""
    return {str(name) for (name,) in connection.execute("SELECT name FROM wing JOIN project ON project.wing = wing.id")}


def project_at(connection: Connection, root: str) -> str | None:
    """Return the identity of the project that was last seen at the directory `root`."""
    root = tombstones.name(connection, root)
    rows = connection.execute(
        "SELECT identity FROM project, json_each(project.roots) WHERE json_each.value = ? ORDER BY project.id", (root,)
    )
    for (identity,) in rows:
        return str(identity)
    return None


def roots_of_project(connection: Connection, identity: str) -> list[str]:
    """Return the local directories that were seen to hold the project, newest first."""
    identity = tombstones.name(connection, identity)
    for (roots,) in connection.execute("SELECT roots FROM project WHERE identity = ?", (identity,)):
        return list(json.loads(roots))
    return []


def all_roots(connection: Connection) -> list[str]:
    """Return every local directory that was seen to hold a project."""
    rows = connection.execute("SELECT DISTINCT json_each.value FROM project, json_each(project.roots)")
    return [str(root) for (root,) in rows]


def file_project(connection: Connection, identity: str, wing: str, root: str) -> str:
    """Record that `identity` lives in `wing` and was seen at `root`; return the wing's name."""
    identity, root = tombstones.name(connection, identity), tombstones.name(connection, root)
    roots = roots_of_project(connection, identity)
    if root and (not roots or roots[0] != root):
        roots = [root, *(other for other in roots if other != root)][:16]
    connection.execute(
        "INSERT INTO project(identity, wing, roots) VALUES(?, ?, ?)"
        " ON CONFLICT(identity) DO UPDATE SET roots = excluded.roots, wing = excluded.wing",
        (identity, wing_id(connection, wing), json.dumps(roots)),
    )
    return wing


def wing_id(connection: Connection, name: str) -> int:
    """Return the row id of the wing, creating it when it is new."""
    name = tombstones.name(connection, name)
    for (found,) in connection.execute("SELECT id FROM wing WHERE name = ?", (name,)):
        return int(found)
    (created,) = next(connection.execute("INSERT INTO wing(name) VALUES(?) RETURNING id", (name,)))
    return int(created)
