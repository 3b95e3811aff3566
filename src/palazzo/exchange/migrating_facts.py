"""Facts and tunnels of another memory, stated and dug by the graph.

A fact that a store stated before is not stated again, also where somebody has ended it here since; one that was undone
is. So are tunnels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from palazzo.archive.guarding import Guard
from palazzo.errors import AmbiguousName, UsageError
from palazzo.exchange.migration import Change, How, room_of, wing_of
from palazzo.exchange.stores import Brought, Fact, Tunnel
from palazzo.graph import changing, naming, stating, tunnelling
from palazzo.graph.beliefs import Beliefs
from palazzo.graph.stating import Statement, Triple
from palazzo.graph.whereabouts import Room
from palazzo.model import Place
from palazzo.scope.rooms import GENERAL
from palazzo.store import drawers, facts, groups, items, places, predicates, tunnels
from palazzo.store.database import Connection, Database
from palazzo.store.facts import Provenance, Version
from palazzo.text.names import fold, tidy

_LONGEST_SPEAKER = _LONGEST_LABEL = 200
_LOOP = "they lead from a room to itself"
RowOf = Callable[[str], int | None]
"""Which note a key that is cited means here."""


class FactFiler:
    """States facts and digs tunnels."""

    def __init__(self, database: Database, change: Change, wing: str | None, row_of: RowOf) -> None:
        self._database, self._change, self._wing, self._row_of = database, change, wing, row_of
        with database.snapshot() as connection:
            self._undone = groups.taken_back(connection, "tunnel+")

    def look(self, batch: Sequence[Brought]) -> None:
        """Count what filing a batch would do, as far as that can be told before it is done."""
        guard = Guard.of(self._database)
        with self._database.snapshot() as connection:
            for one in batch:
                if isinstance(one, Fact):
                    self._look_at_fact(connection, one, guard)
                elif isinstance(one, Tunnel):
                    self._look_at_tunnel(connection, one, guard)

    def file(self, batch: Sequence[Brought]) -> None:
        """State and dig what is in a batch, in one transaction."""
        chosen = [one for one in batch if isinstance(one, Fact | Tunnel)]
        if not chosen:
            return
        guard = Guard.of(self._database)
        with self._database.transaction() as connection:
            change = self._change.begin(connection)
            for one in chosen:
                if isinstance(one, Fact):
                    self._state(change, one, guard)
                else:
                    self._dig(change, one, guard)
            self._change.done(connection, change)

    # --- facts ---------------------------------------------------------------------------------------------

    def _look_at_fact(self, connection: Connection, one: Fact, guard: Guard) -> None:
        try:
            statement = self._statement(connection, one, guard)
            known = _said(connection, statement.triple)
        except UsageError as error:
            self._change.tally.leave("facts", _why(error), one.key)
            return
        is_same = any(version.valid_to == statement.valid_to for version in known)
        how = _how_stated(connection, known, statement) or ("merged" if is_same else "new")
        self._change.tally.count("facts", how)

    def _state(self, change: changing.Change, one: Fact, guard: Guard) -> None:
        tally = self._change.tally
        try:
            statement = self._statement(change.connection, one, guard)
            known = _said(change.connection, statement.triple)
            how = _how_stated(change.connection, known, statement)
            if how is not None:
                tally.count("facts", how)
                return
            added = stating.add(change, statement)
        except UsageError as error:
            tally.leave("facts", _why(error), one.key)
            return
        tally.count("facts", "new" if added.new else "merged")
        change.count(1 if added.new or added.changed else 0)

    def _statement(self, connection: Connection, one: Fact, guard: Guard) -> Statement:
        """A fact as it is to be stated. Raises UsageError for one that cannot be."""
        words = (
            naming.entity_name("subject", one.subject),
            naming.predicate_name(one.predicate),
            naming.entity_name("object", one.object),
        )
        start, end = one.valid_from, one.valid_to
        if start is not None and end is not None and start >= end:
            raise _EndsFirst
        wing = None
        if one.wing:
            named = wing_of(self._change.tally, one.wing, self._change.store, self._wing)
            wing = places.leads_to(connection, Place(named, "")).wing
        speaker = guard.words(tidy(one.stated_by))
        if not speaker or len(speaker) > _LONGEST_SPEAKER or not speaker.isprintable():
            speaker = self._change.title
        row = self._row_of(one.cites) if one.cites else None
        item = None if row is None else items.item_ids(connection, [row])[row]
        sure = one.confidence if one.confidence is not None and 0 <= one.confidence <= 1 else None
        triple = Triple(*naming.guarded(guard, *words), wing)
        return Statement(triple, (Provenance(speaker, item, trust=one.trust),), start, end, sure)

    # --- tunnels -------------------------------------------------------------------------------------------

    def _look_at_tunnel(self, connection: Connection, one: Tunnel, guard: Guard) -> None:
        source, target = self._places(one)
        if source == target:
            self._change.tally.leave("tunnels", _LOOP, one.key)
            return
        near, far = (_known_room(connection, end) for end in (source, target))
        is_known = not (near is None or far is None) and self._was_dug(connection, near, far, _label(one, guard))
        self._change.tally.count("tunnels", "there" if is_known else "new")

    def _dig(self, change: changing.Change, one: Tunnel, guard: Guard) -> None:
        tally, connection, label = self._change.tally, change.connection, _label(one, guard)
        source, target = (self._room(connection, place) for place in self._places(one))
        if self._was_dug(connection, source.row, target.row, label):
            tally.count("tunnels", "there")
            return
        cited = self._drawers(connection, one.source_cites), self._drawers(connection, one.target_cites)
        try:
            tunnelling.dig(change, source, target, label, cited)
        except UsageError:
            tally.leave("tunnels", _LOOP, one.key)
            return
        tally.count("tunnels", "new")
        change.count(1)

    def _was_dug(self, connection: Connection, source: int, target: int, label: str) -> bool:
        """Whether there is such a tunnel, or was one until somebody removed it otherwise than by undoing."""
        return not self._undone.issuperset(tunnels.ever_dug(connection, source, target, label))

    def _places(self, one: Tunnel) -> tuple[Place, Place]:
        tally = self._change.tally
        ends = ((one.source_wing, one.source_room), (one.target_wing, one.target_room))
        source, target = (
            Place(wing_of(tally, wing, self._change.store, self._wing), room_of(tally, room, GENERAL))
            for wing, room in ends
        )
        return source, target

    def _room(self, connection: Connection, named: Place) -> Room:
        row = places.room_id(connection, named)
        place = places.place_of(connection, row)
        return Room(row, places.wing_id(connection, place.wing), place)

    def _drawers(self, connection: Connection, key: str) -> list[bytes]:
        row = self._row_of(key) if key else None
        live = [] if row is None else drawers.live_drawers_of_item(connection, row)
        return drawers.uids_of(connection, live)


def _said(connection: Connection, triple: Triple) -> list[Version]:
    """What is believed of a triple in its wing. Raises UsageError where a name may mean several entities."""
    beliefs = Beliefs(connection)
    subject, thing = beliefs.find(triple.subject), beliefs.find(triple.object)
    predicate = predicates.find_predicate(connection, triple.predicate, fold(triple.predicate))
    if subject is None or thing is None or predicate is None:
        return []
    said = beliefs.of_triple(subject.entity, predicate.row, thing.entity)
    return [one for one in said if one.wing == triple.wing]


def _how_stated(connection: Connection, known: Sequence[Version], statement: Statement) -> How | None:
    """Whether the same store has stated a fact before, which is believed still: that very one, or more of the same."""
    (stated,) = statement.provenance
    found: set[bool] = set()
    for version in known:
        before = [one for one in facts.versions_of(connection, version.fact) if _covers(one, statement)]
        sources = facts.sources_of(connection, [one.row for one in before])
        own = [one for one in before if any(who.stated_by == stated.stated_by for who in sources[one.row])]
        found.update(one.valid_from == statement.valid_from for one in own)
    return ("there" if True in found else "merged") if found else None


def _covers(version: Version, statement: Statement) -> bool:
    """Whether a version says that the fact held at least as long, until the same end."""
    start, since = version.valid_from, statement.valid_from
    return version.valid_to == statement.valid_to and (start is None or (since is not None and start <= since))


def _known_room(connection: Connection, place: Place) -> int | None:
    wing = places.wing_led_to(connection, place.wing)
    return None if wing is None else places.room_led_to(connection, wing, place.room)


def _label(one: Tunnel, guard: Guard) -> str:
    label = guard.words(tidy(one.label))[:_LONGEST_LABEL]
    return label if label.isprintable() else ""


class _EndsFirst(UsageError):
    """A fact that ends before it begins."""


def _why(error: UsageError) -> str:
    """Why a fact has no place, for all of which that is true: reports add up by it."""
    if isinstance(error, _EndsFirst):
        return "they end before they begin"
    if isinstance(error, AmbiguousName):
        return "a name of theirs may mean several entities here"
    return f"a name of theirs is empty, private, not printable or longer than {naming.LONGEST_NAME:,} characters"
