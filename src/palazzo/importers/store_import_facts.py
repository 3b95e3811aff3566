"""Store import of facts and tunnels: states the facts and digs the tunnels of another memory.

A fact that was imported from the store before is not stated again, even if somebody has ended it here since; a fact
whose import was undone is stated again. The same holds for tunnels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from palazzo.archive.ingest_guard import Guard
from palazzo.errors import AmbiguousName, UsageError
from palazzo.git.project_rooms import GENERAL
from palazzo.importers import Fact, StoreRecord, Tunnel
from palazzo.importers.store_import_state import Change, FilingOutcome, room_of, wing_of
from palazzo.knowledge import assertions, entity_names, fact_change
from palazzo.knowledge import tunnels as tunnelling
from palazzo.knowledge.assertions import Statement, Triple
from palazzo.knowledge.facts_as_of import Beliefs
from palazzo.knowledge.place_names import Room
from palazzo.model import Place
from palazzo.store import change_groups, drawers, fact_rows, items, place_rows, predicate_rows, tunnel_rows
from palazzo.store.database import Connection, Database
from palazzo.store.fact_rows import Provenance, Version
from palazzo.text.names import fold, tidy

_LONGEST_SPEAKER = _LONGEST_LABEL = 200
_LOOP = "they lead from a room to itself"
RowOf = Callable[[str], int | None]
"""Returns the row of the note here to which a cited key refers."""


class FactFiler:
    """Files facts and tunnels."""

    def __init__(self, database: Database, change: Change, wing: str | None, row_of: RowOf) -> None:
        self._database, self._change, self._wing, self._row_of = database, change, wing, row_of
        with database.snapshot() as connection:
            self._undone = change_groups.taken_back(connection, "tunnel+")

    def look(self, batch: Sequence[StoreRecord]) -> None:
        """Count what importing a batch would do, as far as this can be known in advance."""
        guard = Guard.of(self._database)
        with self._database.snapshot() as connection:
            for thing in batch:
                if isinstance(thing, Fact):
                    self._look_at_fact(connection, thing, guard)
                elif isinstance(thing, Tunnel):
                    self._look_at_tunnel(connection, thing, guard)

    def file(self, batch: Sequence[StoreRecord]) -> None:
        """Add the facts and tunnels of a batch, in one transaction."""
        things = [thing for thing in batch if isinstance(thing, Fact | Tunnel)]
        if not things:
            return
        guard = Guard.of(self._database)
        with self._database.transaction() as connection:
            change = self._change.begin(connection)
            for thing in things:
                if isinstance(thing, Fact):
                    self._state(change, thing, guard)
                else:
                    self._dig(change, thing, guard)
            self._change.adopt_group(connection, change)

    # --- facts ---------------------------------------------------------------------------------------------

    def _look_at_fact(self, connection: Connection, fact: Fact, guard: Guard) -> None:
        try:
            statement = self._statement(connection, fact, guard)
            versions = _find_versions(connection, statement.triple)
        except UsageError as error:
            self._change.tally.leave("facts", _why(error), fact.key)
            return
        is_same = any(version.valid_to == statement.valid_to for version in versions)
        outcome = _judge_statement(connection, versions, statement) or ("merged" if is_same else "new")
        self._change.tally.count("facts", outcome)

    def _state(self, change: fact_change.Change, fact: Fact, guard: Guard) -> None:
        summary = self._change.tally
        try:
            statement = self._statement(change.connection, fact, guard)
            versions = _find_versions(change.connection, statement.triple)
            outcome = _judge_statement(change.connection, versions, statement)
            if outcome is not None:
                summary.count("facts", outcome)
                return
            added = assertions.add(change, statement)
        except UsageError as error:
            summary.leave("facts", _why(error), fact.key)
            return
        summary.count("facts", "new" if added.new else "merged")
        change.count(1 if added.new or added.changed else 0)

    def _statement(self, connection: Connection, fact: Fact, guard: Guard) -> Statement:
        """Return a fact in the form to be stated. Raises UsageError for an invalid one."""
        words = (
            entity_names.entity_name("subject", fact.subject),
            entity_names.predicate_name(fact.predicate),
            entity_names.entity_name("object", fact.object),
        )
        start, end = fact.valid_from, fact.valid_to
        if start is not None and end is not None and start >= end:
            raise _EndsFirst
        wing = None
        if fact.wing:
            wing_name = wing_of(self._change.tally, fact.wing, self._change.store, self._wing)
            wing = place_rows.leads_to(connection, Place(wing_name, "")).wing
        speaker = guard.words(tidy(fact.stated_by))
        if not speaker or len(speaker) > _LONGEST_SPEAKER or not speaker.isprintable():
            speaker = self._change.title
        row = self._row_of(fact.cites) if fact.cites else None
        item = None if row is None else items.item_ids(connection, [row])[row]
        sure = fact.confidence if fact.confidence is not None and 0 <= fact.confidence <= 1 else None
        triple = Triple(*entity_names.redact_fact(guard, *words), wing)
        return Statement(triple, (Provenance(speaker, item, trust=fact.trust),), start, end, sure)

    # --- tunnels -------------------------------------------------------------------------------------------

    def _look_at_tunnel(self, connection: Connection, tunnel: Tunnel, guard: Guard) -> None:
        source, target = self._places(tunnel)
        if source == target:
            self._change.tally.leave("tunnels", _LOOP, tunnel.key)
            return
        near, far = (_known_room(connection, end) for end in (source, target))
        is_known = not (near is None or far is None) and self._was_dug(connection, near, far, _label(tunnel, guard))
        self._change.tally.count("tunnels", "there" if is_known else "new")

    def _dig(self, change: fact_change.Change, tunnel: Tunnel, guard: Guard) -> None:
        summary, connection, label = self._change.tally, change.connection, _label(tunnel, guard)
        source, target = (self._room(connection, place) for place in self._places(tunnel))
        if self._was_dug(connection, source.row, target.row, label):
            summary.count("tunnels", "there")
            return
        drawer_uids = self._drawers(connection, tunnel.source_cites), self._drawers(connection, tunnel.target_cites)
        try:
            tunnelling.dig(change, source, target, label, drawer_uids)
        except UsageError:
            summary.leave("tunnels", _LOOP, tunnel.key)
            return
        summary.count("tunnels", "new")
        change.count(1)

    def _was_dug(self, connection: Connection, source: int, target: int, label: str) -> bool:
        """Return whether there is such a tunnel, or was one that was removed in any way except an undo."""
        return not self._undone.issuperset(tunnel_rows.ever_dug(connection, source, target, label))

    def _places(self, tunnel: Tunnel) -> tuple[Place, Place]:
        summary = self._change.tally
        ends = ((tunnel.source_wing, tunnel.source_room), (tunnel.target_wing, tunnel.target_room))
        source, target = (
            Place(wing_of(summary, wing, self._change.store, self._wing), room_of(summary, room, GENERAL))
            for wing, room in ends
        )
        return source, target

    def _room(self, connection: Connection, requested_place: Place) -> Room:
        row = place_rows.room_id(connection, requested_place)
        place = place_rows.place_of(connection, row)
        return Room(row, place_rows.wing_id(connection, place.wing), place)

    def _drawers(self, connection: Connection, key: str) -> list[bytes]:
        row = self._row_of(key) if key else None
        live = [] if row is None else drawers.live_drawers_of_item(connection, row)
        return drawers.uids_of(connection, live)


def _find_versions(connection: Connection, triple: Triple) -> list[Version]:
    """Return known versions of a triple in its wing. Raises UsageError if a name may mean several entities."""
    beliefs = Beliefs(connection)
    subject, thing = beliefs.find(triple.subject), beliefs.find(triple.object)
    predicate = predicate_rows.find_predicate(connection, triple.predicate, fold(triple.predicate))
    if subject is None or thing is None or predicate is None:
        return []
    versions = beliefs.of_triple(subject.entity, predicate.row, thing.entity)
    return [version for version in versions if version.wing == triple.wing]


def _judge_statement(connection: Connection, versions: Sequence[Version], statement: Statement) -> FilingOutcome | None:
    """Return how the same store has stated a fact that still holds: exactly this one, or one that includes it."""
    (provenance,) = statement.provenance
    matches: set[bool] = set()
    for version in versions:
        covering_versions = [
            candidate for candidate in fact_rows.versions_of(connection, version.fact) if _covers(candidate, statement)
        ]
        sources = fact_rows.sources_of(connection, [candidate.row for candidate in covering_versions])
        own = [
            candidate
            for candidate in covering_versions
            if any(source.stated_by == provenance.stated_by for source in sources[candidate.row])
        ]
        matches.update(candidate.valid_from == statement.valid_from for candidate in own)
    return ("there" if True in matches else "merged") if matches else None


def _covers(version: Version, statement: Statement) -> bool:
    """Return whether a version states that the fact held at least as long, until the same end."""
    start, since = version.valid_from, statement.valid_from
    return version.valid_to == statement.valid_to and (start is None or (since is not None and start <= since))


def _known_room(connection: Connection, place: Place) -> int | None:
    wing = place_rows.wing_led_to(connection, place.wing)
    return None if wing is None else place_rows.room_led_to(connection, wing, place.room)


def _label(tunnel: Tunnel, guard: Guard) -> str:
    label = guard.words(tidy(tunnel.label))[:_LONGEST_LABEL]
    return label if label.isprintable() else ""


class _EndsFirst(UsageError):
    """A fact that ends before it begins."""


def _why(error: UsageError) -> str:
    """Return why a fact cannot be imported, in words for all such facts: reports count them by reason."""
    if isinstance(error, _EndsFirst):
        return "they end before they begin"
    if isinstance(error, AmbiguousName):
        return "one of their names may mean several entities here"
    return (
        f"one of their names is empty, private, not printable or longer than {entity_names.LONGEST_NAME:,} characters"
    )
