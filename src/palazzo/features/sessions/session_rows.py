"""Rows of sessions: what a list and a timeline show of each, read with a fixed number of statements."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from palazzo.archive.session_titles import shown_titles
from palazzo.errors import UsageError
from palazzo.features.sessions.contract import SessionView
from palazzo.frozen_class import frozen
from palazzo.host_names import WITH_HISTORY
from palazzo.hosts.host_registry import host_of_kind
from palazzo.model import Micros
from palazzo.operations.arguments import check_place, moment
from palazzo.store import digest_rows, session_overview, taint_rows
from palazzo.store.session_overview import SessionFilter

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection
    from palazzo.store.digest_rows import DigestLine
    from palazzo.store.session_overview import SessionDetail, SessionSpan

_HOOK_KIND = "hook"
_SHORTEST_ID = 8
_LONGEST_OUTCOME = 100
_PATIENCE = 2.0
"""Seconds to spend on digests that are not made yet; the service makes the rest."""
_TELLING_KINDS = {"decided": "decided", "fixed": "fixed", "changed": "changed", "open": "left open", "failed": "failed"}
"""The kinds of digest lines that can be a session's outcome, the most telling first, and their names."""


@frozen
class ListedSession:
    """A session and the sources that hold it; the first is that of a transcript, if there is one."""

    id: str
    host: str
    project: str
    title: str
    started_at: Micros
    ended_at: Micros
    sources: tuple[int, ...]


def follow_digests(context: Context, patience: float = _PATIENCE, clock: Callable[[], float] = time.monotonic) -> str:
    """Digest new sessions for about `patience` seconds of a clock; return a note if some are left."""
    deadline = clock() + patience
    is_late = False

    def stop() -> bool:
        nonlocal is_late
        is_late = clock() > deadline
        return is_late

    context.reading().follow_digests(lambda done, total: context.report("digesting sessions", done, total), stop)
    return "Some sessions are not digested yet, so what came of them is missing here." if is_late else ""


def session_filter(
    context: Context, connection: Connection, wing: str | None, since: str | None, until: str | None, branch: str | None
) -> SessionFilter:
    """Return the filter for a request's options; UsageError for a wrong one."""
    start = moment(since, context.now, "--since")
    end = moment(until, context.now, "--until")
    if start is not None and end is not None and start >= end:
        raise UsageError("The time range is inverted: --since must be before --until.")
    current_wing, _ = check_place(connection, wing, None, context.notice)
    return SessionFilter(current_wing, start, end, branch)


def list_sessions(connection: Connection, listed_filter: SessionFilter, host: str | None) -> list[ListedSession]:
    """Return the sessions that pass the filter, the last active first; the titles are the hosts' own."""
    return of_host(list(merge_sources(session_overview.spans(connection, listed_filter))), host)


def of_host(sessions: list[ListedSession], host: str | None) -> list[ListedSession]:
    """Return the sessions of a host (None: all); raise UsageError if it is not one."""
    if host is None:
        return sessions
    _check_host(host, {session.host for session in sessions})
    return [session for session in sessions if session.host == host]


def sources_of_host(connection: Connection, host: str) -> list[int]:
    """Return the sources that hold sessions of a host; raise UsageError if it is not one."""
    hosts = {source.source: host_of(source.kind, source.uri) for source in session_overview.origins(connection)}
    _check_host(host, set(hosts.values()))
    return [source for source, name in hosts.items() if name == host]


def _check_host(host: str, hosts: Set[str]) -> None:
    """Raise UsageError for a name that is neither one of these hosts nor a known one."""
    if host not in hosts and host not in WITH_HISTORY:
        names = ", ".join(sorted({*hosts, *WITH_HISTORY}))
        raise UsageError(f"'{host}' is not a host; hosts: {names}.")


def merge_sources(spans: Iterable[SessionSpan]) -> Iterator[ListedSession]:
    """Yield one session for all sources with its id: a transcript, its copy, and what hooks reported."""
    spans_by_id: dict[str, list[SessionSpan]] = {}
    for span in spans:
        spans_by_id.setdefault(span.session, []).append(span)
    for session, own_spans in spans_by_id.items():
        own_spans.sort(key=lambda span: (span.kind == _HOOK_KIND, -span.ended_at))
        first = own_spans[0]
        yield ListedSession(
            id=session,
            host=host_of(first.kind, first.uri),
            project=first.wing,
            title=first.title or next((span.title for span in own_spans if span.title), ""),
            started_at=min(span.began_at for span in own_spans),
            ended_at=max(span.ended_at for span in own_spans),
            sources=tuple(span.source for span in own_spans),
        )


def host_of(kind: str, uri: str) -> str:
    """Return the name of the host of a session."""
    if kind == _HOOK_KIND:
        return uri.removeprefix(f"palazzo:{_HOOK_KIND}/").partition("/")[0]
    return host_of_kind(kind)


def with_shown_titles(connection: Connection, sessions: Sequence[ListedSession]) -> list[ListedSession]:
    """Return the sessions with the titles to show: never a host's own text."""
    titles = shown_titles(connection, {session.sources[0]: session.title for session in sessions})
    return [replace(session, title=titles[session.sources[0]]) for session in sessions]


def session_views(connection: Connection, sessions: Sequence[ListedSession]) -> tuple[SessionView, ...]:
    """Return sessions, whose titles are those to show, with all that is listed of them."""
    sources = [source for session in sessions for source in session.sources]
    details = session_overview.details(connection, sources)
    counts = session_overview.digest_counts(connection, sources)
    tainted_sources = taint_rows.sources_that_met(connection, sources)
    short_ids = shorten(session_overview.all_session_ids(connection))
    last_lines: dict[str, list[DigestLine]] = {}
    for line in digest_rows.last_lines(connection, sources):
        last_lines.setdefault(line.session, []).append(line)
    return tuple(
        _view(
            session,
            short_ids.get(session.id, session.id),
            [details[source] for source in session.sources],
            _sum(counts.get(source, {}) for source in session.sources),
            last_lines.get(session.id, []),
            not tainted_sources.isdisjoint(session.sources),
        )
        for session in sessions
    )


def _view(
    session: ListedSession,
    short: str,
    details: Sequence[SessionDetail],
    counts: dict[str, int],
    lines: Sequence[DigestLine],
    is_tainted: bool,
) -> SessionView:
    is_external = is_tainted or not any(detail.is_own for detail in details)
    return SessionView(
        id=session.id,
        short=short,
        host=session.host,
        project=session.project,
        title=session.title,
        started_at=session.started_at,
        ended_at=session.ended_at,
        turns=sum(detail.turns for detail in details),
        branch=next((detail.branch for detail in details if detail.branch), ""),
        outcome=_outcome(lines, counts),
        trust="external" if is_external else "user",
        counts=counts,
    )


def _outcome(lines: Sequence[DigestLine], counts: dict[str, int]) -> str:
    """Return the most telling line in one phrase; '' if there is none that may be shown as the session's own."""
    texts = {line.kind: " ".join(line.quote.text.split()) for line in lines if not line.is_untrusted}
    kind = next((kind for kind in _TELLING_KINDS if kind in texts), None)
    if kind is None:
        return ""
    more = f" and {counts[kind] - 1} more" if kind == "changed" and counts.get(kind, 0) > 1 else ""
    text = texts[kind]
    if len(text) > _LONGEST_OUTCOME:
        text = f"{text[: _LONGEST_OUTCOME - 1].rstrip()}…"
    return f"{_TELLING_KINDS[kind]}: {text}{more}"


def _sum(counts: Iterable[dict[str, int]]) -> dict[str, int]:
    totals: dict[str, int] = {}
    for own_counts in counts:
        for kind, count in own_counts.items():
            totals[kind] = totals.get(kind, 0) + count
    return totals


def shorten(ids: Sequence[str]) -> dict[str, str]:
    """Return the shortest beginning of each session id that identifies it; sub-agents' ids begin with their parent's.

    `ids` are all ids, in order.
    """
    main_ids = sorted({session.partition("/")[0] for session in ids})
    lengths = dict.fromkeys(main_ids, _SHORTEST_ID)
    for earlier, later in pairwise(main_ids):
        shared = next((n for n, letters in enumerate(zip(earlier, later, strict=False)) if len({*letters}) > 1), None)
        length = len(earlier) + 1 if shared is None else shared + 1
        lengths[earlier] = max(lengths[earlier], length)
        lengths[later] = max(lengths[later], length)
    return {session: session[:length].rstrip("-") for session, length in lengths.items()}
