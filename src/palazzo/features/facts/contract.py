"""Requests, results and operations of `facts`: what faces know of the feature, without its engine."""

from __future__ import annotations

from typing import Annotated, Literal

from palazzo.frozen_class import frozen
from palazzo.knowledge import MatchKind
from palazzo.model import Freshness
from palazzo.operations.operation import PERSON_ONLY, About, Operation
from palazzo.operations.shared_views import CitationView, FactView

ACTOR = "user"
"""The actor of changes to facts from the command line, and the default author of statements."""


@frozen
class KgAddRequest:
    """State a fact. Stating it again changes nothing, or strengthens it.

    A fact is strengthened by an earlier start, a higher confidence or a further source. Without --to the fact holds
    until it is ended; without --from its start is unknown. A fact holds in the current project; outside any project, in
    the wing 'user'.
    """

    subject: Annotated[str, About("The subject: who or what.", positional=True)]
    predicate: Annotated[str, About("The predicate, such as uses, listens on, is owned by.", positional=True)]
    object: Annotated[str, About("The object: what or whom.", positional=True)]
    valid_from: Annotated[
        str | None, About("When it began: a date, or words such as 'since March'.", option="--from", metavar="WHEN")
    ] = None
    valid_to: Annotated[
        str | None, About("When it ended; a stated day, month or year is included.", option="--to", metavar="WHEN")
    ] = None
    wing: Annotated[str | None, About("The wing in which it holds. Default: the project's.")] = None
    confidence: Annotated[float | None, About("The confidence, from 0 to 1.")] = None
    sources: Annotated[
        tuple[str, ...],
        About("A drawer or item that supports the fact; may be given several times.", option="--source", metavar="ID"),
    ] = ()
    stated_by: Annotated[str, About("Who states the fact.", option="--by", metavar="NAME")] = ACTOR
    anchors: Annotated[
        tuple[str, ...],
        About(
            "A file that supports the fact, with line numbers; may be given several times.",
            option="--anchor",
            metavar="PATH[:L1-L2]",
        ),
    ] = ()
    everywhere: Annotated[bool, About("State that the fact holds in every project.")] = False


@frozen
class KgAddResult:
    """The fact, whether it is new, what changed if it is not, and its conflicts."""

    id: str
    new: bool
    changed: tuple[str, ...]
    fact: FactView
    conflicts: tuple[str, ...]
    near: dict[str, tuple[str, ...]]
    """For each name that is new, existing names that are similar."""


KG_ADD = Operation(
    "kg_add",
    KgAddRequest,
    KgAddResult,
    scope="write",
    writes=True,
    examples=(
        "palazzo kg add api 'listens on' 8443 --from 2026-03-01",
        "palazzo kg add billing 'is owned by' Ada --everywhere",
    ),
)


@frozen
class KgAddManyRequest:
    """State many facts at once; an invalid line is reported and does not stop the others.

    All facts are one change, which 'palazzo undo' takes back.
    """

    facts: Annotated[
        str,
        About(
            "A file with one JSON object per line, with subject, predicate, object and, if known, from, to, wing, "
            "everywhere, confidence, sources, stated_by; - reads standard input.",
            positional=True,
            option="FILE",
            file=True,
            may_be_bytes=True,
        ),
    ]


@frozen
class LineError:
    """A line that could not be added, and the reason."""

    line: int
    error: str


@frozen
class KgAddManyResult:
    """How many facts are new, updated or unchanged; their ids, line by line; and the lines that failed."""

    new: int
    changed: int
    unchanged: int
    ids: tuple[str, ...]
    conflicts: tuple[str, ...]
    failed: tuple[LineError, ...]


KG_ADD_MANY = Operation(
    "kg_add_many",
    KgAddManyRequest,
    KgAddManyResult,
    scope="write",
    writes=True,
    failed=lambda result: bool(result.failed),
    examples=("palazzo kg add-many facts.jsonl",),
)

Direction = Literal["subject", "object", "both"]


@frozen
class KgQueryRequest:
    """Show what is known about an entity: facts that hold now, or held at a given time.

    Inside a project: facts of the project, of the wing 'user', and facts that hold everywhere. Outside: all facts. Two
    times may be given: --as-of is a time in the world, --known-at a time of the palace's knowledge. If a name may mean
    several entities, an error lists them.
    """

    entity: Annotated[str, About("The name or an alias of an entity.", positional=True)]
    as_of: Annotated[
        str | None, About("Show what held at this time instead of now; for a past day, at its end.", metavar="WHEN")
    ] = None
    known_at: Annotated[
        str | None, About("Show what was recorded as true at this time instead of now.", metavar="WHEN")
    ] = None
    direction: Annotated[Direction, About("Show facts with the entity as subject, as object, or both.")] = "both"
    hops: Annotated[int, About("2 also shows the facts of its neighbours.")] = 1
    wing: Annotated[
        str | None, About("Facts of this wing and facts that hold everywhere. Default: the project's wing.")
    ] = None
    all: Annotated[bool, About("Also show facts that have ended or not begun yet.")] = False
    limit: Annotated[int, About("Maximum number of facts.")] = 100
    everywhere: Annotated[bool, About("Show facts of all wings.")] = False


@frozen
class QueriedFact(FactView):
    """A fact, its distance from the entity in hops, and the side on which the entity (or its neighbour) is."""

    direction: Literal["subject", "object"]
    hop: int
    freshness: Freshness
    citations: tuple[CitationView, ...]
    """The project's files that its sources cite, worst state first; `freshness` summarizes them all."""
    label: str
    """The branch label of its sources, if none of them is known to be part of the current checkout."""
    cited: Annotated[str, PERSON_ONLY]
    """A note on the citations for the reader."""


@frozen
class MentionedView:
    """How many drawers and rooms mention an entity under any of its names, and the rooms with most mentions."""

    drawers: int
    rooms: int
    most: dict[str, int]


@frozen
class KgQueryResult:
    """What is known. `matched` says how the entity was found (null: not found); the times are the resolved ones.

    `mentioned` counts the present mentions: null if another time was requested, or if the setting `entities` is off.
    `count_elsewhere` counts the entity's facts in other wings, which are not in `facts`.
    """

    entity: str
    matched: MatchKind | None
    as_of: str | None
    known_at: str | None
    facts: tuple[QueriedFact, ...]
    count: int
    truncated: bool
    mentioned: MentionedView | None
    count_elsewhere: int


KG_QUERY = Operation(
    "kg_query",
    KgQueryRequest,
    KgQueryResult,
    scope="read",
    examples=("palazzo kg query api", "palazzo kg query api --as-of 2026-01-01"),
)


@frozen
class KgEndRequest:
    """End a fact: from then on it no longer holds.

    Without --wing this ends the fact of the project, else of the wing 'user', else the fact that holds everywhere. A
    fact that does not hold cannot be ended; the error then names similar facts.
    """

    subject: Annotated[str, About("The subject: who or what.", positional=True)]
    predicate: Annotated[str, About("The predicate.", positional=True)]
    object: Annotated[str, About("The object: what or whom.", positional=True)]
    at: Annotated[
        str | None, About("When it ended, if not now; a stated day, month or year is included.", metavar="WHEN")
    ] = None
    wing: Annotated[str | None, About("End the fact of this wing.")] = None
    everywhere: Annotated[bool, About("End the fact that holds everywhere.")] = False


@frozen
class KgEndResult:
    """The facts that ended, and the first moment at which they no longer held."""

    at: str
    ended: tuple[FactView, ...]


KG_END = Operation(
    "kg_end",
    KgEndRequest,
    KgEndResult,
    scope="write",
    writes=True,
    examples=("palazzo kg end api 'listens on' 8443 --at yesterday",),
)


@frozen
class KgSupersedeRequest:
    """End a fact and begin its successor at the same moment, both or neither.

    Without --wing this changes the fact of the project, else of the wing 'user', else the fact that holds everywhere.
    The new fact holds in the same wing.
    """

    subject: Annotated[str, About("The subject: who or what.", positional=True)]
    predicate: Annotated[str, About("The predicate.", positional=True)]
    old: Annotated[str, About("The old object.", positional=True)]
    new: Annotated[str, About("The new object.", positional=True)]
    at: Annotated[
        str | None, About("When it changed, if not now; for a day, month or year, its beginning.", metavar="WHEN")
    ] = None
    wing: Annotated[str | None, About("Change the fact of this wing.")] = None
    sources: Annotated[
        tuple[str, ...],
        About(
            "A drawer or item that supports the change; may be given several times.", option="--source", metavar="ID"
        ),
    ] = ()
    stated_by: Annotated[str, About("Who states the change.", option="--by", metavar="NAME")] = ACTOR
    everywhere: Annotated[bool, About("Change the fact that holds everywhere.")] = False


@frozen
class KgSupersedeResult:
    """The facts that ended at that time, the fact that holds from then on, and its conflicts."""

    at: str
    closed: tuple[FactView, ...]
    opened: FactView
    new: bool
    conflicts: tuple[str, ...]


KG_SUPERSEDE = Operation(
    "kg_supersede",
    KgSupersedeRequest,
    KgSupersedeResult,
    scope="write",
    writes=True,
    examples=("palazzo kg supersede api 'listens on' 8443 9443",),
)


@frozen
class KgTimelineRequest:
    """Show facts in the order in which they began, including ended facts.

    Inside a project: facts of the project, of the wing 'user', and facts that hold everywhere. Outside: all facts.
    """

    entity: Annotated[str | None, About("Only facts about this entity.", positional=True)] = None
    known_at: Annotated[
        str | None, About("Show what was recorded as true at this time instead of now.", metavar="WHEN")
    ] = None
    wing: Annotated[
        str | None, About("Facts of this wing and facts that hold everywhere. Default: the project's wing.")
    ] = None
    limit: Annotated[int, About("Maximum number of facts.")] = 100
    offset: Annotated[int, About("Number of facts to skip.")] = 0
    everywhere: Annotated[bool, About("Show facts of all wings.")] = False


@frozen
class KgTimelineResult:
    """Facts by start time, those with an unknown start first; `count` is the total number."""

    entity: str | None
    matched: MatchKind | None
    known_at: str | None
    timeline: tuple[FactView, ...]
    count: int


KG_TIMELINE = Operation(
    "kg_timeline",
    KgTimelineRequest,
    KgTimelineResult,
    scope="read",
    examples=("palazzo kg timeline", "palazzo kg timeline api --limit 20"),
)


@frozen
class KgConflictsRequest:
    """Show facts and recorded text that contradict each other, with their sources.

    A conflict deletes nothing. It is settled when one of the two is ended or superseded; 'palazzo kg dismiss' marks it
    as no conflict.
    """

    all: Annotated[bool, About("Also show conflicts that are settled or dismissed.")] = False


@frozen
class SideView:
    """One side of a conflict: a fact, or an item with its exact words."""

    fact: FactView | None
    item: str | None
    start: int | None
    end: int | None
    text: str | None


@frozen
class Settlement:
    """What settles a conflict: the values with which 'palazzo kg supersede' replaces one fact by the other."""

    subject: str
    predicate: str
    old: str
    new: str
    wing: str | None
    everywhere: bool
    at: str | None


@frozen
class ConflictView:
    """Two statements that contradict each other, the rule that found the conflict, and whether it is still open.

    `mend` is the command that supersedes the earlier fact with the later one, and `settlement` its values; null for
    conflicts of texts and for conflicts that are no longer open.
    """

    id: str
    kind: str
    found_at: str
    standing: bool
    dismissed_at: str | None
    earlier: SideView
    later: SideView
    mend: str | None
    settlement: Settlement | None = None


@frozen
class KgConflictsResult:
    """The conflicts, newest first."""

    conflicts: tuple[ConflictView, ...]
    count: int
    note: str = ""
    """Which texts were not compared; empty if none."""


KG_CONFLICTS = Operation(
    "kg_conflicts",
    KgConflictsRequest,
    KgConflictsResult,
    scope="read",
    examples=("palazzo kg conflicts",),
)


@frozen
class KgDismissRequest:
    """Mark a conflict as no conflict, or reject a suggested fact. Neither is shown again.

    Both facts of a dismissed conflict keep holding.
    """

    ids: Annotated[tuple[str, ...], About("Conflict or suggestion ids, or id prefixes.", positional=True, option="ID")]


@frozen
class KgDismissResult:
    """The conflicts that are no longer shown, and the suggestions that are not made again."""

    dismissed: tuple[str, ...]
    rejected: tuple[str, ...] = ()


KG_DISMISS = Operation(
    "kg_dismiss",
    KgDismissRequest,
    KgDismissResult,
    scope="write",
    writes=True,
    examples=("palazzo kg dismiss 3f2a91",),
)

SUGGESTION_LIMIT = 20


@frozen
class KgSuggestRequest:
    """Propose facts that recorded text states: decisions, versions, ports, owners, renames, dependencies.

    Rules find them, and each is shown with the text that states it. None is a fact before you accept it: 'palazzo kg
    accept ID'. 'palazzo kg dismiss ID' rejects one, so that it is not proposed again.
    """

    session: Annotated[str | None, About("Only suggestions from this session.", positional=True)] = None
    wing: Annotated[str | None, About("Only suggestions from this wing.")] = None
    limit: Annotated[int, About("Maximum number of suggestions.")] = SUGGESTION_LIMIT


@frozen
class SuggestionCitation:
    """A place that states it: drawer, item, span, exact words, and time."""

    drawer: str
    item: str
    start: int
    end: int
    text: str
    said_at: str


@frozen
class SuggestionView:
    """A suggested fact: how many places state it, and which."""

    id: str
    subject: str
    predicate: str
    object: str
    wing: str
    support: int
    citations: tuple[SuggestionCitation, ...]


@frozen
class KgSuggestResult:
    """The suggestions, best supported first, and their total number."""

    suggestions: tuple[SuggestionView, ...]
    total: int
    note: str = ""
    """Which texts were not read; empty if none."""


KG_SUGGEST = Operation(
    "kg_suggest",
    KgSuggestRequest,
    KgSuggestResult,
    scope="read",
    view="suggestion_view:kg_suggest",
    examples=("palazzo kg suggest", "palazzo kg suggest --wing api --limit 5"),
)


@frozen
class KgAcceptRequest:
    """State suggestions as facts, citing the text that supports them.

    A fact holds from the time when it was first said. 'palazzo undo' takes back everything that one command accepted.
    """

    ids: Annotated[tuple[str, ...], About("Suggestion ids or id prefixes.", positional=True, option="ID")]
    everywhere: Annotated[bool, About("State the facts for all wings, not only for the wing of their source.")] = False
    stated_by: Annotated[str, About("Who accepts the suggestions.", option="--by", metavar="NAME")] = ACTOR


@frozen
class KgAcceptResult:
    """The facts, and their conflicts."""

    facts: tuple[FactView, ...]
    conflicts: tuple[str, ...]


KG_ACCEPT = Operation(
    "kg_accept",
    KgAcceptRequest,
    KgAcceptResult,
    scope="write",
    view="suggestion_view:kg_accept",
    writes=True,
    examples=("palazzo kg accept 3f2a91 8c05d2",),
)


@frozen
class KgStatsRequest:
    """Count entities, facts, predicates and conflicts."""


@frozen
class KgAliasRequest:
    """Make a name an alias of an entity; without arguments, list aliases."""

    name: Annotated[str | None, About("The other name, the alias.", positional=True)] = None
    entity: Annotated[str | None, About("The entity that the alias means.", positional=True)] = None
    remove: Annotated[bool, About("Remove the alias.")] = False


@frozen
class AliasView:
    """An alias, and the entity that it stands for."""

    name: str
    entity: str


@frozen
class KgAliasResult:
    """The alias that was added or removed, if any, and all aliases."""

    added: AliasView | None
    removed: AliasView | None
    aliases: tuple[AliasView, ...]


KG_ALIAS = Operation(
    "kg_alias",
    KgAliasRequest,
    KgAliasResult,
    scope="write",
    writes=True,
    examples=("palazzo kg alias gateway api", "palazzo kg alias"),
)


@frozen
class KgMergeRequest:
    """Merge one entity into another; without arguments, list merged entities.

    Nothing is rewritten, and 'palazzo kg unmerge' separates the two again.
    """

    name: Annotated[str | None, About("The entity whose name is no longer used.", positional=True)] = None
    into: Annotated[str | None, About("The entity to merge it into.", positional=True)] = None


@frozen
class MergeView:
    """An entity, and the entity that it was merged into."""

    name: str
    into: str


@frozen
class KgMergeResult:
    """The merge, if one was made; the conflicts that it revealed; and all merges."""

    merged: MergeView | None
    conflicts: tuple[str, ...]
    merges: tuple[MergeView, ...]


KG_MERGE = Operation(
    "kg_merge",
    KgMergeRequest,
    KgMergeResult,
    scope="write",
    writes=True,
    examples=("palazzo kg merge api-server api",),
)


@frozen
class KgUnmergeRequest:
    """Separate two merged entities: each has the facts again that were stated about it."""

    name: Annotated[str, About("The entity that was merged into another.", positional=True)]


@frozen
class KgUnmergeResult:
    """The entity that is separate again, the entity that it was merged into, and the conflicts that this revealed."""

    name: str
    was: str
    conflicts: tuple[str, ...]


KG_UNMERGE = Operation(
    "kg_unmerge",
    KgUnmergeRequest,
    KgUnmergeResult,
    scope="write",
    writes=True,
    examples=("palazzo kg unmerge api-server",),
)


@frozen
class KgPredicateRequest:
    """Declare that a predicate has one object at a time; without a name, list all predicates.

    Some common predicates (port, version, default branch) have one object by default; --many allows several.
    """

    name: Annotated[str | None, About("The predicate.", positional=True)] = None
    functional: Annotated[bool, About("A subject has one object at a time; two at once are a conflict.")] = False
    many: Annotated[bool, About("A subject may have many objects at a time.")] = False


@frozen
class PredicateView:
    """A predicate, whether it is functional, and the number of facts that use it."""

    name: str
    functional: bool
    facts: int


@frozen
class KgStatsResult:
    """Counts of current beliefs: facts that hold, have ended, or have not begun; names; open conflicts."""

    entities: int
    facts: int
    current: int
    ended: int
    planned: int
    aliases: int
    merges: int
    conflicts: int
    predicates: tuple[PredicateView, ...]


KG_STATS = Operation(
    "kg_stats",
    KgStatsRequest,
    KgStatsResult,
    scope="read",
    examples=("palazzo kg stats",),
)


@frozen
class KgPredicateResult:
    """The requested predicates, and the conflicts that a declaration revealed."""

    predicates: tuple[PredicateView, ...]
    conflicts: tuple[str, ...]


KG_PREDICATE = Operation(
    "kg_predicate",
    KgPredicateRequest,
    KgPredicateResult,
    scope="write",
    writes=True,
    examples=("palazzo kg predicate", "palazzo kg predicate 'deployed on' --functional"),
)
