"""Labels of a note, stated besides its words: the kind it was filed as, its importance, and other metadata.

They are stored in the note's `meta`, so an erase reaches them. Drawers of other kinds have none.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from palazzo.store.database import Connection
from palazzo.store.json_columns import decode_string, string_at

DEFAULT_IMPORTANCE = 0.5
"""The default importance: the middle of the scale."""


class Label(NamedTuple):
    """The label of a note's drawer: its kind ('' for none), and its importance (None if not given)."""

    filed_as: str
    importance: float | None


NO_LABEL = Label("", None)


def labels_of(connection: Connection, drawers: Iterable[int]) -> dict[int, Label]:
    """Return the labels of the drawers that belong to notes, by row id."""
    rows = connection.execute(
        f"SELECT s.drawer, {string_at('item.meta', '$.label')}, json_extract(item.meta, '$.importance')"
        " FROM drawer_span s JOIN item ON item.id = s.item"
        " WHERE s.drawer IN (SELECT value FROM json_each(?)) AND s.n = 0 AND item.kind = 'note'",
        (json.dumps([*drawers]),),
    )
    return {int(row): Label(decode_string(label), _number(importance)) for row, label, importance in rows}


def label_of(connection: Connection, item: int) -> Label:
    """Return the label of one note."""
    rows = connection.execute(
        f"SELECT {string_at('meta', '$.label')}, json_extract(meta, '$.importance') FROM item WHERE id = ?", (item,)
    )
    label, importance = next(rows)
    return Label(decode_string(label), _number(importance))


def drawers_labelled(connection: Connection, filed_as: Iterable[str], least: float | None = None) -> frozenset[int]:
    """Return drawers, live and retired, of notes that were filed as one of these with at least this importance."""
    rows = connection.execute(
        f"SELECT s.drawer FROM source CROSS JOIN item ON item.source = source.id JOIN drawer_span s ON s.item = item.id"
        f" AND s.n = 0 WHERE source.kind = 'note' AND {CONDITION}",
        condition(filed_as, least),
    )
    return frozenset(int(row) for (row,) in rows)


CONDITION = (
    "(?1 = '[]' OR json_extract(item.meta, '$.label') IN (SELECT value FROM json_each(?1)))"
    f" AND (?2 IS NULL OR coalesce(json_extract(item.meta, '$.importance'), {DEFAULT_IMPORTANCE}) >= ?2)"
)
"""An SQL condition on an `item` that is a note; `condition` builds its parameters."""


def condition(filed_as: Iterable[str], least: float | None) -> tuple[str, float | None]:
    """Return the parameters of `CONDITION`; without any label or importance, every note matches."""
    return json.dumps([*filed_as]), least


def metadata_of(connection: Connection, item: int) -> dict[str, Any]:
    """Return the further metadata that was filed with a note, {} if there is none."""
    rows = connection.execute("SELECT json_extract(meta, '$.metadata') FROM item WHERE id = ?", (item,))
    (metadata_json,) = next(rows, (None,))
    metadata = json.loads(metadata_json) if isinstance(metadata_json, str) else None
    return metadata if isinstance(metadata, dict) else {}


def replaced_by(connection: Connection, item: int) -> tuple[str, ...]:
    """Return the ids of the drawers that a note replaces."""
    rows = connection.execute(
        "SELECT replaced.value FROM item, json_each(item.meta, '$.replaces') AS replaced WHERE item.id = ?", (item,)
    )
    return tuple(str(drawer) for (drawer,) in rows)


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
