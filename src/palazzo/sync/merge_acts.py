"""Merge of acts: change groups and their members, acts, and the states of tasks.

Records are only ever added, never changed. The undo of a group is another group that says so, also where two devices
undid it independently.
"""

from __future__ import annotations

import json

from palazzo.store import change_log
from palazzo.store.change_groups import MEMBER_TABLES
from palazzo.sync.merge_state import Missing, Outcome, Table, Work, settle_versions
from palazzo.sync.record_types import Act, Group, Member, State, Task


def merge_group(work: Work, record: Group) -> Outcome:
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
    work.connection.execute(
        "INSERT INTO change_group(uid, actor, at, verb, size, summary, undoes) VALUES(?,?,?,?,?,?,?)",
        (
            bytes.fromhex(record.id),
            work.name(record.actor),
            record.at,
            work.name(record.verb),
            record.size,
            work.words(record.summary),
            undoes,
        ),
    )
    _show_undone(work, undoes)
    return "added"


def _show_undone(work: Work, group: int | None) -> None:
    if group is not None:
        rows = work.connection.execute("SELECT id FROM act WHERE grp = ?", (group,))
        change_log.append(work.connection, "act", [int(row) for (row,) in list(rows)])


def merge_act(work: Work, record: Act) -> Outcome:
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
    rows = work.connection.execute(
        "INSERT INTO act(uid, kind, actor, at, detail, grp) VALUES(?,?,?,?,?,?) RETURNING id",
        (bytes.fromhex(record.id), record.type, actor, record.at, json.dumps(detail), group),
    )
    own = int(next(rows)[0])
    work.connection.executemany(
        "INSERT INTO act_span(act, n, item_uid, start, end, drawer_uid) VALUES(?,?,?,?,?,?)",
        [
            (own, n, bytes.fromhex(span.item), span.start, span.end, bytes.fromhex(span.drawer))
            for n, span in enumerate(record.spans)
        ],
    )
    change_log.append(work.connection, "act", [own])
    return "added"


def merge_task(work: Work, record: Task) -> Outcome:
    """Merge a to-do or a reminder."""
    item = work.need("item", record.item)
    rows = work.connection.execute("SELECT id, kind, due_at FROM task WHERE item = ?", (item,))
    for row, kind, due in list(rows):
        came, stored_values = (record.type, record.due_at), (kind, due)
        if json.dumps(came) >= json.dumps(stored_values):
            return "same"
        work.connection.execute("UPDATE task SET kind = ?, due_at = ? WHERE id = ?", (*came, row))
        return "changed"
    work.connection.execute("INSERT INTO task(item, kind, due_at) VALUES(?,?,?)", (item, record.type, record.due_at))
    return "added"


def merge_state(work: Work, record: State) -> Outcome:
    """Merge a state of a task: a later one ends each earlier one."""
    item = work.need("item", record.task)
    task = next((int(row) for (row,) in work.connection.execute("SELECT id FROM task WHERE item = ?", (item,))), None)
    if task is None:
        raise Missing(f"task {record.task}")
    row = work.find("task_state", record.id)
    is_new = row is None
    if row is None:
        rows = work.connection.execute(
            "INSERT INTO task_state(uid, task, state, recorded_at, retired_at) VALUES(?,?,?,?,?) RETURNING id",
            (bytes.fromhex(record.id), task, record.state, record.recorded_at, record.recorded_at),
        )
        row = int(next(rows)[0])
        stated_ends = {row: record.retired_at}
    else:
        stated_ends = ended_by(work, "task_state", row, record.retired_at)
    changed = settle_versions(work.connection, "task_state", "task = ?", (task,), stated_ends)
    return "added" if is_new else "changed" if changed or stated_ends else "same"


def ended_by(work: Work, table: Table, row: int, end: int | None) -> dict[int, int | None]:
    """Return the end that a record gives for a row here, if it is earlier than the known one."""
    (stored_end,) = next(work.connection.execute(f"SELECT retired_at FROM {table} WHERE id = ?", (row,)))
    return {row: end} if end is not None and (stored_end is None or end < stored_end) else {}


def merge_member(work: Work, record: Member) -> Outcome:
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
        raise Missing(f"unwanted_fact {record.ref}")
    return work.need(MEMBER_TABLES[record.type], record.ref or "")


def _known_by(work: Work, kind: str, ref: int) -> tuple[str, str]:
    """Return the key of a member, which is the same on every device."""
    if kind == "undone":
        return kind, f"{ref:020d}"
    if kind == "unwanted":
        (uid,) = next(work.connection.execute("SELECT uid FROM unwanted_fact WHERE id = ?", (ref,)))
        return kind, bytes(uid).hex()
    return kind, work.uid_of(MEMBER_TABLES[kind], ref)
