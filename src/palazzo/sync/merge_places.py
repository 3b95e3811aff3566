"""Merge of places: devices, wings and rooms, projects, sources, arrangements and tunnels.

The identity of a wing is that of its creation. Its current name follows from all arrangements of it, on any device. So
it is merged under its first name, and `arrangements.settle` determines its current name at the end of the transaction.
"""

from __future__ import annotations

import json

from palazzo.model import Source as Filed
from palazzo.store import change_log, tombstones
from palazzo.sync.merge_state import Outcome, Work, earliest, merge_end_states
from palazzo.sync.record_types import Arrangement, Device, Project, Room, Source, Tunnel, Wing


def merge_device(work: Work, record: Device) -> Outcome:
    """Merge a device: of two names, the one with the later creation counts, then the greater one."""
    name, uid = work.name(record.name), bytes.fromhex(record.id)
    row = work.find("device", record.id)
    if row is None:
        work.connection.execute(
            "INSERT INTO device(uid, name, created_at) VALUES(?, ?, ?)", (uid, name, record.created_at)
        )
        return "added"
    (stored_name, created) = next(work.connection.execute("SELECT name, created_at FROM device WHERE id = ?", (row,)))
    if (record.created_at, name) <= (created or 0, stored_name or ""):
        return "same"
    work.connection.execute("UPDATE device SET name = ?, created_at = ? WHERE id = ?", (name, record.created_at, row))
    return "changed"


def merge_wing(work: Work, record: Wing) -> Outcome:
    """Merge a wing."""
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


def merge_room(work: Work, record: Room) -> Outcome:
    """Merge a room."""
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


def merge_project(work: Work, record: Project) -> Outcome:
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


def merge_source(work: Work, record: Source) -> Outcome:
    """Merge a source. Its local address is kept; the later title, session and project count."""
    source = _redact_source(work, record)
    row = work.find("source", record.id)
    if row is None:
        work.connection.execute(
            "INSERT INTO source(uid, kind, key, uri, session_id, title, project, changed_at) VALUES(?,?,?,?,?,?,?,?)",
            (
                bytes.fromhex(record.id),
                source.kind,
                json.dumps(source.key),
                source.uri,
                source.session_id,
                source.title,
                source.project,
                record.changed_at,
            ),
        )
        return "added"
    uri, changed, *stored_values = next(
        work.connection.execute("SELECT uri, changed_at, title, session_id, project FROM source WHERE id = ?", (row,))
    )
    came = [source.title, source.session_id, source.project]
    if not uri and source.uri:
        work.connection.execute("UPDATE source SET uri = ? WHERE id = ?", (source.uri, row))
    if (record.changed_at, came) <= (changed, stored_values):
        return "same"
    work.connection.execute(
        "UPDATE source SET changed_at = ?, title = ?, session_id = ?, project = ? WHERE id = ?",
        (record.changed_at, *came, row),
    )
    if came[0] != stored_values[0]:
        _show_title(work, row)
    return "changed"


def _redact_source(work: Work, record: Source) -> Filed:
    """Return a source as it is stored here: without secrets, and without erased text."""
    came = work.guard.source(Filed(record.key, record.type, record.uri, record.session, record.title, record.project))
    tombstone_finder = work.guard.tombstone_finder
    return Filed(
        tuple(map(work.name, came.key)),
        work.name(came.kind),
        tombstones.marked_address(tombstone_finder, came.uri),
        work.name(came.session_id),
        tombstone_finder.cover_text(came.title),
        work.name(came.project),
    )


def _show_title(work: Work, source: int) -> None:
    """Cut documents and notes again, since they show the title of their source."""
    rows = work.connection.execute("SELECT id FROM item WHERE source = ? AND kind IN ('document', 'note')", (source,))
    change_log.append(work.connection, "item", [int(row) for (row,) in list(rows)])


def merge_arrangement(work: Work, record: Arrangement) -> Outcome:
    """Merge an arrangement of a wing or a room."""
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
    target = work.optional("room" if record.type == "merge" and room is not None else "wing", record.target)
    work.connection.execute(
        "INSERT INTO arrangement(uid, kind, wing, room, name, target, recorded_at, retired_at) VALUES(?,?,?,?,?,?,?,?)",
        (
            bytes.fromhex(record.id),
            record.type,
            wing,
            room,
            work.name(record.name),
            target,
            record.recorded_at,
            record.retired_at,
        ),
    )
    work.arranged = True
    return "added"


def merge_tunnel(work: Work, record: Tunnel) -> Outcome:
    """Merge a tunnel."""
    row = work.find("tunnel", record.id)
    if row is not None:
        stored_state = next(work.connection.execute("SELECT retired_at, restored_at FROM tunnel WHERE id = ?", (row,)))
        new_state = merge_end_states(stored_state, (record.retired_at, record.restored_at))
        if new_state == stored_state:
            return "same"
        work.connection.execute("UPDATE tunnel SET retired_at = ?, restored_at = ? WHERE id = ?", (*new_state, row))
        return "changed"
    source, target = work.need("room", record.source), work.need("room", record.target)
    rows = work.connection.execute(
        "INSERT INTO tunnel(uid, source, target, label, actor, recorded_at, retired_at, restored_at)"
        " VALUES(?,?,?,?,?,?,?,?) RETURNING id",
        (
            bytes.fromhex(record.id),
            source,
            target,
            work.words(record.label),
            work.name(record.actor),
            record.recorded_at,
            record.retired_at,
            record.restored_at,
        ),
    )
    own = int(next(rows)[0])
    work.connection.executemany(
        "INSERT INTO tunnel_drawer(tunnel, side, n, drawer_uid) VALUES(?,?,?,?)",
        [
            (own, side, n, bytes.fromhex(drawer))
            for side, drawers in (("source", record.source_drawers), ("target", record.target_drawers))
            for n, drawer in enumerate(drawers)
        ],
    )
    return "added"
