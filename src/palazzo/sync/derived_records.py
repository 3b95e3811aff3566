"""Derived records of an export: its drawers, for programs that read it, and its end.

Drawers follow from the items and acts before them, so an import checks these lines, and cuts its drawers itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from palazzo.frozen_class import frozen
from palazzo.model import DrawerKind, Trust
from palazzo.store import drawers as stored
from palazzo.store import items, tag_rows
from palazzo.store.database import Connection
from palazzo.store.drawer_listing import Listing, list_drawers
from palazzo.sync import record_lines
from palazzo.sync.field_codecs import BadRecord, Digest, Id, Name, Time, Whole, encode_fields, fields_of, read

_AT_ONCE = 500


@frozen
class Stretch:
    """A range of an item's text, counted in code points."""

    item: Id
    start: Whole
    end: Whole


@frozen
class Drawer:
    """A unit of search results: ranges of items, their current location, and their properties."""

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


@frozen
class End:
    """The last line.

    `lines` is the number of lines before it: otherwise a file truncated at a line's end would appear complete. `mac`
    proves to the palace that wrote those lines that none of their bytes has changed (`authenticity`), and shows others
    where one has changed by accident (`line_checksums`).
    """

    lines: Whole
    mac: Digest = b""


KIND, END = "drawer", "end"
KINDS: Mapping[str, type[Drawer | End]] = {KIND: Drawer, END: End}
_FIELDS = {kind: fields_of(form) for kind, form in KINDS.items()}
_BEGINNINGS = tuple(b'{"kind":"%s",' % kind.encode() for kind in KINDS)


def drawers(connection: Connection, listing: Listing) -> Iterator[Drawer]:
    """Yield the live drawers, by wing, room and time."""
    rows = [entry.row for entry in list_drawers(connection, listing)]
    for start in range(0, len(rows), _AT_ONCE):
        part = rows[start : start + _AT_ONCE]
        read = _read(connection, part)
        yield from (read[row] for row in part)


def _read(connection: Connection, rows: Sequence[int]) -> dict[int, Drawer]:
    spans = stored.spans_of(connection, rows)
    ids = items.item_ids(connection, {item for own in spans.values() for item, _, _ in own})
    tags_by_row = tag_rows.tags_of_each(connection, rows)
    return {
        entry.row: Drawer(
            id=bytes(entry.uid).hex(),
            type=entry.kind,
            wing=entry.wing,
            room=entry.room,
            trust=entry.trust,
            title=entry.title,
            role=entry.role,
            author=entry.author,
            created_at=entry.created_at,
            branch=entry.branch,
            tags=tags_by_row.get(entry.row, ()),
            spans=tuple(Stretch(ids[item], start, end) for item, start, end in spans.get(entry.row, ())),
        )
        for entry in stored.describe(connection, rows)
    }


def to_line(record: Drawer | End) -> bytes:
    """Return a drawer or end record as a line, with its line ending."""
    kind = kind_of(record)
    return record_lines.line_of(kind, encode_fields(_FIELDS[kind], record))


def kind_of(record: Drawer | End) -> str:
    """Return the kind that its line states."""
    return KIND if isinstance(record, Drawer) else END


def is_derived(line: bytes) -> bool:
    """Return whether a line is a drawer or end record."""
    return line.startswith(_BEGINNINGS)


def from_line(line: bytes) -> Drawer | End:
    """Return the record of a line; raise BadRecord as `record_lines.from_line` does."""
    kind, value = record_lines.parse_record(line)
    if kind not in KINDS:
        raise BadRecord(f"is no {KIND}")
    try:
        return read(KINDS[kind], _FIELDS[kind], value)
    except BadRecord as error:
        raise BadRecord(f"{kind}: {error}") from None
