"""Neighbours of a drawer: the context that a person needs to follow it: its speakers, and what came next in its thread.

`drawers.beside` returns the drawers of its own kind before and after it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

from palazzo.store.database import Connection

ITEMS_AHEAD = 12
"""The most items after a drawer's last that are examined to find what followed it: the same turn, or the next."""


class Speaker(NamedTuple):
    """The speaker of the item of a drawer's span; `size` is the span's number of characters."""

    role: str
    author: str
    size: int


class NextSpan(NamedTuple):
    """A span that follows a drawer, with the drawer that contains it; `n` is its number there."""

    drawer: int
    n: int
    kind: str
    title: str


def speakers(connection: Connection, rows: Sequence[int]) -> dict[int, list[Speaker]]:
    """Return the speakers in each drawer's spans, in order."""
    speakers_by_drawer: dict[int, list[Speaker]] = {}
    spans = connection.execute(
        "SELECT span.drawer, CASE drawer.role WHEN 'quoted' THEN drawer.role ELSE item.role END,"
        " CASE drawer.role WHEN 'quoted' THEN '' ELSE item.author END, span.end - span.start FROM drawer_span AS span"
        " JOIN drawer ON drawer.id = span.drawer JOIN item ON item.id = span.item"
        " WHERE span.drawer IN (SELECT value FROM json_each(?))"
        " ORDER BY span.drawer, span.n",
        (json.dumps(list(rows)),),
    )
    for row, *speaker in spans:
        speakers_by_drawer.setdefault(int(row), []).append(Speaker(*speaker))
    return speakers_by_drawer


def read_next_spans(connection: Connection, row: int) -> list[NextSpan]:
    """Return what was said and done right after the last words of a drawer, in order, if it is live.

    A drawer's position is that of its first words. What follows a tool's output is therefore often in a drawer
    positioned before it: the turn in which the tool was called. Further tool output of the same items is excluded.
    """
    rows = connection.execute(
        "WITH own AS (SELECT item.id AS item, source, thread, ordinal, end FROM drawer_span"
        " JOIN item ON item.id = item WHERE drawer = ?1),"
        " last AS (SELECT * FROM own ORDER BY ordinal DESC, end DESC LIMIT 1),"
        " ahead AS (SELECT item.id, item.ordinal FROM last JOIN item ON item.source = last.source"
        " AND item.thread = last.thread AND item.ordinal >= last.ordinal ORDER BY item.ordinal, item.id LIMIT ?2)"
        " SELECT span.drawer, span.n, drawer.kind, drawer.title FROM ahead, last"
        " JOIN drawer_span AS span ON span.item = ahead.id JOIN drawer ON drawer.id = span.drawer"
        " WHERE drawer.retired_at IS NULL AND drawer.id <> ?1 AND drawer.kind <> 'reasoning'"
        " AND (ahead.ordinal > last.ordinal OR span.start >= last.end)"
        " AND NOT (drawer.kind = 'tool' AND span.item IN (SELECT item FROM own))"
        " ORDER BY ahead.ordinal, ahead.id, span.start",
        (row, ITEMS_AHEAD),
    )
    return [NextSpan(int(drawer), int(n), kind, title) for drawer, n, kind, title in rows]
