"""Live drawers by place, kind and time, newest first, one page at a time."""

from __future__ import annotations

import json
from typing import NamedTuple

from palazzo.frozen_class import frozen
from palazzo.model import Micros
from palazzo.store import note_labels
from palazzo.store.database import Connection


@frozen
class Listing:
    """Filters of a drawer list: None and () admit all. `rooms` and `tags` are row ids; a drawer must have every tag.

    `filed_as` and the least importance restrict the list to notes. `since` is inclusive, `end_time` exclusive.
    """

    rooms: tuple[int, ...] | None = None
    kind: str | None = None
    since: Micros | None = None
    end_time: Micros | None = None
    tags: tuple[int, ...] = ()
    filed_as: tuple[str, ...] = ()
    least: float | None = None
    trusts: tuple[str, ...] | None = None
    branch: str | None = None
    sources: tuple[int, ...] | None = None
    """Row ids of sources."""


class ListingRow(NamedTuple):
    """The place of a drawer, its kind, and its time."""

    wing: str
    room: str
    created_at: Micros
    kind: str
    row: int


def list_drawers(connection: Connection, listing: Listing) -> list[ListingRow]:
    """Return all listed drawers by wing, room and time, in an order that is the same on every machine."""
    condition, parameters = _build_condition(listing)
    rows = connection.execute(
        "SELECT wing.name, room.name, d.created_at, d.kind, d.id FROM drawer d JOIN room ON room.id = d.room"
        f" JOIN wing ON wing.id = room.wing WHERE {condition}"
        " ORDER BY wing.name, room.name, d.created_at, d.thread, d.ordinal, d.uid",
        parameters,
    )
    return [ListingRow(wing, room, Micros(at), kind, int(row)) for wing, room, at, kind, row in rows]


def page(connection: Connection, listing: Listing, limit: int, offset: int = 0) -> list[int]:
    """Return the row ids of the newest listed drawers, skipping `offset`."""
    condition, parameters = _build_condition(listing)
    rows = connection.execute(
        f"SELECT d.id FROM drawer d WHERE {condition} ORDER BY d.created_at DESC, d.id DESC LIMIT ? OFFSET ?",
        (*parameters, limit, offset),
    )
    return [int(row) for (row,) in rows]


def notes_by_wing(connection: Connection) -> dict[str, list[int]]:
    """Return the row ids of the live notes of each wing that has any, newest first; wings are sorted by name.

    Notes are found by their sources, which are few: this takes no longer in a palace with many sessions.
    """
    notes: dict[str, list[int]] = {}
    for wing, row in connection.execute(
        "SELECT wing.name, d.id FROM source CROSS JOIN drawer d ON d.source = source.id JOIN room ON room.id = d.room"
        " JOIN wing ON wing.id = room.wing AND wing.merged_into IS NULL WHERE source.kind = 'note'"
        " AND d.kind = 'note' AND d.retired_at IS NULL"
        " ORDER BY wing.name, d.created_at DESC, d.id DESC"
    ):
        notes.setdefault(str(wing), []).append(int(row))
    return notes


def count(connection: Connection, listing: Listing) -> int:
    """Return the number of listed drawers."""
    condition, parameters = _build_condition(listing)
    return int(next(connection.execute(f"SELECT count(*) FROM drawer d WHERE {condition}", parameters))[0])


def _build_condition(listing: Listing) -> tuple[str, tuple[str | int | float | None, ...]]:
    """Return the conditions and their parameters; the label's come first because they are numbered."""
    parts = ["d.retired_at IS NULL"]
    parameters: list[str | int | float | None] = []
    if listing.filed_as or listing.least is not None:
        parts.append(
            "d.id IN (SELECT s.drawer FROM source CROSS JOIN item ON item.source = source.id JOIN drawer_span s ON"
            f" s.item = item.id AND s.n = 0 WHERE source.kind = 'note' AND {note_labels.CONDITION})"
        )
        parameters += note_labels.condition(listing.filed_as, listing.least)
    for column, value, sign in (
        ("d.kind", listing.kind, "="),
        ("d.created_at", listing.since, ">="),
        ("d.created_at", listing.end_time, "<"),
        ("d.branch", listing.branch, "="),
    ):
        if value is not None:
            parts.append(f"{column} {sign} ?")
            parameters.append(value)
    among = (("d.room", listing.rooms), ("d.trust", listing.trusts), ("d.source", listing.sources))
    for column, values in among:
        if values is not None:
            parts.append(f"{column} IN (SELECT value FROM json_each(?))")
            parameters.append(json.dumps(values))
    for tag in listing.tags:
        parts.append("EXISTS (SELECT 1 FROM drawer_tag t WHERE t.drawer = d.id AND t.tag = ?)")
        parameters.append(tag)
    return " AND ".join(parts), tuple(parameters)
