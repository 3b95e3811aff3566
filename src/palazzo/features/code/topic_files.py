"""files: which files sessions touched when they were about a topic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from palazzo.features.branches.branch_labels import Checkout, find_origin
from palazzo.features.code.code_scope import CodeScope, read_scope, widening_options
from palazzo.features.code.contract import FilesRequest, FilesResult, TopicFile
from palazzo.index import query
from palazzo.model import AnchorKind, Micros
from palazzo.store import file_touches

if TYPE_CHECKING:
    from palazzo.operations.context import Context
    from palazzo.palace import Palace
    from palazzo.store.file_touches import FileTouch

_MOST_HITS = 30
"""Number of exchanges about the topic whose files are read: later hits are seldom about it."""
_BUDGET = 200_000
"""Tokens of those exchanges, so that none is left out."""
_WEIGHTS: Mapping[AnchorKind, float] = {"edited": 1.0, "stated": 1.0, "mentioned": 0.7, "read": 0.4}
"""How much a file of an exchange about the topic counts, by how the exchange touched it: a session reads many files
that are beside the point. Not measured.
"""
_HOWS: tuple[AnchorKind, ...] = ("edited", "read", "mentioned", "stated")


def find_files(context: Context, request: FilesRequest) -> FilesResult:
    """Show which files sessions read, edited or mentioned when they were about a topic."""
    scope = read_scope(context, request)
    palace = context.reading()
    palace.follow_anchors()
    scores = _scores_of_drawers(context, palace, request, scope)
    with palace.database.snapshot() as connection:
        turns = file_touches.turns_of(connection, scores)
        best_by_turn: dict[tuple[int, ...], float] = {}
        for drawer, turn in turns.items():
            best_by_turn[turn] = max(scores[drawer], best_by_turn.get(turn, 0.0))
        turn_of_drawer = {drawer: turn for turn in best_by_turn for drawer in turn}
        touches = file_touches.of_drawers(connection, turn_of_drawer)
        beside = file_touches.edits_of_sources(connection, {touch.source for touch in touches if touch.session})
    groups: dict[tuple[str, str], _Group] = {}
    for touch in (touch for touch in touches if touch.trust in scope.trusts):
        turn = turn_of_drawer[touch.drawer]
        _group_of(groups, touch).add(touch, turn, best_by_turn[turn])
    for touch in beside:
        if touch.drawer not in turn_of_drawer and scope.covers(touch.at) and touch.trust in scope.trusts:
            _group_of(groups, touch).add_beside(touch)
    files = sorted(
        (group.view() for group in groups.values()),
        key=lambda file: (not file.exchanges, -file.relevance, -file.last_at),
    )
    advice = "" if files else _advice(request, scope, len(turns))
    return FilesResult(request.topic, scope.wing, tuple(files[: request.limit]), len(best_by_turn), len(files), advice)


def _scores_of_drawers(context: Context, palace: Palace, request: FilesRequest, scope: CodeScope) -> dict[int, float]:
    """Return the scores of the drawers about the topic, by row id, without those that the branch policy hides."""
    search_query = query.Query(
        text=request.topic,
        wing=scope.wing,
        since=scope.since,
        until=scope.until,
        limit=_MOST_HITS,
        budget=_BUDGET,
        home=context.home,
        external=request.external,
    )
    query.check(search_query)
    hits = palace.search(search_query).hits
    checkout = Checkout(context)
    checkout.standings(find_origin(hit.drawer) for hit in hits)
    return {hit.row: hit.score for hit in hits if not checkout.is_hidden(hit.drawer)}


def _advice(request: FilesRequest, scope: CodeScope, exchanges: int) -> str:
    wider = widening_options(request, scope)
    suggestion = f"; try {wider}" if wider else ""
    if exchanges:
        return f"What is recorded about this touched no files of a project{suggestion}."
    return f"Nothing is recorded about this{suggestion or ': try other words'}."


# --- grouping ----------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Group:
    """The touches of one file."""

    path: str
    wing: str
    hows: set[AnchorKind] = field(default_factory=set)
    weights: dict[tuple[int, ...], float] = field(default_factory=dict)
    sessions: dict[str, None] = field(default_factory=dict)
    last_at: int = 0
    drawer: str = ""
    best_weight: float = 0.0

    def add(self, touch: FileTouch, turn: tuple[int, ...], score: float) -> None:
        """Count an exchange about the topic once, by the most that it did to the file."""
        weight = score * _WEIGHTS[touch.anchor.how]
        self.weights[turn] = max(weight, self.weights.get(turn, 0.0))
        if weight > self.best_weight:
            self.best_weight, self.drawer = weight, touch.uid
        self._note(touch)

    def add_beside(self, touch: FileTouch) -> None:
        """Note an edit in another exchange of such a session."""
        self.drawer = self.drawer or touch.uid
        self._note(touch)

    def view(self) -> TopicFile:
        """Return the file for display."""
        return TopicFile(
            path=self.path,
            wing=self.wing,
            how=tuple(how for how in _HOWS if how in self.hows),
            exchanges=len(self.weights),
            sessions=tuple(self.sessions),
            last_at=Micros(self.last_at),
            drawer=self.drawer,
            relevance=round(sum(self.weights.values()), 4),
        )

    def _note(self, touch: FileTouch) -> None:
        self.hows.add(touch.anchor.how)
        if touch.session:
            self.sessions[touch.session] = None
        self.last_at = max(self.last_at, touch.at)


def _group_of(groups: dict[tuple[str, str], _Group], touch: FileTouch) -> _Group:
    return groups.setdefault((touch.wing, touch.anchor.path), _Group(touch.anchor.path, touch.wing))
