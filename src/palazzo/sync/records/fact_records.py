"""Facts and their versions, and suggested facts that were rejected.

A version ends when a later version of its fact was recorded, on any device. So the current belief is the same
everywhere, and earlier beliefs can still be queried.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from palazzo.frozen_class import frozen
from palazzo.model import Anchor, Trust, least_trust
from palazzo.store import anchors, change_log, fact_rows, foreign_rows
from palazzo.store.database import Connection
from palazzo.sync.field_codecs import Digest, Id, Name, Share, Time, Whole, require
from palazzo.sync.merge_state import Outcome, Work, earliest, ended_by, settle_versions
from palazzo.sync.records.entity_records import predicate_row
from palazzo.sync.records.foreign_checks import mark_name
from palazzo.sync.records.palace_snapshot import PalaceSnapshot, Selection, hex_id, hex_or_none, query_reader
from palazzo.sync.records.record_kind import Record, RecordKind, RecordName

_AT_ONCE = 500


@frozen
class Fact(Record):
    """A triple: the ids of its entities, a predicate's name, and the wing in which it holds, if not in all."""

    id: Id
    subject: Id
    predicate: Name
    object: Id
    wing: Id | None = None


@frozen
class FileCitation:
    """A file cited by the author of a fact: lines, the digest of their words, and git's id of the file."""

    path: Name
    first: Whole = 0
    last: Whole = 0
    digest: Digest = b""
    lines: Whole = 0
    blob: Digest = b""


@frozen
class Statement:
    """The author of a fact and the place where it is written, if any: an item, or a range of it."""

    stated_by: Name
    item: Id | None = None
    start: Whole | None = None
    end: Whole | None = None
    trust: Trust = "agent"
    tainted_by: tuple[Id, ...] = ()
    branch: Name = ""
    commit: Name = ""
    anchors: tuple[FileCitation, ...] = ()


@frozen
class FactVersion(Record):
    """A version of a fact, valid from `recorded_at` until `retired_at`; the `nth` (from 0) of that moment."""

    id: Id
    fact: Id
    confidence: Share
    recorded_at: Time
    valid_from: Time | None = None
    valid_to: Time | None = None
    superseded_by: Id | None = None
    retired_at: Time | None = None
    sources: tuple[Statement, ...] = ()
    nth: Whole = 0


@frozen
class UnwantedFact(Record):
    """A suggested fact that was rejected, as a hash under the palace's key."""

    id: Id
    at: Time
    retired_at: Time | None = None


# --- facts -------------------------------------------------------------------------------------------------


def _select_facts(connection: Connection, selection: Selection) -> None:
    """Add the facts that only chosen items state, with their versions, names, predicates and wings."""
    facts = _stated_facts(connection, selection)
    rows, predicates = selection.rows, set()
    rows["fact"] = facts
    for row, wing, subject, thing, predicate in connection.execute(
        "SELECT id, wing, subject, object, predicate FROM fact"
    ):
        if row in facts:
            rows["entity"].update((subject, thing))
            predicates.add(predicate)
            if wing is not None:
                rows["wing"].add(wing)
    for row, entity, merged_entity in connection.execute("SELECT id, entity, other FROM entity_link"):
        if entity in rows["entity"] and (merged_entity is None or merged_entity in rows["entity"]):
            rows["entity_link"].add(row)
    for row, predicate in connection.execute("SELECT id, predicate FROM predicate_rule"):
        if predicate in predicates:
            rows["predicate_rule"].add(row)
    for row, fact in connection.execute("SELECT id, fact FROM fact_version"):
        if fact in facts:
            rows["fact_version"].add(row)


def _stated_facts(connection: Connection, selection: Selection) -> set[int]:
    """Return the facts that only chosen items state, or that hold in a whole wing, as far as they refer to such."""
    facts = {row for row, wing in connection.execute("SELECT id, wing FROM fact") if wing in selection.whole_wings}
    outside_facts: set[int] = set()
    for fact, item in connection.execute(
        "SELECT DISTINCT v.fact, s.item_uid FROM fact_source s JOIN fact_version v ON v.id = s.version"
        " WHERE s.item_uid IS NOT NULL"
    ):
        (facts if bytes(item) in selection.item_ids else outside_facts).add(fact)
    facts -= outside_facts
    successions = list(
        connection.execute("SELECT fact, superseded_by FROM fact_version WHERE superseded_by IS NOT NULL")
    )
    while orphans := {fact for fact, by in successions if fact in facts and by not in facts}:
        facts -= orphans
    return facts


def _merge_fact(work: Work, record: Fact) -> Outcome:
    """Merge a fact; its versions contain the rest."""
    if work.find("fact", record.id) is not None:
        return "same"
    subject, thing = work.need("entity", record.subject), work.need("entity", record.object)
    wing = work.optional("wing", record.wing)
    predicate = predicate_row(work, record.predicate)
    work.insert("fact", record.id, subject=subject, predicate=predicate, object=thing, wing=wing)
    return "added"


def is_foreign_fact(work: Work, uid: str) -> bool:
    """Return whether a fact, and all of its versions, came from another person's export."""
    return foreign_rows.is_wholly_marked(work.connection, "fact", work.need("fact", uid), "fact_version", "fact")


FACT = RecordKind(
    "fact",
    Fact,
    references={"subject": "entity", "object": "entity", "wing": "wing"},
    read=query_reader(
        Fact,
        "fact",
        "SELECT f.id, f.uid, s.uid, p.name, o.uid, w.uid FROM fact f JOIN entity s ON s.id = f.subject"
        " JOIN predicate p ON p.id = f.predicate JOIN entity o ON o.id = f.object LEFT JOIN wing w ON w.id = f.wing"
        " ORDER BY f.uid",
    ),
    select=_select_facts,
    merge=_merge_fact,
    judge="take",
)


# --- versions ----------------------------------------------------------------------------------------------


def _check_version(version: FactVersion) -> None:
    require(
        version.valid_from is None or version.valid_to is None or version.valid_from < version.valid_to,
        "ends before it begins",
    )
    for source in version.sources:
        require((source.start is None) == (source.end is None), "a span must have both a start and an end, or neither")
        require(
            source.start is None or source.end is None or 0 <= source.start <= source.end,
            "a span ends before it begins",
        )


def _read_versions(snapshot: PalaceSnapshot) -> Iterator[FactVersion]:
    rows = snapshot.connection.execute(
        "SELECT v.id, v.uid, f.uid, v.confidence, v.recorded_at, v.valid_from, v.valid_to, s.uid, v.retired_at,"
        " v.nth FROM fact_version v JOIN fact f ON f.id = v.fact LEFT JOIN fact s ON s.id = v.superseded_by"
        " ORDER BY v.uid"
    )
    while batch := list(islice(rows, _AT_ONCE)):
        version_rows = [entry for entry in batch if snapshot.includes("fact_version", entry[0])]
        sources_by_row = fact_rows.sources_of(snapshot.connection, [int(entry[0]) for entry in version_rows])
        for row, uid, fact, confidence, recorded_at, start, end, successor, retired_at, nth in version_rows:
            sources = tuple(map(_statement, sources_by_row[row]))
            by = hex_or_none(successor)
            yield FactVersion(
                hex_id(uid), hex_id(fact), confidence, recorded_at, start, end, by, retired_at, sources, nth
            )


def _statement(provenance: fact_rows.Provenance) -> Statement:
    citations = tuple(
        FileCitation(at.path, at.first, at.last, at.digest, at.lines, bytes.fromhex(at.blob))
        for at in provenance.anchors
    )
    return Statement(
        provenance.stated_by,
        provenance.item,
        provenance.start,
        provenance.end,
        provenance.trust,
        provenance.tainted_by,
        provenance.branch,
        provenance.commit,
        citations,
    )


def _name_items(version: FactVersion) -> Iterator[RecordName]:
    for statement in version.sources:
        if statement.item is not None:
            yield "item", statement.item
        yield from (("item", uid) for uid in statement.tainted_by)


def _merge_version(work: Work, record: FactVersion) -> Outcome:
    """Merge a version of a fact: a later one ends each earlier one."""
    fact, successor = work.need("fact", record.fact), work.optional("fact", record.superseded_by)
    row = work.find("fact_version", record.id)
    is_new = row is None
    if row is None:
        row = work.insert(
            "fact_version",
            record.id,
            fact=fact,
            valid_from=record.valid_from,
            valid_to=record.valid_to,
            confidence=record.confidence,
            superseded_by=successor,
            recorded_at=record.recorded_at,
            retired_at=record.recorded_at,
            nth=record.nth,
        )
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


def _limit_version(record: FactVersion, trust: Trust) -> FactVersion:
    sources = tuple(
        replace(source, trust=least_trust(source.trust, trust), stated_by=mark_name(source.stated_by))
        for source in record.sources
    )
    return replace(record, sources=sources)


def _judge_version(work: Work, version: FactVersion) -> bool:
    return is_foreign_fact(work, version.fact)


FACT_VERSION = RecordKind(
    "fact_version",
    FactVersion,
    references={"fact": "fact", "superseded_by": "fact"},
    check=_check_version,
    read=_read_versions,
    reveals=_name_items,
    merge=_merge_version,
    undo_member="fact+",
    limit=_limit_version,
    judge=_judge_version,
)


# --- rejected suggestions ----------------------------------------------------------------------------------


def _read_unwanted(snapshot: PalaceSnapshot) -> Iterator[UnwantedFact]:
    if snapshot.tombstones:
        for uid, at, retired_at in snapshot.connection.execute(
            "SELECT uid, at, retired_at FROM unwanted_fact ORDER BY uid, at, id"
        ):
            yield UnwantedFact(hex_id(uid), at, retired_at)


def _merge_unwanted(work: Work, record: UnwantedFact) -> Outcome:
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
    work.insert("unwanted_fact", record.id, at=record.at, retired_at=record.retired_at)
    return "added"


UNWANTED_FACT = RecordKind(
    "unwanted_fact",
    UnwantedFact,
    identity=("id", "at"),
    read=_read_unwanted,
    merge=_merge_unwanted,
    judge="refused",  # it would hold for suggestions of this palace
)
