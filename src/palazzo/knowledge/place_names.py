"""Resolution of wing and room names: current names first, then former names; similar names for an unknown name.

A name is looked up first as it is written, then in the normalised form of wing and room names
(`git/project_rooms.slug`), so that `API` finds `api`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import NamedTuple

from palazzo.errors import NoSuchPlace, UsageError
from palazzo.git.project_rooms import slug
from palazzo.model import Place
from palazzo.security.display_names import shown_place
from palazzo.store import place_rows
from palazzo.store.database import Connection
from palazzo.store.place_rows import RoomRow
from palazzo.text.names import fold, near

_MOST_NAMES = 12
_ALIKE = 0.6
"""Minimum share of common characters, in order, for a name to be suggested if none is closer: the default of
`difflib`.
"""


class Wing(NamedTuple):
    """A wing: its row id, its name, and the former name by which it was found, if any."""

    row: int
    name: str
    former: str | None = None

    @property
    def note(self) -> str:
        """Return a note about the new name if a former name was used; else ''."""
        return f"The wing '{self.former}' is now called '{self.name}'." if self.former else ""


class Room(NamedTuple):
    """A room: its row id, its wing's row id, its place, and the former place by which it was found, if any."""

    row: int
    wing: int
    place: Place
    former: Place | None = None

    @property
    def note(self) -> str:
        """Return a note about the new name if a former name was used; else ''."""
        return f"The room '{format_place(self.former)}' is now '{format_place(self.place)}'." if self.former else ""


def format_place(place: Place) -> str:
    """Return a place in its written form: `wing/room`."""
    return f"{place.wing}/{place.room}"


def find_wing(connection: Connection, name: str) -> Wing | None:
    """Return the wing that a name means."""
    for variant in _spellings(name):
        row = place_rows.wing_led_to(connection, variant)
        if row is not None:
            current_name = place_rows.wing_name(connection, row)
            return Wing(row, current_name, None if current_name == variant else variant)
    return None


def wing(connection: Connection, name: str) -> Wing:
    """Return the wing that a name means; raises NoSuchPlace with similar names, or all names."""
    match = find_wing(connection, name)
    if match is None:
        raise NoSuchPlace(f"There is no wing '{name}'. {instead(name, place_rows.wing_names(connection), 'wings')}")
    return match


def find_room(connection: Connection, at: Wing, name: str) -> Room | None:
    """Return the room of a wing that a name means; it may be in another wing now."""
    for variant in _spellings(name):
        row = place_rows.room_led_to(connection, at.row, variant)
        if row is not None:
            place = place_rows.place_of(connection, row)
            former_place = Place(at.former or at.name, variant)
            return Room(row, _wing_of(connection, row), place, None if place == former_place else former_place)
    return None


def room(connection: Connection, reference: str, home: str | None = None) -> Room:
    """Return the room that `wing/room` means, or `room` alone: the one of the wing `home`, else the only one.

    Raises NoSuchPlace with similar names, UsageError if there are several.
    """
    wing_name, slash, name = reference.rpartition("/")
    if slash:
        at = find_wing(connection, wing_name)
        match = find_room(connection, at, name) if at is not None else None
        if match is None:
            raise _no_room(connection, reference)
        return match
    candidates = rooms_called(connection, name)
    own = [candidate for candidate in candidates if candidate.place.wing == home]
    if len(own) == 1 or len(candidates) == 1:
        return (own or candidates)[0]
    if not candidates:
        raise _no_room(connection, reference)
    choices = _join_names([format_place(candidate.place) for candidate in candidates])
    raise UsageError(f"Several wings have a room '{name}': specify one of {choices}.")


def rooms_called(connection: Connection, name: str) -> list[Room]:
    """Return the rooms of that name in all wings; if there are none, those that once had it."""
    for variant in _spellings(name):
        rows = place_rows.rooms_led_to(connection, variant)
        if rows:
            return [_load_room(connection, row, variant) for row in rows]
    return []


def instead(name: str, names: Iterable[str], noun: str) -> str:
    """Return a sentence with the names similar to an unknown one, or else with all names."""
    all_names = list(names)
    close = _near(name, all_names)
    return _describe_names(close or all_names, bool(close), noun)


def _describe_names(names: Sequence[str], are_near: bool, noun: str) -> str:
    if not names:
        return f"The palace has no {noun} yet."
    return f"{'Near it' if are_near else 'There are'}: {_join_names(names)}."


def _near(name: str, names: Iterable[str]) -> list[str]:
    """Return the names that may be meant, the nearest first: one contains the other, or one or two typos."""
    by_folded: dict[str, list[str]] = {}
    for candidate in sorted(names):
        by_folded.setdefault(fold(candidate), []).append(candidate)
    key = fold(name)
    close = near(key, by_folded) or get_close_matches(key, by_folded, _MOST_NAMES, _ALIKE)
    return [candidate for alike in close for candidate in by_folded[alike]]


def _join_names(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMES
    return f"{', '.join(map(shown_place, names[:_MOST_NAMES]))}{f' and {more:,} more' if more > 0 else ''}"


def _no_room(connection: Connection, reference: str) -> NoSuchPlace:
    wing_name, _, name = reference.rpartition("/")
    rooms = place_rows.rooms(connection)
    at = find_wing(connection, wing_name) if wing_name else None
    close = [row for row in rooms if row.place.room == slug(name, "")]  # its name, in another wing
    close = close or _rooms_near(name, [row for row in rooms if at is None or row.wing == at.row])
    close = close or _rooms_near(name, rooms)
    room_names = [format_place(row.place) for row in close or rooms]
    return NoSuchPlace(
        f"There is no room '{reference}'. {_describe_names(room_names, bool(close), 'rooms')}", room_names[:_MOST_NAMES]
    )


def _rooms_near(name: str, rooms: Sequence[RoomRow]) -> list[RoomRow]:
    close = {room_name: n for n, room_name in enumerate(_near(name, {row.place.room for row in rooms}))}
    return sorted((row for row in rooms if row.place.room in close), key=lambda row: close[row.place.room])


def _load_room(connection: Connection, row: int, variant: str) -> Room:
    place = place_rows.place_of(connection, row)
    return Room(row, _wing_of(connection, row), place, None if place.room == variant else Place(place.wing, variant))


def _wing_of(connection: Connection, room: int) -> int:
    return int(next(connection.execute("SELECT wing FROM room WHERE id = ?", (room,)))[0])


def _spellings(name: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((name, slug(name, name))))
