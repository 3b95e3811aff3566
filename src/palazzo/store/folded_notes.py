"""Folded notes: notes that `dedup` folded into an equal one. They are forgotten; the other note has their origins."""

from __future__ import annotations

import json

from palazzo.store.database import Connection

INTO = "into"
"""The key for the item that a copy was folded into, in the detail of the act that forgets the copy."""


def folded_into(connection: Connection, uid: str) -> list[int]:
    """Return the items (row ids) folded into one (its id), also indirectly, oldest first.

    Excluded are undone folds and, as of a day, later folds.
    """
    until = (1 << 63) - 1 if connection.as_of is None else connection.as_of
    items_by_uid: dict[str, tuple[int, int]] = {}
    frontier = [uid]
    while frontier:
        rows = connection.execute(
            "SELECT DISTINCT lower(hex(i.uid)), i.created_at, i.id FROM change_group g"
            " JOIN group_member m ON m.grp = g.id AND m.kind = 'act' JOIN act a ON a.id = m.ref AND a.kind = 'forget'"
            " JOIN act_span s ON s.act = a.id JOIN item i ON i.uid = s.item_uid WHERE g.verb = 'dedup' AND g.at <= ?"
            " AND NOT EXISTS (SELECT 1 FROM change_group later WHERE later.undoes = g.id AND later.at <= ?)"
            f" AND json_extract(a.detail, '$.{INTO}') IN (SELECT value FROM json_each(?))",
            (until, until, json.dumps(frontier)),
        )
        new = {str(own): (int(at), int(row)) for own, at, row in rows if own not in items_by_uid and own != uid}
        items_by_uid |= new
        frontier = [*new]
    return [row for _, (_, row) in sorted(items_by_uid.items(), key=lambda one: (one[1][0], one[0]))]
