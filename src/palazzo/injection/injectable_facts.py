"""Which facts a session may get without asking for them.

These are facts that hold now: those of the session's wings, and those that somebody stated to hold everywhere. Earlier
versions of Palazzo let a fact hold everywhere unless a wing was named. A session gets such a fact only if the fact's
source belongs to its project: an item in one of its wings, or a commit in its repository. A source without a known
project belongs to every project.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from palazzo.frozen_class import frozen
from palazzo.model import Micros
from palazzo.store import fact_rows, write_contexts
from palazzo.store.database import Connection
from palazzo.store.fact_rows import Provenance, Version


def no_commits(commits: Collection[str]) -> Collection[str]:
    """Return none of these commits: the session is not in a repository."""
    return ()


@frozen
class Audience:
    """The session that receives facts: its wings, the time, and which of the given commits its repository contains."""

    wings: Collection[str]
    time: Micros
    commits_here: Callable[[Collection[str]], Collection[str]] = no_commits


def tellable(connection: Connection, versions: Iterable[Version], audience: Audience) -> list[Version]:
    """Return the versions that may be injected automatically for this audience, in their order."""
    current = [version for version in versions if version.holds_at(audience.time)]
    sources = fact_rows.sources_of(connection, [version.row for version in current if version.wing is None])
    rows = _rows_for_audience(connection, sources, audience) if sources else set()
    return [version for version in current if version.wing in audience.wings or version.row in rows]


def _rows_for_audience(
    connection: Connection, sources: dict[int, tuple[Provenance, ...]], audience: Audience
) -> set[int]:
    """Return the row ids of versions that hold everywhere and may be given to this audience."""
    all_sources = [source for provenance in sources.values() for source in provenance]
    items = write_contexts.of_items(connection, {source.item for source in all_sources if source.item is not None})
    commits = {source.commit for source in all_sources if source.commit and source.item is None}
    known_commits = set(audience.commits_here(commits))

    def belongs(source: Provenance) -> bool:
        if source.item is not None:
            return source.item in items and items[source.item].wing in audience.wings
        return source.is_of_no_place or source.commit in known_commits

    return {row for row, provenance in sources.items() if any(map(belongs, provenance))}
