"""Running a search: the stages in order, on one snapshot of the palace."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from palazzo.archive.reading import read_drawers
from palazzo.model import Drawer
from palazzo.recall import explain, fuse, keywords, present, query, rank, score, window
from palazzo.recall.around import look_around
from palazzo.recall.fuse import Candidate
from palazzo.recall.keywords import POSTINGS_BUDGET, KeywordCandidates
from palazzo.recall.lexicon import Lexicon
from palazzo.recall.present import Hit
from palazzo.recall.query import Query, Understood
from palazzo.recall.rank import Ranked, Signals
from palazzo.recall.vectors import Filter, VectorIndex
from palazzo.store import drawers, places, tags, vectors
from palazzo.store import keywords as keyword_table
from palazzo.store.database import Connection

CANDIDATES = 200
"""How many each list brings: the union's top 50 holds 92.8 % of the evidence on LoCoMo."""
NEAR = 30
"""How many each list brings besides from the wings that the question names, and from the one it is asked in."""
_WIDER = 2000
"""The same where a filter that the index does not hold will drop some."""
_READ_TOGETHER = 64
"""Hits that are read at once where many are wanted: their words are in memory together."""
_BESIDE = ThreadPoolExecutor(max_workers=4, thread_name_prefix="palazzo-nearest")
"""Starts a thread when one is first needed."""
_BELOW = 3
"""How many of those under the floor are told of."""
IndexState = Literal["ready", "keyword-only", "building"]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a search found. `total` counts candidates before the floor; `note` says what was missing, if anything.

    Where nothing passed the floor, `below` has the best that did not.
    """

    hits: list[Hit]
    total: int
    index: IndexState
    took_ms: float
    note: str = ""
    below: tuple[Hit, ...] = ()


class QueryEmbedder(Protocol):
    """Turns the question into a vector of unit length."""

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return (dimension,) float32."""
        ...


def search(
    connection: Connection,
    asked: Query,
    index: VectorIndex | None,
    embedder: QueryEmbedder | None,
    note: str = "",
    postings_budget: float = POSTINGS_BUDGET,
    lexicon: Lexicon | None = None,
) -> Answer:
    """Answer `asked` from one snapshot; without an index or embedder, by keyword alone.

    `postings_budget` bounds what the keyword index may read; infinity reads all, to measure what the bound costs. A
    `lexicon` that is kept spares counting words anew for each question.
    """
    began = time.perf_counter()
    query.check(asked)
    understood = query.understand(asked, drawers.authors(connection))
    scope = _Scope(connection, asked, understood)
    if scope.empty:
        return Answer([], 0, _state(connection, index, embedder), _since(began), note)
    limit = _WIDER if scope.filtered_later or asked.limit > CANDIDATES else CANDIDATES
    wanted = "vectors" not in asked.without
    dense = _Dense(connection, understood, index, embedder, scope, max(CANDIDATES, asked.limit), wanted)
    if "keywords" in asked.without:
        found = KeywordCandidates([], 0.0)
    else:
        also = scope.near_filters, NEAR
        found = keywords.find(connection, understood, scope.keyword_filters, limit, postings_budget, lexicon, also)
    cosines = dense.cosines(found)
    fused = fuse.fuse(cosines, dict(found.ranked))
    if asked.among is not None:
        fused = [candidate for candidate in fused if candidate.row in asked.among]
    uses = None if asked.as_of is not None or "together" in asked.without else asked.used
    near = dense.near | found.near
    ranked = _reranked(connection, understood, fused, found, index, dense.vector, asked.without, near, uses)
    hits = present.fold(_hits(connection, ranked, found, scope, asked), asked.limit)
    answers = bool(asked.without) or any(hit.score >= hit.floor for hit in hits)
    shown = present.within_budget(hits if answers else [], asked.budget)
    shown = window.widen(
        connection, shown, understood.terms, asked.budget, lambda drawer: _wanted(drawer, asked, scope)
    )
    below = [] if answers else window.with_speakers(connection, present.within_budget(hits[:_BELOW], asked.budget))
    return Answer(shown, len(ranked), _state(connection, index, embedder), _since(began), note, tuple(below))


class _Scope:
    """Where to look: filters for both lists, and what is left to check drawer by drawer."""

    def __init__(self, connection: Connection, asked: Query, understood: Understood) -> None:
        self.wing, rooms, self.places = places.scope(connection, asked.wing, asked.room)
        self.empty = rooms is not None and not rooms
        anywhere: list[str] = []
        if asked.kind is not None:
            anywhere.append(keyword_table.kind_filter(asked.kind))
        tagged = None
        if asked.tags:
            known = tags.known_tags(connection, asked.tags)
            self.empty = self.empty or len(known) < len(asked.tags)
            by_tag = [keyword_table.tag_filter(tag) for tag in known.values()]
            anywhere.extend(by_tag)
            tagged = frozenset(keyword_table.drawers_in_scope(connection, by_tag) if by_tag else ())
        if asked.among is not None:
            tagged = asked.among if tagged is None else tagged & asked.among
            self.empty = self.empty or not tagged
        self.keyword_filters = list(anywhere)
        if rooms and asked.room is not None:
            self.keyword_filters.insert(0, keyword_table.room_filter(rooms))
        elif rooms and self.wing is not None:
            self.keyword_filters.insert(0, keyword_table.wing_filter(places.stretches(connection, self.wing)))
        inside = None if rooms is None else frozenset(rooms)
        self.vector_filter = Filter(inside, asked.kind, asked.since, asked.until, tagged)
        self.near_filters: list[str] = []
        self.near_vectors: Filter | None = None
        near = _near(connection, asked, understood) if rooms is None else []
        if near:
            stretches = [stretch for wing in near for stretch in places.stretches(connection, wing)]
            self.near_filters = [keyword_table.wing_filter(stretches), *anywhere]
            here = frozenset(room for wing in near for room in places.scope(connection, wing, None).rooms or ())
            self.near_vectors = Filter(here, asked.kind, asked.since, asked.until, tagged)
        later = (asked.since, asked.until, asked.branch, asked.among)
        self.filtered_later = any(one is not None for one in later)


def _near(connection: Connection, asked: Query, understood: Understood) -> list[str]:
    """Return the wings that the question speaks of, else the one that it is asked from."""
    named = [name for name in places.wing_names(connection) if understood.names_wing(name)]
    return named or [wing for wing in (asked.home,) if wing is not None and places.stretches(connection, wing)]


class _Dense:
    """The nearest by vector, sought on another thread while this one reads the keyword index.

    Neither holds up the other: SQLite, ONNX Runtime and NumPy let go of the interpreter while they work.
    """

    def __init__(
        self,
        connection: Connection,
        understood: Understood,
        index: VectorIndex | None,
        embedder: QueryEmbedder | None,
        scope: _Scope,
        limit: int,
        wanted: bool,
    ) -> None:
        self._index = index
        self.vector: NDArray[np.float32] | None = None
        self.near: frozenset[int] = frozenset()
        self._sought: Future[tuple[NDArray[np.float32], dict[int, float], frozenset[int]]] | None = None
        if index is not None and embedder is not None and wanted:
            index.follow(connection)
            self._sought = _BESIDE.submit(_nearest, index, embedder, understood.sentence, scope, limit)

    def cosines(self, found: KeywordCandidates) -> dict[int, float]:
        """Return the cosines of the nearest drawers and of those found by keyword; nothing without vectors."""
        if self._index is None or self._sought is None:
            return {}
        self.vector, nearest, self.near = self._sought.result()
        others = (row for row, _ in found.ranked if row not in nearest)
        return {**nearest, **self._index.cosines_of(others, self.vector)}


def _nearest(
    index: VectorIndex, embedder: QueryEmbedder, sentence: str, scope: _Scope, limit: int
) -> tuple[NDArray[np.float32], dict[int, float], frozenset[int]]:
    vector = embedder.embed_query(sentence)
    nearest = dict(index.nearest(vector, limit, scope.vector_filter))
    near = dict(index.nearest(vector, NEAR, scope.near_vectors)) if scope.near_vectors is not None else {}
    return vector, nearest | near, frozenset(near)


def _reranked(
    connection: Connection,
    understood: Understood,
    fused: list[Candidate],
    found: KeywordCandidates,
    index: VectorIndex | None,
    vector: NDArray[np.float32] | None,
    without: frozenset[str],
    near: frozenset[int],
    uses: frozenset[int] | None,
) -> list[Ranked]:
    if "ranking" in without:
        return [Ranked(one, Signals(), one.rank_score, Signals()) for one in fused]
    best = [candidate.row for candidate in rank.closest(fused, near)]
    chosen = set(best)
    others = [candidate.row for candidate in fused if candidate.row not in chosen]
    around = look_around(connection, best, others, found, index, vector, uses)
    return rank.rank(understood, fused, around, without)


def _hits(
    connection: Connection, ranked: list[Ranked], found: KeywordCandidates, scope: _Scope, asked: Query
) -> Iterator[Hit]:
    # What stands beside a hit, and for which nothing else is known to speak, is none itself.
    best: float | None = None
    spoken_for = [one for one in ranked if one.candidate.bm25 is not None or one.candidate.cosine is not None]
    together = _READ_TOGETHER if asked.look is not None else min(asked.limit + 1, _READ_TOGETHER)
    for one, drawer in _read(connection, spoken_for, together, asked.look):
        candidate = one.candidate
        if asked.among is not None and candidate.row not in asked.among:
            continue
        if not _wanted(drawer, asked, scope):  # what stands beside a hit may be filed elsewhere
            continue
        own = one.of_its_own
        best = own if best is None else max(own, best)
        share = score.share_of(candidate.bm25, found.ceiling)
        evidence = score.Evidence(candidate.cosine or 0.0, share, one.signals.covered, own, best - own)
        scale = score.BY_KEYWORD if candidate.cosine is None else score.TALK if one.is_talk else score.WORK
        reasons, floor = explain.reasons(one, found.ceiling), score.floor_of(scale, one.signals.held, found.total)
        yield Hit(drawer, score.relevance(evidence, scale), drawer.text, False, reasons, candidate.row, floor=floor)


def _read(
    connection: Connection, ranked: list[Ranked], together: int, look: Callable[[Sequence[Drawer]], None] | None
) -> Iterator[tuple[Ranked, Drawer]]:
    """Yield each with its drawer, `together` of which are read at once, and told of to `look`.

    One that is not live is left out: threads share the index, and one with a newer snapshot has brought it further than
    this one sees.
    """
    for start in range(0, len(ranked), together):
        part = ranked[start : start + together]
        read = read_drawers(connection, [one.candidate.row for one in part])
        if look is not None:
            look(list(read.values()))
        found = ((one, read.get(one.candidate.row)) for one in part)
        yield from ((one, drawer) for one, drawer in found if drawer is not None and drawer.retired_at is None)


def _wanted(drawer: Drawer, asked: Query, scope: _Scope) -> bool:
    """Whether a drawer is of the place, kind, time, branch, tags and trust that were asked for."""
    if (drawer.trust == "external" and not asked.external) or (asked.but is not None and asked.but(drawer)):
        return False
    if asked.since is not None and drawer.created_at < asked.since:
        return False
    if asked.until is not None and drawer.created_at >= asked.until:
        return False
    if scope.places is not None and drawer.place not in scope.places:
        return False
    named = (
        (scope.wing, drawer.place.wing),
        (asked.kind, drawer.kind),
        (asked.branch, drawer.branch),
    )
    return asked.tags <= set(drawer.tags) and all(wanted is None or wanted == own for wanted, own in named)


def _state(connection: Connection, index: VectorIndex | None, embedder: QueryEmbedder | None) -> IndexState:
    if index is None or embedder is None:
        return "keyword-only"
    return "building" if vectors.any_pending(connection) else "ready"


def _since(began: float) -> float:
    return round((time.perf_counter() - began) * 1000, 2)
