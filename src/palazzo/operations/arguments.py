"""Arguments that several operations take: names of places, times, speakers and labels, checked and in their stored
form.
"""

from __future__ import annotations

import os.path
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from palazzo.errors import NoSuchPlace, UsageError
from palazzo.git.project_rooms import slug
from palazzo.knowledge import place_names
from palazzo.model import USERS_WING, Micros, Place
from palazzo.store import place_rows
from palazzo.text.names import tidy
from palazzo.text.times import parse_when

if TYPE_CHECKING:
    from palazzo.knowledge.place_names import Room, Wing
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection


def moment(text: str | None, now: Micros, option: str) -> Micros | None:
    """Parse a time of a request; UsageError if it is not a time."""
    if text is None:
        return None
    try:
        return parse_when(text, now)
    except ValueError as error:
        raise UsageError(f"{option}: {error}") from None


def check_place(
    connection: Connection, wing: str | None, room: str | None, notice: Callable[[str], None] | None = None
) -> tuple[str | None, str | None]:
    """Return the current names of a wing and a room; NoSuchPlace, naming existing ones, if one does not exist.

    `notice` is called with a note if a former name was given.
    """
    at = None if wing is None else place_names.wing(connection, wing)
    matches = [] if room is None else _rooms(connection, at, room)
    if room is not None and not matches:
        rooms = place_rows.room_names(connection, at.name if at else None)
        raise NoSuchPlace(f"There is no room '{room}' there. {place_names.instead(room, rooms, 'rooms')}")
    if len(matches) == 1 and matches[0].former and notice:
        notice(matches[0].note)
    elif at is not None and at.note and notice:
        notice(at.note)
    if at is not None and len(matches) == 1:
        return matches[0].place.wing, matches[0].place.room
    return (at.name if at else None), (matches[0].former or matches[0].place).room if matches else None


def _rooms(connection: Connection, at: Wing | None, room: str) -> list[Room]:
    if at is None:
        return place_names.rooms_called(connection, room)
    match = place_names.find_room(connection, at, room)
    return [] if match is None else [match]


def wing_to_file_in(context: Context, wing: str | None) -> str:
    """Return the requested wing, else the project's wing, which is recorded as its own."""
    if wing is not None:
        return place_name("--wing", wing)
    if not context.has_directory:
        context.notice(f"The current directory was deleted, so this is filed in the wing '{USERS_WING}'.")
        return USERS_WING
    with context.writing().database.transaction() as connection:
        context.place_finder.record(connection, context.project, context.now)
    return context.project_wing


def where_it_leads(context: Context, wing: str, room: str = "") -> tuple[str, str]:
    """Return the wing and room to file in; a former name leads to the current one."""
    if not context.has_palace:
        return wing, room
    with context.reading().database.snapshot() as connection:
        place = place_rows.leads_to(connection, Place(wing, room))
    if place != Place(wing, room):
        context.notice(f"'{wing}{room and f'/{room}'}' is '{place.wing}{room and f'/{place.room}'}' now.")
    return place.wing, place.room


def place_name(option: str, name: str) -> str:
    """Return a wing's or room's name in its stored form; UsageError for a path or an unusable name."""
    normal_name = slug(name, "")
    if not normal_name:
        raise UsageError(f"{option}: '{name}' is not a valid name; use letters, digits, - and _.")
    if any(mark in name for mark in "/\\"):  # what a path would become is nowhere that anybody meant
        raise UsageError(f"{option}: '{name}' is a path; give a name of letters, digits, - and _.")
    return normal_name


LONGEST = 64


def label(subject: str, text: str) -> str:
    """Return a kind or a tag in its stored form: a short lower-case name on one line. UsageError otherwise."""
    plain = text.strip().lower()
    if not plain or len(plain) > LONGEST or not plain.isprintable():
        raise UsageError(f"{subject} must be a name of 1 to {LONGEST} characters on one line.")
    return plain


LONGEST_SPEAKER = 200


def speaker(text: str) -> str:
    """Return who states something in its stored form: a name on one line, or nothing."""
    name = tidy(text)
    if len(name) > LONGEST_SPEAKER or not name.isprintable():
        raise UsageError(f"--by: a name has at most {LONGEST_SPEAKER} characters, on one line.")
    return name


def absolute(context: Context, typed_path: str) -> Path:
    """Return the absolute path for one that a person types: without `..`, but links are not followed."""
    return Path(os.path.normpath(context.led_to(Path(typed_path))))


def exists(context: Context, typed_path: str) -> bool:
    """Return whether a path that a person types exists; one that is too long for the system does not."""
    return os.path.exists(context.as_absolute(Path(typed_path)))  # noqa: PTH110 - `Path.exists` raises for those
