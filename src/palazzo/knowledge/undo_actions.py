"""Undo: reverses a change group with new records.

Nothing is deleted. The acts of an undone group no longer count; a note that it filed is forgotten; a version of a fact
that it recorded is retired, and one that it retired is recorded again; a to-do that it closed is open. A group may be
as large as a wing, so it is undone in steps of one short transaction each, the last member first. The next undo
finishes an interrupted one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from palazzo.archive import acts as deeds
from palazzo.archive import identity
from palazzo.archive.archive_reader import id_bounds
from palazzo.errors import AmbiguousId, NotFound, UsageError
from palazzo.knowledge import fact_undo
from palazzo.knowledge.reorganize import settle_undone
from palazzo.model import Micros
from palazzo.store import arrangements, change_groups, change_log, drawers, task_rows, tunnel_rows
from palazzo.store.change_groups import Group, Member, MemberKind
from palazzo.store.database import Connection, Database

Progress = Callable[[int, int], None]
"""Called with (members taken back, all members)."""
TakeBack = Callable[[Connection, int, Micros, int], None]
"""Takes back one member: (connection, its row id, now, the undo's group)."""
AT_ONCE = 200
"""Members that one transaction takes back."""
LARGEST_ACTS = 1
"""The most acts among them: each concerns up to a hundred drawers, which are cut again."""


def undo(
    database: Database,
    clock: Callable[[], Micros],
    actor: str,
    prefix: str | None,
    progress: Progress | None = None,
    start_time: Micros | None = None,
) -> Group:
    """Undo the actor's last group, or the one that `prefix` names; return the undone group.

    An interrupted undo is finished first. If the actor began it at the moment `start_time` or later, it is the
    requested one.
    """
    with database.transaction() as connection:
        interrupted_group = change_groups.find_interrupted_undo(connection)
        own = None if start_time is None else change_groups.last_undone(connection, actor, start_time)
    if interrupted_group is not None:
        _finish(database, clock, interrupted_group, progress)
    if own is not None:
        return own
    with database.transaction() as connection:
        target = _choose_group(connection, actor, prefix)
        now = clock()
        uid = bytes.fromhex(identity.new_id(now))
        row = change_groups.begin(connection, uid, actor, "undo", now, target.verb, target.row)
        change_groups.count(connection, row, target.size)
        finished_count, size = _step(connection, change_groups.read(connection, row), now)
        undo_group = change_groups.read(connection, row)
    if finished_count < size:
        database.step()
    _finish(database, clock, undo_group, progress)
    return target


def _choose_group(connection: Connection, actor: str, prefix: str | None) -> Group:
    if prefix is None:
        last = change_groups.last_standing(connection, actor)
        if last is None:
            raise NotFound(_nothing_to_undo(connection))
        return last
    matches = change_groups.between(connection, *id_bounds(prefix), limit=9)
    if len(matches) > 1:
        raise AmbiguousId(prefix, [f"{group.uid} ({group.verb})" for group in matches])
    if not matches:
        raise NotFound(f"No change has the id '{prefix}'. 'palazzo undo --list' lists the changes.")
    (group,) = matches
    if group.undoes is not None:
        raise UsageError("That change is itself an undo, which cannot be undone; do again what it undid.")
    if group.undone:
        raise UsageError("That change was already undone.")
    return group


def _nothing_to_undo(connection: Connection) -> str:
    for other in change_groups.list_undoable(connection, None, 1):
        return (
            f"There is nothing to undo of your own. The last change is {other.actor}'s ({other.verb}): "
            f"'palazzo undo {other.uid}' takes it back."
        )
    return "There is nothing to undo. 'palazzo undo --list' lists the changes."


def _finish(database: Database, clock: Callable[[], Micros], undo_group: Group, progress: Progress | None) -> None:
    while True:
        with database.transaction() as connection:
            finished_count, size = _step(connection, undo_group, clock())
        if progress is not None:
            progress(finished_count, size)
        if finished_count == size:
            return
        database.step()


def _step(connection: Connection, undo_group: Group, now: Micros) -> tuple[int, int]:
    """Undo the next members; return how many are undone by now, and how many there are."""
    members = change_groups.members(connection, undo_group.undoes or 0)
    finished_count = sum(member.kind == "undone" for member in change_groups.members(connection, undo_group.row))
    acts, has_arrangement = 0, False
    for n in range(len(members) - 1 - finished_count, max(len(members) - 1 - finished_count - AT_ONCE, -1), -1):
        acts += members[n].kind == "act"
        if acts > LARGEST_ACTS:
            break
        has_arrangement = has_arrangement or members[n].kind == "arrangement"
        _take_back(connection, members[n], now, undo_group.row)
        change_groups.add(connection, undo_group.row, "undone", [n])
        finished_count += 1
    if has_arrangement:
        settle_undone(connection)
    return finished_count, len(members)


def _take_back(connection: Connection, member: Member, now: Micros, group: int) -> None:
    _TAKE_BACK[member.kind](connection, member.ref, now, group)


def _act(connection: Connection, act: int, _now: Micros, _group: int) -> None:
    change_log.append(connection, "act", [act])  # it no longer counts; what it touched is cut again


def _note(connection: Connection, item: int, now: Micros, group: int) -> None:
    rows = drawers.live_drawers_of_item(connection, item)
    if rows:
        deeds.act_on_drawers(
            connection, "forget", rows, change_groups.read(connection, group).actor, now, {"reason": "undone"}, group
        )


def _state(connection: Connection, state: int, now: Micros, _group: int) -> None:
    task_rows.retire_state(connection, state, now)


def _arrangement(connection: Connection, ref: int, now: Micros, _group: int) -> None:
    arrangements.retire(connection, ref, now)


def _tunnel_dug(connection: Connection, ref: int, now: Micros, _group: int) -> None:
    tunnel_rows.retire(connection, ref, now)


def _tunnel_filled(connection: Connection, ref: int, now: Micros, _group: int) -> None:
    tunnel = tunnel_rows.read(connection, ref)
    if not any(tunnel.says_the_same(candidate) for candidate in tunnel_rows.of_room(connection, tunnel.source.room)):
        tunnel_rows.restore(connection, ref, now)  # else it was made again meanwhile, and would be there twice


_TAKE_BACK: Mapping[MemberKind, TakeBack] = {
    "act": _act,
    "note": _note,
    "fact+": fact_undo.fact_recorded,
    "fact-": fact_undo.fact_retired,
    "link+": fact_undo.link_recorded,
    "link-": fact_undo.link_retired,
    "predicate": fact_undo.predicate_declared,
    "dismissal": fact_undo.conflict_dismissed,
    "unwanted": fact_undo.fact_unwanted,
    "arrangement": _arrangement,
    "tunnel+": _tunnel_dug,
    "tunnel-": _tunnel_filled,
    "state": _state,
}
"""Functions by kind of member. An undo is never undone, so `undone` has none."""
