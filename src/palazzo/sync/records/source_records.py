"""Sources, where a source repeats an item, and which version of a document was current."""

from __future__ import annotations

import json
from collections.abc import Iterator

from palazzo.frozen_class import frozen
from palazzo.model import Source as Filed
from palazzo.store import change_log, items, tombstones
from palazzo.store.database import Connection
from palazzo.sync.field_codecs import Id, Name, Text, Time, Whole, require
from palazzo.sync.merge_state import Outcome, Work
from palazzo.sync.records.foreign_checks import has_row, is_foreign, is_foreign_source
from palazzo.sync.records.palace_snapshot import PalaceSnapshot, Selection, hex_id, query_reader
from palazzo.sync.records.record_kind import Record, RecordKind, Verdict

_OWN = "palazzo:"
"""Prefix of addresses that are the same on every device: those of notes, diaries and tasks."""


@frozen
class Source(Record):
    """The origin of items. `uri` is where it was seen; it differs between devices.

    `key` may contain lone surrogates, as `os.fsdecode` makes them of a file's name that is not UTF-8: they distinguish
    files, and the id is a hash of them.
    """

    id: Id
    type: Name
    key: tuple[Text, ...]
    uri: Name = ""
    session: Name = ""
    title: Name = ""
    project: Name = ""
    changed_at: Time = 0


@frozen
class Repetition(Record):
    """A row of a source that repeats an item byte for byte."""

    source: Id
    ordinal: Whole
    item: Id


@frozen
class Revision(Record):
    """The version of a document that was current from a time on."""

    source: Id
    at: Time
    item: Id


# --- sources -----------------------------------------------------------------------------------------------


def _check_source(record: Source) -> None:
    require(bool(record.key), "'key' is empty")


def _read_sources(snapshot: PalaceSnapshot) -> Iterator[Source]:
    for row, uid, kind, key, uri, session, title, project, changed in snapshot.connection.execute(
        "SELECT id, uid, kind, key, uri, session_id, title, project, changed_at FROM source ORDER BY uid"
    ):
        if snapshot.includes("source", row):
            own = tuple(map(str, json.loads(key)))
            visible_uri = uri if snapshot.addresses or uri.startswith(_OWN) else ""
            yield Source(hex_id(uid), kind, own, visible_uri, session, title, project, changed)


def _select_sources(connection: Connection, selection: Selection) -> None:
    """Add the sources and rooms of the items, and the projects of these sources with their wings."""
    rows = selection.rows
    for row, source, room in connection.execute("SELECT id, source, room FROM item"):
        if row in rows["item"]:
            rows["source"].add(source)
            rows["room"].add(room)
    identities = {name for row, name in connection.execute("SELECT id, project FROM source") if row in rows["source"]}
    for row, identity, wing in connection.execute("SELECT id, identity, wing FROM project"):
        if identity in identities:
            rows["project"].add(row)
            rows["wing"].add(wing)


def _merge_source(work: Work, record: Source) -> Outcome:
    """Merge a source. Its local address is kept; the later title, session and project count."""
    source = _redact(work, record)
    row = work.find("source", record.id)
    if row is None:
        work.insert(
            "source",
            record.id,
            kind=source.kind,
            key=json.dumps(source.key),
            uri=source.uri,
            session_id=source.session_id,
            title=source.title,
            project=source.project,
            changed_at=record.changed_at,
        )
        return "added"
    uri, changed, *stored_values = next(
        work.connection.execute("SELECT uri, changed_at, title, session_id, project FROM source WHERE id = ?", (row,))
    )
    came = [source.title, source.session_id, source.project]
    if not uri and source.uri:
        work.connection.execute("UPDATE source SET uri = ? WHERE id = ?", (source.uri, row))
    if (record.changed_at, came) <= (changed, stored_values):
        return "same"
    work.connection.execute(
        "UPDATE source SET changed_at = ?, title = ?, session_id = ?, project = ? WHERE id = ?",
        (record.changed_at, *came, row),
    )
    if came[0] != stored_values[0]:
        _show_title(work, row)
    return "changed"


def _redact(work: Work, record: Source) -> Filed:
    """Return a source as it is stored here: without secrets, and without erased text."""
    came = work.guard.source(Filed(record.key, record.type, record.uri, record.session, record.title, record.project))
    tombstone_finder = work.guard.tombstone_finder
    return Filed(
        tuple(tombstones.mask_text(tombstone_finder, part) for part in came.key),
        work.name(came.kind),
        tombstones.marked_address(tombstone_finder, came.uri),
        work.name(came.session_id),
        tombstone_finder.cover_text(came.title),
        work.name(came.project),
    )


def _show_title(work: Work, source: int) -> None:
    """Cut documents and notes again, since they show the title of their source; a session is found by it."""
    change_log.append(work.connection, "source", [source])
    rows = work.connection.execute("SELECT id FROM item WHERE source = ? AND kind IN ('document', 'note')", (source,))
    change_log.append(work.connection, "item", [int(row) for (row,) in list(rows)])


def _judge_source(work: Work, source: Source) -> Verdict:
    row = work.find("source", source.id)
    return "take" if row is None or is_foreign_source(work, row) else "there"


SOURCE = RecordKind(
    "source",
    Source,
    check=_check_source,
    read=_read_sources,
    select=_select_sources,
    merge=_merge_source,
    judge=_judge_source,
)


# --- places of items in sources ----------------------------------------------------------------------------


def _read_repetitions(snapshot: PalaceSnapshot) -> Iterator[Repetition]:
    for source_row, item_row, source, ordinal, item in snapshot.connection.execute(
        "SELECT source.id, item.id, source.uid, r.ordinal, item.uid FROM source"
        " CROSS JOIN repetition r ON r.source = source.id CROSS JOIN item ON item.id = r.item"
        " ORDER BY source.uid, r.ordinal, item.uid"
    ):
        if snapshot.includes("source", source_row) and snapshot.includes("item", item_row):
            yield Repetition(hex_id(source), ordinal, hex_id(item))


def _merge_repetition(work: Work, record: Repetition) -> Outcome:
    """Merge a source's repetition of an item at a place; the place where the item is stored is no repetition."""
    source, item = work.need("source", record.source), work.need("item", record.item)
    query = (
        "SELECT 1 FROM item WHERE id = ?1 AND source = ?2 AND ordinal = ?3"
        " UNION ALL SELECT 1 FROM repetition WHERE source = ?2 AND ordinal = ?3 AND item = ?1"
    )
    if has_row(work, query, item, source, record.ordinal):
        return "same"
    items.insert_repetitions(work.connection, [(source, record.ordinal, item)])
    return "added"


def _merge_revision(work: Work, record: Revision) -> Outcome:
    """Merge which version of a document was current, and from when on."""
    source, item = work.need("source", record.source), work.need("item", record.item)
    if has_row(work, "SELECT 1 FROM revision WHERE source = ? AND at = ? AND item = ?", source, record.at, item):
        return "same"
    created = work.connection.execute(
        "INSERT INTO revision(source, item, at) VALUES(?,?,?) RETURNING id", (source, item, record.at)
    )
    change_log.append(work.connection, "revision", [int(next(created)[0])])
    work.documents.add(source)  # versions may end by it that are long over
    return "added"


def _judge_item_place(work: Work, place: Repetition | Revision) -> bool:
    """Return whether item and source are both new here: a later version of a document ends the one before it."""
    return is_foreign(work, "item", place.item) and is_foreign_source(work, work.need("source", place.source))


REPETITION = RecordKind(
    "repetition",
    Repetition,
    identity=("source", "ordinal", "item"),
    references={"source": "source", "item": "item"},
    read=_read_repetitions,
    merge=_merge_repetition,
    judge=_judge_item_place,
)
REVISION = RecordKind(
    "revision",
    Revision,
    identity=("source", "at", "item"),
    references={"source": "source", "item": "item"},
    read=query_reader(
        Revision,
        "item",
        "SELECT DISTINCT item.id, source.uid, r.at, item.uid FROM revision r JOIN source ON source.id = r.source"
        " JOIN item ON item.id = r.item ORDER BY source.uid, r.at, item.uid",
    ),
    merge=_merge_revision,
    judge=_judge_item_place,
)
