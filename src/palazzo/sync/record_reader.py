"""Record reader: reads a palace as records, in canonical order and from one snapshot, a few at a time.

The order is that of `kind_registry`, and within a kind that of the ids. Items are ordered by source, thread and place
in it (and so are repetitions and versions), so that each pack is read once and an export reads in the order of its
sources.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import field

from palazzo.frozen_class import frozen
from palazzo.store import drawer_listing as listings
from palazzo.store import drawers
from palazzo.store.database import Connection
from palazzo.store.drawer_listing import Listing
from palazzo.sync.records.chain_records import LINK
from palazzo.sync.records.header_record import HEADER
from palazzo.sync.records.item_records import ITEM
from palazzo.sync.records.kind_registry import RECORD_KINDS
from palazzo.sync.records.palace_snapshot import PalaceSnapshot, Selection
from palazzo.sync.records.record_kind import Record


@frozen
class Scope:
    """The restriction of an export: the items of some drawers. `options` states it by option, for the header."""

    listing: Listing
    options: Mapping[str, object] = field(default_factory=dict)


def records(
    connection: Connection, scope: Scope | None = None, *, tombstones: bool = False, addresses: bool = True
) -> Iterator[Record]:
    """Yield all records, or with a scope its entries and what they refer to, and nothing else; a header comes first.

    `tombstones` are data that only a palace with the same key can use: hashes of erased words and of unwanted facts.
    Without `addresses`, sources are written without their location, which differs on every device.
    """
    selection = None if scope is None else _select(connection, scope)
    snapshot = PalaceSnapshot(connection, selection, tombstones, addresses)
    for kind in RECORD_KINDS.values():
        yield from kind.read(snapshot)


def small(connection: Connection) -> Iterator[Record]:
    """Yield all records except items and links, in canonical order, as devices of one palace exchange them."""
    snapshot = PalaceSnapshot(connection, tombstones=True, addresses=False)
    for kind in RECORD_KINDS.values():
        if kind not in (HEADER, ITEM, LINK):
            yield from kind.read(snapshot)


def _select(connection: Connection, scope: Scope) -> Selection:
    """Return the content of a limited export: chosen items, what they need, and what concerns only them."""
    selection = Selection(scope.options)
    chosen_drawers = [drawer.row for drawer in listings.list_drawers(connection, scope.listing)]
    for row, uid in connection.execute(
        "SELECT DISTINCT item.id, item.uid FROM json_each(?) AS asked CROSS JOIN drawer_span s"
        " ON s.drawer = asked.value CROSS JOIN item ON item.id = s.item",
        (json.dumps(chosen_drawers),),
    ):
        selection.rows["item"].add(row)
        selection.item_ids.add(bytes(uid))
    if [*scope.options] == ["wing"]:
        rooms = {*(scope.listing.rooms or ())}
        wings = connection.execute("SELECT id, wing FROM room")
        selection.whole_wings.update(wing for room, wing in wings if room in rooms)
    for kind in RECORD_KINDS.values():
        kind.select(connection, selection)
    return selection


def count(connection: Connection) -> int:
    """Return the approximate number of lines, including drawers: only the kinds with many lines are counted."""
    return drawers.count_drawers(connection) + _rows(connection, "item", "link") + count_small(connection)


def count_small(connection: Connection) -> int:
    """Return the approximate number of records that `small` yields."""
    return _rows(connection, "source", "revision", "repetition", "act", "fact", "fact_version", "group_member")


def _rows(connection: Connection, *tables: str) -> int:
    return sum(int(next(connection.execute(f"SELECT count(*) FROM {table}"))[0]) for table in tables)
