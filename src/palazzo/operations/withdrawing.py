"""Taking out of memory what came from outside, was said or written after it, or was stated under it.

Drawers are forgotten, facts lose who states them so; one that nobody else states is believed no longer, and what it had
superseded holds again. All of it is one change for 'palazzo undo'.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from palazzo.graph.changing import Change
    from palazzo.operations.context import Context
    from palazzo.operations.quarantine import Judged
    from palazzo.store.database import Connection
    from palazzo.store.facts import Provenance, Version


class Withdrawn(NamedTuple):
    """Ids of the facts that are believed no longer, of those that hold again, and of the change."""

    facts: tuple[str, ...]
    restored: tuple[str, ...]
    change: str


def withdraw(
    context: Context, chosen: Judged, verb: str, reason: str, tainted_by: Collection[str] | None = None
) -> Withdrawn:
    """Take out what was chosen; of facts, whom these items tainted (None: all that came from outside)."""
    from palazzo.operations.choosing import AT_ONCE
    from palazzo.operations.facts import ACTOR, change
    from palazzo.store import groups

    palace = context.writing()
    group = palace.begin_group(ACTOR, verb)
    for start in range(0, len(chosen.drawers), AT_ONCE):
        palace.forget(chosen.drawers[start : start + AT_ONCE], reason=reason, group=group)
        context.report("forgetting", min(start + AT_ONCE, len(chosen.drawers)), len(chosen.drawers))
    gone: list[str] = []
    restored: list[str] = []
    with palace.database.transaction() as connection:
        changing = change(context, connection, verb, group)
        for one in chosen.facts:
            if _withdraw(changing, one, tainted_by):
                gone.append(one.uid)
                restored += _restored(changing, one)
        changing.count(len(chosen.facts))
        uid = groups.read(connection, group).uid
    return Withdrawn(tuple(gone), tuple(restored), uid)


def withdrawn(connection: Connection, facts: Iterable[Version], tainted_by: Collection[str] | None) -> tuple[str, ...]:
    """Return the ids of those facts that nobody would state any more."""
    return tuple(one.uid for one in facts if not _left(connection, one, tainted_by))


def _left(connection: Connection, version: Version, tainted_by: Collection[str] | None) -> list[Provenance]:
    """Who states a fact besides those that it must lose."""
    from palazzo.store import facts

    sources = facts.sources_of(connection, [version.row])[version.row]
    if tainted_by is None:
        return [one for one in sources if one.trust != "external"]
    return [one for one in sources if not set(one.tainted_by) & set(tainted_by)]


def _withdraw(changing: Change, version: Version, tainted_by: Collection[str] | None) -> bool:
    """Let a fact lose whom it must; whether nobody states it then."""
    left = _left(changing.connection, version, tainted_by)
    changing.retire(version)
    if left:
        changing.record(
            version.fact, version.valid_from, version.valid_to, version.confidence, left, version.superseded_by
        )
    return not left


def _restored(changing: Change, version: Version) -> list[str]:
    """Let hold again what a fact had superseded, to the end that it had before."""
    from palazzo.store import facts

    found = []
    for one in facts.superseded_by(changing.connection, version.fact):
        before = [each for each in facts.versions_of(changing.connection, one.fact) if each.superseded_by is None]
        end = before[-1].valid_to if before else None
        sources = facts.sources_of(changing.connection, [one.row])[one.row]
        changing.retire(one)
        changing.record(one.fact, one.valid_from, end, one.confidence, sources)
        found.append(one.uid)
    return found
