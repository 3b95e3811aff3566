"""The evidence for injecting an item: its trust, its tags, and what depends on it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import NamedTuple

from palazzo.model import Micros, Trust
from palazzo.store.database import Connection
from palazzo.store.items import decode_text
from palazzo.store.json_columns import decode_string, string_at


class Worth(NamedTuple):
    """A live item's drawer ids, counts of manual tags and of facts and tunnels on it, and first drawer's `trust`."""

    drawers: tuple[str, ...]
    trust: Trust
    marks: int
    references: int


class NoteSummary(NamedTuple):
    """A note as it is shown; `label` is its kind, '' if it has none."""

    id: str
    author: str
    at: Micros
    label: str
    text: str


def read_notes(connection: Connection, items: Iterable[int]) -> dict[int, NoteSummary]:
    """Return the notes with these row ids."""
    rows = connection.execute(
        f"SELECT id, uid, author, created_at, {string_at('meta', '$.label')}, text, text_codec FROM item"
        " WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(items)),),
    )
    return {
        int(row): NoteSummary(bytes(uid).hex(), author, Micros(at), decode_string(label), decode_text(text, codec))
        for row, uid, author, at, label, text, codec in rows
    }


def worth_of(connection: Connection, items: Iterable[int]) -> dict[int, Worth]:
    """Return the signals of worth of items, by row id; items with no live drawer (forgotten, erased) are absent.

    Tags set by a rule are not marks. Only facts believed now count.
    """
    item_list = json.dumps(sorted(set(items)))
    tunnels = _tunnel_ends(connection)
    facts = _facts_on(connection, item_list)
    worth_by_item: dict[int, Worth] = {}
    for item, uid, trust, marks in connection.execute(
        "SELECT s.item, d.uid, d.trust, (SELECT count(*) FROM drawer_tag JOIN tag ON tag.id = drawer_tag.tag"
        " WHERE drawer_tag.drawer = d.id AND tag.name NOT LIKE '%:%' AND tag.name <> 'error')"
        " FROM json_each(?) AS asked CROSS JOIN drawer_span s ON s.item = asked.value"
        " CROSS JOIN drawer d ON d.id = s.drawer WHERE d.retired_at IS NULL ORDER BY s.item, d.id",
        (item_list,),
    ):
        row, drawer = int(item), bytes(uid).hex()
        worth = worth_by_item.get(row, Worth((), trust, 0, facts.get(row, 0)))
        if drawer not in worth.drawers:
            worth_by_item[row] = worth._replace(
                drawers=(*worth.drawers, drawer),
                marks=max(worth.marks, int(marks)),
                references=worth.references + tunnels.get(drawer, 0),
            )
    return worth_by_item


def _facts_on(connection: Connection, item_list: str) -> dict[int, int]:
    rows = connection.execute(
        "SELECT item.id, count(DISTINCT v.fact) FROM json_each(?) AS asked CROSS JOIN item ON item.id = asked.value"
        " CROSS JOIN fact_source f ON f.item_uid = item.uid CROSS JOIN fact_version v ON v.id = f.version"
        " WHERE v.retired_at IS NULL GROUP BY 1",
        (item_list,),
    )
    return {int(item): int(count) for item, count in rows}


def _tunnel_ends(connection: Connection) -> dict[str, int]:
    rows = connection.execute(
        "SELECT drawer_uid, count(*) FROM tunnel_drawer JOIN tunnel ON tunnel.id = tunnel_drawer.tunnel"
        " WHERE tunnel.retired_at IS NULL GROUP BY 1"
    )
    return {bytes(uid).hex(): int(count) for uid, count in rows}
