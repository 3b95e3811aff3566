"""Requests, results and operations of `search`: what faces know of the feature, without its engine."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Any, Literal

from palazzo.frozen_class import frozen
from palazzo.model import Freshness, Micros, Visibility
from palazzo.operations import point_in_time as past
from palazzo.operations.filters import (
    UNTIL_HELP,
    External,
    FiledAs,
    FromHost,
    FromSource,
    InRoom,
    InWing,
    MinImportance,
    OfKind,
    OnBranch,
    Reasoning,
    Since,
    Until,
    WithTags,
)
from palazzo.operations.operation import PERSON_ONLY, About, Operation
from palazzo.operations.shared_views import CitationView, DrawerRow, FactView, HitSource


@frozen
class TurnView:
    """The speaker of a span of text, in code points."""

    role: str
    author: str
    start: int
    end: int


@frozen
class ReasonView:
    """The result of one ranking stage: a value, its maximum, and its weight."""

    name: str
    value: float
    most: float | None
    weight: float | None


@frozen
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


@frozen
class SupersededView:
    """What superseded a drawer's words: an item or fact (`by`), the new value (null: it ended), and since when.

    The rules that find this may be wrong, and the rest of the drawer may still hold.
    """

    by: str
    value: str | None
    at: Micros


@frozen
class SpanView:
    """A span of an item, in code points."""

    item: str
    start: int
    end: int


@frozen
class FoldedView:
    """The origin of a note that said the same and was folded into another."""

    id: str
    wing: str
    room: str
    created_at: Micros
    author: str
    trust: str
    source: str


@frozen
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


@frozen
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


Strength = Literal["strong", "likely", "weak"]


@frozen
class PartView:
    """A drawer of a hit that shows several, and its span [start, end) in the hit's text, in code points."""

    id: str
    start: int
    end: int
    superseded: SupersededView | None = None
    locator: str = ""
    """Where the drawer is in its document or session: `lines 3-9`, `turn 4`."""
    cited: Annotated[str, PERSON_ONLY] = ""
    length: Annotated[int, PERSON_ONLY] = 0
    """Characters of the drawer's whole text; the span may be a part of it."""


@frozen
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
    feedback: str = ""
    """What persons and agents judged of it: helpful, misleading or outdated."""
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
    parts: tuple[PartView, ...] = ()
    """If the text is of two drawers of one session or document: both, in the order of the text. `id` is the better."""
    person: str = ""
    """The teammate who shares it; empty for what is in this palace, which alone knows a hit's id."""


@frozen
class SearchRequest:
    """Find drawers by meaning and by words.

    Searches all wings unless told otherwise. Finding nothing is a valid answer, not an error.
    """

    query: Annotated[str, About("What to search for, in your own words.", positional=True, words=True)]
    wing: InWing = None
    room: InRoom = None
    kind: OfKind = None
    since: Since = None
    until: Until = None
    branch: OnBranch = None
    tags: WithTags = ()
    source: FromSource = None
    host: FromHost = None
    filed_as: FiledAs = ()
    min_importance: MinImportance = None
    as_of: Annotated[str | None, About(past.HELP)] = None
    limit: Annotated[int, About("Maximum number of hits.")] = 5
    budget: Annotated[
        int, About("Maximum number of tokens for all hits, including the context beside them.", metavar="TOKENS")
    ] = 2000
    external: External = True
    reasoning: Reasoning = True
    explain: Annotated[
        bool, About("Explain the rank of each hit; for an empty answer, show the nearest candidates.")
    ] = False
    team: Annotated[
        bool, About("Also search what teammates share with you (always, with the setting team.search).")
    ] = False
    drawers: Annotated[
        bool, About("Make each drawer a hit of its own. Else a hit may be the best two of a session or document.")
    ] = False
    without: Annotated[
        tuple[str, ...], About("Stages and signals to leave out, to measure their effect.", hidden=True)
    ] = ()


@frozen
class Scope:
    """The wing and the time that were searched."""

    wing: str | None
    as_of: Micros | None


@frozen
class SearchResult:
    """The search results. `below` holds the nearest candidates if there was no hit and an explanation was requested."""

    query: str
    scope: Scope
    index: Literal["ready", "keyword-only", "building", "without-tokens"]
    took_ms: float
    total_candidates: int
    hits: tuple[HitView, ...]
    below: tuple[HitView, ...] = ()
    left_out: int = 0
    """How many of the best drawers the setting `branch_policy` excludes."""
    uncertain: bool = False
    """Whether the hits may be only the nearest that there is: then all of them are weak."""
    note: Annotated[str, PERSON_ONLY] = ""
    advice: Annotated[str, PERSON_ONLY] = ""
    """A suggestion if nothing was found."""
    explained: Annotated[bool, PERSON_ONLY] = False
    floor: Annotated[float, PERSON_ONLY] = 0.0
    """The score that the best hit must reach."""
    is_likely: Annotated[bool, PERSON_ONLY] = True
    """Whether there is likely to be an answer. If stages were left out, hits are shown nevertheless."""
    home: Annotated[str, PERSON_ONLY] = ""
    """The wing of the caller's project, if it has one."""
    searched_at: Annotated[Micros, PERSON_ONLY] = Micros(0)
    matched_words: Annotated[tuple[str, ...], PERSON_ONLY] = ()
    """The words of the hits, in lower case, that match a word of the query."""


SEARCH = Operation(
    "search",
    SearchRequest,
    SearchResult,
    scope="read",
    group="Everyday",
    summary="Find drawers by meaning and by words",
    warm=True,
    examples=('palazzo search "why do retries double"', "palazzo search E0432 --wing api --since 30d --json"),
)


@frozen
class ShowRequest:
    """Read a drawer, item, session or fact in full, with its sources.

    With --raw a session is written as its transcript, byte for byte: for a file that was rewritten, the latest complete
    version; for a session without a file of its own (from a database or an export), its records, one line of JSON each.
    """

    id: Annotated[
        str,
        About(
            "Id or id prefix of a drawer, an item, a session or a fact; KIND:ID#FILE for one of several.",
            positional=True,
        ),
    ]
    context: Annotated[int, About("Also show this many drawers before and after it.")] = 0
    raw: Annotated[bool, About("Write only the source's own bytes.")] = False
    as_of: Annotated[str | None, About(past.HELP)] = None


SHOW = Operation(
    "show",
    ShowRequest,
    ShowResult,
    scope="read",
    group="Everyday",
    summary="Read a drawer, session or fact in full",
    warm=True,
    examples=("palazzo show 3f2a91", "palazzo show 3f2a91 --context 2"),
)


@frozen
class ListDrawersRequest:
    """List filed drawers, newest first: time, place, kind and beginning of the text."""

    wing: InWing = None
    room: InRoom = None
    kind: OfKind = None
    filed_as: FiledAs = ()
    tags: WithTags = ()
    since: Since = None
    until: Annotated[str | None, About(UNTIL_HELP, aliases=("--before",))] = None
    min_importance: MinImportance = None
    limit: Annotated[int, About("Maximum number of drawers.")] = 20
    offset: Annotated[int, About("Number of newest drawers to skip.")] = 0


@frozen
class ListDrawersResult:
    """A page of drawers, and the total number."""

    drawers: tuple[DrawerRow, ...]
    total: int
    limit: int
    offset: int


LIST_DRAWERS = Operation(
    "list_drawers",
    ListDrawersRequest,
    ListDrawersResult,
    scope="read",
    group="Look back",
    summary="List drawers, newest first",
    view="list_view:list_drawers",
    examples=("palazzo ls --wing api --limit 10", "palazzo list-drawers --kind note --since monday"),
)


@frozen
class CheckDuplicateRequest:
    """Check whether the palace already has a text, word for word or nearly. Files nothing."""

    text: Annotated[str, About("The text; - reads it from standard input.", positional=True, stdin=True)]
    wing: InWing = None
    threshold: Annotated[
        float, About("Minimum share of the text's three-word sequences that a drawer must contain, from 0 to 1.")
    ] = 0.9


@frozen
class MatchView:
    """A drawer that says the same, or nearly. `text` is the beginning of its text if `truncated` is set."""

    id: str
    similarity: float
    wing: str
    room: str
    kind: str
    created_at: Micros
    text: str
    truncated: bool


@frozen
class CheckDuplicateResult:
    """Whether the palace holds the text, and the matching drawers, most similar first."""

    is_duplicate: bool
    matches: tuple[MatchView, ...]


CHECK_DUPLICATE = Operation(
    "check_duplicate",
    CheckDuplicateRequest,
    CheckDuplicateResult,
    scope="read",
    group="Agents",
    summary="Check whether a text is filed already",
    view="list_view:check_duplicate",
    examples=('palazzo check-duplicate "The API listens on port 8443."', "palazzo check-duplicate - < note.txt"),
)
