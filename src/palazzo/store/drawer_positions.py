"""Where drawers stand in their sources: what a copy of them elsewhere needs to have the same neighbours."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import NamedTuple

from palazzo.store.database import Connection


class DrawerPosition(NamedTuple):
    """Where a drawer stands in its source, and what ranking knows of its text; `source` is the source's id.

    `thread` names the conversation or document within the source, and `size` is in code points.
    """

    source: bytes
    thread: str
    ordinal: int
    size: int
    marks: int


def positions_of(connection: Connection, rows: Iterable[int]) -> dict[int, DrawerPosition]:
    """Return where drawers stand, by row id."""
    records = connection.execute(
        "SELECT d.id, source.uid, d.thread, d.ordinal, d.size, d.marks FROM drawer AS d"
        " JOIN source ON source.id = d.source WHERE d.id IN (SELECT value FROM json_each(?))",
        (json.dumps([*rows]),),
    )
    return {int(row): DrawerPosition(bytes(source), *values) for row, source, *values in records}
