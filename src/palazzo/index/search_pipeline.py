"""Running a search: the stages in order, on one snapshot of the palace."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from palazzo.archive.archive_reader import read_drawers
from palazzo.errors import EmbedderUnavailable
from palazzo.index import explanation, fusion, hit_window, presentation, query, ranking, reranking, score
from palazzo.index import keyword_candidates as keywords
from palazzo.index.fusion import Candidate
from palazzo.index.keyword_candidates import POSTINGS_BUDGET, KeywordCandidates
from palazzo.index.lexicon import Lexicon
from palazzo.index.neighbour_search import Around, idf, look_around
from palazzo.index.presentation import Hit
from palazzo.index.query import ParsedQuery, Query
from palazzo.index.ranking import CandidateRank, Signals
from palazzo.index.token_matching import TokenMatch, TokenMatcher
from palazzo.index.vector_index import Filter, VectorIndex
from palazzo.model import Drawer
from palazzo.store import drawers, keyword_table, place_rows, tag_rows, vector_rows
from palazzo.store.database import Connection

CANDIDATES = 200
"""Candidates per list: the union's top 50 contains 92.8 % of the evidence on LoCoMo."""
NEAR = 30
"""Additional candidates per list from the wings that the query names, and from the wing of the caller's project."""
_WIDER = 2000
"""Candidates per list if a filter that the index does not support will drop some."""
_READ_TOGETHER = 64
"""Hits whose texts are in memory together when many are requested."""
_VECTOR_POOL = ThreadPoolExecutor(max_workers=4, thread_name_prefix="palazzo-nearest")
"""Starts a thread when it is first needed."""
_BELOW = 3
"""The most hits below the floor that are reported."""
IndexState = Literal["ready", "keyword-only", "building", "without-tokens"]
"""`without-tokens`: complete, but the best candidates could not be compared token by token."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a search. `total` counts candidates before the floor; `note` says what was missing, if anything.

    `chance` is how likely there is an answer. If it is too low, or no hit passed the floor, `below` has the best ones.
    """

    hits: list[Hit]
    total: int
    index: IndexState
    took_ms: float
    note: str = ""
    below: tuple[Hit, ...] = ()
    chance: float = 1.0


class QueryEmbedder(Protocol):
    """Turns the query into a vector of unit length."""

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return (dimension,) float32."""
        ...


def search(
    connection: Connection,
    request: Query,
    index: VectorIndex | None,
    embedder: QueryEmbedder | None,
    note: str = "",
    postings_budget: float = POSTINGS_BUDGET,
    lexicon: Lexicon | None = None,
    matcher: TokenMatcher | None = None,
) -> Answer:
    """Answer `request` from one snapshot; without an index or embedder, by keyword alone.

    `postings_budget` limits what the keyword index may read; infinity reads all, to measure the cost of the limit. A
    cached `lexicon` avoids counting words again for each question. With a `matcher`, the best candidates are compared
    with the query token by token.
    """
    began = time.perf_counter()
    query.check(request)
    parsed_query = query.understand(request, drawers.authors(connection))
    scope = _Scope(connection, request, parsed_query)
    if scope.empty:
        return Answer([], 0, _state(connection, index, embedder), _since(began), note)
    limit = _WIDER if scope.filtered_later or request.limit > CANDIDATES else CANDIDATES
    uses_vectors = "vectors" not in request.disabled_stages
    if request.disabled_stages & {"ranking", "tokens"}:
        matcher = None
    query_embedder = matcher if matcher is not None else embedder
    dense = _Dense(connection, parsed_query, index, query_embedder, scope, max(CANDIDATES, request.limit), uses_vectors)
    if "keywords" in request.disabled_stages:
        keyword_candidates = KeywordCandidates([], 0.0)
    else:
        narrow_scope = scope.near_filters, NEAR
        keyword_candidates = keywords.find(
            connection, parsed_query, scope.keyword_filters, limit, postings_budget, lexicon, narrow_scope
        )
    cosines = dense.cosines(keyword_candidates)
    candidates = fusion.fuse(cosines, dict(keyword_candidates.row_scores))
    if request.among is not None:
        candidates = [candidate for candidate in candidates if candidate.row in request.among]
    uses = None if request.as_of is not None or "together" in request.disabled_stages else request.used
    near = dense.near | keyword_candidates.near
    candidate_ranks, around = _rank_candidates(
        connection,
        parsed_query,
        candidates,
        keyword_candidates,
        index,
        dense.vector,
        request.disabled_stages,
        near,
        uses,
    )
    index_state, by_tokens = _state(connection, index, embedder), False
    if matcher is not None and around is not None:
        try:
            matches = _match_tokens(connection, matcher, parsed_query, candidate_ranks, keyword_candidates)
            candidate_ranks = reranking.rerank(candidate_ranks, matches, around, request.disabled_stages)
            by_tokens = True
        except EmbedderUnavailable as error:
            index_state, note = "without-tokens" if index_state == "ready" else index_state, note or str(error)
    every_hit = _hits(connection, candidate_ranks, keyword_candidates, scope, request, by_tokens)
    hits = presentation.fold(every_hit, request.limit)
    chance = score.answer_chance(
        hits[0].score if hits and not hits[0].is_talk else None,
        _nearest_cosine(candidates, hits, index_state),
        around.most_held if around is not None and keyword_candidates.frequencies else None,
        score.NEARNESS_BY_TOKENS if by_tokens else score.NEARNESS,
    )
    passing_hits = _passing(hits, chance, request)
    visible_hits = presentation.within_budget(passing_hits, request.budget)
    visible_hits = hit_window.widen(
        connection, visible_hits, parsed_query.terms, request.budget, lambda drawer: _is_match(drawer, request, scope)
    )
    below = (
        []
        if passing_hits
        else hit_window.with_speakers(connection, presentation.within_budget(hits[:_BELOW], request.budget))
    )
    return Answer(
        visible_hits,
        len(candidate_ranks),
        index_state,
        _since(began),
        note,
        tuple(below),
        chance,
    )


def _nearest_cosine(candidates: Sequence[Candidate], hits: Sequence[Hit], index_state: IndexState) -> float | None:
    """Return the highest cosine; None if there are none, or the first hit's vector is still to be made."""
    cosines = {candidate.row: candidate.cosine for candidate in candidates if candidate.cosine is not None}
    if index_state == "building" and hits and hits[0].row not in cosines:
        return None
    return max(cosines.values(), default=None)


def _passing(hits: list[Hit], chance: float, request: Query) -> list[Hit]:
    """Return the hits that are shown as such; without a stage, all of them, so that its effect can be measured."""
    if request.disabled_stages:
        return hits
    is_likely = chance >= score.ANSWER_FLOOR and any(hit.score >= hit.floor for hit in hits)
    return hits if is_likely else []


class _Scope:
    """The scope of a search: filters for both lists, and conditions to check for each drawer."""

    def __init__(self, connection: Connection, request: Query, parsed_query: ParsedQuery) -> None:
        self.wing, rooms, self.places = place_rows.scope(connection, request.wing, request.room)
        self.empty = rooms is not None and not rooms
        anywhere: list[str] = []
        if request.kind is not None:
            anywhere.append(keyword_table.kind_filter(request.kind))
        allowed_drawers = None
        if request.tags:
            stored_tags = tag_rows.known_tags(connection, request.tags)
            self.empty = self.empty or len(stored_tags) < len(request.tags)
            by_tag = [keyword_table.tag_filter(tag) for tag in stored_tags.values()]
            anywhere.extend(by_tag)
            allowed_drawers = frozenset(keyword_table.drawers_in_scope(connection, by_tag) if by_tag else ())
        if request.among is not None:
            allowed_drawers = request.among if allowed_drawers is None else allowed_drawers & request.among
            self.empty = self.empty or not allowed_drawers
        self.keyword_filters = list(anywhere)
        if rooms and request.room is not None:
            self.keyword_filters.insert(0, keyword_table.room_filter(rooms))
        elif rooms and self.wing is not None:
            self.keyword_filters.insert(0, keyword_table.wing_filter(place_rows.stretches(connection, self.wing)))
        inside = None if rooms is None else frozenset(rooms)
        self.vector_filter = Filter(inside, request.kind, request.since, request.until, allowed_drawers)
        self.near_filters: list[str] = []
        self.near_vectors: Filter | None = None
        near = _near(connection, request, parsed_query) if rooms is None else []
        if near:
            stretches = [stretch for wing in near for stretch in place_rows.stretches(connection, wing)]
            self.near_filters = [keyword_table.wing_filter(stretches), *anywhere]
            near_rooms = frozenset(
                room for wing in near for room in place_rows.scope(connection, wing, None).rooms or ()
            )
            self.near_vectors = Filter(near_rooms, request.kind, request.since, request.until, allowed_drawers)
        later = (request.since, request.until, request.branch, request.among)
        self.filtered_later = any(criterion is not None for criterion in later)


def _near(connection: Connection, request: Query, parsed_query: ParsedQuery) -> list[str]:
    """Return the wings that the question names, else the wing that it is asked from."""
    mentioned_wings = [name for name in place_rows.wing_names(connection) if parsed_query.names_wing(name)]
    return mentioned_wings or [
        wing for wing in (request.home,) if wing is not None and place_rows.stretches(connection, wing)
    ]


class _Dense:
    """The nearest vectors, searched on another thread while this thread reads the keyword index.

    Neither blocks the other: SQLite, ONNX Runtime and NumPy release the interpreter lock while they work.
    """

    def __init__(
        self,
        connection: Connection,
        parsed_query: ParsedQuery,
        index: VectorIndex | None,
        embedder: QueryEmbedder | None,
        scope: _Scope,
        limit: int,
        uses_vectors: bool,
    ) -> None:
        self._index = index
        self.vector: NDArray[np.float32] | None = None
        self.near: frozenset[int] = frozenset()
        self._sought: Future[tuple[NDArray[np.float32], dict[int, float], frozenset[int]]] | None = None
        if index is not None and embedder is not None and uses_vectors:
            index.follow(connection)
            self._sought = _VECTOR_POOL.submit(_nearest, index, embedder, parsed_query.sentence, scope, limit)

    def cosines(self, keyword_candidates: KeywordCandidates) -> dict[int, float]:
        """Return the cosines of the nearest drawers and of those found by keyword; empty without vectors."""
        if self._index is None or self._sought is None:
            return {}
        self.vector, nearest, self.near = self._sought.result()
        remaining_rows = (row for row, _ in keyword_candidates.row_scores if row not in nearest)
        return {**nearest, **self._index.cosines_of(remaining_rows, self.vector)}


def _nearest(
    index: VectorIndex, embedder: QueryEmbedder, sentence: str, scope: _Scope, limit: int
) -> tuple[NDArray[np.float32], dict[int, float], frozenset[int]]:
    vector = embedder.embed_query(sentence)
    nearest = dict(index.nearest(vector, limit, scope.vector_filter))
    near = dict(index.nearest(vector, NEAR, scope.near_vectors)) if scope.near_vectors is not None else {}
    return vector, nearest | near, frozenset(near)


def _rank_candidates(
    connection: Connection,
    parsed_query: ParsedQuery,
    candidates: list[Candidate],
    keyword_candidates: KeywordCandidates,
    index: VectorIndex | None,
    vector: NDArray[np.float32] | None,
    disabled_stages: frozenset[str],
    near: frozenset[int],
    uses: frozenset[int] | None,
) -> tuple[list[CandidateRank], Around | None]:
    """Return the candidates in their order, and their surroundings, if the ranking looks at them."""
    if "ranking" in disabled_stages:
        return [CandidateRank(item, Signals(), item.rank_score, Signals()) for item in candidates], None
    best = [candidate.row for candidate in ranking.closest(candidates, near)]
    best_rows = set(best)
    remaining_rows = [candidate.row for candidate in candidates if candidate.row not in best_rows]
    around = look_around(connection, best, remaining_rows, keyword_candidates, index, vector, uses)
    return ranking.rank(parsed_query, candidates, around, disabled_stages), around


def _match_tokens(
    connection: Connection,
    matcher: TokenMatcher,
    parsed_query: ParsedQuery,
    candidate_ranks: Sequence[CandidateRank],
    keyword_candidates: KeywordCandidates,
) -> dict[int, TokenMatch]:
    """Return how well the tokens of the best candidates match those of the query."""
    worth = {
        term: idf(frequency, keyword_candidates.total) for term, frequency in keyword_candidates.frequencies.items()
    }
    rows = [candidate_rank.candidate.row for candidate_rank in _with_evidence(candidate_ranks)]
    return matcher.match(connection, parsed_query.sentence, rows, worth)


def _with_evidence(candidate_ranks: Sequence[CandidateRank]) -> list[CandidateRank]:
    """Return those that have a word or a vector of their own: what only stands beside a hit is none."""
    return [
        candidate_rank
        for candidate_rank in candidate_ranks
        if candidate_rank.candidate.bm25 is not None or candidate_rank.candidate.cosine is not None
    ]


def _hits(
    connection: Connection,
    candidate_ranks: list[CandidateRank],
    keyword_candidates: KeywordCandidates,
    scope: _Scope,
    request: Query,
    by_tokens: bool,
) -> Iterator[Hit]:
    best: float | None = None
    spoken_for = _with_evidence(candidate_ranks)
    batch_size = _READ_TOGETHER if request.look is not None else min(request.limit + 1, _READ_TOGETHER)
    for candidate_rank, drawer in _read(connection, spoken_for, batch_size, request.look):
        candidate = candidate_rank.candidate
        if request.among is not None and candidate.row not in request.among:
            continue
        if not _is_match(drawer, request, scope):  # what stands beside a hit may be filed elsewhere
            continue
        own = candidate_rank.of_its_own
        best = own if best is None else max(own, best)
        share = score.share_of(candidate.bm25, keyword_candidates.max_bm25)
        evidence = score.Evidence(candidate.cosine or 0.0, share, candidate_rank.signals.covered, own, best - own)
        has_cosine, is_talk = candidate.cosine is not None, candidate_rank.is_talk
        scale = score.choose_scale(has_cosine, is_talk, by_tokens)
        reasons = explanation.reasons(candidate_rank, keyword_candidates.max_bm25)
        probability = score.relevance(evidence, scale)
        yield Hit(
            drawer,
            probability,
            drawer.text,
            False,
            reasons,
            candidate.row,
            floor=score.LENIENT_FLOOR,
            is_talk=is_talk and has_cosine,
        )


def _read(
    connection: Connection,
    candidate_ranks: list[CandidateRank],
    batch_size: int,
    look: Callable[[Sequence[Drawer]], None] | None,
) -> Iterator[tuple[CandidateRank, Drawer]]:
    """Yield each with its drawer; reads `batch_size` of them at once, and passes them to `look`.

    Drawers that are not live are left out: threads share the index, and a thread with a newer snapshot may have updated
    it beyond this one.
    """
    for start in range(0, len(candidate_ranks), batch_size):
        part = candidate_ranks[start : start + batch_size]
        read = read_drawers(connection, [candidate_rank.candidate.row for candidate_rank in part])
        if look is not None:
            look(list(read.values()))
        pairs = ((candidate_rank, read.get(candidate_rank.candidate.row)) for candidate_rank in part)
        yield from (
            (candidate_rank, drawer)
            for candidate_rank, drawer in pairs
            if drawer is not None and drawer.retired_at is None
        )


def _is_match(drawer: Drawer, request: Query, scope: _Scope) -> bool:
    """Return whether a drawer has the requested place, kind, time, branch, tags and trust."""
    if (drawer.trust == "external" and not request.external) or (request.but is not None and request.but(drawer)):
        return False
    if request.since is not None and drawer.created_at < request.since:
        return False
    if request.until is not None and drawer.created_at >= request.until:
        return False
    if scope.places is not None and drawer.place not in scope.places:
        return False
    criteria = (
        (scope.wing, drawer.place.wing),
        (request.kind, drawer.kind),
        (request.branch, drawer.branch),
    )
    return request.tags <= set(drawer.tags) and all(
        criterion is None or criterion == own for criterion, own in criteria
    )


def _state(connection: Connection, index: VectorIndex | None, embedder: QueryEmbedder | None) -> IndexState:
    if index is None or embedder is None:
        return "keyword-only"
    return "building" if vector_rows.any_pending(connection) else "ready"


def _since(began: float) -> float:
    return round((time.perf_counter() - began) * 1000, 2)
