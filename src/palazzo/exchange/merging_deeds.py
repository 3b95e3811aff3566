"""Merging what was done: change groups and their members, acts, and the states of tasks.

Nothing of it is ever changed but by adding: that a group was undone is another group that says so, also where two
devices undid it apart from each other.
"""

from __future__ import annotations

import json

from palazzo.exchange.merging_work import Missing, Outcome, Table, Work, settle_versions
from palazzo.exchange.records import Act, Group, Member, State, Task
from palazzo.store import changes

MEMBER_TABLES: dict[str, Table] = {
    "act": "act",
    "note": "item",
    "fact+": "fact_version",
    "fact-": "fact_version",
    "link+": "entity_link",
    "link-": "entity_link",
    "predicate": "predicate_rule",
    "dismissal": "conflict",
    "state": "task_state",
    "arrangement": "arrangement",
    "tunnel+": "tunnel",
    "tunnel-": "tunnel",
}
"""What a member's `ref` is the id of, by its type. `unwanted` and `undone` are not known by one id."""


def merge_group(work: Work, one: Group) -> Outcome:
    """Merge a change group; what it took back is looked at again."""
    undoes = work.optional("change_group", one.undoes)
    row = work.find("change_group", one.id)
    if row is not None:
        size, before = next(work.connection.execute("SELECT size, undoes FROM change_group WHERE id = ?", (row,)))
        if one.size <= size and undoes in (None, before):
            return "same"
        work.connection.execute(
            "UPDATE change_group SET size = ?, undoes = ? WHERE id = ?",
            (max(size, one.size), before if undoes is None else undoes, row),
        )
        _show_undone(work, undoes)
        return "changed"
    work.connection.execute(
        "INSERT INTO change_group(uid, actor, at, verb, size, summary, undoes) VALUES(?,?,?,?,?,?,?)",
        (
            bytes.fromhex(one.id), work.name(one.actor), one.at, work.name(one.verb), one.size, work.words(one.summary),
            undoes,
        ),
    )  # fmt: skip
    _show_undone(work, undoes)
    return "added"


def _show_undone(work: Work, group: int | None) -> None:
    if group is not None:
        rows = work.connection.execute("SELECT id FROM act WHERE grp = ?", (group,))
        changes.append(work.connection, "act", [int(row) for (row,) in list(rows)])


def merge_act(work: Work, one: Act) -> Outcome:
    """Merge an act. Of one that two devices did by one rule the earlier counts, then the lesser actor."""
    actor = work.name(one.actor)
    row = work.find("act", one.id)
    if row is not None:
        before = next(work.connection.execute("SELECT at, actor FROM act WHERE id = ?", (row,)))
        if (one.at, actor) >= before:
            return "same"
        work.connection.execute("UPDATE act SET at = ?, actor = ? WHERE id = ?", (one.at, actor, row))
        changes.append(work.connection, "act", [row])
        return "changed"
    group, room = work.optional("change_group", one.group), work.optional("room", one.room)
    detail = {name: work.values(value) for name, value in one.detail.items()}
    if room is not None:
        detail["row"] = str(room)
    rows = work.connection.execute(
        "INSERT INTO act(uid, kind, actor, at, detail, grp) VALUES(?,?,?,?,?,?) RETURNING id",
        (bytes.fromhex(one.id), one.type, actor, one.at, json.dumps(detail), group),
    )
    own = int(next(rows)[0])
    work.connection.executemany(
        "INSERT INTO act_span(act, n, item_uid, start, end, drawer_uid) VALUES(?,?,?,?,?,?)",
        [
            (own, n, bytes.fromhex(span.item), span.start, span.end, bytes.fromhex(span.drawer))
            for n, span in enumerate(one.spans)
        ],
    )
    changes.append(work.connection, "act", [own])
    return "added"


def merge_task(work: Work, one: Task) -> Outcome:
    """Merge a to-do or a reminder."""
    item = work.need("item", one.item)
    rows = work.connection.execute("SELECT id, kind, due_at FROM task WHERE item = ?", (item,))
    for row, kind, due in list(rows):
        came, before = (one.type, one.due_at), (kind, due)
        if json.dumps(came) >= json.dumps(before):
            return "same"
        work.connection.execute("UPDATE task SET kind = ?, due_at = ? WHERE id = ?", (*came, row))
        return "changed"
    work.connection.execute("INSERT INTO task(item, kind, due_at) VALUES(?,?,?)", (item, one.type, one.due_at))
    return "added"


def merge_state(work: Work, one: State) -> Outcome:
    """Merge a state of a task: a later one ends each earlier one."""
    item = work.need("item", one.task)
    task = next((int(row) for (row,) in work.connection.execute("SELECT id FROM task WHERE item = ?", (item,))), None)
    if task is None:
        raise Missing(f"task {one.task}")
    row = work.find("task_state", one.id)
    is_new = row is None
    if row is None:
        rows = work.connection.execute(
            "INSERT INTO task_state(uid, task, state, recorded_at, retired_at) VALUES(?,?,?,?,?) RETURNING id",
            (bytes.fromhex(one.id), task, one.state, one.recorded_at, one.recorded_at),
        )
        row = int(next(rows)[0])
        told = {row: one.retired_at}
    else:
        told = ended_by(work, "task_state", row, one.retired_at)
    changed = settle_versions(work.connection, "task_state", "task = ?", (task,), told)
    return "added" if is_new else "changed" if changed or told else "same"


def ended_by(work: Work, table: Table, row: int, end: int | None) -> dict[int, int | None]:
    """Return what a record says of the end of a row that is here, where that is earlier than what is known."""
    (before,) = next(work.connection.execute(f"SELECT retired_at FROM {table} WHERE id = ?", (row,)))
    return {row: end} if end is not None and (before is None or end < before) else {}


def merge_member(work: Work, one: Member) -> Outcome:
    """Merge a member of a group. Of two with one number the lesser counts."""
    group, ref = work.need("change_group", one.group), _ref(work, one)
    rows = work.connection.execute("SELECT kind, ref FROM group_member WHERE grp = ? AND n = ?", (group, one.n))
    for kind, before in list(rows):
        if (kind, before) == (one.type, ref) or _known_by(work, one.type, ref) >= _known_by(work, kind, before):
            return "same"
        work.connection.execute(
            "UPDATE group_member SET kind = ?, ref = ? WHERE grp = ? AND n = ?", (one.type, ref, group, one.n)
        )
        return "changed"
    work.connection.execute(
        "INSERT INTO group_member(grp, n, kind, ref) VALUES(?,?,?,?)", (group, one.n, one.type, ref)
    )
    return "added"


def _ref(work: Work, one: Member) -> int:
    if one.type == "undone":
        return one.number or 0
    if one.type == "unwanted":
        rows = work.connection.execute(
            "SELECT u.id FROM unwanted_fact u, change_group g WHERE u.uid = ? AND g.uid = ?"
            " ORDER BY u.at <> g.at, u.at",
            (bytes.fromhex(one.ref or ""), bytes.fromhex(one.group)),
        )
        for (row,) in rows:
            return int(row)
        raise Missing(f"unwanted_fact {one.ref}")
    return work.need(MEMBER_TABLES[one.type], one.ref or "")


def _known_by(work: Work, kind: str, ref: int) -> tuple[str, str]:
    """What a member is known by on every device."""
    if kind == "undone":
        return kind, f"{ref:020d}"
    if kind == "unwanted":
        (uid,) = next(work.connection.execute("SELECT uid FROM unwanted_fact WHERE id = ?", (ref,)))
        return kind, bytes(uid).hex()
    return kind, work.uid_of(MEMBER_TABLES[kind], ref)
