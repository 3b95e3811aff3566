"""Drawers as faces show them: the fields of a search hit. `show` returns the same fields."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from palazzo.features.search.strength import Strength
from palazzo.model import Drawer, Freshness, Micros, Visibility
from palazzo.operations.operation import PERSON_ONLY

if TYPE_CHECKING:
    from palazzo.store.database import Connection


@dataclass(frozen=True, slots=True)
class HitSource:
    """The source of a drawer's text."""

    uri: str
    kind: str
    session_id: str
    locator: str


@dataclass(frozen=True, slots=True)
class TurnView:
    """The speaker of a span of text, in code points."""

    role: str
    author: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ReasonView:
    """The result of one ranking stage: a value, its maximum, and its weight."""

    name: str
    value: float
    most: float | None
    weight: float | None


@dataclass(frozen=True, slots=True)
class NeighbourView:
    """A neighbour that helps to understand a hit, `position` drawers before (-) or after it.

    `hit` is the rank of the hit that already shows it; then there is no text.
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
    """Characters of the whole text; `text` may be a part of it."""
    short_id: Annotated[str, PERSON_ONLY] = ""


@dataclass(frozen=True, slots=True)
class SupersededView:
    """What superseded a drawer's words: an item or fact (`by`), the new value (null: it ended), and since when.

    The rules that find this may be wrong, and the rest of the drawer may still hold.
    """

    by: str
    value: str | None
    at: Micros


@dataclass(frozen=True, slots=True)
class CitationView:
    """A file that a text cites, as cited: lines from 1 on, or 0 if the whole file is meant or no lines are given.

    `now` is the current place of lines that have moved, `PATH:L1-L2`, or the current name of their file; else it is
    empty.
    """

    path: str
    first: int
    last: int
    freshness: Freshness
    now: str


def find_supersessions(connection: Connection, ids: Sequence[str], by: Micros) -> dict[str, SupersededView]:
    """Return, by drawer id, what had superseded text of these drawers by the time `by`."""
    from palazzo.store import claim_rows

    supersessions = claim_rows.find_successors(connection, ids, by) if ids else {}
    return {uid: SupersededView(claim.by, claim.value, claim.at) for uid, claim in supersessions.items()}


@dataclass(frozen=True, slots=True)
class HitView:
    """One hit of a search. `turns` lists the speakers of the parts of `text`, if known."""

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
    """The branch label, if the drawer is not known to be part of the current checkout: `unmerged: feature/x`."""
    citations: tuple[CitationView, ...] = ()
    """The project's files that it cites, worst state first; `freshness` summarizes them all."""
    cited: Annotated[str, PERSON_ONLY] = ""
    """A note on the citations for the reader: `changed since: src/a.py:10-20`."""
    state: str = ""
    """The state of a to-do or a reminder: open, done or dropped."""
    tags: tuple[str, ...] = ()
    filed_as: str = ""
    """The kind of a note (decision, learning, …)."""
    importance: float | None = None
    """The importance of a note, from 0 to 1, if it was given."""
    length: Annotated[int, PERSON_ONLY] = 0
    """Characters of the whole text; `text` may be its beginning."""
    copies: Annotated[int, PERSON_ONLY] = 0
    reasons: Annotated[tuple[ReasonView, ...], PERSON_ONLY] = ()
    strength: Strength = "weak"
    """What the score says, in a word; it never increases down the list."""
    location: str = ""
    """Where it is: `path:line`; the host, the session and the turn; or the wing and the room of a note."""
    path: str = ""
    """The path of a document from the root of its project."""
    line: int | None = None
    """The line of the document in which the quoted sentence begins."""
    short_id: str = ""
    """The beginning of the id, as short as it is unique; every command accepts it."""
    quoted: str = ""
    """The sentence of the text that says most of what was asked."""
    quoted_at: Annotated[int, PERSON_ONLY] = 0
    """Where the quoted sentence begins in `text`."""


def source_of(drawer: Drawer) -> HitSource:
    """Return the source of a drawer's text."""
    return HitSource(drawer.source.uri, drawer.source.kind, drawer.source.session_id, drawer.locator)


def title_of(drawer: Drawer) -> str:
    """Return a section's headings, else the title of the session or file, followed by a tool's name if it has one."""
    from palazzo.security.clean_titles import is_of_host

    whole = "" if is_of_host(drawer.source.title) else drawer.source.title
    if drawer.kind in ("tool", "attachment"):
        return " › ".join(part for part in (whole, drawer.title) if part)
    return drawer.title or whole
