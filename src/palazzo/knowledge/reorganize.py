"""Renaming, merging and moving wings and rooms. Words, ids and indexes stay as they are; `undo` takes each of it back.

Only what is called so now is changed by its name: a former name is refused with what it leads to, since it may not be
what was meant. Raises UsageError and NotFound; then nothing has changed.
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
    """Call a wing `to`; return how that is kept. A name that only leads elsewhere is taken over."""
    _current(wing)
    name = _new_name(change, to, wing.name)
    occupant = place_rows.wing_led_to(change.connection, name)
    if occupant is not None and occupant != wing.row and place_rows.wing_name(change.connection, occupant) == name:
        raise UsageError(
            f"There is a wing '{name}' already; 'palazzo wing merge {wing.name} {name}' makes the two one."
        )
    _record(change, "name", wing=wing.row, name=name)
    arrangements.settle(change.connection)
    return name


def merge_wings(change: Change, wing: Wing, into: Wing) -> tuple[str, ...]:
    """Make a wing a part of another, with its rooms; return the names of the rooms that both had, and that are one."""
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
    """Call a room `to` in its wing; return where it is now."""
    _current(room)
    name = _new_name(change, to, room.place.room)
    place = Place(room.place.wing, name)
    _check_free(change.connection, room, room.wing, place)
    _record(change, "name", room=room.row, name=name, target=room.wing)
    arrangements.settle(change.connection)
    return place


def move_room(change: Change, room: Room, wing: Wing) -> Place:
    """Let a room stand in another wing; return where it is now."""
    _current(room)
    _current(wing)
    if room.wing == wing.row:
        raise UsageError(f"'{format_place(room.place)}' is in the wing '{wing.name}' already.")
    place = Place(wing.name, room.place.room)
    _check_free(change.connection, room, wing.row, place)
    _record(change, "move", room=room.row, name=room.place.room, target=wing.row)
    arrangements.settle(change.connection)
    return place


def merge_rooms(change: Change, room: Room, into: Room) -> Place:
    """Make a room a part of another, wherever that is; return where it is now."""
    _current(room)
    _current(into)
    if room.row == into.row:
        raise UsageError(f"'{format_place(room.place)}' cannot be merged into itself.")
    _record(change, "merge", room=room.row, target=into.row)
    arrangements.settle(change.connection)
    return into.place


def settle_undone(connection: Connection) -> None:
    """Write what follows when something that was arranged was taken back.

    Raises UsageError where a name cannot be had back because something else is called so by now.
    """
    for wing, room, name in arrangements.settle(connection):
        if room is None:
            raise UsageError(
                f"A wing '{name}' is there by now, so the other cannot be called so again: give it another name first "
                f"('palazzo wing rename {name} NAME')."
            )
        place = format_place(Place(place_rows.wing_name(connection, wing), name))
        raise UsageError(
            f"A room '{place}' is there by now, so the other cannot be called so again: give it another name first "
            f"('palazzo room rename {place} NAME')."
        )


def _current(place: Wing | Room) -> None:
    if place.former is not None:
        raise UsageError(f"{place.note} Give the name that it has now.")


def _new_name(change: Change, to: str, current_name: str) -> str:
    name = tombstones.name(change.connection, slug(to, ""))
    if not name:
        raise UsageError(f"'{to}' is no name; use letters, digits, - and _.")
    if name == current_name:
        raise UsageError(f"'{current_name}' is called that already.")
    return name


def _check_free(connection: Connection, room: Room, wing: int, place: Place) -> None:
    occupant = place_rows.room_led_to(connection, wing, place.room)
    if occupant is not None and occupant != room.row and place_rows.place_of(connection, occupant) == place:
        raise UsageError(
            f"There is a room '{format_place(place)}' already; 'palazzo room merge {format_place(room.place)} {format_place(place)}' "
            "makes the two one."
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
