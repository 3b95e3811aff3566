"""recent_changes: what has changed since a point of the change log, for pages that are open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.archive.session_titles import shown_titles
from palazzo.features.viewer.contract import ChangedSession, RecentChangesRequest, RecentChangesResult
from palazzo.store import change_log, conversation_rows, source_rows

if TYPE_CHECKING:
    from palazzo.operations.context import Context

_MOST_SESSIONS = 20
_DIGESTS = "digest"
"""The consumer that makes digests."""


def recent_changes(context: Context, request: RecentChangesRequest) -> RecentChangesResult:
    """Return what has changed since a point of the change log."""
    with context.reading().database.snapshot() as connection:
        newest = change_log.head(connection)
        since = newest if request.since is None else request.since
        changed = conversation_rows.changed_sessions(connection, since, _MOST_SESSIONS) if newest > since else []
        sources = source_rows.read_sources(connection, [source for source, _ in changed])
        titles = shown_titles(connection, {source: sources[source].title for source, _ in changed})
        return RecentChangesResult(
            newest,
            conversation_rows.newest_injection(connection),
            change_log.cursor(connection, _DIGESTS)[1],
            tuple(ChangedSession(session, titles[source]) for source, session in changed),
            bool(change_log.since(connection, since, ("erased",), limit=1)),
        )
