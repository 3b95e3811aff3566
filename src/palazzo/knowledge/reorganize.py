"""Rename, merge and move of wings and rooms. Text, ids and indexes stay as they are; `undo` reverts each change.

Only a current name selects what is changed: a former name is refused with the name to which it leads, since the user
may have meant something else. Raises UsageError and NotFound; then nothing has changed.
"""

from __future__ import annotations

from palazzo.errors import UsageError
from palazzo.git.project_rooms import slug
from palazzo.knowledge.fact_change import Change
from palazzo.knowledge.place_names import Room, Wing, format_place
from palazzo.model import Place
from palazzo.store import arrangements, place_rows, tombstones
from palazzo.store.arrangements import ArrangementKind
from palazzo.store.database import Connection


def rename_wing(change: Change, wing: Wing, to: str) -> str:
    """Rename a wing to `to`; return the stored name. A name that is only a former name is taken over."""
    _current(wing)
    name = _new_name(change, to, wing.name)
    occupant = place_rows.wing_led_to(change.connection, name)
    if occupant is not None and occupant != wing.row and place_rows.wing_name(change.connection, occupant) == name:
        raise UsageError(f"The wing '{name}' already exists; 'palazzo wing merge {wing.name} {name}' merges the two.")
    _record(change, "name", wing=wing.row, name=name)
    arrangements.settle(change.connection)
    return name


def merge_wings(change: Change, wing: Wing, into: Wing) -> tuple[str, ...]:
    """Merge a wing into another, with its rooms; return the names of the rooms that both had, which are merged."""
    _current(wing)
    _current(into)
    if wing.row == into.row:
        raise UsageError(f"'{wing.name}' cannot be merged into itself.")
    rooms_by_name = {row.place.room: row.row for row in place_rows.rooms(change.connection, into.row)}
    both = [
        (row, rooms_by_name[row.place.room])
        for row in place_rows.rooms(change.connection, wing.row)
        if row.place.room in rooms_by_name
    ]
    for row, target in both:  # before the wings: undone after them, no two rooms have one name at any time
        _record(change, "merge", room=row.row, target=target)
    _record(change, "merge", wing=wing.row, target=into.row)
    arrangements.settle(change.connection)
    return tuple(row.place.room for row, _ in both)


def rename_room(change: Change, room: Room, to: str) -> Place:
    """Rename a room to `to` in its wing; return its place now."""
    _current(room)
    name = _new_name(change, to, room.place.room)
    place = Place(room.place.wing, name)
    _check_free(change.connection, room, room.wing, place)
    _record(change, "name", room=room.row, name=name, target=room.wing)
    arrangements.settle(change.connection)
    return place


def move_room(change: Change, room: Room, wing: Wing) -> Place:
    """Move a room to another wing; return its place now."""
    _current(room)
    _current(wing)
    if room.wing == wing.row:
        raise UsageError(f"'{format_place(room.place)}' is already in the wing '{wing.name}'.")
    place = Place(wing.name, room.place.room)
    _check_free(change.connection, room, wing.row, place)
    _record(change, "move", room=room.row, name=room.place.room, target=wing.row)
    arrangements.settle(change.connection)
    return place


def merge_rooms(change: Change, room: Room, into: Room) -> Place:
    """Merge a room into another, in any wing; return its place now."""
    _current(room)
    _current(into)
    if room.row == into.row:
        raise UsageError(f"'{format_place(room.place)}' cannot be merged into itself.")
    _record(change, "merge", room=room.row, target=into.row)
    arrangements.settle(change.connection)
    return into.place


def settle_undone(connection: Connection) -> None:
    """Write the consequences of an undone arrangement.

    Raises UsageError if a name cannot be restored because something else has it by now.
    """
    for wing, room, name in arrangements.settle(connection):
        if room is None:
            raise UsageError(
                f"Another wing '{name}' exists now, so the former name cannot be restored: rename that wing first "
                f"('palazzo wing rename {name} NAME')."
            )
        place = format_place(Place(place_rows.wing_name(connection, wing), name))
        raise UsageError(
            f"Another room '{place}' exists now, so the former name cannot be restored: rename that room first "
            f"('palazzo room rename {place} NAME')."
        )


def _current(place: Wing | Room) -> None:
    if place.former is not None:
        raise UsageError(f"{place.note} Use its current name.")


def _new_name(change: Change, to: str, current_name: str) -> str:
    name = tombstones.name(change.connection, slug(to, ""))
    if not name:
        raise UsageError(f"'{to}' is not a valid name; use letters, digits, - and _.")
    if name == current_name:
        raise UsageError(f"'{current_name}' already has that name.")
    return name


def _check_free(connection: Connection, room: Room, wing: int, place: Place) -> None:
    occupant = place_rows.room_led_to(connection, wing, place.room)
    if occupant is not None and occupant != room.row and place_rows.place_of(connection, occupant) == place:
        raise UsageError(
            f"The room '{format_place(place)}' already exists; 'palazzo room merge {format_place(room.place)} "
            f"{format_place(place)}' merges the two."
        )


def _record(
    change: Change,
    kind: ArrangementKind,
    *,
    wing: int | None = None,
    room: int | None = None,
    name: str = "",
    target: int | None = None,
) -> None:
    row = arrangements.record(
        change.connection, change.new_uid(), kind, change.now, wing=wing, room=room, name=name, target=target
    )
    change.did("arrangement", row)
