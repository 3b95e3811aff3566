"""Record selection: the records of a limited export: chosen items, what they need, and what concerns only them.

Acts, facts and similar records that concern other items too are left out, since they would reveal content of those
items. An act comes with its group and with the group that undid it: without these it would count again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from palazzo.store import drawer_listing as listings
from palazzo.store.change_groups import MEMBER_TABLES
from palazzo.store.database import Connection
from palazzo.store.drawer_listing import Listing

_Rows = set[int]


@dataclass(slots=True)
class Selection:
    """Row ids by table; `item_ids` are the chosen items' ids."""

    items: _Rows = field(default_factory=set)
    item_ids: set[bytes] = field(default_factory=set)
    devices: _Rows = field(default_factory=set)
    wings: _Rows = field(default_factory=set)
    rooms: _Rows = field(default_factory=set)
    projects: _Rows = field(default_factory=set)
    sources: _Rows = field(default_factory=set)
    groups: _Rows = field(default_factory=set)
    acts: _Rows = field(default_factory=set)
    facts: _Rows = field(default_factory=set)
    versions: _Rows = field(default_factory=set)
    entities: _Rows = field(default_factory=set)
    entity_links: _Rows = field(default_factory=set)
    rules: _Rows = field(default_factory=set)
    conflicts: _Rows = field(default_factory=set)
    arrangements: _Rows = field(default_factory=set)
    tunnels: _Rows = field(default_factory=set)
    states: _Rows = field(default_factory=set)

    def has(self, kind: str, ref: int) -> bool:
        """Return whether the object of a group's member is exported; `undone` names none."""
        tables = {
            "act": self.acts,
            "item": self.items,
            "fact_version": self.versions,
            "entity_link": self.entity_links,
            "predicate_rule": self.rules,
            "conflict": self.conflicts,
            "task_state": self.states,
            "arrangement": self.arrangements,
            "tunnel": self.tunnels,
        }
        return kind == "undone" or (kind in MEMBER_TABLES and ref in tables[MEMBER_TABLES[kind]])


def select(connection: Connection, listing: Listing, whole_wing: bool) -> Selection:
    """Return what an export of these drawers holds. For a `whole_wing` it includes facts that no text states."""
    drawers = [drawer.row for drawer in listings.list_drawers(connection, listing)]
    selection = Selection()
    selection.items, selection.item_ids = _items(connection, drawers)
    _sources(connection, selection)
    _acts(connection, selection)
    wings = _wings_of(connection, listing.rooms or ()) if whole_wing else set()
    _facts(connection, selection, wings)
    _places(connection, selection)
    _conflicts(connection, selection)
    selection.tunnels = _rows(
        (
            row
            for row, source, target in connection.execute("SELECT id, source, target FROM tunnel")
            if source in selection.rooms and target in selection.rooms
        )
    )
    selection.states = _rows(
        row
        for row, item in connection.execute("SELECT s.id, task.item FROM task_state s JOIN task ON task.id = s.task")
        if item in selection.items
    )
    _groups(connection, selection)
    return selection


def _rows(rows: Iterable[Any]) -> _Rows:
    return {int(row) for row in rows}


def _items(connection: Connection, drawers: list[int]) -> tuple[_Rows, set[bytes]]:
    rows = connection.execute(
        "SELECT DISTINCT item.id, item.uid FROM json_each(?) AS asked CROSS JOIN drawer_span s"
        " ON s.drawer = asked.value CROSS JOIN item ON item.id = s.item",
        (json.dumps(drawers),),
    )
    uids_by_row = {int(row): bytes(uid) for row, uid in rows}
    return set(uids_by_row), set(uids_by_row.values())


def _sources(connection: Connection, selection: Selection) -> None:
    for row, source, room in connection.execute("SELECT id, source, room FROM item"):
        if row in selection.items:
            selection.sources.add(source)
            selection.rooms.add(room)
    for device, item in connection.execute("SELECT device, item_uid FROM link"):
        if bytes(item) in selection.item_ids:
            selection.devices.add(device)
    identities = {
        name for row, name in connection.execute("SELECT id, project FROM source") if row in selection.sources
    }
    for row, identity, wing in connection.execute("SELECT id, identity, wing FROM project"):
        if identity in identities:
            selection.projects.add(row)
            selection.wings.add(wing)


def _acts(connection: Connection, selection: Selection) -> None:
    matching_acts: _Rows = set()
    outside_acts: _Rows = set()
    for act, item in connection.execute("SELECT act, item_uid FROM act_span"):
        (matching_acts if bytes(item) in selection.item_ids else outside_acts).add(act)
    selection.acts = matching_acts - outside_acts
    for row, group, detail in connection.execute("SELECT id, grp, detail FROM act"):
        if row in selection.acts:
            if group is not None:
                selection.groups.add(group)
            room = json.loads(detail).get("row")
            if room is not None:
                selection.rooms.add(int(room))


def _wings_of(connection: Connection, rooms: Iterable[int]) -> _Rows:
    room_rows = set(rooms)
    return {int(wing) for room, wing in connection.execute("SELECT id, wing FROM room") if room in room_rows}


def _facts(connection: Connection, selection: Selection, wings: _Rows) -> None:
    matching_facts: _Rows = set()
    outside_facts: _Rows = set()
    for fact, item in connection.execute(
        "SELECT DISTINCT v.fact, s.item_uid FROM fact_source s JOIN fact_version v ON v.id = s.version"
        " WHERE s.item_uid IS NOT NULL"
    ):
        (matching_facts if bytes(item) in selection.item_ids else outside_facts).add(fact)
    ends = {
        int(row): (wing, subject, thing, predicate)
        for row, wing, subject, thing, predicate in connection.execute(
            "SELECT id, wing, subject, object, predicate FROM fact"
        )
    }
    selection.facts = {
        row for row, (wing, *_) in ends.items() if row in matching_facts or wing in wings
    } - outside_facts
    successions = list(
        connection.execute("SELECT fact, superseded_by FROM fact_version WHERE superseded_by IS NOT NULL")
    )
    while orphans := {fact for fact, by in successions if fact in selection.facts and by not in selection.facts}:
        selection.facts -= orphans
    predicates: _Rows = set()
    for row in selection.facts:
        wing, subject, thing, predicate = ends[row]
        selection.entities.update((subject, thing))
        predicates.add(predicate)
        if wing is not None:
            selection.wings.add(wing)
    for row, entity, merged_entity in connection.execute("SELECT id, entity, other FROM entity_link"):
        if entity in selection.entities and (merged_entity is None or merged_entity in selection.entities):
            selection.entity_links.add(row)
    for row, predicate in connection.execute("SELECT id, predicate FROM predicate_rule"):
        if predicate in predicates:
            selection.rules.add(row)
    for row, fact in connection.execute("SELECT id, fact FROM fact_version"):
        if fact in selection.facts:
            selection.versions.add(row)


def _places(connection: Connection, selection: Selection) -> None:
    """Add the wings that contain or contained the rooms, those they were merged into, and their arrangements."""
    firsts = {int(row): int(wing) for row, wing in connection.execute("SELECT id, first_wing FROM room")}
    arrangements = list(connection.execute("SELECT id, kind, wing, room, target FROM arrangement"))
    while True:
        sizes = len(selection.wings), len(selection.rooms)
        selection.wings.update(firsts[room] for room in selection.rooms)
        for row, kind, wing, room, target in arrangements:
            if wing in selection.wings or room in selection.rooms:
                selection.arrangements.add(row)
                if target is not None:
                    (selection.rooms if kind == "merge" and room is not None else selection.wings).add(target)
        if (len(selection.wings), len(selection.rooms)) == sizes:
            return


def _conflicts(connection: Connection, selection: Selection) -> None:
    for row, *sides in connection.execute(
        "SELECT id, earlier_fact, earlier_item, later_fact, later_item FROM conflict"
    ):
        if all(_is_side(selection, *side) for side in (sides[:2], sides[2:])):
            selection.conflicts.add(row)


def _is_side(selection: Selection, fact: int | None, item: bytes | None) -> bool:
    return (fact is None or fact in selection.facts) and (item is None or bytes(item) in selection.item_ids)


def _groups(connection: Connection, selection: Selection) -> None:
    """Add the change groups of exported records, and the groups that undid them or that they undid."""
    for group, kind, ref in connection.execute("SELECT grp, kind, ref FROM group_member WHERE kind <> 'undone'"):
        if selection.has(kind, ref):
            selection.groups.add(group)
    undoings = list(connection.execute("SELECT id, undoes FROM change_group WHERE undoes IS NOT NULL"))
    selection.groups.update(undone for row, undone in undoings if row in selection.groups)
    selection.groups.update(row for row, undone in undoings if undone in selection.groups)
