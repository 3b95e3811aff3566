"""Running a search: the stages in order, on one snapshot of the palace."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, pairwise
from typing import Literal

from palazzo.archive.archive_reader import read_drawers
from palazzo.errors import EmbedderUnavailable
from palazzo.frozen_class import frozen
from palazzo.index import (
    certainty,
    explanation,
    fusion,
    hit_stretches,
    hit_window,
    presentation,
    query,
    reasoning_candidates,
    reranking,
    score,
)
from palazzo.index import keyword_candidates as keywords
from palazzo.index.fusion import Candidate
from palazzo.index.keyword_candidates import POSTINGS_BUDGET, KeywordCandidates
from palazzo.index.lexicon import Lexicon
from palazzo.index.nearest_vectors import NEAR, NearestVectors, QueryEmbedder
from palazzo.index.neighbour_search import SOURCES_OF, idf
from palazzo.index.presentation import Hit
from palazzo.index.query import ParsedQuery, Query
from palazzo.index.ranking import RERANK_LIMIT, CandidateRank
from palazzo.index.reasoning_candidates import ReasoningRanks, SaidCandidates
from palazzo.index.recall_source import PalaceSource, SurroundingsReader
from palazzo.index.recall_stages import HitScorer, rank_candidates, with_evidence
from palazzo.index.reranker import Reranker, reorder
from palazzo.index.search_scope import REASONING, SearchScope
from palazzo.index.signals import Signals
from palazzo.index.token_matching import TokenMatch, TokenMatcher
from palazzo.index.vector_index import VectorIndex
from palazzo.model import Drawer
from palazzo.store import drawers, vector_rows
from palazzo.store.database import Connection

CANDIDATES = 200
"""Candidates per list: the union's top 50 contains 92.8 % of the evidence on LoCoMo."""
_WIDER = 2000
"""Candidates per list if a filter that the index does not support will drop some."""
_READ_TOGETHER = 64
"""Hits whose texts are in memory together when many are requested."""
_READ_FIRST = 8
"""Hits that are read to find the first one, where an uncertain answer shows none."""
_BELOW = 3
"""The most hits below the floor that are reported."""
IndexState = Literal["ready", "keyword-only", "building", "without-tokens"]
"""`without-tokens`: complete, but the best candidates could not be compared token by token."""


@frozen
class Answer:
    """The result of a search. `total` counts candidates before the floor; `note` says what was missing, if anything.

    `chance` is how likely there is an answer. If it is too low, or no hit passed the floor, `below` has the best ones.
    `is_uncertain` says that the hits may be only the nearest that there is (`certainty`).
    """

    hits: list[Hit]
    total: int
    index: IndexState
    took_ms: float
    note: str = ""
    below: tuple[Hit, ...] = ()
    chance: float = 1.0
    is_uncertain: bool = False
    untrusted_ahead: int = 0
    """The number of untrusted drawers that were left out and are ahead of each hit."""


class _LeftOut:
    """What an answer leaves out: untrusted drawers ahead of its first hit."""

    untrusted = 0


def search(
    connection: Connection,
    request: Query,
    index: VectorIndex | None,
    embedder: QueryEmbedder | None,
    note: str = "",
    postings_budget: float = POSTINGS_BUDGET,
    lexicon: Lexicon | None = None,
    matcher: TokenMatcher | None = None,
    reranker: Reranker | None = None,
) -> Answer:
    """Answer `request` from one snapshot; without an index or embedder, by keyword alone.

    `postings_budget` limits what the keyword index may read; infinity reads all, to measure the cost of the limit. A
    cached `lexicon` avoids counting words again for each question. With a `matcher`, the best candidates are compared
    with the query token by token; with a `reranker`, an explicit search has them in the order of its scores.
    """
    began = time.perf_counter()
    query.check(request)
    lexicon = lexicon or Lexicon()
    parsed_query = query.understand(request, drawers.authors(connection))
    separate_rows = reasoning_candidates.find_rows(connection, request, lexicon)
    scope = SearchScope(connection, request, parsed_query, separate_rows is not None)
    if scope.empty:
        return Answer([], 0, _state(connection, index, embedder), _since(began), note)
    limit = _WIDER if scope.filtered_later or request.limit > CANDIDATES else CANDIDATES
    uses_vectors = "vectors" not in request.disabled_stages
    if request.disabled_stages & {"ranking", "tokens"}:
        matcher = None
    query_embedder = matcher if matcher is not None else embedder
    dense = NearestVectors(
        connection, parsed_query, index, query_embedder, scope, max(CANDIDATES, request.limit), uses_vectors
    )
    if "keywords" in request.disabled_stages:
        keyword_candidates = KeywordCandidates([], 0.0)
    else:
        narrow_scope, separate_scope = (scope.near_filters, NEAR), (separate_rows, NEAR)
        keyword_candidates = keywords.find(
            connection,
            parsed_query,
            scope.keyword_filters,
            limit,
            postings_budget,
            lexicon,
            narrow_scope,
            separate_scope,
        )
    reader = SurroundingsReader(connection)
    if dense.is_pending and "ranking" not in request.disabled_stages:
        reader.read_ahead([row for row, _ in keyword_candidates.row_scores], RERANK_LIMIT, RERANK_LIMIT + SOURCES_OF)
    cosines = dense.cosines(keyword_candidates)
    candidates = fusion.fuse(cosines, dict(keyword_candidates.row_scores))
    if request.among is not None:
        candidates = [candidate for candidate in candidates if candidate.row in request.among]
    uses = None if request.as_of is not None or "together" in request.disabled_stages else request.used
    near = dense.near | keyword_candidates.near
    if "ranking" in request.disabled_stages:
        candidate_ranks = [CandidateRank(item, Signals(), item.rank_score, Signals()) for item in candidates]
        around = None
    else:
        palace_source = PalaceSource(connection, keyword_candidates, index, dense.vector, uses, reader)
        candidate_ranks, around = rank_candidates(
            palace_source, parsed_query, candidates, keyword_candidates, near, uses, request.disabled_stages
        )
    index_state, by_tokens = _state(connection, index, embedder), False
    matches: dict[int, TokenMatch] = {}
    if matcher is not None and around is not None:
        try:
            matches = _match_tokens(connection, matcher, parsed_query, candidate_ranks, keyword_candidates)
            candidate_ranks = reranking.rerank(candidate_ranks, matches, around, request.disabled_stages)
            by_tokens = True
        except EmbedderUnavailable as error:
            index_state, note = "without-tokens" if index_state == "ready" else index_state, note or str(error)
    reasoning_ranks = ReasoningRanks(())
    if request.reasoning and separate_rows is not None and around is not None:
        said_candidates, token_matcher = SaidCandidates(candidates, around, matches), matcher if by_tokens else None
        reasoning_cosines = dense.reasoning_cosines(keyword_candidates)
        reasoning_ranks = reasoning_candidates.rank(
            connection, request, parsed_query, reasoning_cosines, keyword_candidates, said_candidates, token_matcher
        )
    ordered_ranks = candidate_ranks
    if reranker is not None and request.rerank:
        try:
            ordered_ranks = reorder(connection, parsed_query.sentence, candidate_ranks, reranker)
        except EmbedderUnavailable as error:
            note = note or str(error)
    ordered_ranks = reasoning_candidates.merge(ordered_ranks, reasoning_ranks.candidate_ranks)
    left_out = _LeftOut()
    every_hit = _hits(connection, ordered_ranks, keyword_candidates, scope, request, by_tokens, left_out)
    first_hit = next(every_hit, None)
    held = around.most_held if around is not None and keyword_candidates.frequencies else None
    if (
        first_hit is not None and first_hit.drawer.kind == REASONING and held is not None
    ):  # it is a part of the evidence
        candidates, held = [*candidates, *reasoning_ranks.candidates], max(held, reasoning_ranks.most_held)
        candidate_ranks = ordered_ranks
    nearest_cosine = _nearest_cosine(candidates, first_hit, index_state)
    chance = score.answer_chance(
        first_hit.score if first_hit is not None and not first_hit.is_talk else None,
        nearest_cosine,
        held,
        score.NEARNESS_BY_TOKENS if by_tokens else score.NEARNESS,
    )
    is_uncertain = (
        nearest_cosine is not None
        and around is not None
        and not (first_hit is not None and first_hit.is_talk)
        and certainty.is_uncertain(candidate_ranks, matches, nearest_cosine, held)
    )
    hits: list[Hit] = []
    seconds: dict[int, Hit] = {}
    if first_hit is not None and not (is_uncertain and request.certain_only):
        hits, seconds = _unique(chain([first_hit], every_hit), request)
    passing_hits = _passing(hits, chance, request)
    visible_hits = _show(connection, passing_hits, seconds, parsed_query, request, scope)
    near_hits = [] if passing_hits else presentation.within_budget(hits[:_BELOW], request.budget)
    below = hit_window.with_speakers(connection, near_hits)
    return Answer(
        visible_hits,
        len(ordered_ranks),
        index_state,
        _since(began),
        note,
        tuple(below),
        chance,
        is_uncertain,
        left_out.untrusted if chance >= score.ANSWER_FLOOR else 0,
    )


def _unique(every_hit: Iterable[Hit], request: Query) -> tuple[list[Hit], dict[int, Hit]]:
    """Return the hits without near-copies, and the second drawers of hits of two, by the row of the first."""
    if not request.stretches:
        return presentation.fold(every_hit, request.limit), {}
    return hit_stretches.pair(presentation.fold(every_hit, hit_stretches.DRAWERS_READ * request.limit), request.limit)


def _show(
    connection: Connection,
    hits: Sequence[Hit],
    seconds: Mapping[int, Hit],
    parsed_query: ParsedQuery,
    request: Query,
    scope: SearchScope,
) -> list[Hit]:
    """Return the hits as they are shown, within the token budget: their drawers first, then neighbours."""
    firsts = presentation.within_budget(hits, request.budget)
    fitting = hit_stretches.fit_seconds(firsts, seconds, request.budget)
    spoken = hit_window.with_speakers(connection, list(fitting.values()))
    fitting = dict(zip(fitting, spoken, strict=True))

    def may(drawer: Drawer) -> bool:
        return _is_match(drawer, request, scope)

    visible_hits = hit_window.widen(connection, firsts, parsed_query.terms, request.budget, may, fitting)
    return [hit_stretches.join(hit, fitting.get(hit.row)) for hit in visible_hits]


def _nearest_cosine(candidates: Sequence[Candidate], first_hit: Hit | None, index_state: IndexState) -> float | None:
    """Return the highest cosine; None if there are none, or the first hit's vector is still to be made."""
    cosines = {candidate.row: candidate.cosine for candidate in candidates if candidate.cosine is not None}
    if index_state == "building" and first_hit is not None and first_hit.row not in cosines:
        return None
    return max(cosines.values(), default=None)


def _passing(hits: list[Hit], chance: float, request: Query) -> list[Hit]:
    """Return the hits that are shown as such; without a stage, all of them, so that its effect can be measured."""
    if request.disabled_stages:
        return hits
    is_likely = chance >= score.ANSWER_FLOOR and any(hit.score >= hit.floor for hit in hits)
    return hits if is_likely else []


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
    rows = [candidate_rank.candidate.row for candidate_rank in with_evidence(candidate_ranks)]
    return matcher.match(connection, parsed_query.sentence, rows, worth)


def _hits(
    connection: Connection,
    candidate_ranks: list[CandidateRank],
    keyword_candidates: KeywordCandidates,
    scope: SearchScope,
    request: Query,
    by_tokens: bool,
    left_out: _LeftOut,
) -> Iterator[Hit]:
    scorer, is_first = HitScorer(keyword_candidates.max_bm25, by_tokens), True
    spoken_for = with_evidence(candidate_ranks)
    batch_size = _READ_TOGETHER if request.look is not None else min(request.limit + 1, _READ_TOGETHER)
    first_batch_size = min(_READ_FIRST, batch_size) if request.certain_only else batch_size
    for candidate_rank, drawer in _read(connection, spoken_for, first_batch_size, batch_size, request.look):
        candidate = candidate_rank.candidate
        if request.among is not None and candidate.row not in request.among:
            continue
        if not _is_match(drawer, request, scope):  # what stands beside a hit may be filed elsewhere
            if is_first and not request.external and drawer.trust == "external":
                left_out.untrusted += _is_match(drawer, replace(request, external=True), scope)
            continue
        is_first = False
        reasons = explanation.reasons(candidate_rank, keyword_candidates.max_bm25)
        yield Hit(
            drawer,
            scorer.score(candidate_rank),
            drawer.text,
            False,
            reasons,
            candidate.row,
            floor=score.LENIENT_FLOOR,
            is_talk=candidate_rank.is_talk and candidate.cosine is not None,
        )


def _read(
    connection: Connection,
    candidate_ranks: list[CandidateRank],
    first_batch_size: int,
    batch_size: int,
    look: Callable[[Sequence[Drawer]], None] | None,
) -> Iterator[tuple[CandidateRank, Drawer]]:
    """Yield each with its drawer; reads `first_batch_size`, then `batch_size` at once, and passes them to `look`.

    Drawers that are not live are left out: threads share the index, and a thread with a newer snapshot may have updated
    it beyond this one.
    """
    count = len(candidate_ranks)
    for start, end in pairwise(sorted({0, *range(first_batch_size, count, batch_size), count})):
        part = candidate_ranks[start:end]
        read = read_drawers(connection, [candidate_rank.candidate.row for candidate_rank in part])
        if look is not None:
            look(list(read.values()))
        pairs = ((candidate_rank, read.get(candidate_rank.candidate.row)) for candidate_rank in part)
        yield from (
            (candidate_rank, drawer)
            for candidate_rank, drawer in pairs
            if drawer is not None and drawer.retired_at is None
        )


def _is_match(drawer: Drawer, request: Query, scope: SearchScope) -> bool:
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
