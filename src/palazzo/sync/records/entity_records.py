"""Names to which facts refer, their aliases and merges, and declarations of predicates.

A limited export contains those of its facts: see `fact_records`.
"""

from __future__ import annotations

from collections.abc import Iterator

from palazzo.frozen_class import frozen
from palazzo.store.entity_rows import LinkKind
from palazzo.sync.field_codecs import Flag, Id, Name, Time, require
from palazzo.sync.merge_state import Outcome, Work, ended_by, settle_versions
from palazzo.sync.records.foreign_checks import has_row, is_foreign
from palazzo.sync.records.palace_snapshot import PalaceSnapshot, hex_id, query_reader
from palazzo.sync.records.record_kind import Record, RecordKind
from palazzo.text.names import fold


@frozen
class Entity(Record):
    """A name to which facts refer."""

    id: Id
    name: Name
    recorded_at: Time


@frozen
class EntityLink(Record):
    """An alias (`name` means `entity`), or a merge (`other` is `entity`)."""

    id: Id
    type: LinkKind
    entity: Id
    recorded_at: Time
    name: Name = ""
    other: Id | None = None
    retired_at: Time | None = None


@frozen
class PredicateRule(Record):
    """A declaration about a predicate: whether a subject has one object at a time."""

    id: Id
    predicate: Name
    functional: Flag
    recorded_at: Time
    retired_at: Time | None = None


# --- entities ----------------------------------------------------------------------------------------------


def _merge_entity(work: Work, record: Entity) -> Outcome:
    """Merge an entity: the same name on two devices means the same entity."""
    row = work.find("entity", record.id)
    if row is not None:
        (stored_time,) = next(work.connection.execute("SELECT recorded_at FROM entity WHERE id = ?", (row,)))
        if stored_time <= record.recorded_at:
            return "same"
        work.connection.execute("UPDATE entity SET recorded_at = ? WHERE id = ?", (record.recorded_at, row))
        return "changed"
    name = _find_free_name(work, work.words(record.name))
    work.insert("entity", record.id, name=name, folded=fold(name), recorded_at=record.recorded_at)
    return "added"


def _find_free_name(work: Work, name: str) -> str:
    """Return a name that no other entity has: after an erasure, two names may be equal."""
    candidate, number = name, 1
    while has_row(work, "SELECT 1 FROM entity WHERE name = ?", candidate):
        number += 1
        candidate = f"{name} {number}"
    return candidate


ENTITY = RecordKind(
    "entity",
    Entity,
    read=query_reader(Entity, "entity", "SELECT id, uid, name, recorded_at FROM entity ORDER BY uid"),
    merge=_merge_entity,
    judge="take",
)


# --- their links -------------------------------------------------------------------------------------------


def _check_link(record: EntityLink) -> None:
    if record.type == "alias":
        require(bool(record.name), "lacks 'name'")
    else:
        require(record.other is not None, "lacks 'other'")


def _merge_entity_link(work: Work, record: EntityLink) -> Outcome:
    """Merge an alias or a merge: a later one of the same name, or of the same entity, ends each earlier one."""
    row = work.find("entity_link", record.id)
    is_new = row is None
    name = work.words(record.name)
    if row is None:
        entity, merged_entity = work.need("entity", record.entity), work.optional("entity", record.other)
        row = work.insert(
            "entity_link",
            record.id,
            kind=record.type,
            entity=entity,
            name=name,
            folded=fold(name) if name else "",
            other=merged_entity,
            recorded_at=record.recorded_at,
            retired_at=record.recorded_at,
        )
        stated_ends = {row: record.retired_at}
    else:
        stated_ends = ended_by(work, "entity_link", row, record.retired_at)
    condition = "kind = ?1 AND CASE ?1 WHEN 'alias' THEN name ELSE other END = (SELECT"
    condition += " CASE ?1 WHEN 'alias' THEN name ELSE other END FROM entity_link WHERE id = ?2)"
    changed = settle_versions(work.connection, "entity_link", condition, (record.type, row), stated_ends, "0")
    return "added" if is_new else "changed" if changed or stated_ends else "same"


def _judge_entity_link(work: Work, link: EntityLink) -> bool:
    if work.find("entity_link", link.id) is not None:
        return True
    if not all(_is_foreign_entity(work, uid) for uid in (link.entity, link.other) if uid is not None):
        return False
    name = fold(work.words(link.name)) if link.name else ""
    return not name or not has_row(
        work,
        "SELECT 1 FROM entity WHERE folded = ?1 UNION ALL SELECT 1 FROM entity_link WHERE folded = ?1 LIMIT 1",
        name,
    )


def _is_foreign_entity(work: Work, uid: str) -> bool:
    """Return whether an entity, and all facts about it, came from another person's export."""
    return is_foreign(work, "entity", uid) and not has_row(
        work,
        "SELECT 1 FROM fact JOIN fact_version v ON v.fact = fact.id WHERE ?1 IN (subject, object)"
        " AND NOT EXISTS (SELECT 1 FROM imported_row WHERE kind = 'fact_version' AND row = v.id) LIMIT 1",
        work.need("entity", uid),
    )


ENTITY_LINK = RecordKind(
    "entity_link",
    EntityLink,
    references={"entity": "entity", "other": "entity"},
    check=_check_link,
    read=query_reader(
        EntityLink,
        "entity_link",
        "SELECT l.id, l.uid, l.kind, e.uid, l.recorded_at, l.name, o.uid, l.retired_at FROM entity_link l"
        " JOIN entity e ON e.id = l.entity LEFT JOIN entity o ON o.id = l.other ORDER BY l.uid",
    ),
    merge=_merge_entity_link,
    undo_member="link+",
    judge=_judge_entity_link,
)


# --- predicates --------------------------------------------------------------------------------------------


def _read_rules(snapshot: PalaceSnapshot) -> Iterator[PredicateRule]:
    for row, uid, predicate, functional, recorded_at, retired_at in snapshot.connection.execute(
        "SELECT r.id, r.uid, p.name, r.functional, r.recorded_at, r.retired_at FROM predicate_rule r"
        " JOIN predicate p ON p.id = r.predicate ORDER BY r.uid"
    ):
        if snapshot.includes("predicate_rule", row):
            yield PredicateRule(hex_id(uid), predicate, bool(functional), recorded_at, retired_at)


def _merge_predicate_rule(work: Work, record: PredicateRule) -> Outcome:
    row = work.find("predicate_rule", record.id)
    if row is not None:
        stated_ends = ended_by(work, "predicate_rule", row, record.retired_at)
        for end in stated_ends.values():
            work.connection.execute("UPDATE predicate_rule SET retired_at = ? WHERE id = ?", (end, row))
        return "changed" if stated_ends else "same"
    work.insert(
        "predicate_rule",
        record.id,
        predicate=predicate_row(work, record.predicate),
        functional=int(record.functional),
        recorded_at=record.recorded_at,
        retired_at=record.retired_at,
    )
    return "added"


def predicate_row(work: Work, name: str) -> int:
    """Return the row id of the predicate with exactly that name; create it if there is none."""
    name = work.words(name)
    for (row,) in work.connection.execute("SELECT id FROM predicate WHERE name = ?", (name,)):
        return int(row)
    rows = work.connection.execute("INSERT INTO predicate(name, folded) VALUES(?,?) RETURNING id", (name, fold(name)))
    return int(next(rows)[0])


PREDICATE_RULE = RecordKind(
    "predicate_rule",
    PredicateRule,
    read=_read_rules,
    merge=_merge_predicate_rule,
    undo_member="predicate",
    judge="refused",  # it would hold for all facts of this palace
)
