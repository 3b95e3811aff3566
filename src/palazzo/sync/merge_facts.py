"""Merge of facts: entities and their links, declarations of predicates, facts, their versions, conflicts.

A version ends when a later version of its fact was recorded, on any device. So the current belief is the same
everywhere, and earlier beliefs can still be queried.
"""

from __future__ import annotations

import json

from palazzo.model import Anchor
from palazzo.store import anchors, change_log
from palazzo.sync.merge_acts import ended_by
from palazzo.sync.merge_state import Outcome, Work, earliest, merge_end_states, settle_versions
from palazzo.sync.record_types import (
    Conflict,
    Entity,
    EntityLink,
    Fact,
    FactVersion,
    PredicateRule,
    Side,
    Statement,
    UnwantedFact,
)
from palazzo.text.names import fold


def merge_entity(work: Work, record: Entity) -> Outcome:
    """Merge an entity: the same name on two devices means the same entity."""
    row = work.find("entity", record.id)
    if row is not None:
        (stored_time,) = next(work.connection.execute("SELECT recorded_at FROM entity WHERE id = ?", (row,)))
        if stored_time <= record.recorded_at:
            return "same"
        work.connection.execute("UPDATE entity SET recorded_at = ? WHERE id = ?", (record.recorded_at, row))
        return "changed"
    name = _find_free_name(work, work.words(record.name))
    work.connection.execute(
        "INSERT INTO entity(uid, name, folded, recorded_at) VALUES(?,?,?,?)",
        (bytes.fromhex(record.id), name, fold(name), record.recorded_at),
    )
    return "added"


def _find_free_name(work: Work, name: str) -> str:
    """Return a name that no other entity has: after an erasure, two names may be equal."""
    candidate, number = name, 1
    while any(True for _ in work.connection.execute("SELECT 1 FROM entity WHERE name = ?", (candidate,))):
        number += 1
        candidate = f"{name} {number}"
    return candidate


def merge_entity_link(work: Work, record: EntityLink) -> Outcome:
    """Merge an alias or a merge: a later one of the same name, or of the same entity, ends each earlier one."""
    row = work.find("entity_link", record.id)
    is_new = row is None
    name = work.words(record.name)
    if row is None:
        entity, merged_entity = work.need("entity", record.entity), work.optional("entity", record.other)
        rows = work.connection.execute(
            "INSERT INTO entity_link(uid, kind, entity, name, folded, other, recorded_at, retired_at)"
            " VALUES(?,?,?,?,?,?,?,?) RETURNING id",
            (
                bytes.fromhex(record.id),
                record.type,
                entity,
                name,
                fold(name) if name else "",
                merged_entity,
                record.recorded_at,
                record.recorded_at,
            ),
        )
        row = int(next(rows)[0])
        stated_ends = {row: record.retired_at}
    else:
        stated_ends = ended_by(work, "entity_link", row, record.retired_at)
    condition = "kind = ?1 AND CASE ?1 WHEN 'alias' THEN name ELSE other END = (SELECT"
    condition += " CASE ?1 WHEN 'alias' THEN name ELSE other END FROM entity_link WHERE id = ?2)"
    changed = settle_versions(work.connection, "entity_link", condition, (record.type, row), stated_ends, "0")
    return "added" if is_new else "changed" if changed or stated_ends else "same"


def merge_predicate_rule(work: Work, record: PredicateRule) -> Outcome:
    """Merge a declaration of a predicate."""
    row = work.find("predicate_rule", record.id)
    if row is not None:
        stated_ends = ended_by(work, "predicate_rule", row, record.retired_at)
        for end in stated_ends.values():
            work.connection.execute("UPDATE predicate_rule SET retired_at = ? WHERE id = ?", (end, row))
        return "changed" if stated_ends else "same"
    work.connection.execute(
        "INSERT INTO predicate_rule(uid, predicate, functional, recorded_at, retired_at) VALUES(?,?,?,?,?)",
        (
            bytes.fromhex(record.id), _predicate(work, record.predicate), int(record.functional), record.recorded_at,
            record.retired_at,
        ),
    )  # fmt: skip
    return "added"


def _predicate(work: Work, name: str) -> int:
    """Return the row id of the predicate with exactly that name; create it if there is none."""
    name = work.words(name)
    for (row,) in work.connection.execute("SELECT id FROM predicate WHERE name = ?", (name,)):
        return int(row)
    rows = work.connection.execute("INSERT INTO predicate(name, folded) VALUES(?,?) RETURNING id", (name, fold(name)))
    return int(next(rows)[0])


def merge_fact(work: Work, record: Fact) -> Outcome:
    """Merge a fact; its versions contain the rest."""
    if work.find("fact", record.id) is not None:
        return "same"
    subject, thing = work.need("entity", record.subject), work.need("entity", record.object)
    wing = work.optional("wing", record.wing)
    work.connection.execute(
        "INSERT INTO fact(uid, subject, predicate, object, wing) VALUES(?,?,?,?,?)",
        (bytes.fromhex(record.id), subject, _predicate(work, record.predicate), thing, wing),
    )
    return "added"


def merge_fact_version(work: Work, record: FactVersion) -> Outcome:
    """Merge a version of a fact: a later one ends each earlier one."""
    fact, successor = work.need("fact", record.fact), work.optional("fact", record.superseded_by)
    row = work.find("fact_version", record.id)
    is_new = row is None
    if row is None:
        rows = work.connection.execute(
            "INSERT INTO fact_version(uid, fact, valid_from, valid_to, confidence, superseded_by, recorded_at,"
            " retired_at, nth) VALUES(?,?,?,?,?,?,?,?,?) RETURNING id",
            (
                bytes.fromhex(record.id),
                fact,
                record.valid_from,
                record.valid_to,
                record.confidence,
                successor,
                record.recorded_at,
                record.recorded_at,
                record.nth,
            ),
        )
        row = int(next(rows)[0])
        for n, source in enumerate(record.sources):
            _insert_source(work, row, n, source)
        stated_ends = {row: record.retired_at}
    else:
        stated_ends = ended_by(work, "fact_version", row, record.retired_at)
    changed = settle_versions(work.connection, "fact_version", "fact = ?", (fact,), stated_ends, "nth")
    if not (is_new or changed or stated_ends):
        return "same"
    change_log.append(work.connection, "fact", [fact])
    return "added" if is_new else "changed"


def _insert_source(work: Work, version: int, n: int, record: Statement) -> None:
    item = None if record.item is None else bytes.fromhex(record.item)
    work.connection.execute(
        "INSERT INTO fact_source(version, n, stated_by, item_uid, start, end, trust, tainted_by, branch, commit_id)"
        " VALUES(?,?,?,?,?,?,?,?,?,?)",
        (
            version,
            n,
            work.words(record.stated_by),
            item,
            record.start,
            record.end,
            record.trust,
            json.dumps(record.tainted_by),
            work.words(record.branch),
            work.words(record.commit),
        ),
    )
    file_anchors = [
        Anchor(work.name(file.path), file.first, file.last, file.digest, file.lines, file.blob.hex(), "stated")
        for file in record.anchors
    ]
    anchors.insert_of_fact(work.connection, version, n, file_anchors)


def merge_conflict(work: Work, record: Conflict) -> Outcome:
    """Merge a conflict; it has a record because it was dismissed."""
    row = work.find("conflict", record.id)
    if row is not None:
        discovery_time, *stored_state = next(
            work.connection.execute("SELECT found_at, dismissed_at, restored_at FROM conflict WHERE id = ?", (row,))
        )
        new_state = merge_end_states((stored_state[0], stored_state[1]), (record.dismissed_at, record.restored_at))
        is_turned = _turn(work, row, record)
        if record.found_at >= discovery_time and new_state == tuple(stored_state) and not is_turned:
            return "same"
        work.connection.execute(
            "UPDATE conflict SET found_at = ?, dismissed_at = ?, restored_at = ? WHERE id = ?",
            (min(discovery_time, record.found_at), *new_state, row),
        )
        return "changed"
    earlier, later = _side(work, record.earlier), _side(work, record.later)
    work.connection.execute(
        "INSERT INTO conflict(uid, kind, earlier_fact, earlier_item, earlier_start, earlier_end, later_fact,"
        " later_item, later_start, later_end, found_at, dismissed_at, restored_at) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)",
        (
            bytes.fromhex(record.id),
            record.type,
            *earlier,
            *later,
            record.found_at,
            record.dismissed_at,
            record.restored_at,
        ),
    )
    return "added"


def _turn(work: Work, row: int, record: Conflict) -> bool:
    """Put the lesser id first of two facts of the same time, if devices disagree about which one is earlier."""
    earlier, later = next(work.connection.execute("SELECT earlier_fact, later_fact FROM conflict WHERE id = ?", (row,)))
    if earlier is None or later is None or record.earlier.fact is None:
        return False
    own = work.uid_of("fact", earlier)
    if own <= record.earlier.fact or own != record.later.fact:
        return False
    work.connection.execute("UPDATE conflict SET earlier_fact = ?, later_fact = ? WHERE id = ?", (later, earlier, row))
    return True


def _side(work: Work, side: Side) -> tuple[int | None, bytes | None, int | None, int | None]:
    item = None if side.item is None else bytes.fromhex(side.item)
    return work.optional("fact", side.fact), item, side.start, side.end


def merge_unwanted_fact(work: Work, record: UnwantedFact) -> Outcome:
    """Merge a dismissed suggestion."""
    uid = bytes.fromhex(record.id)
    rows = work.connection.execute(
        "SELECT id, retired_at FROM unwanted_fact WHERE uid = ? AND at = ?", (uid, record.at)
    )
    for row, stored_end in list(rows):
        end = earliest(stored_end, record.retired_at)
        if end == stored_end:
            return "same"
        work.connection.execute("UPDATE unwanted_fact SET retired_at = ? WHERE id = ?", (end, row))
        return "changed"
    work.connection.execute(
        "INSERT INTO unwanted_fact(uid, at, retired_at) VALUES(?,?,?)", (uid, record.at, record.retired_at)
    )
    return "added"
