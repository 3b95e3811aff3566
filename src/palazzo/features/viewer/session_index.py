"""All sessions of a palace in the order of lists, kept in memory: a page reads the rows of its own sessions only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from palazzo.features.sessions.session_rows import merge_sources, of_host
from palazzo.features.viewer.kept_figures import KeptFigures
from palazzo.store import drawer_groups, place_rows, session_overview, taint_rows
from palazzo.store.session_overview import SessionFilter, SessionSpan

if TYPE_CHECKING:
    from palazzo.features.sessions.session_rows import ListedSession
    from palazzo.store.change_log import Change
    from palazzo.store.database import Connection

_MOST_SESSIONS = 200
"""The most sessions that are read one by one after a change."""


def list_order(session: ListedSession) -> tuple[int, str]:
    """Return where a session stands: the last active first, and sessions of one moment by their ids."""
    return -session.ended_at, session.id


class SessionIndex:
    """The sources of each session, and the sessions in the order of lists; never changed.

    `wings` are the names of all rooms' wings: a wing that is renamed or merged is in no change of the log.
    """

    def __init__(self, spans: dict[str, list[SessionSpan]], sessions: list[ListedSession], wings: dict[int, str]):
        self._spans, self.sessions, self._wings = spans, sessions, wings

    @cached_property
    def hosts(self) -> dict[str, int]:
        """The hosts by their number of sessions, the one with the most first."""
        return dict(Counter(session.host for session in self.sessions).most_common())

    def select(self, connection: Connection, session_filter: SessionFilter, host: str | None) -> list[ListedSession]:
        """Return the sessions that pass a filter, in the order of lists; raise UsageError if the host is not one."""
        sessions = self.sessions
        if session_filter != SessionFilter():
            spans = self._select_spans(connection, session_filter)
            sessions = sorted(merge_sources(spans), key=list_order)
        return of_host(sessions, host)

    def _select_spans(self, connection: Connection, session_filter: SessionFilter) -> list[SessionSpan]:
        wing, since, until, branch, session = session_filter
        of_branch = None if branch is None else session_overview.sources_of_branch(connection, branch)
        named_spans = self._spans.values() if session is None else [self._spans.get(session, [])]
        return [
            span
            for spans in named_spans
            for span in spans
            if (wing is None or span.wing == wing)
            and (since is None or span.ended_at >= since)
            and (until is None or span.began_at < until)
            and (of_branch is None or span.source in of_branch)
        ]

    def update(self, connection: Connection, changes: Sequence[Change]) -> SessionIndex | None:
        """Return the index after changes; None if it is to be made again."""
        wings = place_rows.wings_of_rooms(connection)
        if any(wings.get(room) != wing for room, wing in self._wings.items()):
            return None
        changed_sources = drawer_groups.find_changed_sources(connection, changes)
        changed = session_overview.sessions_of_sources(connection, changed_sources)
        if not changed:
            return self
        if len(changed) > _MOST_SESSIONS:
            return None
        trees = [taint_rows.find_session_tree(connection, session) for session in changed]
        changed |= {session for tree in trees for session, _ in tree.values()}  # a parent takes its sub-agents along
        new_spans = session_overview.spans(connection, SessionFilter(), {source for tree in trees for source in tree})
        spans = {session: own for session, own in self._spans.items() if session not in changed}
        sessions = [session for session in self.sessions if session.id not in changed]
        sessions += merge_sources(new_spans)
        return SessionIndex(spans | _group(new_spans), sorted(sessions, key=list_order), wings)


def _make_index(connection: Connection) -> SessionIndex:
    spans = session_overview.spans(connection, SessionFilter())
    sessions = sorted(merge_sources(spans), key=list_order)
    return SessionIndex(_group(spans), sessions, place_rows.wings_of_rooms(connection))


def _group(spans: Iterable[SessionSpan]) -> dict[str, list[SessionSpan]]:
    spans_by_session: dict[str, list[SessionSpan]] = {}
    for span in spans:
        spans_by_session.setdefault(span.session, []).append(span)
    return spans_by_session


SESSION_INDEX = KeptFigures(_make_index, lambda connection, index, changes: index.update(connection, changes))
