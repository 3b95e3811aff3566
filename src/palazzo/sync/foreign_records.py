"""Foreign records: which records of another person's export a merge accepts: new ones that change nothing existing.

Their trust is lowered to the trust that the import states (`limit_record`). A record is accepted (`judge`) if it is new
and refers only to rows that such exports added. So an export cannot forget, move, rename, link, end or erase anything
that was here, and cannot approve anything. A wing or room whose name is in use here is mapped to the one of that name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from palazzo.model import Trust, least_trust
from palazzo.store import clock_drift, foreign_rows, items
from palazzo.store.change_groups import MEMBER_TABLES
from palazzo.store.database import Value
from palazzo.sync import record_lines, record_types
from palazzo.sync.merge_state import Table, Work
from palazzo.sync.record_types import Record
from palazzo.text.names import fold

Verdict = Literal["take", "there", "refused", "dropped"]
"""`there`: the record exists here and stays unchanged. `dropped`: the record means nothing outside the palace from
which it comes.
"""
_SUFFIX = " (imported)"
_TIMES = ("at", "recorded_at", "changed_at", "retired_at", "found_at", "dismissed_at", "restored_at")
"""Fields that contain the time of an action."""


# --- limits ------------------------------------------------------------------------------------------------


def limit_record(record: Record, trust: Trust) -> Record:
    """Return a record as another person may state it: with at most `trust`, and without anything that erases."""
    match record:
        case record_types.Item():
            return _limit_item(record, trust)
        case record_types.FactVersion():
            sources = tuple(
                replace(source, trust=least_trust(source.trust, trust), stated_by=_mark_name(source.stated_by))
                for source in record.sources
            )
            return replace(record, sources=sources)
        case record_types.Group() | record_types.Tunnel():
            return replace(record, actor=_mark_name(record.actor))
        case record_types.Erasure():
            return replace(record, certificate="", tombstones=())
    return record


def _mark_name(name: str) -> str:
    """Return a name that is not in use here: `user` would be the user of this palace."""
    return name if name.endswith(_SUFFIX) else f"{name}{_SUFFIX}"


def _limit_item(item: record_types.Item, trust: Trust) -> record_types.Item:
    parts = tuple(
        part if part.trust is None else replace(part, trust=least_trust(part.trust, trust))
        for part in items.load_parts(item.parts)
    )
    return replace(item, trust=least_trust(item.trust, trust), parts=items.dump_parts(parts))


def limit_erasure(work: Work, erasure: record_types.Erasure) -> record_types.Erasure:
    """Return an erasure limited to items that another person's export added without their words."""

    def is_bare(uid: str) -> bool:
        row = work.find("item", uid)
        return (
            row is not None
            and foreign_rows.is_marked(work.connection, "item", row)
            and items.is_bare(work.connection, row)
        )

    return replace(erasure, items=tuple(filter(is_bare, erasure.items)))


# --- acceptance --------------------------------------------------------------------------------------------


def judge(work: Work, record: Record) -> Verdict:
    """Return whether a record may be imported. Raises Missing if a row that it refers to is not here."""
    rule = _RULES[type(record)]
    if isinstance(rule, str):
        return rule
    row = _stored_row(work, record)
    if row is not None and not foreign_rows.is_marked(work.connection, *row):
        return "there"
    if _is_of_the_future(work, record):
        return "refused"  # the later of two records wins: this one would win over all that is ever recorded here
    verdict = rule.judge(work, record)
    return verdict if isinstance(verdict, str) else "take" if verdict else "refused"


def _is_of_the_future(work: Work, record: Record) -> bool:
    """Return whether a record's time is in the future, by more than clocks differ."""
    times = (getattr(record, name, None) for name in _TIMES)
    return any(time is not None and time > work.now + clock_drift.FURTHEST for time in times)


def _stored_row(work: Work, record: Record) -> tuple[Table, int] | None:
    """Return the stored row of a record's id, and its table; None if there is none."""
    rule = _RULES[type(record)]
    table = _TABLES.get(type(record)) if isinstance(rule, str) else rule.table
    row = None if table is None else work.find(table, record_lines.key_of(record)[1])
    return None if table is None or row is None else (table, row)


def note_added(work: Work, record: Record) -> None:
    """Record that another person's export added a record."""
    row = _stored_row(work, record)
    if row is not None:
        foreign_rows.mark(work.connection, row[0], [row[1]])


def note_change(work: Work, record: Record) -> None:
    """Record in the import's change group that a record was added."""
    row = None if work.change is None else _stored_row(work, record)
    if work.change is not None and row is not None:
        work.change.add(work.connection, row[0], [row[1]])


def note_vouched(work: Work, record: Record) -> None:
    """Record that the owner vouches for a record, which another person's export may have added before."""
    row = _stored_row(work, record)
    if row is not None:
        foreign_rows.unmark(work.connection, row[0], [row[1]])


def accepted_items(work: Work, arrivals: Sequence[record_types.Item]) -> list[record_types.Item]:
    """Return the items that are here, and the new ones whose source was not here before."""
    foreign_sources: dict[str, bool] = {}
    return [
        item
        for item in arrivals
        if work.find("item", item.id) is not None or _may_join_source(work, item, foreign_sources)
    ]


def _may_join_source(work: Work, item: record_types.Item, foreign_sources: dict[str, bool]) -> bool:
    """Return whether a new item may join its source: not a session or document archived here; notes may."""
    if item.source not in foreign_sources:
        row = work.find("source", item.source)
        foreign_sources[item.source] = row is None or _is_foreign_source(work, row)
    if foreign_sources[item.source]:
        return True
    query = "SELECT 1 FROM source WHERE uid = ? AND kind = 'note'"
    return item.type == "note" and _has_row(work, query, bytes.fromhex(item.source))


def _has_row(work: Work, query: str, *values: Value) -> bool:
    return any(True for _ in work.connection.execute(query, values))


def _is_foreign(work: Work, table: Table, uid: str) -> bool:
    return foreign_rows.is_marked(work.connection, table, work.need(table, uid))


def _is_foreign_source(work: Work, row: int) -> bool:
    return foreign_rows.is_wholly_marked(work.connection, "source", row, "item", "source")


# --- one rule for each kind --------------------------------------------------------------------------------


def _judge_wing(work: Work, wing: record_types.Wing) -> Verdict:
    rows = work.connection.execute(
        "SELECT id FROM wing WHERE name = ? AND merged_into IS NULL", (work.name(wing.first_name),)
    )
    return _lead_to_namesake(work, "wing", wing.id, [int(row) for (row,) in rows])


def _judge_room(work: Work, room: record_types.Room) -> Verdict:
    rows = work.connection.execute(
        "SELECT id FROM room WHERE wing = ? AND name = ? AND merged_into IS NULL",
        (work.need("wing", room.wing), work.name(room.first_name)),
    )
    return _lead_to_namesake(work, "room", room.id, [int(row) for (row,) in rows])


def _lead_to_namesake(work: Work, table: Table, uid: str, namesakes: Sequence[int]) -> Verdict:
    """Map the id of a new place to the place here with the same name, if there is one."""
    if work.find(table, uid) is not None or not namesakes:
        return "take"
    work.lead(table, uid, namesakes[0])
    return "there"


def _judge_project(work: Work, project: record_types.Project) -> Verdict:
    is_here = _has_row(work, "SELECT 1 FROM project WHERE identity = ?", work.name(project.identity))
    return "there" if is_here else "take"


def _judge_source(work: Work, source: record_types.Source) -> Verdict:
    row = work.find("source", source.id)
    return "take" if row is None or _is_foreign_source(work, row) else "there"


def _judge_place_in_source(work: Work, place: record_types.Repetition | record_types.Revision) -> bool:
    """Return whether item and source are both new here: a later version of a document ends the one before it."""
    return _is_foreign(work, "item", place.item) and _is_foreign_source(work, work.need("source", place.source))


def _judge_group(work: Work, group: record_types.Group) -> bool:
    return group.undoes is None or _is_foreign(work, "change_group", group.undoes)


def _judge_act(work: Work, act: record_types.Act) -> Verdict:
    if work.find("act", act.id) is not None:
        return "there"
    if act.type == "approve" or (act.group is not None and not _is_foreign(work, "change_group", act.group)):
        return "refused"
    rows = [work.find("item", span.item) for span in act.spans]
    is_foreign = all(row is not None and foreign_rows.is_marked(work.connection, "item", row) for row in rows)
    return "take" if is_foreign else "refused"


def _judge_task(work: Work, task: record_types.Task) -> bool:
    return _is_foreign(work, "item", task.item)


def _judge_state(work: Work, state: record_types.State) -> bool:
    return _is_foreign(work, "item", state.task) and not _has_row(
        work,
        "SELECT 1 FROM task_state s JOIN task ON task.id = s.task WHERE task.item = ?"
        " AND NOT EXISTS (SELECT 1 FROM imported_row WHERE kind = 'task_state' AND row = s.id) LIMIT 1",
        work.need("item", state.task),
    )


def _judge_entity_link(work: Work, link: record_types.EntityLink) -> bool:
    if work.find("entity_link", link.id) is not None:
        return True
    if not all(_is_foreign_entity(work, uid) for uid in (link.entity, link.other) if uid is not None):
        return False
    name = fold(work.words(link.name)) if link.name else ""
    return not name or not _has_row(
        work,
        "SELECT 1 FROM entity WHERE folded = ?1 UNION ALL SELECT 1 FROM entity_link WHERE folded = ?1 LIMIT 1",
        name,
    )


def _is_foreign_entity(work: Work, uid: str) -> bool:
    """Return whether an entity, and all facts about it, came from another person's export."""
    return _is_foreign(work, "entity", uid) and not _has_row(
        work,
        "SELECT 1 FROM fact JOIN fact_version v ON v.fact = fact.id WHERE ?1 IN (subject, object)"
        " AND NOT EXISTS (SELECT 1 FROM imported_row WHERE kind = 'fact_version' AND row = v.id) LIMIT 1",
        work.need("entity", uid),
    )


def _judge_fact_version(work: Work, version: record_types.FactVersion) -> bool:
    return _is_foreign_fact(work, version.fact)


def _is_foreign_fact(work: Work, uid: str) -> bool:
    return foreign_rows.is_wholly_marked(work.connection, "fact", work.need("fact", uid), "fact_version", "fact")


def _judge_conflict(work: Work, conflict: record_types.Conflict) -> bool:
    return _is_foreign_side(work, conflict.earlier) and _is_foreign_side(work, conflict.later)


def _is_foreign_side(work: Work, side: record_types.Side) -> bool:
    if side.fact is not None:
        return _is_foreign_fact(work, side.fact)
    return side.item is not None and _is_foreign(work, "item", side.item)


def _judge_arrangement(work: Work, arrangement: record_types.Arrangement) -> bool:
    rooms = [] if arrangement.room is None else [work.need("room", arrangement.room)]
    if arrangement.wing is not None:
        wing = work.need("wing", arrangement.wing)
        if not foreign_rows.is_marked(work.connection, "wing", wing):
            return False
        rows = work.connection.execute("SELECT id FROM room WHERE ?1 IN (wing, first_wing)", (wing,))
        rooms = [int(row) for (row,) in rows]
    if not all(foreign_rows.is_wholly_marked(work.connection, "room", row, "item", "room") for row in rooms):
        return False
    is_known = work.find("arrangement", arrangement.id) is not None
    return not arrangement.name or is_known or not _is_name_in_use(work, arrangement)


def _is_name_in_use(work: Work, arrangement: record_types.Arrangement) -> bool:
    """Return whether a wing here, or a room of the wing of the arrangement, already has the name it assigns."""
    name = work.name(arrangement.name)
    if arrangement.wing is not None:
        return _has_row(work, "SELECT 1 FROM wing WHERE ? IN (name, first_name)", name)
    wing = work.optional("wing", arrangement.target)
    return _has_row(work, "SELECT 1 FROM room WHERE wing = ? AND ? IN (name, first_name)", wing, name)


def _judge_tunnel(work: Work, tunnel: record_types.Tunnel) -> bool:
    return _is_foreign(work, "room", tunnel.source) and _is_foreign(work, "room", tunnel.target)


def _judge_member(work: Work, member: record_types.Member) -> bool:
    if not _is_foreign(work, "change_group", member.group):
        return False
    table = MEMBER_TABLES.get(member.type)
    if table is not None:
        return _is_foreign(work, table, member.ref or "")
    query = "SELECT 1 FROM change_group WHERE uid = ? AND undoes IS NOT NULL"
    return member.type == "undone" and _has_row(work, query, bytes.fromhex(member.group))


def _judge_erasure(work: Work, erasure: record_types.Erasure) -> Verdict:
    return "take" if erasure.items else "dropped"


def _accept(work: Work, record: Record) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class _Rule:
    """The table that contains the id of a kind of record, if any, and whether a record of that kind is accepted."""

    table: Table | None
    judge: Callable[[Work, Any], Verdict | bool]


_TABLES: dict[type, Table] = {record_types.PredicateRule: "predicate_rule"}
"""Tables whose records are never accepted from another person."""
_RULES: dict[type, _Rule | Verdict] = {
    record_types.Device: "dropped",  # its links have digests of items as they are there; here items get links of ours
    record_types.Link: "dropped",
    record_types.PredicateRule: "refused",  # it would hold for all facts of this palace
    record_types.UnwantedFact: "refused",  # it would hold for suggestions of this palace
    record_types.Wing: _Rule("wing", _judge_wing),
    record_types.Room: _Rule("room", _judge_room),
    record_types.Project: _Rule(None, _judge_project),
    record_types.Source: _Rule("source", _judge_source),
    record_types.Item: _Rule("item", _accept),
    record_types.Repetition: _Rule(None, _judge_place_in_source),
    record_types.Revision: _Rule(None, _judge_place_in_source),
    record_types.Group: _Rule("change_group", _judge_group),
    record_types.Act: _Rule("act", _judge_act),
    record_types.Task: _Rule(None, _judge_task),
    record_types.State: _Rule("task_state", _judge_state),
    record_types.Entity: _Rule("entity", _accept),
    record_types.EntityLink: _Rule("entity_link", _judge_entity_link),
    record_types.Fact: _Rule("fact", _accept),
    record_types.FactVersion: _Rule("fact_version", _judge_fact_version),
    record_types.Conflict: _Rule("conflict", _judge_conflict),
    record_types.Arrangement: _Rule("arrangement", _judge_arrangement),
    record_types.Tunnel: _Rule("tunnel", _judge_tunnel),
    record_types.Erasure: _Rule("erasure", _judge_erasure),
    record_types.Member: _Rule(None, _judge_member),
}
"""The rule for each kind, or the verdict on all records of it. Items have their own rules (`accepted_items`)."""
