"""Change groups and their members.

Records are only ever added, never changed. The undo of a group is another group that says so, also where two devices
undid it independently.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from palazzo.frozen_class import frozen
from palazzo.model import Trust
from palazzo.store import change_groups, change_log
from palazzo.store.change_groups import MEMBER_TABLES, MemberKind
from palazzo.store.database import Connection
from palazzo.sync.field_codecs import Id, Name, Time, Whole, require
from palazzo.sync.merge_state import Missing, Outcome, Work
from palazzo.sync.records.foreign_checks import has_row, is_foreign, mark_name
from palazzo.sync.records.palace_snapshot import PalaceSnapshot, Selection, hex_id, query_reader
from palazzo.sync.records.record_kind import Record, RecordKind, RecordName


@frozen
class Group(Record):
    """The changes of one command. `undoes` is the group that it reverted."""

    id: Id
    actor: Name
    at: Time
    verb: Name
    size: Whole = 0
    summary: Name = ""
    undoes: Id | None = None


@frozen
class Member(Record):
    """One change of a group: the id of what `type` names, or for an `undone` one its number in the other group."""

    group: Id
    n: Whole
    type: MemberKind
    ref: Id | None = None
    number: Whole | None = None


# --- groups ------------------------------------------------------------------------------------------------


def _merge_group(work: Work, record: Group) -> Outcome:
    """Merge a change group; its undone content is checked again."""
    undoes = work.optional("change_group", record.undoes)
    row = work.find("change_group", record.id)
    if row is not None:
        size, stored_undoes = next(
            work.connection.execute("SELECT size, undoes FROM change_group WHERE id = ?", (row,))
        )
        if record.size <= size and undoes in (None, stored_undoes):
            return "same"
        work.connection.execute(
            "UPDATE change_group SET size = ?, undoes = ? WHERE id = ?",
            (max(size, record.size), stored_undoes if undoes is None else undoes, row),
        )
        _show_undone(work, undoes)
        return "changed"
    work.insert(
        "change_group",
        record.id,
        actor=work.name(record.actor),
        at=record.at,
        verb=work.name(record.verb),
        size=record.size,
        summary=work.words(record.summary),
        undoes=undoes,
    )
    _show_undone(work, undoes)
    return "added"


def _show_undone(work: Work, group: int | None) -> None:
    if group is not None:
        rows = work.connection.execute("SELECT id FROM act WHERE grp = ?", (group,))
        change_log.append(work.connection, "act", [int(row) for (row,) in list(rows)])


def _limit_group(record: Group, trust: Trust) -> Group:
    return replace(record, actor=mark_name(record.actor))


def _judge_group(work: Work, group: Group) -> bool:
    return group.undoes is None or is_foreign(work, "change_group", group.undoes)


GROUP = RecordKind(
    "group",
    Group,
    table="change_group",
    read=query_reader(
        Group,
        "change_group",
        "SELECT g.id, g.uid, g.actor, g.at, g.verb, g.size, g.summary, u.uid FROM change_group g"
        f" LEFT JOIN change_group u ON u.id = g.undoes WHERE {change_groups.IS_SHARED} ORDER BY g.uid",
    ),
    merge=_merge_group,
    limit=_limit_group,
    judge=_judge_group,
)


# --- members -----------------------------------------------------------------------------------------------

_UNWANTED = "unwanted_fact"
"""The table of what an `unwanted` member names: its rows are identified by id and time."""
_TABLES = {**MEMBER_TABLES, "unwanted": _UNWANTED}
_CASES = " ".join(f"WHEN '{kind}' THEN (SELECT uid FROM {table} WHERE id = m.ref)" for kind, table in _TABLES.items())


def _check_member(record: Member) -> None:
    require((record.number if record.type == "undone" else record.ref) is not None, "lacks 'number' or 'ref'")


def _read_members(snapshot: PalaceSnapshot) -> Iterator[Member]:
    rows: Iterator[Any] = snapshot.connection.execute(
        f"SELECT g.id, m.ref, g.uid, m.n, m.kind, CASE m.kind {_CASES} END, CASE m.kind WHEN 'unwanted' THEN (SELECT "
        "at FROM unwanted_fact WHERE id = m.ref) END FROM change_group g CROSS JOIN group_member m ON m.grp = g.id "
        f"WHERE {change_groups.IS_SHARED} ORDER BY g.uid, m.n"
    )
    for row, ref, group, n, kind, uid, at in rows:
        if not snapshot.includes("change_group", row):
            continue
        if kind == "undone":
            yield Member(hex_id(group), n, kind, None, ref)
        elif uid is not None and _is_included(snapshot, kind, ref):
            yield Member(hex_id(group), n, kind, hex_id(uid), at)


def _is_included(snapshot: PalaceSnapshot, kind: str, ref: int) -> bool:
    """Return whether what a member names is exported."""
    if kind == "unwanted":
        return snapshot.tombstones and snapshot.selection is None
    return snapshot.includes(MEMBER_TABLES[kind], ref)


def _select_groups(connection: Connection, selection: Selection) -> None:
    """Add the change groups of exported records, and the groups that undid them or that they undid."""
    groups = selection.rows["change_group"]
    for group, kind, ref in connection.execute("SELECT grp, kind, ref FROM group_member"):
        if kind in MEMBER_TABLES and ref in selection.rows[MEMBER_TABLES[kind]]:
            groups.add(group)
    undoings = list(connection.execute("SELECT id, undoes FROM change_group WHERE undoes IS NOT NULL"))
    groups.update(undone for row, undone in undoings if row in groups)
    groups.update(row for row, undone in undoings if undone in groups)


def _name_ref(record: Member) -> Iterator[RecordName]:
    """Yield what a member names; an `undone` one has no `ref`."""
    if record.ref is not None:
        yield _TABLES.get(record.type, _UNWANTED), record.ref


def _group_of(record: Member) -> str | None:
    return None if record.type == "undone" else record.group


def _merge_member(work: Work, record: Member) -> Outcome:
    """Merge a member of a group. Of two with the same number the lesser one counts."""
    group, ref = work.need("change_group", record.group), _ref(work, record)
    rows = work.connection.execute("SELECT kind, ref FROM group_member WHERE grp = ? AND n = ?", (group, record.n))
    for kind, stored_ref in list(rows):
        if (kind, stored_ref) == (record.type, ref) or _known_by(work, record.type, ref) >= _known_by(
            work, kind, stored_ref
        ):
            return "same"
        work.connection.execute(
            "UPDATE group_member SET kind = ?, ref = ? WHERE grp = ? AND n = ?", (record.type, ref, group, record.n)
        )
        return "changed"
    work.connection.execute(
        "INSERT INTO group_member(grp, n, kind, ref) VALUES(?,?,?,?)", (group, record.n, record.type, ref)
    )
    return "added"


def _ref(work: Work, record: Member) -> int:
    if record.type == "undone":
        return record.number or 0
    if record.type == "unwanted":
        rows = work.connection.execute(
            "SELECT u.id FROM unwanted_fact u, change_group g WHERE u.uid = ? AND g.uid = ?"
            " ORDER BY u.at <> g.at, u.at",
            (bytes.fromhex(record.ref or ""), bytes.fromhex(record.group)),
        )
        for (row,) in rows:
            return int(row)
        raise Missing(f"{_UNWANTED} {record.ref}")
    return work.need(MEMBER_TABLES[record.type], record.ref or "")


def _known_by(work: Work, kind: str, ref: int) -> tuple[str, str]:
    """Return the key of a member, which is the same on every device."""
    return kind, f"{ref:020d}" if kind == "undone" else work.uid_of(_TABLES[kind], ref)


def _judge_member(work: Work, member: Member) -> bool:
    if not is_foreign(work, "change_group", member.group):
        return False
    table = MEMBER_TABLES.get(member.type)
    if table is not None:
        return is_foreign(work, table, member.ref or "")
    query = "SELECT 1 FROM change_group WHERE uid = ? AND undoes IS NOT NULL"
    return member.type == "undone" and has_row(work, query, bytes.fromhex(member.group))


MEMBER = RecordKind(
    "member",
    Member,
    identity=("group", "n"),
    references={"group": "group"},
    check=_check_member,
    read=_read_members,
    select=_select_groups,
    reveals=_name_ref,
    group=_group_of,
    merge=_merge_member,
    judge=_judge_member,
)
