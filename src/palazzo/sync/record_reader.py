"""Record reader: reads a palace as records, in canonical order and from one snapshot, a few at a time.

The order is that of `record_lines.KINDS`, and within a kind that of the ids. Items are ordered by source, thread and
place in it (and so are repetitions and versions), so that each pack is read once and an export reads in the order of
its sources.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import palazzo
from palazzo.archive.device_chain import BLIND
from palazzo.store import chain_links, change_groups, drawers
from palazzo.store.database import Connection
from palazzo.store.drawer_listing import Listing
from palazzo.store.items import decode_text
from palazzo.store.packs import PackReader
from palazzo.sync import graph_record_reader, record_selection
from palazzo.sync.record_selection import Selection
from palazzo.sync.record_types import (
    FORMAT,
    VERSION,
    Absent,
    Act,
    Device,
    Group,
    Header,
    Item,
    Link,
    Project,
    Record,
    Repetition,
    Revision,
    Room,
    Source,
    Span,
    State,
    Task,
    Wing,
)

_AT_ONCE = 500
_OWN = "palazzo:"
"""Prefix of addresses that are the same on every device: those of notes, diaries and tasks."""


@dataclass(frozen=True, slots=True)
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
    selection = (
        None if scope is None else record_selection.select(connection, scope.listing, [*scope.options] == ["wing"])
    )
    scope_options = None if scope is None or not scope.options else dict(scope.options)
    yield Header(FORMAT, VERSION, f"palazzo {palazzo.__version__}", scope_options)
    yield from _places(connection, selection, addresses)
    yield from _items(connection, selection)
    yield from _about_items(connection, selection)
    yield from _links(connection, selection)
    yield from _rest(connection, selection, tombstones)


def small(connection: Connection) -> Iterator[Record]:
    """Yield all records except items and links, in canonical order, as devices of one palace exchange them."""
    yield from _places(connection, None, False)
    yield from _about_items(connection, None)
    yield from _rest(connection, None, True)


def items(connection: Connection, ids: Sequence[str]) -> Iterator[Item]:
    """Yield those of these items that are here, in the order in which they were archived."""
    packs = PackReader(connection)
    for start in range(0, len(ids), _AT_ONCE):
        rows = connection.execute(  # the plus keeps it from going through all items in that order
            f"{_BY_ID} WHERE item.uid IN (SELECT unhex(value) FROM json_each(?)) ORDER BY +item.id",
            (json.dumps(ids[start : start + _AT_ONCE]),),
        )
        for _, *columns in rows:
            yield _item(packs, *columns)


def count(connection: Connection) -> int:
    """Return the approximate number of lines, including drawers: only the kinds with many lines are counted."""
    return drawers.count_drawers(connection) + _rows(connection, "item", "link") + count_small(connection)


def count_small(connection: Connection) -> int:
    """Return the approximate number of records that `small` yields."""
    return _rows(connection, "source", "revision", "repetition", "act", "fact", "fact_version", "group_member")


def _rows(connection: Connection, *tables: str) -> int:
    return sum(int(next(connection.execute(f"SELECT count(*) FROM {table}"))[0]) for table in tables)


# --- places and sources ------------------------------------------------------------------------------------


def _places(connection: Connection, selection: Selection | None, addresses: bool) -> Iterator[Record]:
    yield from _devices(connection, selection)
    for row, uid, name in connection.execute("SELECT id, uid, first_name FROM wing ORDER BY uid"):
        if selection is None or row in selection.wings:
            yield Wing(_hex(uid), name)
    for row, uid, wing, name in connection.execute(
        "SELECT room.id, room.uid, wing.uid, room.first_name FROM room JOIN wing ON wing.id = room.first_wing"
        " ORDER BY room.uid"
    ):
        if selection is None or row in selection.rooms:
            yield Room(_hex(uid), _hex(wing), name)
    for row, identity, wing, changed in connection.execute(
        "SELECT project.id, identity, wing.uid, project.changed_at FROM project JOIN wing ON wing.id = project.wing"
        " ORDER BY identity"
    ):
        if selection is None or row in selection.projects:
            yield Project(identity, _hex(wing), changed)
    for row, uid, kind, key, uri, session, title, project, changed in connection.execute(
        "SELECT id, uid, kind, key, uri, session_id, title, project, changed_at FROM source ORDER BY uid"
    ):
        if selection is None or row in selection.sources:
            own = tuple(map(str, json.loads(key)))
            visible_uri = uri if addresses or uri.startswith(_OWN) else ""
            yield Source(_hex(uid), kind, own, visible_uri, session, title, project, changed)


def _devices(connection: Connection, selection: Selection | None) -> Iterator[Device]:
    """Yield the devices that have links: other devices known here have written nothing yet."""
    for row, uid, name, created in connection.execute(
        "SELECT id, uid, name, created_at FROM device WHERE EXISTS (SELECT 1 FROM link WHERE device = device.id)"
        " ORDER BY uid"
    ):
        if selection is None or row in selection.devices:
            yield Device(_hex(uid), name or "", created or 0)


# --- items, and what is told of them -----------------------------------------------------------------------

_ITEM = (
    "SELECT item.id, item.uid, source.uid, room.uid, item.kind, role, item.recorded_at, trust, standing, author,"
    " thread, ordinal, created_at, branch, commit_id, decoder, parts, meta, text, text_codec, pack, raw_start,"
    " raw_size, salt FROM "
)
_BY_SOURCE = f"{_ITEM} source CROSS JOIN item ON item.source = source.id JOIN room ON room.id = item.room"
_BY_ID = f"{_ITEM} item CROSS JOIN source ON source.id = item.source JOIN room ON room.id = item.room"


def _items(connection: Connection, selection: Selection | None) -> Iterator[Item]:
    packs = PackReader(connection)
    for row, *columns in connection.execute(f"{_BY_SOURCE} ORDER BY source.uid, thread, ordinal, item.uid"):
        if selection is None or row in selection.items:
            yield _item(packs, *columns)


def _item(packs: PackReader, *told: Any) -> Item:
    uid, source, room, kind, role, recorded_at, trust, status, author, thread, ordinal, created, branch = told[:13]
    commit, decoder, parts, meta, text, codec, pack, start, size, salt = told[13:]
    return Item(
        id=_hex(uid),
        source=_hex(source),
        room=_hex(room),
        type=kind,
        role=role,
        recorded_at=recorded_at,
        trust=trust,
        standing=status,
        author=author,
        thread=thread,
        ordinal=ordinal,
        created_at=created,
        branch=branch,
        commit=commit,
        decoder=decoder,
        parts=parts,
        meta=meta,
        text=decode_text(text, codec),
        raw=None if pack is None else packs.read(pack, start, size),
        salt=bytes(salt or b""),
    )


def _about_items(connection: Connection, selection: Selection | None) -> Iterator[Record]:
    for source_row, item_row, source, ordinal, item in connection.execute(
        "SELECT source.id, item.id, source.uid, r.ordinal, item.uid FROM source"
        " CROSS JOIN repetition r ON r.source = source.id CROSS JOIN item ON item.id = r.item"
        " ORDER BY source.uid, r.ordinal, item.uid"
    ):
        if selection is None or (source_row in selection.sources and item_row in selection.items):
            yield Repetition(_hex(source), ordinal, _hex(item))
    for item_row, source, at, item in connection.execute(
        "SELECT DISTINCT item.id, source.uid, r.at, item.uid FROM revision r JOIN source ON source.id = r.source"
        " JOIN item ON item.id = r.item ORDER BY source.uid, r.at, item.uid"
    ):
        if selection is None or item_row in selection.items:
            yield Revision(_hex(source), at, _hex(item))


def _links(connection: Connection, selection: Selection | None) -> Iterator[Link]:
    for device, seq, item, digest, link_hash, absent in connection.execute(
        "SELECT device.uid, seq, item_uid, digest, hash, absent FROM device CROSS JOIN link"
        " ON link.device = device.id ORDER BY device.uid, seq"
    ):
        if absent == chain_links.LOST_BODY and bytes(digest) == BLIND:
            continue  # nothing is known of it
        if selection is None or bytes(item) in selection.item_ids:
            why: Absent | None = "withheld" if absent == chain_links.LOST_BODY else absent
            yield Link(_hex(device), seq, _hex(item), bytes(digest), bytes(link_hash), why)


# --- what was done, and what is known ----------------------------------------------------------------------


def _rest(connection: Connection, selection: Selection | None, tombstones: bool) -> Iterator[Record]:
    yield from _groups(connection, selection)
    yield from _acts(connection, selection)
    yield from _tasks(connection, selection)
    yield from graph_record_reader.records(connection, selection, tombstones)


def _groups(connection: Connection, selection: Selection | None) -> Iterator[Group]:
    for row, uid, actor, at, verb, size, summary, undoes in connection.execute(
        "SELECT g.id, g.uid, g.actor, g.at, g.verb, g.size, g.summary, u.uid FROM change_group g"
        f" LEFT JOIN change_group u ON u.id = g.undoes WHERE {change_groups.IS_SHARED} ORDER BY g.uid"
    ):
        if selection is None or row in selection.groups:
            yield Group(_hex(uid), actor, at, verb, size, summary, _hex_or_none(undoes))


def _acts(connection: Connection, selection: Selection | None) -> Iterator[Act]:
    rooms = {str(row): _hex(uid) for row, uid in connection.execute("SELECT id, uid FROM room")}
    for row, uid, kind, actor, at, detail, group in connection.execute(
        "SELECT act.id, act.uid, act.kind, act.actor, act.at, act.detail, g.uid FROM act"
        " LEFT JOIN change_group g ON g.id = act.grp ORDER BY act.uid"
    ):
        if selection is not None and row not in selection.acts:
            continue
        act_detail = json.loads(detail)
        room = rooms.get(str(act_detail.pop("row", None)))
        spans = tuple(
            Span(_hex(item), start, end, _hex(drawer))
            for item, start, end, drawer in connection.execute(
                "SELECT item_uid, start, end, drawer_uid FROM act_span WHERE act = ? ORDER BY n", (row,)
            )
        )
        yield Act(_hex(uid), kind, actor, at, act_detail, room, _hex_or_none(group), spans)


def _tasks(connection: Connection, selection: Selection | None) -> Iterator[Record]:
    for item_row, item, kind, due in connection.execute(
        "SELECT item.id, item.uid, task.kind, task.due_at FROM task JOIN item ON item.id = task.item ORDER BY item.uid"
    ):
        if selection is None or item_row in selection.items:
            yield Task(_hex(item), kind, due)
    for item_row, uid, item, state, recorded_at, retired_at in connection.execute(
        "SELECT item.id, s.uid, item.uid, s.state, s.recorded_at, s.retired_at FROM task_state s"
        " JOIN task ON task.id = s.task JOIN item ON item.id = task.item ORDER BY s.uid"
    ):
        if selection is None or item_row in selection.items:
            yield State(_hex(uid), _hex(item), state, recorded_at, retired_at)


def _hex(uid: bytes) -> str:
    return bytes(uid).hex()


def _hex_or_none(uid: bytes | None) -> str | None:
    return None if uid is None else bytes(uid).hex()
