"""Wings, rooms and projects, and how wings and rooms were arranged since.

The identity of a wing is that of its creation. Its current name follows from all arrangements of it, on any device. So
it is merged under its first name, and `arrangements.settle` determines its current name at the end of the transaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from palazzo.frozen_class import frozen
from palazzo.store import foreign_rows
from palazzo.store.arrangements import ArrangementKind
from palazzo.store.database import Connection
from palazzo.sync.field_codecs import Id, Name, Time, require
from palazzo.sync.merge_state import Outcome, Work, earliest
from palazzo.sync.records.foreign_checks import has_row
from palazzo.sync.records.palace_snapshot import Selection, query_reader
from palazzo.sync.records.record_kind import Record, RecordKind, Verdict


@frozen
class Wing(Record):
    """A wing as it was created. Its current name follows from `arrangement`."""

    id: Id
    first_name: Name


@frozen
class Room(Record):
    """A room as it was created, in the wing with that id."""

    id: Id
    wing: Id
    first_name: Name


@frozen
class Project(Record):
    """A project, identified by its identity, and its wing since `changed_at`."""

    identity: Name
    wing: Id
    changed_at: Time = 0


@frozen
class Arrangement(Record):
    """A change to a wing or a room; `target` is a wing, or the room into which another is merged."""

    id: Id
    type: ArrangementKind
    recorded_at: Time
    wing: Id | None = None
    room: Id | None = None
    name: Name = ""
    target: Id | None = None
    retired_at: Time | None = None

    @property
    def target_room(self) -> str | None:
        """The target, if it is a room."""
        return self.target if self.type == "merge" and self.room is not None else None

    @property
    def target_wing(self) -> str | None:
        """The target, if it is a wing."""
        return self.target if self.target_room is None else None


# --- wings and rooms ---------------------------------------------------------------------------------------


def _merge_wing(work: Work, record: Wing) -> Outcome:
    if work.find("wing", record.id) is not None:
        return "same"
    name = work.name(record.first_name)
    work.connection.execute(
        "INSERT INTO wing(id, uid, first_name, name, merged_into)"
        " SELECT n, ?1, ?2, ?2,"
        " CASE WHEN EXISTS (SELECT 1 FROM wing WHERE name = ?2 AND merged_into IS NULL) THEN n END"
        " FROM (SELECT coalesce(max(id), 0) + 1 AS n FROM wing)",
        (bytes.fromhex(record.id), name),
    )
    work.arranged = True
    return "added"


def _merge_room(work: Work, record: Room) -> Outcome:
    if work.find("room", record.id) is not None:
        return "same"
    wing, name = work.need("wing", record.wing), work.name(record.first_name)
    work.connection.execute(
        "INSERT INTO room(id, uid, first_wing, first_name, wing, name, merged_into) SELECT n, ?1, ?2, ?3, ?2, ?3, CASE"
        " WHEN EXISTS (SELECT 1 FROM room WHERE wing = ?2 AND name = ?3 AND merged_into IS NULL) THEN n END"
        " FROM (SELECT coalesce(max(id), 0) + 1 AS n FROM room)",
        (bytes.fromhex(record.id), wing, name),
    )
    work.arranged = True
    return "added"


def _judge_wing(work: Work, wing: Wing) -> Verdict:
    rows = work.connection.execute(
        "SELECT id FROM wing WHERE name = ? AND merged_into IS NULL", (work.name(wing.first_name),)
    )
    return _lead_to_namesake(work, "wing", wing.id, [int(row) for (row,) in rows])


def _judge_room(work: Work, room: Room) -> Verdict:
    rows = work.connection.execute(
        "SELECT id FROM room WHERE wing = ? AND name = ? AND merged_into IS NULL",
        (work.need("wing", room.wing), work.name(room.first_name)),
    )
    return _lead_to_namesake(work, "room", room.id, [int(row) for (row,) in rows])


def _lead_to_namesake(work: Work, table: str, uid: str, namesakes: Sequence[int]) -> Verdict:
    """Map the id of another person's new place to the place here with the same name, if there is one."""
    if work.find(table, uid) is not None or not namesakes:
        return "take"
    work.lead(table, uid, namesakes[0])
    return "there"


WING = RecordKind(
    "wing",
    Wing,
    read=query_reader(Wing, "wing", "SELECT id, uid, first_name FROM wing ORDER BY uid"),
    merge=_merge_wing,
    judge=_judge_wing,
)
ROOM = RecordKind(
    "room",
    Room,
    references={"wing": "wing"},
    read=query_reader(
        Room,
        "room",
        "SELECT room.id, room.uid, wing.uid, room.first_name FROM room JOIN wing ON wing.id = room.first_wing"
        " ORDER BY room.uid",
    ),
    merge=_merge_room,
    judge=_judge_room,
)


# --- projects ----------------------------------------------------------------------------------------------


def _merge_project(work: Work, record: Project) -> Outcome:
    """Merge a project: of two wings, the later assignment counts, then the greater id."""
    identity, wing = work.name(record.identity), work.need("wing", record.wing)
    rows = work.connection.execute(
        "SELECT project.id, changed_at, wing.uid FROM project JOIN wing ON wing.id = project.wing WHERE identity = ?",
        (identity,),
    )
    for row, changed, uid in list(rows):
        if (record.changed_at, bytes.fromhex(record.wing)) <= (changed, bytes(uid)):
            return "same"
        work.connection.execute(
            "UPDATE project SET wing = ?, changed_at = ? WHERE id = ?", (wing, record.changed_at, row)
        )
        return "changed"
    work.connection.execute(
        "INSERT INTO project(identity, wing, changed_at) VALUES(?, ?, ?)", (identity, wing, record.changed_at)
    )
    return "added"


def _judge_project(work: Work, project: Project) -> Verdict:
    is_here = has_row(work, "SELECT 1 FROM project WHERE identity = ?", work.name(project.identity))
    return "there" if is_here else "take"


PROJECT = RecordKind(
    "project",
    Project,
    identity=("identity",),
    references={"wing": "wing"},
    read=query_reader(
        Project,
        "project",
        "SELECT project.id, identity, wing.uid, project.changed_at FROM project JOIN wing ON wing.id = project.wing"
        " ORDER BY identity",
    ),
    merge=_merge_project,
    judge=_judge_project,
)


# --- arrangements ------------------------------------------------------------------------------------------


def _check_arrangement(record: Arrangement) -> None:
    require((record.wing is None) != (record.room is None), "must be of either a wing or a room")
    match record.type:
        case "name":
            require(bool(record.name), "lacks 'name'")
            require(record.room is None or record.target is not None, "lacks 'target'")
        case "move":
            require(
                record.room is not None and record.target is not None and bool(record.name),
                "does not move a room to a wing",
            )
        case "merge":
            require(record.target is not None, "lacks 'target'")
        case _:
            assert_never(record.type)


def _select_arrangements(connection: Connection, selection: Selection) -> None:
    """Add the wings that contain or contained the rooms, those they were merged into, and their arrangements."""
    wings, rooms = selection.rows["wing"], selection.rows["room"]
    firsts = {int(row): int(wing) for row, wing in connection.execute("SELECT id, first_wing FROM room")}
    arrangements = list(connection.execute("SELECT id, kind, wing, room, target FROM arrangement"))
    while True:
        sizes = len(wings), len(rooms)
        wings.update(firsts[room] for room in rooms)
        for row, kind, wing, room, target in arrangements:
            if wing in wings or room in rooms:
                selection.rows["arrangement"].add(row)
                if target is not None:
                    (rooms if kind == "merge" and room is not None else wings).add(target)
        if (len(wings), len(rooms)) == sizes:
            return


def _merge_arrangement(work: Work, record: Arrangement) -> Outcome:
    row = work.find("arrangement", record.id)
    if row is not None:
        (stored_end,) = next(work.connection.execute("SELECT retired_at FROM arrangement WHERE id = ?", (row,)))
        end = earliest(stored_end, record.retired_at)
        if end == stored_end:
            return "same"
        work.connection.execute("UPDATE arrangement SET retired_at = ? WHERE id = ?", (end, row))
        work.arranged = True
        return "changed"
    wing, room = work.optional("wing", record.wing), work.optional("room", record.room)
    target = work.optional("room", record.target_room) or work.optional("wing", record.target_wing)
    work.insert(
        "arrangement",
        record.id,
        kind=record.type,
        wing=wing,
        room=room,
        name=work.name(record.name),
        target=target,
        recorded_at=record.recorded_at,
        retired_at=record.retired_at,
    )
    work.arranged = True
    return "added"


def _judge_arrangement(work: Work, record: Arrangement) -> bool:
    """Return whether all content of a place came from such exports, and the name that it gets is not in use here."""
    rooms = [] if record.room is None else [work.need("room", record.room)]
    if record.wing is not None:
        wing = work.need("wing", record.wing)
        if not foreign_rows.is_marked(work.connection, "wing", wing):
            return False
        rows = work.connection.execute("SELECT id FROM room WHERE ?1 IN (wing, first_wing)", (wing,))
        rooms = [int(row) for (row,) in rows]
    if not all(foreign_rows.is_wholly_marked(work.connection, "room", row, "item", "room") for row in rooms):
        return False
    is_known = work.find("arrangement", record.id) is not None
    return not record.name or is_known or not _is_name_in_use(work, record)


def _is_name_in_use(work: Work, record: Arrangement) -> bool:
    """Return whether a wing here, or a room of the wing of the arrangement, already has the name it assigns."""
    name = work.name(record.name)
    if record.wing is not None:
        return has_row(work, "SELECT 1 FROM wing WHERE ? IN (name, first_name)", name)
    wing = work.optional("wing", record.target)
    return has_row(work, "SELECT 1 FROM room WHERE wing = ? AND ? IN (name, first_name)", wing, name)


ARRANGEMENT = RecordKind(
    "arrangement",
    Arrangement,
    references={"wing": "wing", "room": "room", "target_wing": "wing", "target_room": "room"},
    check=_check_arrangement,
    read=query_reader(
        Arrangement,
        "arrangement",
        "SELECT a.id, a.uid, a.kind, a.recorded_at, w.uid, r.uid, a.name, CASE WHEN a.kind = 'merge' AND a.room IS NOT"
        " NULL THEN (SELECT uid FROM room WHERE id = a.target) ELSE (SELECT uid FROM wing WHERE id = a.target) END,"
        " a.retired_at FROM arrangement a LEFT JOIN wing w ON w.id = a.wing LEFT JOIN room r ON r.id = a.room"
        " ORDER BY a.uid",
    ),
    select=_select_arrangements,
    merge=_merge_arrangement,
    undo_member="arrangement",
    judge=_judge_arrangement,
)
