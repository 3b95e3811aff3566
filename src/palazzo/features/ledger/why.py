"""why: show what an agent was given in a session, when and why, byte for byte; and what it then used of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palazzo.errors import AmbiguousId, NotFound, UsageError
from palazzo.features.ledger.contract import InjectionView, PartView, UseView, WhyRequest, WhyResult
from palazzo.store import hook_sessions, ledger

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection
    from palazzo.store.hook_sessions import HookSession
    from palazzo.store.ledger import Injection

_MOST_CANDIDATES = 20


def why(context: Context, request: WhyRequest) -> WhyResult:
    """Show what hooks gave an agent in a session, when and why, byte for byte, and what the agent used of it."""
    if not request.session.strip():
        raise UsageError("The session id is empty. 'palazzo why ID' takes the id that the host shows, or an id prefix.")
    with context.reading().database.snapshot() as connection:
        session = _find_session(connection, request)
        return WhyResult(
            session.host,
            session.session,
            session.epoch,
            session.began_at,
            session.heard_at,
            _list_injections(connection, session),
        )


def _find_session(connection: Connection, request: WhyRequest) -> HookSession:
    """Return the session with that id, else the one with that id prefix."""
    prefix = request.session.strip()
    matches = [
        hook_session
        for hook_session in hook_sessions.by_prefix(connection, prefix, _MOST_CANDIDATES)
        if request.host is None or hook_session.host == request.host
    ]
    ids = {(hook_session.host, hook_session.session) for hook_session in matches}
    whole = [
        hook_session
        for hook_session in matches
        if (hook_session.host, hook_session.session.rpartition("/")[0]) not in ids
    ]  # no sub-agents
    candidates = [hook_session for hook_session in matches if hook_session.session == prefix] or whole
    if not candidates:
        host_suffix = "" if request.host is None else f" of {request.host}"
        raise NotFound(
            f"No hook event is recorded for a session{host_suffix} whose id begins with '{prefix}'. A session is "
            "known from its first hook event on; the host shows its id."
        )
    if len(candidates) > 1:
        raise AmbiguousId(prefix, [f"{hook_session.session} ({hook_session.host})" for hook_session in candidates])
    return candidates[0]


def _list_injections(connection: Connection, session: HookSession) -> tuple[InjectionView, ...]:
    """Return what the session and its sub-agents were given, in order."""
    views: list[tuple[int, InjectionView]] = []
    for hearer in hook_sessions.with_agents(connection, session):
        agent = hearer.session.removeprefix(session.session).removeprefix("/")
        used: dict[tuple[int, int], list[UseView]] = {}
        for injection, n, kind, at in ledger.uses(connection, hearer.row):
            used.setdefault((injection, n), []).append(UseView(kind, at))
        views += [(entry.row, _view(entry, used, agent)) for entry in ledger.injections(connection, hearer.row)]
    return tuple(view for _, view in sorted(views, key=lambda pair: pair[0]))


def _view(injection: Injection, used: dict[tuple[int, int], list[UseView]], agent: str) -> InjectionView:
    parts = (
        PartView(part.uid, part.kind, tuple(used.get((injection.row, n), ()))) for n, part in enumerate(injection.parts)
    )
    return InjectionView(
        injection.at,
        injection.event,
        injection.reason,
        injection.epoch,
        injection.tokens,
        injection.took / 1_000,
        injection.text,
        injection.hash,
        injection.text is None and injection.reason != ledger.FALLBACK_REASON,
        tuple(parts),
        agent,
    )
