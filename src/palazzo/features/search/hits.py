"""Drawers as faces show them: the fields of a search hit, of which `show` gives the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from palazzo.model import Drawer, Freshness, Micros, Visibility
from palazzo.operations.operation import PERSON_ONLY

if TYPE_CHECKING:
    from palazzo.store.database import Connection


@dataclass(frozen=True, slots=True)
class HitSource:
    """Where a drawer's words came from."""

    uri: str
    kind: str
    session_id: str
    locator: str


@dataclass(frozen=True, slots=True)
class TurnView:
    """Who says a stretch of a text, counted in code points."""

    role: str
    author: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ReasonView:
    """What one stage found of a hit: a value, of how much at most, and with which weight it counts."""

    name: str
    value: float
    most: float | None
    weight: float | None


@dataclass(frozen=True, slots=True)
class NeighbourView:
    """What stands beside a hit and helps to follow it, `position` drawers before (-) or after it.

    `hit` is the rank of the hit that shows it already; then there is no text.
    """

    id: str
    position: int
    hit: int | None
    role: str
    author: str
    created_at: Micros
    trust: str
    text: str
    truncated: bool
    turns: tuple[TurnView, ...]
    length: Annotated[int, PERSON_ONLY] = 0
    """Characters of the whole text, of which `text` may be a part."""


@dataclass(frozen=True, slots=True)
class SupersededView:
    """What has superseded words of a drawer: an item or a fact (`by`), the value it gives (null: it ended), since when.

    The rules that find it may be wrong, and the rest of the drawer may hold all the same.
    """

    by: str
    value: str | None
    at: Micros


@dataclass(frozen=True, slots=True)
class CitationView:
    """A file that words cite, as they do: lines from 1 on, 0 where all of it is meant, or nobody said which.

    `now` is where lines stand that have moved, `PATH:L1-L2`, or what their file is called now; else it is empty.
    """

    path: str
    first: int
    last: int
    freshness: Freshness
    now: str


def find_supersessions(connection: Connection, ids: Sequence[str], by: Micros) -> dict[str, SupersededView]:
    """Return what had superseded words of these drawers by `by`, where something had."""
    from palazzo.store import claim_rows

    supersessions = claim_rows.find_successors(connection, ids, by) if ids else {}
    return {uid: SupersededView(claim.by, claim.value, claim.at) for uid, claim in supersessions.items()}


@dataclass(frozen=True, slots=True)
class HitView:
    """One answer of a search. `turns` says who speaks where in `text`, where that is known."""

    id: str
    score: float
    text: str
    truncated: bool
    wing: str
    room: str
    kind: str
    title: str
    created_at: Micros
    recorded_at: Micros
    role: str
    author: str
    source: HitSource
    trust: str
    branch: str
    commit: str
    visibility: Visibility
    freshness: Freshness
    why: tuple[str, ...]
    turns: tuple[TurnView, ...] = ()
    context: tuple[NeighbourView, ...] = ()
    superseded: SupersededView | None = None
    label: str = ""
    """What is said of its branch where that is not known to be part of what is checked out: `unmerged: feature/x`."""
    citations: tuple[CitationView, ...] = ()
    """What it cites of the project's files, the worst first; `freshness` is said of them all."""
    cited: Annotated[str, PERSON_ONLY] = ""
    """What a reader should know of that: `changed since: src/a.py:10-20`."""
    state: str = ""
    """Of a to-do or a reminder: open, done or dropped."""
    tags: tuple[str, ...] = ()
    filed_as: str = ""
    """Of a note: what it was filed as (decision, learning, …)."""
    importance: float | None = None
    """Of a note, from 0 to 1, where that was said."""
    length: Annotated[int, PERSON_ONLY] = 0
    """Characters of the whole text, of which `text` may be the beginning."""
    copies: Annotated[int, PERSON_ONLY] = 0
    reasons: Annotated[tuple[ReasonView, ...], PERSON_ONLY] = ()


def source_of(drawer: Drawer) -> HitSource:
    """Return where a drawer's words came from."""
    return HitSource(drawer.source.uri, drawer.source.kind, drawer.source.session_id, drawer.locator)


def title_of(drawer: Drawer) -> str:
    """Return a section's headings, else the title of the session or file; a tool's name stands behind that."""
    from palazzo.security.clean_titles import is_of_host

    whole = "" if is_of_host(drawer.source.title) else drawer.source.title
    if drawer.kind in ("tool", "attachment"):
        return " › ".join(part for part in (whole, drawer.title) if part)
    return drawer.title or whole
