"""Merging facts: entities and their links, what was declared of predicates, facts, their versions, conflicts.

A version ends when a later one of its fact was recorded, whichever device recorded it: so what is believed last is the
same everywhere, and what was believed before can still be asked for.
"""

from __future__ import annotations

import json

from palazzo.exchange.merging_deeds import ended_by
from palazzo.exchange.merging_work import Outcome, Work, earliest, restored, settle_versions
from palazzo.exchange.records import (
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
from palazzo.model import Anchor
from palazzo.store import anchors, changes
from palazzo.text.names import fold


def merge_entity(work: Work, one: Entity) -> Outcome:
    """Merge an entity: two devices that name the same mean the same."""
    row = work.find("entity", one.id)
    if row is not None:
        (before,) = next(work.connection.execute("SELECT recorded_at FROM entity WHERE id = ?", (row,)))
        if before <= one.recorded_at:
            return "same"
        work.connection.execute("UPDATE entity SET recorded_at = ? WHERE id = ?", (one.recorded_at, row))
        return "changed"
    name = _unused(work, work.words(one.name))
    work.connection.execute(
        "INSERT INTO entity(uid, name, folded, recorded_at) VALUES(?,?,?,?)",
        (bytes.fromhex(one.id), name, fold(name), one.recorded_at),
    )
    return "added"


def _unused(work: Work, name: str) -> str:
    """A name that no other entity has: of two names what an erase left may be the same."""
    candidate, number = name, 1
    while any(True for _ in work.connection.execute("SELECT 1 FROM entity WHERE name = ?", (candidate,))):
        number += 1
        candidate = f"{name} {number}"
    return candidate


def merge_entity_link(work: Work, one: EntityLink) -> Outcome:
    """Merge an alias or a merge: a later one of the same name, or of the same entity, ends each earlier one."""
    row = work.find("entity_link", one.id)
    is_new = row is None
    name = work.words(one.name)
    if row is None:
        entity, other = work.need("entity", one.entity), work.optional("entity", one.other)
        rows = work.connection.execute(
            "INSERT INTO entity_link(uid, kind, entity, name, folded, other, recorded_at, retired_at)"
            " VALUES(?,?,?,?,?,?,?,?) RETURNING id",
            (
                bytes.fromhex(one.id), one.type, entity, name, fold(name) if name else "", other, one.recorded_at,
                one.recorded_at,
            ),
        )  # fmt: skip
        row = int(next(rows)[0])
        told = {row: one.retired_at}
    else:
        told = ended_by(work, "entity_link", row, one.retired_at)
    where = "kind = ?1 AND CASE ?1 WHEN 'alias' THEN name ELSE other END = (SELECT"
    where += " CASE ?1 WHEN 'alias' THEN name ELSE other END FROM entity_link WHERE id = ?2)"
    changed = settle_versions(work.connection, "entity_link", where, (one.type, row), told, "0")
    return "added" if is_new else "changed" if changed or told else "same"


def merge_predicate_rule(work: Work, one: PredicateRule) -> Outcome:
    """Merge a declaration of a predicate."""
    row = work.find("predicate_rule", one.id)
    if row is not None:
        told = ended_by(work, "predicate_rule", row, one.retired_at)
        for end in told.values():
            work.connection.execute("UPDATE predicate_rule SET retired_at = ? WHERE id = ?", (end, row))
        return "changed" if told else "same"
    work.connection.execute(
        "INSERT INTO predicate_rule(uid, predicate, functional, recorded_at, retired_at) VALUES(?,?,?,?,?)",
        (
            bytes.fromhex(one.id), _predicate(work, one.predicate), int(one.functional), one.recorded_at,
            one.retired_at,
        ),
    )  # fmt: skip
    return "added"


def _predicate(work: Work, name: str) -> int:
    """The row id of the predicate of exactly that name, which is created where there is none."""
    name = work.words(name)
    for (row,) in work.connection.execute("SELECT id FROM predicate WHERE name = ?", (name,)):
        return int(row)
    rows = work.connection.execute("INSERT INTO predicate(name, folded) VALUES(?,?) RETURNING id", (name, fold(name)))
    return int(next(rows)[0])


def merge_fact(work: Work, one: Fact) -> Outcome:
    """Merge a fact, of which its versions tell the rest."""
    if work.find("fact", one.id) is not None:
        return "same"
    subject, thing = work.need("entity", one.subject), work.need("entity", one.object)
    wing = work.optional("wing", one.wing)
    work.connection.execute(
        "INSERT INTO fact(uid, subject, predicate, object, wing) VALUES(?,?,?,?,?)",
        (bytes.fromhex(one.id), subject, _predicate(work, one.predicate), thing, wing),
    )
    return "added"


def merge_fact_version(work: Work, one: FactVersion) -> Outcome:
    """Merge a version of a fact: a later one ends each earlier one."""
    fact, successor = work.need("fact", one.fact), work.optional("fact", one.superseded_by)
    row = work.find("fact_version", one.id)
    is_new = row is None
    if row is None:
        rows = work.connection.execute(
            "INSERT INTO fact_version(uid, fact, valid_from, valid_to, confidence, superseded_by, recorded_at,"
            " retired_at, nth) VALUES(?,?,?,?,?,?,?,?,?) RETURNING id",
            (
                bytes.fromhex(one.id), fact, one.valid_from, one.valid_to, one.confidence, successor, one.recorded_at,
                one.recorded_at, one.nth,
            ),
        )  # fmt: skip
        row = int(next(rows)[0])
        for n, source in enumerate(one.sources):
            _insert_source(work, row, n, source)
        told = {row: one.retired_at}
    else:
        told = ended_by(work, "fact_version", row, one.retired_at)
    changed = settle_versions(work.connection, "fact_version", "fact = ?", (fact,), told, "nth")
    if not (is_new or changed or told):
        return "same"
    changes.append(work.connection, "fact", [fact])
    return "added" if is_new else "changed"


def _insert_source(work: Work, version: int, n: int, one: Statement) -> None:
    item = None if one.item is None else bytes.fromhex(one.item)
    work.connection.execute(
        "INSERT INTO fact_source(version, n, stated_by, item_uid, start, end, trust, tainted_by, branch, commit_id)"
        " VALUES(?,?,?,?,?,?,?,?,?,?)",
        (
            version, n, work.words(one.stated_by), item, one.start, one.end, one.trust, json.dumps(one.tainted_by),
            work.words(one.branch), work.words(one.commit),
        ),
    )  # fmt: skip
    cited = [
        Anchor(work.name(file.path), file.first, file.last, file.digest, file.lines, file.blob.hex(), "stated")
        for file in one.anchors
    ]
    anchors.insert_of_fact(work.connection, version, n, cited)


def merge_conflict(work: Work, one: Conflict) -> Outcome:
    """Merge a conflict, of which there is a record because somebody dismissed it."""
    row = work.find("conflict", one.id)
    if row is not None:
        found, *before = next(
            work.connection.execute("SELECT found_at, dismissed_at, restored_at FROM conflict WHERE id = ?", (row,))
        )
        after = restored((before[0], before[1]), (one.dismissed_at, one.restored_at))
        is_turned = _turn(work, row, one)
        if one.found_at >= found and after == tuple(before) and not is_turned:
            return "same"
        work.connection.execute(
            "UPDATE conflict SET found_at = ?, dismissed_at = ?, restored_at = ? WHERE id = ?",
            (min(found, one.found_at), *after, row),
        )
        return "changed"
    earlier, later = _side(work, one.earlier), _side(work, one.later)
    work.connection.execute(
        "INSERT INTO conflict(uid, kind, earlier_fact, earlier_item, earlier_start, earlier_end, later_fact,"
        " later_item, later_start, later_end, found_at, dismissed_at, restored_at) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)",
        (bytes.fromhex(one.id), one.type, *earlier, *later, one.found_at, one.dismissed_at, one.restored_at),
    )
    return "added"


def _turn(work: Work, row: int, one: Conflict) -> bool:
    """Of two facts of one moment, which one device calls the earlier and another the later, the lesser id is first."""
    earlier, later = next(work.connection.execute("SELECT earlier_fact, later_fact FROM conflict WHERE id = ?", (row,)))
    if earlier is None or later is None or one.earlier.fact is None:
        return False
    own = work.uid_of("fact", earlier)
    if own <= one.earlier.fact or own != one.later.fact:
        return False
    work.connection.execute("UPDATE conflict SET earlier_fact = ?, later_fact = ? WHERE id = ?", (later, earlier, row))
    return True


def _side(work: Work, side: Side) -> tuple[int | None, bytes | None, int | None, int | None]:
    item = None if side.item is None else bytes.fromhex(side.item)
    return work.optional("fact", side.fact), item, side.start, side.end


def merge_unwanted_fact(work: Work, one: UnwantedFact) -> Outcome:
    """Merge a suggestion that nobody wants."""
    uid = bytes.fromhex(one.id)
    rows = work.connection.execute("SELECT id, retired_at FROM unwanted_fact WHERE uid = ? AND at = ?", (uid, one.at))
    for row, before in list(rows):
        end = earliest(before, one.retired_at)
        if end == before:
            return "same"
        work.connection.execute("UPDATE unwanted_fact SET retired_at = ? WHERE id = ?", (end, row))
        return "changed"
    work.connection.execute(
        "INSERT INTO unwanted_fact(uid, at, retired_at) VALUES(?,?,?)", (uid, one.at, one.retired_at)
    )
    return "added"
