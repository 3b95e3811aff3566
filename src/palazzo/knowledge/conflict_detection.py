"""Conflict detection between facts: a predicate has one object at a time, and two facts with it hold at once.

A person declares such predicates, and some are built in (`single_valued`).

Both facts stay; the conflict is a record. It exists while both facts are believed and overlap, and nobody has dismissed
it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import islice

from palazzo.knowledge.fact_change import Change
from palazzo.knowledge.facts_as_of import Beliefs
from palazzo.knowledge.single_valued import VERSION, kind_of
from palazzo.knowledge.single_valued import contradict as values_contradict
from palazzo.model import Micros
from palazzo.store import change_log, claim_rows, conflict_rows, fact_rows, predicate_rows
from palazzo.store.conflict_rows import Claim, Conflict
from palazzo.store.database import Connection
from palazzo.store.fact_rows import Version
from palazzo.store.predicate_rows import Predicate

FUNCTIONAL = "functional"
"""The kind of conflict that this module finds; other conflicts are found in the archived texts."""
_MOST_COMPARED = 10_000
"""Maximum number of conflicts of one predicate that `compare_all` records: two seconds of work under the write lock."""
_TABLE_CURSOR = "single-valued"
"""The cursor with the version of the predicate table with which all facts were compared."""


def find_conflicts(change: Change, version: Version) -> list[str]:
    """Record what a fact newly conflicts with; return the IDs of all its open conflicts."""
    if not is_single_valued(predicate_rows.read_predicate(change.connection, version.predicate)):
        return []
    beliefs = Beliefs(change.connection)
    recorded_conflicts = []
    for other_version in beliefs.about(version.subject, "subject"):
        if _conflict(beliefs, version, other_version):
            recorded_conflicts.append(_record_conflict(change, version, other_version))
    return [conflict.uid for conflict in recorded_conflicts if conflict.dismissed_at is None]


def find_all_conflicts(change: Change, predicate: int) -> list[str]:
    """Do the same for all facts of a predicate that was declared functional."""
    if not is_single_valued(predicate_rows.read_predicate(change.connection, predicate)):
        return []
    recorded_conflicts = [_record_conflict(change, *pair) for pair in _pairs(Beliefs(change.connection), predicate)]
    return [conflict.uid for conflict in recorded_conflicts if conflict.dismissed_at is None]


def find_everywhere(connection: Connection, most: int | None = None) -> list[str]:
    """Record the conflicts of all facts, dated when the later of the two was recorded; return the IDs of new ones.

    For facts from elsewhere: every device with the same facts finds the same conflicts. At most `most` conflicts of
    each predicate are recorded, if it is given.
    """
    beliefs = Beliefs(connection)
    new_ids = []
    for predicate in predicate_rows.all_predicates(connection):
        for pair in islice(_pairs(beliefs, predicate.row), most) if is_single_valued(predicate) else ():
            sides = _in_order(connection, *pair)
            if conflict_rows.find(connection, FUNCTIONAL, *sides) is None:
                recorded_at = Micros(max(version.recorded_at for version in pair))
                conflict_rows.record(connection, FUNCTIONAL, *sides, recorded_at)
                conflict = conflict_rows.find(connection, FUNCTIONAL, *sides)
                new_ids += [] if conflict is None else [conflict.uid]
    return new_ids


def has_compared_all(connection: Connection) -> bool:
    """Return whether all facts were compared by the current table of single-valued predicates."""
    return change_log.cursor(connection, _TABLE_CURSOR)[0] == VERSION


def compare_all(connection: Connection) -> None:
    """Compare all facts by the current table of single-valued predicates, unless already done."""
    if not has_compared_all(connection):
        find_everywhere(connection, _MOST_COMPARED)
        change_log.advance(connection, _TABLE_CURSOR, VERSION, 0)


def _pairs(beliefs: Beliefs, predicate: int) -> Iterator[tuple[Version, Version]]:
    of_subject: dict[tuple[int, str | None], list[Version]] = defaultdict(list)
    for version in fact_rows.versions_with(beliefs.connection, predicate, beliefs.known_at):
        of_subject[beliefs.root(version.subject), version.wing].append(version)
    for versions in of_subject.values():
        yield from (pair for pair in _at_once(versions) if _conflict(beliefs, *pair))


def _at_once(versions: list[Version]) -> Iterator[tuple[Version, Version]]:
    """Yield the pairs that may overlap: few of a value's many successive versions do."""
    began = sorted(versions, key=lambda one: (one.valid_from is not None, one.valid_from or 0))
    for n, first in enumerate(began, 1):
        for second in islice(began, n, None):
            if first.valid_to is not None and second.valid_from is not None and first.valid_to <= second.valid_from:
                break  # nor does any behind it
            yield first, second


def _in_order(connection: Connection, first: Version, second: Version) -> tuple[Claim, Claim]:
    """Return the two sides, the fact stated first before the other."""
    earlier, later = sorted(
        (first, second),
        key=lambda version: (fact_rows.versions_of(connection, version.fact)[0].recorded_at, version.fact),
    )
    return Claim(earlier.fact), Claim(later.fact)


def list_conflicts(connection: Connection) -> Iterator[tuple[Conflict, bool]]:
    """Yield every conflict, newest first, and whether it is open."""
    beliefs = Beliefs(connection)
    for conflict in conflict_rows.all_conflicts(connection):
        yield conflict, conflict.dismissed_at is None and _holds(beliefs, conflict)


def _holds(beliefs: Beliefs, conflict: Conflict) -> bool:
    """Return whether both sides still hold: live facts that contradict each other, texts that still exist."""
    for side in (conflict.earlier, conflict.later):
        if side.item is not None and not claim_rows.is_said(
            beliefs.connection, side.item, side.start or 0, side.end or 0
        ):
            return False
    sides = [
        fact_rows.live_version(beliefs.connection, side.fact)
        for side in (conflict.earlier, conflict.later)
        if side.fact is not None
    ]
    if any(side is None for side in sides):
        return False
    if conflict.kind != FUNCTIONAL:
        return True
    earlier, later = sides
    return earlier is not None and later is not None and _conflict(beliefs, earlier, later)


def is_single_valued(predicate: Predicate) -> bool:
    """Return whether a subject has one object at a time: as a person declared, else as the table says."""
    return predicate.functional if predicate.functional is not None else kind_of(predicate.name) is not None


def contradict(beliefs: Beliefs, first: Version, second: Version) -> bool:
    """Return whether the objects of two facts with the same predicate cannot both hold at one time."""
    predicate = predicate_rows.read_predicate(beliefs.connection, first.predicate)
    kind = kind_of(predicate.name)
    if beliefs.root(first.object) == beliefs.root(second.object) or not is_single_valued(predicate):
        return False
    return bool(predicate.functional) or (
        kind is not None and values_contradict(kind, beliefs.name(first.object), beliefs.name(second.object))
    )


def _conflict(beliefs: Beliefs, first: Version, second: Version) -> bool:
    return (
        first.fact != second.fact
        and first.predicate == second.predicate
        and first.wing == second.wing
        and beliefs.root(first.subject) == beliefs.root(second.subject)
        and first.overlaps(second)
        and contradict(beliefs, first, second)
    )


def _record_conflict(change: Change, first: Version, second: Version) -> Conflict:
    sides = _in_order(change.connection, first, second)
    if conflict_rows.find(change.connection, FUNCTIONAL, *sides) is None:
        conflict_rows.record(change.connection, FUNCTIONAL, *sides, change.now)
    conflict = conflict_rows.find(change.connection, FUNCTIONAL, *sides)
    assert conflict is not None  # noqa: S101 - it was recorded in this transaction
    return conflict
