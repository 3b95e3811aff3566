"""Acts on ranges of items. Records are only ever added, never changed."""

from __future__ import annotations

import json
from collections.abc import Iterator

from palazzo.frozen_class import frozen
from palazzo.store import change_log, foreign_rows
from palazzo.store.act_rows import ActKind
from palazzo.store.database import Connection
from palazzo.sync.field_codecs import Detail, Id, Name, Time, Whole, require
from palazzo.sync.merge_state import Outcome, Work
from palazzo.sync.records.foreign_checks import is_foreign
from palazzo.sync.records.palace_snapshot import PalaceSnapshot, Selection, hex_id, hex_or_none
from palazzo.sync.records.record_kind import Record, RecordKind, RecordName, Verdict

_NEEDS = {"tag": ("tag",), "untag": ("tag",), "move": ("wing", "room"), "feedback": ("verdict",)}
"""The keys that an act's detail must have, by its type."""


@frozen
class Span:
    """A range of an item that an act concerns, as a part of a drawer."""

    item: Id
    start: Whole
    end: Whole
    drawer: Id


@frozen
class Act(Record):
    """An action on ranges of items.

    `room` is the target of a move; `detail` contains the other data that its type needs.
    """

    id: Id
    type: ActKind
    actor: Name
    at: Time
    detail: Detail
    room: Id | None = None
    group: Id | None = None
    spans: tuple[Span, ...] = ()


def _check(act: Act) -> None:
    missing = next((name for name in _NEEDS.get(act.type, ()) if not isinstance(act.detail.get(name), str)), None)
    require(missing is None, f"'detail' lacks '{missing}'")
    require("row" not in act.detail, "'detail' contains a row of another palace")
    require(all(isinstance(value, str) for value in act.detail.values()), "'detail' must contain only strings")
    require(all(0 <= span.start <= span.end for span in act.spans), "a span ends before it begins")


def _read(snapshot: PalaceSnapshot) -> Iterator[Act]:
    connection = snapshot.connection
    rooms = {str(row): hex_id(uid) for row, uid in connection.execute("SELECT id, uid FROM room")}
    for row, uid, kind, actor, at, detail, group in connection.execute(
        "SELECT act.id, act.uid, act.kind, act.actor, act.at, act.detail, g.uid FROM act"
        " LEFT JOIN change_group g ON g.id = act.grp ORDER BY act.uid"
    ):
        if not snapshot.includes("act", row):
            continue
        act_detail = json.loads(detail)
        room = rooms.get(str(act_detail.pop("row", None)))
        spans = tuple(
            Span(hex_id(item), start, end, hex_id(drawer))
            for item, start, end, drawer in connection.execute(
                "SELECT item_uid, start, end, drawer_uid FROM act_span WHERE act = ? ORDER BY n", (row,)
            )
        )
        yield Act(hex_id(uid), kind, actor, at, act_detail, room, hex_or_none(group), spans)


def _select(connection: Connection, selection: Selection) -> None:
    """Add the acts on chosen items alone, with their groups: without the group that undid it, an act would count."""
    rows = selection.rows
    outside_acts: set[int] = set()
    for act, item in connection.execute("SELECT act, item_uid FROM act_span"):
        (rows["act"] if bytes(item) in selection.item_ids else outside_acts).add(act)
    rows["act"] -= outside_acts
    for row, group, detail in connection.execute("SELECT id, grp, detail FROM act"):
        if row in rows["act"]:
            if group is not None:
                rows["change_group"].add(group)
            room = json.loads(detail).get("row")
            if room is not None:
                rows["room"].add(int(room))


def _name_items(act: Act) -> Iterator[RecordName]:
    yield from (("item", span.item) for span in act.spans)


def _group_of(act: Act) -> str | None:
    return act.group


def _merge(work: Work, record: Act) -> Outcome:
    """Merge an act. If two devices did it by the same rule, the earlier one counts, then the lesser actor."""
    actor = work.name(record.actor)
    row = work.find("act", record.id)
    if row is not None:
        stored_values = next(work.connection.execute("SELECT at, actor FROM act WHERE id = ?", (row,)))
        if (record.at, actor) >= stored_values:
            return "same"
        work.connection.execute("UPDATE act SET at = ?, actor = ? WHERE id = ?", (record.at, actor, row))
        change_log.append(work.connection, "act", [row])
        return "changed"
    group, room = work.optional("change_group", record.group), work.optional("room", record.room)
    detail = {name: work.values(value) for name, value in record.detail.items()}
    if room is not None:
        detail["row"] = str(room)
    own = work.insert(
        "act", record.id, kind=record.type, actor=actor, at=record.at, detail=json.dumps(detail), grp=group
    )
    work.connection.executemany(
        "INSERT INTO act_span(act, n, item_uid, start, end, drawer_uid) VALUES(?,?,?,?,?,?)",
        [
            (own, n, bytes.fromhex(span.item), span.start, span.end, bytes.fromhex(span.drawer))
            for n, span in enumerate(record.spans)
        ],
    )
    change_log.append(work.connection, "act", [own])
    return "added"


def _judge(work: Work, act: Act) -> Verdict:
    if work.find("act", act.id) is not None:
        return "there"
    if act.type == "approve" or (act.group is not None and not is_foreign(work, "change_group", act.group)):
        return "refused"
    rows = [work.find("item", span.item) for span in act.spans]
    are_foreign = all(row is not None and foreign_rows.is_marked(work.connection, "item", row) for row in rows)
    return "take" if are_foreign else "refused"


ACT = RecordKind(
    "act",
    Act,
    references={"room": "room"},
    check=_check,
    read=_read,
    select=_select,
    reveals=_name_items,
    group=_group_of,
    merge=_merge,
    judge=_judge,
)
