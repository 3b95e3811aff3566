"""why: what an agent was given in a session, when and why, byte for byte; and what it then used of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from palazzo.errors import AmbiguousId, NotFound, UsageError
from palazzo.model import Micros
from palazzo.operations.operation import About, Operation
from palazzo.store.ledger import PartKind, Use

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.store.database import Connection
    from palazzo.store.hook_sessions import HookSession
    from palazzo.store.ledger import Injection

_MOST_CANDIDATES = 20


@dataclass(frozen=True, slots=True)
class WhyRequest:
    """Which session."""

    session: Annotated[str, About("The session's id, as its host has it, or its beginning.", positional=True)]
    host: Annotated[str | None, About("The host it ran in, where two have a session of that id.")] = None


@dataclass(frozen=True, slots=True)
class UseView:
    """What the agent did with something it was given: fetched it whole, cited its id, touched its file; and when."""

    how: Use
    at: Micros


@dataclass(frozen=True, slots=True)
class PartView:
    """Something that an injection has words of, by its id in full, and what the agent then used it for.

    `other` are the lines of an orientation; a session's id among them is hashed.
    """

    id: str
    kind: PartKind
    used: tuple[UseView, ...]


@dataclass(frozen=True, slots=True)
class InjectionView:
    """What was given once: the text as the agent got it, and its SHA-256.

    Text is null where an erase took it, and where a hook told it that found no service: that keeps ids, and no words.
    `agent` is the sub-agent that it was given to.
    """

    at: Micros
    event: str
    reason: str
    epoch: int
    tokens: int
    took_ms: float
    text: str | None
    sha256: str
    erased: bool
    parts: tuple[PartView, ...]
    agent: str = ""


@dataclass(frozen=True, slots=True)
class WhyResult:
    """A session as hooks know it, with all that its agent was given, in order."""

    host: str
    session: str
    epoch: int
    began_at: Micros
    heard_at: Micros
    injections: tuple[InjectionView, ...]


def why(context: Context, request: WhyRequest) -> WhyResult:
    """Say what hooks gave an agent in a session, when and why, byte for byte, and what it then used of it.

    What an erase took says so. What an agent searched for itself is in its transcript, and not here.
    """
    if not request.session.strip():
        raise UsageError(
            "The session's id is empty. 'palazzo why ID' takes the one that the host shows, or its beginning."
        )
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
    """The session of that id, else the one whose id begins so."""
    from palazzo.store import hook_sessions

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
            f"No hook of a session{host_suffix} whose id begins with '{prefix}' was heard."
            " A session is known from its first hook; the host shows its id."
        )
    if len(candidates) > 1:
        raise AmbiguousId(prefix, [f"{hook_session.session} ({hook_session.host})" for hook_session in candidates])
    return candidates[0]


def _list_injections(connection: Connection, session: HookSession) -> tuple[InjectionView, ...]:
    """What it was given, and what its sub-agents were, in order."""
    from palazzo.store import hook_sessions, ledger

    views: list[tuple[int, InjectionView]] = []
    for hearer in hook_sessions.with_agents(connection, session):
        agent = hearer.session.removeprefix(session.session).removeprefix("/")
        used: dict[tuple[int, int], list[UseView]] = {}
        for injection, n, kind, at in ledger.uses(connection, hearer.row):
            used.setdefault((injection, n), []).append(UseView(kind, at))
        views += [(entry.row, _view(entry, used, agent)) for entry in ledger.injections(connection, hearer.row)]
    return tuple(view for _, view in sorted(views, key=lambda pair: pair[0]))


def _view(injection: Injection, used: dict[tuple[int, int], list[UseView]], agent: str) -> InjectionView:
    from palazzo.store import ledger

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


OPERATION = Operation("why", WhyRequest, WhyResult, why)
