"""Adding, ending and superseding facts.

Stating an existing fact again changes nothing or improves the fact: an earlier start, a start where there was none,
higher confidence, more provenance. Ending and superseding require the exact fact. If no such fact holds, the request is
refused, and the error lists similar facts.
"""

from __future__ import annotations

from typing import NamedTuple

from palazzo.errors import NotFound, UsageError
from palazzo.frozen_class import frozen
from palazzo.knowledge.conflict_detection import contradict, find_conflicts
from palazzo.knowledge.fact_change import Change
from palazzo.knowledge.facts_as_of import Beliefs
from palazzo.model import Micros
from palazzo.security.display_names import quoted_name
from palazzo.store import fact_rows, place_rows, predicate_rows
from palazzo.store.database import Connection
from palazzo.store.fact_rows import Provenance, Version
from palazzo.text.names import fold
from palazzo.text.times import to_iso

SURE = 1.0
"""Confidence of a statement that gives none."""
_LONGEST_SHOWN = 200
"""Maximum characters of a fact that a refusal shows."""
_MOST_NEAR = 5


@frozen
class Triple:
    """Subject, predicate and object, and the scope: a wing, or everywhere."""

    subject: str
    predicate: str
    object: str
    wing: str | None = None

    def __str__(self) -> str:
        return f"{self.subject} {self.predicate} {self.object}{f' (in wing {self.wing})' if self.wing else ''}"


@frozen
class Statement:
    """A fact as someone states it. `confidence` is from 0 to 1, None if it was not given."""

    triple: Triple
    provenance: tuple[Provenance, ...]
    valid_from: Micros | None = None
    valid_to: Micros | None = None
    confidence: float | None = None


class Ends(NamedTuple):
    """The row ids of a triple."""

    subject: int
    predicate: int
    object: int


class Added(NamedTuple):
    """The current state of a fact: whether it is new, what changed if it is not, and the conflicts that it caused."""

    version: Version
    new: bool
    changed: tuple[str, ...]
    conflicts: tuple[str, ...]


class Supersession(NamedTuple):
    """The facts that were closed, and the fact that replaces them."""

    predecessors: tuple[Version, ...]
    successor: Added


def add(change: Change, statement: Statement) -> Added:
    """State a fact; one with the same content and the same end keeps its ID. Raises UsageError."""
    start, end = statement.valid_from, statement.valid_to
    if start is not None and end is not None and start >= end:
        raise UsageError(
            f"The fact would end ({to_iso(end)}) before it begins ({to_iso(start)}): give a start before the end."
        )
    beliefs = Beliefs(change.connection)
    subject, thing = (_entity(change, beliefs, name) for name in (statement.triple.subject, statement.triple.object))
    return _state_fact(change, Ends(subject, change.predicate(statement.triple.predicate), thing), statement)


def _state_fact(change: Change, ends: Ends, statement: Statement) -> Added:
    versions = Beliefs(change.connection).of_triple(*ends)
    key = (statement.triple.wing, statement.valid_to)
    same = next((candidate for candidate in versions if (candidate.wing, candidate.valid_to) == key), None)
    if same is not None:
        version, changed = _improve_version(change, same, statement)
    else:
        version, changed = _created(change, ends, statement), ()
    conflicts = find_conflicts(change, version) if same is None or changed else []
    return Added(version, same is None, changed, tuple(conflicts))


def stated_everywhere(provenance: tuple[Provenance, ...]) -> tuple[Provenance, ...]:
    """Return the provenance of a fact stated to hold everywhere: its speaker, without branch, and its items."""
    speaker = provenance[0]._replace(item=None, start=None, end=None, branch="", commit="", anchors=())
    return tuple(dict.fromkeys((speaker, *(source for source in provenance if source.item is not None))))


def _is_stated_everywhere(connection: Connection, versions: list[Version]) -> bool:
    sources = fact_rows.sources_of(connection, [version.row for version in versions])
    return any(source.is_of_no_place for provenance in sources.values() for source in provenance)


def wings_where_it_holds(connection: Connection, triple: Triple, at: Micros) -> list[str | None]:
    """Return the wings (None: everywhere) where a triple can end at `at`; if none, those with the triple."""
    versions = _find_versions(Beliefs(connection), triple)
    return [version.wing for version in versions if _can_end(version, at)] or [version.wing for version in versions]


def end(change: Change, triple: Triple, at: Micros) -> list[Version]:
    """End a fact at `at`; return its new version. Raises NotFound, naming similar facts."""
    return [_close_version(change, version, at) for version in _find_open_versions(change, triple, at)]


def supersede(
    change: Change, triple: Triple, thing: str, at: Micros, provenance: tuple[Provenance, ...]
) -> Supersession:
    """Replace the triple's object by `thing` from `at` on. Raises NotFound or UsageError."""
    beliefs = Beliefs(change.connection)
    current_versions = _find_open_versions(change, triple, at)
    subject, predicate, successor = (
        current_versions[0].subject,
        current_versions[0].predicate,
        _entity(change, beliefs, thing),
    )
    if beliefs.root(successor) == beliefs.root(current_versions[0].object):
        raise UsageError(f"'{triple}' cannot be superseded by itself: name another object.")
    same_triple = beliefs.of_triple(subject, predicate, successor)
    open_versions = (version for version in same_triple if (version.wing, version.valid_to) == (triple.wing, None))
    existing = next((version for version in open_versions if version.holds_at(at)), None)
    for version in current_versions:  # first: it must not be in conflict with its successor
        change.retire(version)
    if existing is None:
        if triple.wing is None and _is_stated_everywhere(change.connection, current_versions):
            provenance = stated_everywhere(provenance)
        statement = Statement(Triple(triple.subject, triple.predicate, thing, triple.wing), provenance, at)
        result = _state_fact(change, Ends(subject, predicate, successor), statement)
    elif any(_contradict_until(beliefs, version, existing, at) for version in current_versions):
        result = Added(_begin_at(change, existing, at), False, ("valid_from",), ())
    else:
        result = Added(existing, False, (), ())
    closed_versions = tuple(_record_end(change, version, at, result.version.fact) for version in current_versions)
    return Supersession(closed_versions, result)


def _entity(change: Change, beliefs: Beliefs, name: str) -> int:
    match = beliefs.find(name)
    return match.entity if match else change.entity(name)


def _created(change: Change, ends: Ends, statement: Statement) -> Version:
    wing = statement.triple.wing
    place = None if wing is None else place_rows.wing_id(change.connection, wing)
    fact = fact_rows.create_fact(change.connection, change.new_uid(), ends, place, statement.valid_to)
    confidence = SURE if statement.confidence is None else statement.confidence
    return change.record(fact, statement.valid_from, statement.valid_to, confidence, statement.provenance)


def _improve_version(change: Change, version: Version, statement: Statement) -> tuple[Version, tuple[str, ...]]:
    """Return the fact with what the statement adds or improves, and what that is.

    A statement from an untrusted context is added as a further source of another's fact, and changes nothing else in
    it.
    """
    start, confidence = version.valid_from, version.confidence
    sources = fact_rows.sources_of(change.connection, [version.row])[version.row]
    more = tuple(
        provenance
        for provenance in dict.fromkeys(statement.provenance)
        if not any(source.says(provenance) for source in sources)
    )
    may_change = fact_rows.trust_of(statement.provenance) != "external" or fact_rows.trust_of(sources) == "external"
    changed = []
    if may_change and statement.valid_from is not None and (start is None or statement.valid_from < start):
        start = statement.valid_from
        changed.append("valid_from")
    if may_change and statement.confidence is not None and statement.confidence > confidence:
        confidence = statement.confidence
        changed.append("confidence")
    if more:
        changed.append("provenance")
    if not changed:
        return version, ()
    change.retire(version)
    provenances = _merge_provenance(sources, more)
    return (
        change.record(version.fact, start, version.valid_to, confidence, provenances, version.superseded_by),
        tuple(changed),
    )


def _merge_provenance(sources: tuple[Provenance, ...], more: tuple[Provenance, ...]) -> tuple[Provenance, ...]:
    """Return the sources of a fact, each once with everything that it cites."""
    provenance_by_key = {provenance.key: provenance for provenance in sources}
    for provenance in more:
        provenance_by_key[provenance.key] = provenance.instead_of(provenance_by_key.get(provenance.key, provenance))
    return tuple(provenance_by_key.values())


def _close_version(change: Change, version: Version, at: Micros) -> Version:
    change.retire(version)
    return _record_end(change, version, at, None)


def _contradict_until(beliefs: Beliefs, version: Version, successor: Version, at: Micros) -> bool:
    """Return whether a fact and its successor contradict each other, and both would have held before `at`."""
    return (successor.valid_from is None or successor.valid_from < at) and contradict(beliefs, version, successor)


def _begin_at(change: Change, version: Version, at: Micros) -> Version:
    """Record that a fact begins at `at`, when the fact that it supersedes ends; return its new version."""
    change.retire(version)
    sources = fact_rows.sources_of(change.connection, [version.row])[version.row]
    return change.record(version.fact, at, version.valid_to, version.confidence, sources, version.superseded_by)


def _record_end(change: Change, version: Version, at: Micros, successor: int | None) -> Version:
    sources = fact_rows.sources_of(change.connection, [version.row])[version.row]
    return change.record(version.fact, version.valid_from, at, version.confidence, sources, successor)


def _find_open_versions(change: Change, triple: Triple, at: Micros) -> list[Version]:
    """Return the versions of a triple that hold until `at` and would continue."""
    beliefs = Beliefs(change.connection)
    versions = [version for version in _find_versions(beliefs, triple) if version.wing == triple.wing]
    open_versions = [version for version in versions if _can_end(version, at)]
    if not open_versions:
        raise NotFound(_why_not(beliefs, triple, at, versions))
    return open_versions


def _can_end(version: Version, at: Micros) -> bool:
    return version.holds_at(at) and (version.valid_from is None or version.valid_from < at)


def _find_versions(beliefs: Beliefs, triple: Triple) -> list[Version]:
    subject, thing = beliefs.find(triple.subject), beliefs.find(triple.object)
    predicate = predicate_rows.find_predicate(beliefs.connection, triple.predicate, fold(triple.predicate))
    if subject is None or thing is None or predicate is None:
        return []
    return beliefs.of_triple(subject.entity, predicate.row, thing.entity)


def _why_not(beliefs: Beliefs, triple: Triple, at: Micros, versions: list[Version]) -> str:
    end_time = max(
        (version.valid_to for version in versions if version.valid_to is not None and version.valid_to <= at),
        default=None,
    )
    if end_time is not None:
        return f"'{triple}' already ended at {to_iso(end_time)}, so it cannot end at {to_iso(at)}."
    begins = min((version.valid_from for version in versions if version.valid_from is not None), default=None)
    if begins is not None:
        return f"'{triple}' does not begin until {to_iso(begins)}, so it cannot end at {to_iso(at)}: give a later time."
    suggestions = "; ".join(_describe_version(beliefs, version) for version in _nearest(beliefs, triple))
    return f"There is no fact '{triple}' to end. " + (
        f"Near it: {suggestions}." if suggestions else "'palazzo kg timeline' shows the known facts."
    )


def _nearest(beliefs: Beliefs, triple: Triple) -> list[Version]:
    """Return facts that share two parts with a triple, else one end; similar names count too."""
    subjects, objects = (_resolve_name(beliefs, name) for name in (triple.subject, triple.object))
    predicate = fold(triple.predicate)
    ranking = []
    for version in {version.row: version for end in (*subjects, *objects) for version in beliefs.about(end)}.values():
        shared = (
            2 * (beliefs.root(version.subject) in subjects)
            + (fold(version.predicate_name) == predicate)
            + (beliefs.root(version.object) in objects)
        )
        ranking.append((-shared, version.valid_to is not None, version.row, version))
    return [version for *_, version in sorted(ranking)[:_MOST_NEAR]]


def _resolve_name(beliefs: Beliefs, name: str) -> set[int]:
    match = beliefs.find(name)
    if match is not None:
        return {beliefs.root(match.entity)}
    matches = (beliefs.find(near_name) for near_name in beliefs.near(name))
    return {beliefs.root(candidate.entity) for candidate in matches if candidate is not None}


def _describe_version(beliefs: Beliefs, version: Version) -> str:
    triple = Triple(beliefs.name(version.subject), version.predicate_name, beliefs.name(version.object), version.wing)
    end = "" if version.valid_to is None else f" (ended {to_iso(version.valid_to)})"
    return f"{quoted_name(str(triple), _LONGEST_SHOWN)}{end}"
