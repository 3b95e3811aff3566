"""The records of a wing that are shared with a team: its items, where they come from, and nothing of other wings.

    live drawers of the wing ──> their items ──without private, forgotten, moved, secret──> records

An item goes whole or not at all. One that has a forgotten part, or a part that was moved to another wing, stays; so
does what was ever in a private wing. Paths on this machine, the bytes that a host wrote, links of the palace's chain
and the names of other wings are not sent.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace

from palazzo.archive.archive_reader import join_spans
from palazzo.errors import UsageError
from palazzo.model import Micros
from palazzo.store import drawers, items, place_rows, remote_rows, taint_queries
from palazzo.store.database import Connection
from palazzo.store.drawer_listing import Listing
from palazzo.sync import push_filter, record_reader
from palazzo.sync.record_lines import to_line
from palazzo.sync.record_reader import Scope
from palazzo.sync.records.item_records import Item
from palazzo.sync.records.place_records import Room, Wing
from palazzo.sync.records.record_kind import Record
from palazzo.sync.records.source_records import Repetition, Revision, Source
from palazzo.team.protocol import LONGEST_LINE, MOST_APPROVALS, SHARED_KINDS, kind_of


@dataclass(slots=True)
class Selection:
    """What a wing shares: lines in canonical order, by the key of their record; the texts of notes that a person has
    approved, by drawer; and what stays, by reason.
    """

    lines: dict[str, bytes] = field(default_factory=dict)
    approved: dict[str, str] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    withheld: Counter[str] = field(default_factory=Counter)


def select_records(connection: Connection, wing: str, since: Micros | None = None) -> Selection:
    """Return the records of a wing; with `since` (microseconds), only from drawers of that time or later.

    A wing without a word yet shares nothing yet. Raises UsageError for a private wing.
    """
    row = place_rows.wing_led_to(connection, wing)
    if row is None:
        return Selection()
    if row in remote_rows.private_wings(connection):
        raise UsageError(f"The wing '{wing}' is private: nothing of it leaves this machine.")
    rooms = place_rows.scope(connection, wing, None).rooms or ()
    if not rooms:
        return Selection()
    scope = Scope(Listing(rooms=tuple(rooms), since=since), {"wing": wing})
    records = [
        _without_local(record, wing)
        for record in record_reader.records(connection, scope, addresses=False)
        if kind_of(record) in SHARED_KINDS
    ]
    selection = Selection()
    stays = _find_withheld(connection, wing, [record for record in records if isinstance(record, Item)])
    for record in _drop_dependents(records, stays):
        line = to_line(record).rstrip()
        if len(line) > LONGEST_LINE:
            stays[_id_of(record)] = "large"
            continue
        selection.lines[_key_of(record)] = line
        selection.counts[kind_of(record)] += 1
    _drop_secret_lines(selection)
    selection.approved = dict(_find_approved(connection, rooms, selection.lines.keys()))
    selection.withheld.update(stays.values())
    return selection


def _without_local(record: Record, wing: str) -> Record:
    """Return a record without what only this machine needs, and without a former name of its wing."""
    if isinstance(record, Item):
        return replace(record, raw=None, salt=b"")
    if isinstance(record, Source):
        is_portable = not any(_is_local_path(part) for part in record.key)
        title = "" if _is_local_path(record.title) else record.title
        return replace(record, uri="", title=title, key=record.key if is_portable else (record.id,))
    return replace(record, first_name=wing) if isinstance(record, Wing) else record


def _is_local_path(text: str) -> bool:
    """Return whether a text is a path that begins at the root of a file system, or in a home directory."""
    return text.startswith(("/", "~", "\\\\")) or text[1:3] in (":\\", ":/")


def _find_withheld(connection: Connection, wing: str, items: list[Item]) -> dict[str, str]:
    """Return the ids of items that stay, and why."""
    ids = [item.id for item in items]
    stays: dict[str, str] = dict.fromkeys(_find_divided(connection, ids), "forgotten or moved")
    limits = push_filter.limits(connection, (wing,))
    stays |= limits.of_items(connection, ids)
    for item in items:
        tainting_ids = json.loads(item.meta).get("tainted_by") or ()
        stays.update((item.id, why) for why in limits.of_items(connection, tainting_ids).values())
    stays |= {item.id: "secret" for item in push_filter.only_with_secrets(items)}
    return stays


def _find_divided(connection: Connection, ids: list[str]) -> Iterator[str]:
    """Yield items of which a part was forgotten, or stands in another wing than the rest."""
    rows = connection.execute(
        "SELECT item.uid FROM item JOIN drawer_span s ON s.item = item.id JOIN drawer d ON d.id = s.drawer"
        " JOIN room ON room.id = d.room WHERE item.uid IN (SELECT unhex(value) FROM json_each(?))"
        " GROUP BY item.id HAVING max(d.retired_why IS 'forgotten')"
        " OR count(DISTINCT CASE WHEN d.retired_at IS NULL THEN room.wing END) > 1",
        (json.dumps(ids),),
    )
    return (bytes(uid).hex() for (uid,) in rows)


def _find_approved(connection: Connection, rooms: Collection[int], keys: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield approved notes whose items are shared: the id of each drawer, and its text."""
    rows = taint_queries.approved_notes(connection, rooms)[-MOST_APPROVALS:]
    spans, uids = drawers.spans_of(connection, rows), drawers.uids_of(connection, rows)
    item_rows = {item for own in spans.values() for item, _, _ in own}
    item_keys = {row: f"item/{uid.hex()}" for row, uid in items.uids_of(connection, item_rows)}
    texts = items.read_texts(connection, item_rows)
    for row, uid in zip(rows, uids, strict=True):
        if all(item_keys[item] in keys for item, _, _ in spans[row]):
            yield uid.hex(), join_spans([texts[item][start:end] for item, start, end in spans[row]])


def _drop_dependents(records: list[Record], stays: dict[str, str]) -> Iterator[Record]:
    """Yield the records that are sent: items that do not stay, and what these need."""
    sent_items = {record.id: record for record in records if isinstance(record, Item) and record.id not in stays}
    rooms = {item.room for item in sent_items.values()}
    sources = {item.source for item in sent_items.values()}
    wings = {record.wing for record in records if isinstance(record, Room) and record.id in rooms}
    for record in records:
        match record:
            case Repetition() | Revision():
                is_needed = record.item in sent_items
            case _:
                needed = {"item": sent_items.keys(), "room": rooms, "source": sources, "wing": wings}[kind_of(record)]
                is_needed = _id_of(record) in needed
        if is_needed:
            yield record


def _drop_secret_lines(selection: Selection) -> None:
    """Leave out all records if one that others need has a secret: titles and names rarely do."""
    keys = [key for key in selection.lines if not key.startswith("item/")]
    if push_filter.lines_with_secrets([selection.lines[key] for key in keys]):
        raise UsageError(
            "A title or a name in this wing contains a secret, so nothing of the wing is shared: 'palazzo doctor "
            "--secrets' finds it."
        )


def _id_of(record: Record) -> str:
    return str(getattr(record, "id", ""))


def _key_of(record: Record) -> str:
    parts = [kind_of(record), _id_of(record)]
    if isinstance(record, Repetition | Revision):
        parts += [record.source, record.item, str(getattr(record, "at", "")), str(getattr(record, "ordinal", ""))]
    return "/".join(parts)
