"""Which facts may be told to a session that has not asked for them.

These are facts that hold now: of the wings that the session is told of, and those that somebody stated to hold
everywhere. Before a wing was the default, facts held everywhere unless one was named. Such a fact is told only where
its source belongs: in the wing of the item that says it, in the repository that has the commit it was stated at. It is
told everywhere where its source belongs to no project that is known.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from palazzo.model import Micros
from palazzo.store import facts, written
from palazzo.store.database import Connection
from palazzo.store.facts import Provenance, Version


def no_commits(commits: Collection[str]) -> Collection[str]:
    """Return none of these commits, as where no repository is worked in."""
    return ()


@dataclass(frozen=True, slots=True)
class Audience:
    """Who is told: the wings, the moment, and which of some commits the repository that is worked in has."""

    wings: Collection[str]
    now: Micros
    commits_here: Callable[[Collection[str]], Collection[str]] = no_commits


def tellable(connection: Connection, versions: Iterable[Version], audience: Audience) -> list[Version]:
    """Return those of these versions that may be told unasked, in their order."""
    held = [one for one in versions if one.holds_at(audience.now)]
    everywhere = [one.row for one in held if one.wing is None]
    sources = facts.sources_of(connection, everywhere)
    told = _told_here(connection, sources, audience) if sources else set()
    return [one for one in held if one.wing in audience.wings or one.row in told]


def _told_here(connection: Connection, sources: dict[int, tuple[Provenance, ...]], audience: Audience) -> set[int]:
    """Return the row ids of versions that hold everywhere and that this audience may be told."""
    stated: Sequence[Provenance] = [one for several in sources.values() for one in several]
    items = written.of_items(connection, {one.item for one in stated if one.item is not None})
    here = set(audience.commits_here({one.commit for one in stated if one.commit and one.item is None}))

    def belongs(one: Provenance) -> bool:
        if one.item is not None:
            return one.item in items and items[one.item].wing in audience.wings
        return one.is_of_no_place or one.commit in here

    return {row for row, several in sources.items() if any(map(belongs, several))}
