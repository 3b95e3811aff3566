"""Undo of fact changes: one member of a change group at a time, the last first.

A version that the change recorded is retired. A version that the change retired is recorded again. So queries can still
ask for the facts that were believed in between. Later changes by others are kept.
"""

from __future__ import annotations

from dataclasses import replace

from palazzo.archive import identity
from palazzo.knowledge.fact_change import advance_past, instant
from palazzo.knowledge.facts_as_of import Beliefs
from palazzo.model import Micros
from palazzo.store import change_groups, claim_rows, conflict_rows, entity_rows, fact_rows, predicate_rows
from palazzo.store.database import Connection
from palazzo.store.entity_rows import LATEST, Link
from palazzo.store.fact_rows import Version


def fact_recorded(connection: Connection, ref: int, now: Micros, group: int) -> None:
    """Undo the recording of a version: retire it, or the copy of it that undoing a later change recorded."""
    version = fact_rows.read_version(connection, ref)
    live = fact_rows.live_version(connection, version.fact)
    if live is not None and _says_the_same(connection, live, version):
        fact_rows.retire(connection, live, advance_past(live, instant(connection, now)))
        change_groups.add(connection, group, "fact-", [live.row])


def _says_the_same(connection: Connection, first: Version, second: Version) -> bool:
    sources = fact_rows.sources_of(connection, [first.row, second.row])
    timeless = replace(first, row=second.row, recorded_at=second.recorded_at, retired_at=second.retired_at)
    return timeless == second and sources[first.row] == sources[second.row]


def fact_retired(connection: Connection, ref: int, now: Micros, group: int) -> None:
    """Undo the retirement of a version: record it again, unless the fact has another live version by now."""
    version = fact_rows.read_version(connection, ref)
    if fact_rows.live_version(connection, version.fact) is None:
        sources = fact_rows.sources_of(connection, [ref])[ref]
        row = fact_rows.record(
            connection,
            version.fact,
            advance_past(version, instant(connection, now)),
            version.valid_from,
            version.valid_to,
            version.confidence,
            version.superseded_by,
            sources,
        )
        change_groups.add(connection, group, "fact+", [row])


def link_recorded(connection: Connection, ref: int, now: Micros, group: int) -> None:
    """Undo the recording of a link: retire it, or its copy."""
    link = entity_rows.read_link(connection, ref)
    live = _in_place_of(connection, link)
    if live is not None and live.entity == link.entity:
        entity_rows.retire_link(connection, live.row, instant(connection, now))
        change_groups.add(connection, group, "link-", [live.row])


def link_retired(connection: Connection, ref: int, now: Micros, group: int) -> None:
    """Undo the retirement of a link: record it again, unless another has taken its place."""
    link = entity_rows.read_link(connection, ref)
    circular = link.other is not None and Beliefs(connection).root(link.entity) == link.other
    if _in_place_of(connection, link) is None and not circular:
        moment = instant(connection, now)
        row = entity_rows.create_link(
            connection,
            bytes.fromhex(identity.new_id(moment)),
            link.kind,
            link.entity,
            moment,
            name=link.name,
            name_key=link.folded,
            merged_entity=link.other,
        )
        change_groups.add(connection, group, "link+", [row])


def _in_place_of(connection: Connection, link: Link) -> Link | None:
    """Return the live link of the same name or the same entity."""
    if link.other is None:
        return entity_rows.alias(connection, link.name, LATEST)
    return entity_rows.merge_of(connection, link.other, LATEST)


def predicate_declared(connection: Connection, ref: int, now: Micros, group: int) -> None:
    """Retire a declaration of a predicate."""
    predicate_rows.retire_rule(connection, ref, instant(connection, now))


def conflict_dismissed(connection: Connection, ref: int, now: Micros, group: int) -> None:
    """Undo the dismissal of a conflict."""
    conflict_rows.restore(connection, ref, instant(connection, now))


def fact_unwanted(connection: Connection, ref: int, now: Micros, group: int) -> None:
    """Undo the rejection of a suggested fact."""
    claim_rows.want_again(connection, ref, instant(connection, now))
