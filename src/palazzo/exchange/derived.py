"""What an export tells besides the truth: its drawers, for programs that read it.

They follow from the items and acts before them, so an import checks these lines, and cuts its drawers itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from palazzo.exchange import wire
from palazzo.exchange.forms import BadRecord, Id, Name, Time, Whole, fields_of, read, written
from palazzo.model import DrawerKind, Trust
from palazzo.store import drawers as stored
from palazzo.store import items, tags
from palazzo.store.database import Connection
from palazzo.store.listing import Listing, shelved

_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of an item's text, counted in code points."""

    item: Id
    start: Whole
    end: Whole


@dataclass(frozen=True, slots=True)
class Drawer:
    """What search finds: stretches of items, where they are filed now, and what is said of them."""

    id: Id
    type: DrawerKind
    wing: Name
    room: Name
    trust: Trust
    title: Name = ""
    role: Name = ""
    author: Name = ""
    created_at: Time = 0
    branch: Name = ""
    tags: tuple[Name, ...] = ()
    spans: tuple[Stretch, ...] = ()


KIND = "drawer"
FIELDS = fields_of(Drawer)
_BEGINNING = b'{"kind":"drawer",'


def drawers(connection: Connection, listing: Listing) -> Iterator[Drawer]:
    """Yield the drawers that are live, by wing, room and time."""
    rows = [one.row for one in shelved(connection, listing)]
    for start in range(0, len(rows), _AT_ONCE):
        part = rows[start : start + _AT_ONCE]
        read = _read(connection, part)
        yield from (read[row] for row in part)


def _read(connection: Connection, rows: Sequence[int]) -> dict[int, Drawer]:
    spans = stored.spans_of(connection, rows)
    ids = items.item_ids(connection, {item for own in spans.values() for item, _, _ in own})
    tagged = tags.tags_of_each(connection, rows)
    return {
        one.row: Drawer(
            id=bytes(one.uid).hex(),
            type=one.kind,
            wing=one.wing,
            room=one.room,
            trust=one.trust,
            title=one.title,
            role=one.role,
            author=one.author,
            created_at=one.created_at,
            branch=one.branch,
            tags=tagged.get(one.row, ()),
            spans=tuple(Stretch(ids[item], start, end) for item, start, end in spans.get(one.row, ())),
        )
        for one in stored.describe(connection, rows)
    }


def to_line(drawer: Drawer) -> bytes:
    """Return a drawer as its line, with the line's end."""
    return wire.line_of(KIND, written(FIELDS, drawer))


def is_drawer(line: bytes) -> bool:
    """Whether a line tells a drawer."""
    return line.startswith(_BEGINNING)


def from_line(line: bytes) -> Drawer:
    """Return the drawer that a line tells; BadRecord as `wire.from_line` raises it."""
    kind, value = wire.parsed(line)
    if kind != KIND:
        raise BadRecord(f"is no {KIND}")
    try:
        return read(Drawer, FIELDS, value)
    except BadRecord as error:
        raise BadRecord(f"{KIND}: {error}") from None
