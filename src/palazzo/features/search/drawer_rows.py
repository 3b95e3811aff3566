"""Drawers as lists show them: the beginning of the words, and what there is to know of each without reading it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from palazzo.features.search.hits import HitSource
from palazzo.model import Micros, Visibility

if TYPE_CHECKING:
    from palazzo.features.branches.branch_labels import Checkout
    from palazzo.store.database import Connection

BEGINNING = 200
"""Characters of a drawer's words that a list shows at most."""


@dataclass(frozen=True, slots=True)
class DrawerRow:
    """A drawer in a list. `text` is how its words begin where they are `truncated`; `length` is of all of them.

    `filed_as` and `importance` are what was said of a note.
    """

    id: str
    kind: str
    filed_as: str
    wing: str
    room: str
    title: str
    created_at: Micros
    recorded_at: Micros
    role: str
    author: str
    trust: str
    tags: tuple[str, ...]
    importance: float | None
    source: HitSource
    text: str
    truncated: bool
    length: int
    visibility: Visibility = "merged"
    label: str = ""
    """What is said of its branch where that is not known to be part of what is checked out."""


def drawer_rows(connection: Connection, rows: Sequence[int], checkout: Checkout) -> tuple[DrawerRow, ...]:
    """Return drawers by their row ids, in that order."""
    from palazzo.archive import archive_reader
    from palazzo.features.branches.branch_labels import find_origin
    from palazzo.features.search.hits import source_of, title_of
    from palazzo.store import note_labels

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
            )
        )
    return tuple(result_rows)


def beginning(text: str, most: int = BEGINNING) -> str:
    """Return how a text begins, in its own characters, cut between words where it can be."""
    if len(text) <= most:
        return text
    head = text[:most]
    at = max(head.rfind(" "), head.rfind("\n"))
    return head[:at] if at > most // 2 else head
