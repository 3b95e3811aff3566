"""Drawers as lists show them: the beginning of the text, and metadata."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from palazzo.archive import archive_reader
from palazzo.features.branches.branch_labels import find_origin
from palazzo.features.search.hit_locations import SHORTEST_ID
from palazzo.features.search.hits import source_of, title_of
from palazzo.operations.shared_views import DrawerRow
from palazzo.store import note_labels

if TYPE_CHECKING:
    from palazzo.features.branches.branch_labels import Checkout
    from palazzo.store.database import Connection

BEGINNING = 200
"""The most characters of a drawer's text that a list shows."""


def drawer_rows(connection: Connection, rows: Sequence[int], checkout: Checkout) -> tuple[DrawerRow, ...]:
    """Return drawers by their row ids, in the order given."""
    read = archive_reader.read_drawers(connection, rows)
    labels_by_row = note_labels.labels_of(connection, rows)
    standings = checkout.standings(find_origin(drawer) for drawer in read.values())
    result_rows = []
    for row in rows:
        drawer, label = read[row], labels_by_row.get(row, note_labels.NO_LABEL)
        text = beginning(drawer.text)
        result_rows.append(
            DrawerRow(
                id=drawer.id,
                kind=drawer.kind,
                filed_as=label.filed_as,
                wing=drawer.place.wing,
                room=drawer.place.room,
                title=title_of(drawer),
                created_at=drawer.created_at,
                recorded_at=drawer.recorded_at,
                role=drawer.role,
                author=drawer.author,
                trust=drawer.trust,
                tags=drawer.tags,
                importance=label.importance,
                source=source_of(drawer),
                text=text,
                truncated=len(text) < len(drawer.text),
                length=len(drawer.text),
                visibility=standings[find_origin(drawer)].visibility,
                label=standings[find_origin(drawer)].label,
                short_id=archive_reader.short_id(connection, drawer.id, SHORTEST_ID),
            )
        )
    return tuple(result_rows)


def beginning(text: str, most: int = BEGINNING) -> str:
    """Return the beginning of a text in its original characters, cut between words if possible."""
    if len(text) <= most:
        return text
    head = text[:most]
    at = max(head.rfind(" "), head.rfind("\n"))
    return head[:at] if at > most // 2 else head
