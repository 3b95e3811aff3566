"""The results of show: a result has entries, and an entry has all that is known about a drawer or an item."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from palazzo.features.facts.fact_results import FactView
from palazzo.features.search.hits import CitationView, HitSource, SupersededView, TurnView
from palazzo.model import Freshness, Micros, Visibility
from palazzo.operations.operation import PERSON_ONLY


@dataclass(frozen=True, slots=True)
class SpanView:
    """A span of an item, in code points."""

    item: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class FoldedView:
    """The origin of a note that said the same and was folded into another."""

    id: str
    wing: str
    room: str
    created_at: Micros
    author: str
    trust: str
    source: str


@dataclass(frozen=True, slots=True)
class ShowEntry:
    """A drawer or an item, complete."""

    id: str
    kind: str
    text: str
    wing: str
    room: str
    title: str
    created_at: Micros
    recorded_at: Micros
    retired_at: Micros | None
    role: str
    author: str
    source: HitSource
    trust: str
    branch: str
    commit: str
    tags: tuple[str, ...] = ()
    spans: tuple[SpanView, ...] = ()
    drawers: tuple[str, ...] = ()
    superseded: SupersededView | None = None
    visibility: Visibility = "merged"
    freshness: Freshness = "unknown"
    citations: tuple[CitationView, ...] = ()
    """The project's files that it cites, worst state first; `freshness` summarizes them all."""
    cited: Annotated[str, PERSON_ONLY] = ""
    """A note on the citations for the reader: `changed since: src/a.py:10-20`."""
    label: str = ""
    """The branch label, if the drawer is not known to be part of the current checkout: `unmerged: feature/x`."""
    filed_as: str = ""
    importance: float | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    """The metadata of a note: its kind, its importance, and any other metadata given."""
    replaces: tuple[str, ...] = ()
    """Drawers that a note replaces."""
    folded: tuple[FoldedView, ...] = ()
    """Notes that said the same and were folded into this one by 'palazzo dedup'."""
    truncated: bool = False
    """Whether text said after the requested time is left out."""
    turns: tuple[TurnView, ...] = ()
    """The speakers of the parts of a drawer's text, if there are several."""
    later: Annotated[int, PERSON_ONLY] = 0
    """The number of characters left out because they were said later."""


@dataclass(frozen=True, slots=True)
class ShowResult:
    """The entries that the id names: a drawer with its neighbours, an item, a whole session, or a fact's versions."""

    kind: Literal["drawer", "item", "session", "fact"]
    id: str
    entries: tuple[ShowEntry, ...]
    before: tuple[ShowEntry, ...] = ()
    after: tuple[ShowEntry, ...] = ()
    raw: Annotated[bytes | None, PERSON_ONLY] = None
    as_of: Micros | None = None
    note: Annotated[str, PERSON_ONLY] = ""
    versions: tuple[FactView, ...] = ()
    """The versions of a fact, oldest first; all but the last are retired."""
