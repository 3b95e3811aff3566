"""Facts as of a time: the names, entities and facts that were believed at one moment.

A name is looked up exactly, by alias and entity; then without regard to case, spaces and dashes; then, for callers that
only read, by similar names. If several match, none is chosen. Entities that were merged at that moment are one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Literal, NamedTuple

from palazzo.errors import AmbiguousName
from palazzo.frozen_class import frozen
from palazzo.knowledge import MatchKind
from palazzo.model import Micros, Trust
from palazzo.store import entity_rows, fact_rows
from palazzo.store.database import Connection
from palazzo.store.entity_rows import LATEST
from palazzo.store.fact_rows import Provenance, Side, Version
from palazzo.text.names import fold, near

MOST_NEIGHBOURS = 50
"""Maximum number of linked entities for a second hop: an entity with more is a hub, and its neighbours say little."""


class Match(NamedTuple):
    """An entity that matches a name: its row id, and how it was found."""

    entity: int
    kind: MatchKind


@frozen
class Fact:
    """A fact in words, as it was believed. `wing` is None if it holds everywhere; `superseded_by` is a fact's id.

    `trust` is the highest trust of those who state it.
    """

    id: str
    subject: str
    predicate: str
    object: str
    wing: str | None
    valid_from: Micros | None
    valid_to: Micros | None
    confidence: float
    provenance: tuple[Provenance, ...]
    recorded_at: Micros
    retired_at: Micros | None
    superseded_by: str | None
    trust: Trust


class Hop(NamedTuple):
    """A version that a query reaches: the number of hops, and the side of the fact on which the queried entity is."""

    version: Version
    hop: int
    side: Literal["subject", "object"]


class Beliefs:
    """The facts as of `known_at`; `LATEST` for now. Reads only what it needs, and reads it once."""

    def __init__(self, connection: Connection, known_at: Micros = LATEST) -> None:
        self.connection, self.known_at = connection, known_at

    # --- names ---------------------------------------------------------------------------------------------

    def find(self, name: str, *, nearby: bool = False) -> Match | None:
        """Return the entity that `name` means, None if there is none. Raises AmbiguousName if several match."""
        alias = entity_rows.alias(self.connection, name, self.known_at)
        if alias is not None:
            return Match(alias.entity, "alias")
        exact = entity_rows.entity_named(self.connection, name)
        if exact is not None and entity_rows.is_known(self.connection, exact, self.known_at):
            return Match(exact, "name")
        alike = entity_rows.find_by_name_key(self.connection, fold(name), self.known_at)
        if alike:
            return self._require_single(name, [row for row, _ in alike], "spelling")
        if not nearby:
            return None
        by_name = self._by_folded_name
        rows = [row for name_key in near(fold(name), by_name) for row in by_name[name_key]]
        return self._require_single(name, rows, "near") if rows else None

    def near(self, name: str) -> list[str]:
        """Return the names of entities that `name` may have been meant for."""
        by_name = self._by_folded_name
        rows = dict.fromkeys(self.root(row) for name_key in near(fold(name), by_name) for row in by_name[name_key])
        return [self.name(row) for row in rows]

    def root(self, entity: int) -> int:
        """Return the entity that this one counts as: itself, unless it was merged into another."""
        return _root(self._merged_into, entity)

    def group(self, entity: int) -> list[int]:
        """Return all entities merged with this one, including itself."""
        members = [self.root(entity)]
        for member in members:
            members += [
                merged_entity for merged_entity in self._merged_from.get(member, ()) if merged_entity not in members
            ]
        return members

    def name(self, entity: int) -> str:
        """Return the name that the entity goes by."""
        root = self.root(entity)
        if root not in self._names:
            self._names.update(entity_rows.names_of(self.connection, [root]))
        return self._names[root]

    def list_names(self, entity: int) -> list[str]:
        """Return all names of the entity: its own, its aliases, and those of entities merged into it."""
        group = self.group(entity)
        aliases = [
            link.name for link in entity_rows.links(self.connection, "alias", self.known_at) if link.entity in group
        ]
        return list(dict.fromkeys([*entity_rows.names_of(self.connection, group).values(), *aliases]))

    def _require_single(self, name: str, rows: Sequence[int], kind: MatchKind) -> Match:
        roots = dict.fromkeys(map(self.root, rows))
        if len(roots) > 1:
            raise AmbiguousName(name, [self.name(row) for row in roots])
        return Match(rows[0], kind)

    @cached_property
    def _names(self) -> dict[int, str]:
        return {}

    @cached_property
    def _by_folded_name(self) -> dict[str, list[int]]:
        rows_by_key: dict[str, list[int]] = defaultdict(list)
        for row, _, name_key in entity_rows.known_names(self.connection, self.known_at):
            rows_by_key[name_key].append(row)
        return rows_by_key

    @cached_property
    def _merged_into(self) -> dict[int, int]:
        """Map merged entities to their targets. If two devices merge two entities into each other, the first counts."""
        targets: dict[int, int] = {}
        for link in entity_rows.links(self.connection, "merge", self.known_at):
            if link.other is not None and _root(targets, link.entity) != link.other:
                targets[link.other] = link.entity
        return targets

    @cached_property
    def _merged_from(self) -> dict[int, list[int]]:
        sources: dict[int, list[int]] = defaultdict(list)
        for source, entity in self._merged_into.items():
            sources[entity].append(source)
        return sources

    # --- facts ---------------------------------------------------------------------------------------------

    def about(self, entity: int, side: Side = "both") -> list[Version]:
        """Return the facts about an entity and all entities merged with it."""
        return fact_rows.versions_about(self.connection, self.group(entity), side, self.known_at)

    def of_triple(self, subject: int, predicate: int, thing: int) -> list[Version]:
        """Return the versions of a triple, in every scope and at every time."""
        objects = set(self.group(thing))
        return [
            version
            for version in self.about(subject, "subject")
            if version.predicate == predicate and version.object in objects
        ]

    def around(
        self, entity: int, side: Side, hops: int, is_relevant: Callable[[Version], bool], limit: int
    ) -> tuple[list[Hop], bool]:
        """Return the versions about an entity that are `is_relevant`, then those about its neighbours; and whether that
        is all.

        With two hops the neighbours' own facts follow, of at most `MOST_NEIGHBOURS` of them.
        """
        group = set(self.group(entity))
        first = [version for version in self.about(entity, side) if is_relevant(version)]
        neighbourhood = [
            Hop(version, 1, "subject" if version.subject in group and side != "object" else "object")
            for version in self.sort_versions(first)
        ]
        whole = True
        if hops > 1:
            visited_rows, ends = (
                {version.row for version in first},
                [end for version in first for end in (version.subject, version.object)],
            )
            neighbours = [root for root in dict.fromkeys(map(self.root, ends)) if root not in group]
            whole = len(neighbours) <= MOST_NEIGHBOURS
            for neighbour in neighbours[:MOST_NEIGHBOURS]:
                members = set(self.group(neighbour))
                second = [
                    version
                    for version in self.about(neighbour)
                    if version.row not in visited_rows and is_relevant(version)
                ]
                visited_rows.update(version.row for version in second)
                neighbourhood += [
                    Hop(version, 2, "subject" if version.subject in members else "object")
                    for version in self.sort_versions(second)
                ]
        return neighbourhood[:limit], whole and len(neighbourhood) <= limit

    def sort_versions(self, versions: Iterable[Version]) -> list[Version]:
        """Return versions in the order of their content, then of their beginning."""
        return sorted(
            versions,
            key=lambda one: (
                self.name(one.subject), one.predicate_name, one.valid_from is not None, one.valid_from or 0,
                self.name(one.object), one.row,
            ),
        )  # fmt: skip

    def tell(self, versions: Sequence[Version]) -> list[Fact]:
        """Return versions as text."""
        sources = fact_rows.sources_of(self.connection, [version.row for version in versions])
        successors = fact_rows.uids_of(
            self.connection, [version.superseded_by for version in versions if version.superseded_by]
        )
        self._names.update(
            entity_rows.names_of(
                self.connection, {self.root(end) for version in versions for end in (version.subject, version.object)}
            )
        )
        return [
            Fact(
                id=version.uid,
                subject=self.name(version.subject),
                predicate=version.predicate_name,
                object=self.name(version.object),
                wing=version.wing,
                valid_from=version.valid_from,
                valid_to=version.valid_to,
                confidence=version.confidence,
                provenance=sources[version.row],
                recorded_at=version.recorded_at,
                retired_at=version.retired_at,
                superseded_by=successors[version.superseded_by] if version.superseded_by else None,
                trust=fact_rows.trust_of(sources[version.row]),
            )
            for version in versions
        ]


def _root(merged_into: Mapping[int, int], entity: int) -> int:
    while (into := merged_into.get(entity)) is not None:
        entity = into
    return entity
