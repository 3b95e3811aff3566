"""Revocation: removal of untrusted content from memory, with what was said, written or stated after it.

Drawers are forgotten. Facts lose the sources that state them because of that content; a fact without any other source
is no longer believed, and the fact that it had superseded holds again. All of it is one change for 'palazzo undo'.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, NamedTuple

from palazzo.features.facts.fact_results import change
from palazzo.operations.caller_taint import change_actor
from palazzo.operations.source_filter import AT_ONCE
from palazzo.store import change_groups, fact_rows

if TYPE_CHECKING:
    from palazzo.features.trust.quarantine_rows import QuarantineSelection
    from palazzo.knowledge.fact_change import Change
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection
    from palazzo.store.fact_rows import Provenance, Version


class Withdrawn(NamedTuple):
    """Ids of the retracted facts, of the facts that hold again, and of the change."""

    facts: tuple[str, ...]
    restored: tuple[str, ...]
    change: str


def withdraw(
    context: Context, selection: QuarantineSelection, verb: str, reason: str, tainted_by: Collection[str] | None = None
) -> Withdrawn:
    """Withdraw what was chosen; facts lose the sources that these items tainted (None: all untrusted sources)."""
    palace = context.writing()
    actor = change_actor(context)
    group = palace.begin_group(actor, verb)
    for start in range(0, len(selection.drawers), AT_ONCE):
        palace.forget(selection.drawers[start : start + AT_ONCE], actor, reason=reason, group=group)
        context.report("forgetting", min(start + AT_ONCE, len(selection.drawers)), len(selection.drawers))
    revoked_ids: list[str] = []
    reinstated_ids: list[str] = []
    with palace.database.transaction() as connection:
        fact_change = change(context, connection, verb, group)
        for version in selection.facts:
            if _withdraw(fact_change, version, tainted_by):
                revoked_ids.append(version.uid)
                reinstated_ids += _reinstate_facts(fact_change, version)
        fact_change.count(len(selection.facts))
        uid = change_groups.read(connection, group).uid
    return Withdrawn(tuple(revoked_ids), tuple(reinstated_ids), uid)


def withdrawn(connection: Connection, facts: Iterable[Version], tainted_by: Collection[str] | None) -> tuple[str, ...]:
    """Return the ids of the facts that would have no source left."""
    return tuple(version.uid for version in facts if not _list_remaining_sources(connection, version, tainted_by))


def _list_remaining_sources(
    connection: Connection, version: Version, tainted_by: Collection[str] | None
) -> list[Provenance]:
    """Return the sources of a fact that it may keep."""
    sources = fact_rows.sources_of(connection, [version.row])[version.row]
    if tainted_by is None:
        return [source for source in sources if source.trust != "external"]
    return [source for source in sources if not set(source.tainted_by) & set(tainted_by)]


def _withdraw(fact_change: Change, version: Version, tainted_by: Collection[str] | None) -> bool:
    """Remove the sources that a fact must lose; return whether none is left."""
    remaining_sources = _list_remaining_sources(fact_change.connection, version, tainted_by)
    fact_change.retire(version)
    if remaining_sources:
        fact_change.record(
            version.fact,
            version.valid_from,
            version.valid_to,
            version.confidence,
            remaining_sources,
            version.superseded_by,
        )
    return not remaining_sources


def _reinstate_facts(fact_change: Change, version: Version) -> list[str]:
    """Let facts that a fact had superseded hold again, until the end that they had before."""
    reinstated_ids = []
    for old_version in fact_rows.superseded_by(fact_change.connection, version.fact):
        open_versions = [
            candidate
            for candidate in fact_rows.versions_of(fact_change.connection, old_version.fact)
            if candidate.superseded_by is None
        ]
        end = open_versions[-1].valid_to if open_versions else None
        sources = fact_rows.sources_of(fact_change.connection, [old_version.row])[old_version.row]
        fact_change.retire(old_version)
        fact_change.record(old_version.fact, old_version.valid_from, end, old_version.confidence, sources)
        reinstated_ids.append(old_version.uid)
    return reinstated_ids
