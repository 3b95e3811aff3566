"""A change to facts: by one command, at one instant, in one change group, which starts with the first thing it changes.

Times of belief are whole milliseconds, as they are printed, and never go back, whatever the clock does. A device whose
clock was far ahead may have recorded times in the future here: they affect only the time of a change to those same
records.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from palazzo.archive import identity
from palazzo.model import Micros
from palazzo.store import change_groups, entity_rows, fact_rows, predicate_rows, tombstones
from palazzo.store.change_groups import MemberKind
from palazzo.store.clock_drift import FURTHEST
from palazzo.store.database import Connection
from palazzo.store.fact_rows import Provenance, Version
from palazzo.text.names import fold


def instant(connection: Connection, now: Micros) -> Micros:
    """Return the time at which a change made now is recorded."""
    return Micros(max(now - now % 1000, fact_rows.newest(connection, Micros(now + FURTHEST))))


def advance_past(version: Version, moment: Micros) -> Micros:
    """Return the time, or one just after the version's own if that is later: its change must be later."""
    return moment if version.recorded_at <= moment else Micros(version.recorded_at + 1000)


class Change:
    """The changes to facts by one command, in the caller's transaction."""

    def __init__(
        self, connection: Connection, actor: str, verb: str, now: Micros, group: int | None = None, summary: str = ""
    ) -> None:
        self.connection, self.actor, self.verb, self.summary = connection, actor, verb, summary
        self.now = self._begun = instant(connection, now)
        self.group = group
        self.created: list[str] = []
        """Names that did not exist before."""

    def new_uid(self) -> bytes:
        """Return a new ID."""
        return bytes.fromhex(identity.new_id(self.now))

    def redact_erased(self, words: str) -> str:
        """Return words without anything erased, even just now."""
        return tombstones.title(self.connection, words)

    def _kept_of(self, provenance: Provenance) -> Provenance:
        return provenance._replace(
            stated_by=self.redact_erased(provenance.stated_by),
            branch=self.redact_erased(provenance.branch),
            commit=self.redact_erased(provenance.commit),
            anchors=tuple(replace(anchor, path=self.redact_erased(anchor.path)) for anchor in provenance.anchors),
        )

    def entity(self, name: str) -> int:
        """Return the row ID of the entity of exactly that name, adding it if it is new."""
        name = self.redact_erased(name)
        entity_row = entity_rows.entity_named(self.connection, name)
        if entity_row is not None:
            return entity_row
        self.created.append(name)
        return entity_rows.create_entity(self.connection, name, fold(name), self.now)

    def predicate(self, name: str) -> int:
        """Return the row ID of a predicate in any known spelling, adding it if it is new."""
        name = self.redact_erased(name)
        stored_predicate = predicate_rows.find_predicate(self.connection, name, fold(name))
        return (
            stored_predicate.row
            if stored_predicate
            else predicate_rows.create_predicate(self.connection, name, fold(name))
        )

    def record(
        self,
        fact: int,
        valid_from: Micros | None,
        valid_to: Micros | None,
        confidence: float,
        sources: Iterable[Provenance],
        superseded_by: int | None = None,
    ) -> Version:
        """Record a version of a fact."""
        provenances = [self._kept_of(source) for source in sources]
        row = fact_rows.record(
            self.connection, fact, self.now, valid_from, valid_to, confidence, superseded_by, provenances
        )
        self.did("fact+", row)
        return fact_rows.read_version(self.connection, row)

    def retire(self, version: Version) -> None:
        """Retire a version of a fact."""
        self.now = advance_past(version, self.now)
        fact_rows.retire(self.connection, version, self.now)
        self.did("fact-", version.row)

    def did(self, kind: MemberKind, ref: int) -> None:
        """Add this to the command's change group."""
        if self.group is None:
            self.group = change_groups.begin(
                self.connection, self.new_uid(), self.actor, self.verb, self._begun, self.summary
            )
        change_groups.add(self.connection, self.group, kind, [ref])

    def count(self, number: int) -> None:
        """Record how many things the command changed, if any."""
        if self.group is not None and number:
            change_groups.count(self.connection, self.group, number)
