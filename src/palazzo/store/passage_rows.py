"""Passages: the parts of drawers that have vectors and token states of their own."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

from palazzo.store.database import Connection


class DrawerPassage(NamedTuple):
    """A passage: its drawer, where its text is, and the hash of that text."""

    drawer: int
    item: int
    start: int
    end: int
    hash: bytes


def passages_of(connection: Connection, drawers: Sequence[int], limit: int) -> list[DrawerPassage]:
    """Return the first `limit` passages of each drawer, in the order of the text."""
    rows = connection.execute(
        "SELECT p.drawer, p.item, p.start, p.end, p.hash, row_number() OVER (PARTITION BY p.drawer ORDER BY p.id) AS n"
        " FROM passage p WHERE p.drawer IN (SELECT value FROM json_each(?)) ORDER BY p.drawer, p.id",
        (json.dumps([*drawers]),),
    )
    return [
        DrawerPassage(int(drawer), int(item), int(start), int(end), bytes(digest))
        for drawer, item, start, end, digest, n in rows
        if n <= limit
    ]
