"""Requests, results and operations of `trust`: what faces know of the feature, without its engine."""

from __future__ import annotations

from typing import Annotated, Literal

from palazzo.frozen_class import frozen
from palazzo.model import Micros
from palazzo.operations.operation import About, Operation


@frozen
class CauseView:
    """An untrusted item: its id, and its origin (an address, or the name of a tool or a file)."""

    id: str
    origin: str


QUARANTINE_LIMIT = 50

QuarantineKind = Literal["note", "diary", "todo", "reminder", "fact"]


@frozen
class QuarantineListRequest:
    """Show what agents wrote after reading untrusted content: pages, answers of MCP servers, files of dependencies.

    Search finds it, but no agent gets it automatically. 'palazzo quarantine approve' allows that, 'palazzo quarantine
    drop' forgets it.
    """

    all: Annotated[bool, About("Also list the origins of untrusted content, with the number of drawers from each.")] = (
        False
    )
    limit: Annotated[int, About("Maximum number of notes, and of facts.")] = QUARANTINE_LIMIT


@frozen
class QuarantinedView:
    """A note or fact written deliberately: id, text, author, wing and time, and the untrusted content read before."""

    id: str
    kind: QuarantineKind
    text: str
    author: str
    wing: str | None
    at: Micros
    why: tuple[CauseView, ...]


@frozen
class OriginView:
    """An origin of untrusted content: its number of drawers, the time of the latest, and the id of one."""

    origin: str
    drawers: int
    last_at: Micros
    id: str


@frozen
class QuarantineListResult:
    """The entries pending review, newest first, and their number. `origins` are null unless requested."""

    entries: tuple[QuarantinedView, ...]
    notes: int
    facts: int
    origins: tuple[OriginView, ...] | None


QUARANTINE_LIST = Operation(
    "quarantine_list",
    QuarantineListRequest,
    QuarantineListResult,
    scope="read",
    examples=("palazzo quarantine list", "palazzo quarantine list --all"),
)


@frozen
class QuarantineApproveRequest:
    """Approve quarantined content. Only a person can do this, not an agent; 'palazzo undo' reverts it.

    A note or a fact then gets the trust of its agent, and untrusted content the trust of a tool.
    """

    ids: Annotated[tuple[str, ...], About("Note, drawer or fact ids, or id prefixes.", positional=True, option="ID")]


@frozen
class QuarantineApproveResult:
    """The drawers and facts that are now trusted. `change` is what 'palazzo undo' takes back."""

    drawers: tuple[str, ...]
    facts: tuple[str, ...]
    change: str


QUARANTINE_APPROVE = Operation(
    "quarantine_approve",
    QuarantineApproveRequest,
    QuarantineApproveResult,
    scope="admin",
    writes=True,
    examples=("palazzo quarantine approve 3f2a91",),
)


@frozen
class QuarantineDropRequest:
    """Forget quarantined content. Only a person can do this, not an agent; 'palazzo undo' reverts it.

    Facts that a dropped fact had superseded hold again.
    """

    ids: Annotated[tuple[str, ...], About("Note, drawer or fact ids, or id prefixes.", positional=True, option="ID")]


@frozen
class QuarantineDropResult:
    """The drawers and facts no longer found, and the facts that hold again. `change` is what an undo takes back."""

    drawers: tuple[str, ...]
    facts: tuple[str, ...]
    restored: tuple[str, ...]
    change: str


QUARANTINE_DROP = Operation(
    "quarantine_drop",
    QuarantineDropRequest,
    QuarantineDropResult,
    scope="admin",
    writes=True,
    examples=("palazzo quarantine drop 3f2a91 8c05d2",),
)
