"""Requests, results and operations of `ledger`: what faces know of the feature, without its engine."""

from __future__ import annotations

from typing import Annotated

from palazzo.frozen_class import frozen
from palazzo.model import Micros
from palazzo.operations.operation import About, Operation
from palazzo.store.ledger import PartKind, Use


@frozen
class WhyRequest:
    """Show what hooks gave an agent in a session, when and why, byte for byte, and what the agent used of it.

    Erased text is marked as erased. An agent's own searches are in its transcript, not here.
    """

    session: Annotated[str, About("The session id of the host, or an id prefix.", positional=True)]
    host: Annotated[str | None, About("The host, if two hosts have a session with that id.")] = None


@frozen
class UseView:
    """How the agent used an entry, and when: it fetched it whole, cited its id, or touched its file."""

    how: Use
    at: Micros


@frozen
class PartView:
    """An entry whose text an injection contains, by its full id, and how the agent used it.

    `other` are the lines of an orientation; the id of a session among them is hashed.
    """

    id: str
    kind: PartKind
    used: tuple[UseView, ...]


@frozen
class InjectionView:
    """One injection: the text exactly as the agent got it, and its SHA-256.

    The text is null if an erase removed it, or if a hook answered without the service: then only ids are kept, no text.
    `agent` is the sub-agent that got it.
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


@frozen
class WhyResult:
    """A session as the hooks recorded it, with everything that its agent received, in order."""

    host: str
    session: str
    epoch: int
    began_at: Micros
    heard_at: Micros
    injections: tuple[InjectionView, ...]


WHY = Operation(
    "why",
    WhyRequest,
    WhyResult,
    scope="read",
    group="Look back",
    summary="Show what hooks gave an agent, and why",
    examples=("palazzo why 3f2a91",),
)


@frozen
class StatusLineRequest:
    """Count what the status line shows, without writing. Without a palace, there is nothing to count."""

    session: str = ""


@frozen
class StatusLineResult:
    """The wing, its number of drawers, the number of entries injected in the session, and the time of the last save.

    `wing` is empty if there is no palace yet. A pause without an end has no `paused_until`.
    """

    wing: str = ""
    drawers: int = 0
    told: int = 0
    saved_at: Micros | None = None
    paused: bool = False
    paused_until: Micros | None = None


STATUS_LINE = Operation(
    "status_line",
    StatusLineRequest,
    StatusLineResult,
    engine="status_figures:status_line",
    scope="admin",
    callers="clients",
)
