"""Which wing or room a name means: what is called so, else what was; and what is near a name that means nothing.

Names are looked up as they are written, then as wings and rooms are named (`scope/rooms.slug`), so that `API` finds
`api`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import NamedTuple

from palazzo.errors import NoSuchPlace, UsageError
from palazzo.model import Place
from palazzo.scope.rooms import slug
from palazzo.security.display_names import shown_place
from palazzo.store import places
from palazzo.store.database import Connection
from palazzo.store.places import RoomRow
from palazzo.text.names import fold, near

_LISTED = 12
_ALIKE = 0.6
"""Share of characters in common, in order, from which a name is worth telling where none is nearer: `difflib`'s own."""


class Wing(NamedTuple):
    """A wing: its row id, what it is called, and the name it was found by where that is a former one."""

    row: int
    name: str
    former: str | None = None

    @property
    def note(self) -> str:
        """What to tell whoever used a former name; '' for nobody."""
        return f"The wing '{self.former}' is called '{self.name}' now." if self.former else ""


class Room(NamedTuple):
    """A room: its row id, its wing's, where it is, and the place it was found by where that is a former one."""

    row: int
    wing: int
    place: Place
    former: Place | None = None

    @property
    def note(self) -> str:
        """What to tell whoever used a former name; '' for nobody."""
        return f"The room '{spoken(self.former)}' is '{spoken(self.place)}' now." if self.former else ""


def spoken(place: Place) -> str:
    """Return a place as it is written: `wing/room`."""
    return f"{place.wing}/{place.room}"


def find_wing(connection: Connection, name: str) -> Wing | None:
    """Return the wing that a name means."""
    for said in _spellings(name):
        row = places.wing_led_to(connection, said)
        if row is not None:
            called = places.wing_name(connection, row)
            return Wing(row, called, None if called == said else said)
    return None


def wing(connection: Connection, name: str) -> Wing:
    """Return the wing that a name means; NoSuchPlace with those that are near, or with what there is."""
    found = find_wing(connection, name)
    if found is None:
        raise NoSuchPlace(f"There is no wing '{name}'. {instead(name, places.wing_names(connection), 'wings')}")
    return found


def find_room(connection: Connection, at: Wing, name: str) -> Room | None:
    """Return the room of a wing that a name means; it may stand elsewhere now."""
    for said in _spellings(name):
        row = places.room_led_to(connection, at.row, said)
        if row is not None:
            place = places.place_of(connection, row)
            asked = Place(at.former or at.name, said)
            return Room(row, _wing_of(connection, row), place, None if place == asked else asked)
    return None


def room(connection: Connection, said: str, home: str | None = None) -> Room:
    """Return the room that `wing/room` means, or `room` alone: the one of the wing `home`, else the only one.

    Raises NoSuchPlace with those that are near, UsageError where there are several.
    """
    before, slash, name = said.rpartition("/")
    if slash:
        at = find_wing(connection, before)
        found = find_room(connection, at, name) if at is not None else None
        if found is None:
            raise _no_room(connection, said)
        return found
    candidates = rooms_called(connection, name)
    own = [one for one in candidates if one.place.wing == home]
    if len(own) == 1 or len(candidates) == 1:
        return (own or candidates)[0]
    if not candidates:
        raise _no_room(connection, said)
    listed = _listed([spoken(one.place) for one in candidates])
    raise UsageError(f"Several wings have a room '{name}': say which, {listed}.")


def rooms_called(connection: Connection, name: str) -> list[Room]:
    """Return the rooms of that name in all wings; where there is none, those that once had it."""
    for said in _spellings(name):
        rows = places.rooms_led_to(connection, said)
        if rows:
            return [_found(connection, row, said) for row in rows]
    return []


def instead(name: str, names: Iterable[str], what: str) -> str:
    """Say which names are near one that means nothing, or else which there are."""
    known = list(names)
    close = _near(name, known)
    return _told(close or known, bool(close), what)


def _told(names: Sequence[str], are_near: bool, what: str) -> str:
    if not names:
        return f"The palace has no {what} yet."
    return f"{'Near it' if are_near else 'There are'}: {_listed(names)}."


def _near(name: str, names: Iterable[str]) -> list[str]:
    """Return the names that somebody may mean, the nearest first: parts of one another, or a slip or two apart."""
    by_folded: dict[str, list[str]] = {}
    for one in sorted(names):
        by_folded.setdefault(fold(one), []).append(one)
    folded = fold(name)
    close = near(folded, by_folded) or get_close_matches(folded, by_folded, _LISTED, _ALIKE)
    return [one for alike in close for one in by_folded[alike]]


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _LISTED
    return f"{', '.join(map(shown_place, names[:_LISTED]))}{f' and {more:,} more' if more > 0 else ''}"


def _no_room(connection: Connection, said: str) -> NoSuchPlace:
    before, _, name = said.rpartition("/")
    rooms = places.rooms(connection)
    at = find_wing(connection, before) if before else None
    close = [row for row in rooms if row.place.room == slug(name, "")]  # its name, in another wing
    close = close or _rooms_near(name, [row for row in rooms if at is None or row.wing == at.row])
    close = close or _rooms_near(name, rooms)
    named = [spoken(row.place) for row in close or rooms]
    return NoSuchPlace(f"There is no room '{said}'. {_told(named, bool(close), 'rooms')}", named[:_LISTED])


def _rooms_near(name: str, rooms: Sequence[RoomRow]) -> list[RoomRow]:
    close = {one: n for n, one in enumerate(_near(name, {row.place.room for row in rooms}))}
    return sorted((row for row in rooms if row.place.room in close), key=lambda row: close[row.place.room])


def _found(connection: Connection, row: int, said: str) -> Room:
    place = places.place_of(connection, row)
    return Room(row, _wing_of(connection, row), place, None if place.room == said else Place(place.wing, said))


def _wing_of(connection: Connection, room: int) -> int:
    return int(next(connection.execute("SELECT wing FROM room WHERE id = ?", (room,)))[0])


def _spellings(name: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((name, slug(name, name))))
