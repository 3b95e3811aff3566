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


def passages_of(connection: Connection, drawers: Sequence[int]) -> list[DrawerPassage]:
    """Return the passages of drawers, in the order given, and of a drawer in the order of its text."""
    rows = connection.execute(
        "SELECT p.drawer, p.item, p.start, p.end, p.hash FROM json_each(?) AS sought"
        " CROSS JOIN passage p ON p.drawer = sought.value ORDER BY sought.key, p.id",
        (json.dumps([*drawers]),),
    )
    return [
        DrawerPassage(int(drawer), int(item), int(start), int(end), bytes(digest))
        for drawer, item, start, end, digest in rows
    ]
