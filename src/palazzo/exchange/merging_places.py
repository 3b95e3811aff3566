"""Merging devices, wings and rooms, projects, sources, arrangements and tunnels.

A wing is what it was created as; what it is called follows from all that was arranged of it, on whichever device, so it
comes in under its first name and `arrangement.settle` says at the end of the transaction what it is called.
"""

from __future__ import annotations

import json

from palazzo.exchange.merging_work import Outcome, Work, earliest, restored
from palazzo.exchange.records import Arrangement, Device, Project, Room, Source, Tunnel, Wing
from palazzo.model import Source as Filed
from palazzo.store import changes, tombstones


def merge_device(work: Work, one: Device) -> Outcome:
    """Merge a device: of two names the one of the later creation counts, then the greater."""
    name, uid = work.name(one.name), bytes.fromhex(one.id)
    row = work.find("device", one.id)
    if row is None:
        work.connection.execute(
            "INSERT INTO device(uid, name, created_at) VALUES(?, ?, ?)", (uid, name, one.created_at)
        )
        return "added"
    (called, created) = next(work.connection.execute("SELECT name, created_at FROM device WHERE id = ?", (row,)))
    if (one.created_at, name) <= (created or 0, called or ""):
        return "same"
    work.connection.execute("UPDATE device SET name = ?, created_at = ? WHERE id = ?", (name, one.created_at, row))
    return "changed"


def merge_wing(work: Work, one: Wing) -> Outcome:
    """Merge a wing."""
    if work.find("wing", one.id) is not None:
        return "same"
    name = work.name(one.first_name)
    work.connection.execute(
        "INSERT INTO wing(id, uid, first_name, name, merged_into)"
        " SELECT n, ?1, ?2, ?2,"
        " CASE WHEN EXISTS (SELECT 1 FROM wing WHERE name = ?2 AND merged_into IS NULL) THEN n END"
        " FROM (SELECT coalesce(max(id), 0) + 1 AS n FROM wing)",
        (bytes.fromhex(one.id), name),
    )
    work.arranged = True
    return "added"


def merge_room(work: Work, one: Room) -> Outcome:
    """Merge a room."""
    if work.find("room", one.id) is not None:
        return "same"
    wing, name = work.need("wing", one.wing), work.name(one.first_name)
    work.connection.execute(
        "INSERT INTO room(id, uid, first_wing, first_name, wing, name, merged_into) SELECT n, ?1, ?2, ?3, ?2, ?3, CASE"
        " WHEN EXISTS (SELECT 1 FROM room WHERE wing = ?2 AND name = ?3 AND merged_into IS NULL) THEN n END"
        " FROM (SELECT coalesce(max(id), 0) + 1 AS n FROM room)",
        (bytes.fromhex(one.id), wing, name),
    )
    work.arranged = True
    return "added"


def merge_project(work: Work, one: Project) -> Outcome:
    """Merge a project: of two wings the one that was told later counts, then the greater id."""
    identity, wing = work.name(one.identity), work.need("wing", one.wing)
    rows = work.connection.execute(
        "SELECT project.id, changed_at, wing.uid FROM project JOIN wing ON wing.id = project.wing WHERE identity = ?",
        (identity,),
    )
    for row, changed, uid in list(rows):
        if (one.changed_at, bytes.fromhex(one.wing)) <= (changed, bytes(uid)):
            return "same"
        work.connection.execute("UPDATE project SET wing = ?, changed_at = ? WHERE id = ?", (wing, one.changed_at, row))
        return "changed"
    work.connection.execute(
        "INSERT INTO project(identity, wing, changed_at) VALUES(?, ?, ?)", (identity, wing, one.changed_at)
    )
    return "added"


def merge_source(work: Work, one: Source) -> Outcome:
    """Merge a source. Where it lies here is kept; of its title, session and project the later told count."""
    kept = _kept(work, one)
    row = work.find("source", one.id)
    if row is None:
        work.connection.execute(
            "INSERT INTO source(uid, kind, key, uri, session_id, title, project, changed_at) VALUES(?,?,?,?,?,?,?,?)",
            (
                bytes.fromhex(one.id), kept.kind, json.dumps(kept.key), kept.uri, kept.session_id, kept.title,
                kept.project, one.changed_at,
            ),
        )  # fmt: skip
        return "added"
    uri, changed, *told = next(
        work.connection.execute("SELECT uri, changed_at, title, session_id, project FROM source WHERE id = ?", (row,))
    )
    came = [kept.title, kept.session_id, kept.project]
    if not uri and kept.uri:
        work.connection.execute("UPDATE source SET uri = ? WHERE id = ?", (kept.uri, row))
    if (one.changed_at, came) <= (changed, told):
        return "same"
    work.connection.execute(
        "UPDATE source SET changed_at = ?, title = ?, session_id = ?, project = ? WHERE id = ?",
        (one.changed_at, *came, row),
    )
    if came[0] != told[0]:
        _show_title(work, row)
    return "changed"


def _kept(work: Work, one: Source) -> Filed:
    """A source as it is kept here: without secrets, and without what was erased."""
    came = work.guard.source(Filed(one.key, one.type, one.uri, one.session, one.title, one.project))
    erased = work.guard.erased
    return Filed(
        tuple(map(work.name, came.key)),
        work.name(came.kind),
        tombstones.marked_address(erased, came.uri),
        work.name(came.session_id),
        erased.covered(came.title),
        work.name(came.project),
    )


def _show_title(work: Work, source: int) -> None:
    """Documents and notes show the title of their source: they are cut again."""
    rows = work.connection.execute("SELECT id FROM item WHERE source = ? AND kind IN ('document', 'note')", (source,))
    changes.append(work.connection, "item", [int(row) for (row,) in list(rows)])


def merge_arrangement(work: Work, one: Arrangement) -> Outcome:
    """Merge what was arranged of a wing or a room."""
    row = work.find("arrangement", one.id)
    if row is not None:
        (before,) = next(work.connection.execute("SELECT retired_at FROM arrangement WHERE id = ?", (row,)))
        end = earliest(before, one.retired_at)
        if end == before:
            return "same"
        work.connection.execute("UPDATE arrangement SET retired_at = ? WHERE id = ?", (end, row))
        work.arranged = True
        return "changed"
    wing, room = work.optional("wing", one.wing), work.optional("room", one.room)
    target = work.optional("room" if one.type == "merge" and room is not None else "wing", one.target)
    work.connection.execute(
        "INSERT INTO arrangement(uid, kind, wing, room, name, target, recorded_at, retired_at) VALUES(?,?,?,?,?,?,?,?)",
        (bytes.fromhex(one.id), one.type, wing, room, work.name(one.name), target, one.recorded_at, one.retired_at),
    )
    work.arranged = True
    return "added"


def merge_tunnel(work: Work, one: Tunnel) -> Outcome:
    """Merge a tunnel."""
    row = work.find("tunnel", one.id)
    if row is not None:
        before = next(work.connection.execute("SELECT retired_at, restored_at FROM tunnel WHERE id = ?", (row,)))
        after = restored(before, (one.retired_at, one.restored_at))
        if after == before:
            return "same"
        work.connection.execute("UPDATE tunnel SET retired_at = ?, restored_at = ? WHERE id = ?", (*after, row))
        return "changed"
    source, target = work.need("room", one.source), work.need("room", one.target)
    rows = work.connection.execute(
        "INSERT INTO tunnel(uid, source, target, label, actor, recorded_at, retired_at, restored_at)"
        " VALUES(?,?,?,?,?,?,?,?) RETURNING id",
        (
            bytes.fromhex(one.id), source, target, work.words(one.label), work.name(one.actor), one.recorded_at,
            one.retired_at, one.restored_at,
        ),
    )  # fmt: skip
    own = int(next(rows)[0])
    work.connection.executemany(
        "INSERT INTO tunnel_drawer(tunnel, side, n, drawer_uid) VALUES(?,?,?,?)",
        [
            (own, side, n, bytes.fromhex(drawer))
            for side, drawers in (("source", one.source_drawers), ("target", one.target_drawers))
            for n, drawer in enumerate(drawers)
        ],
    )
    return "added"
