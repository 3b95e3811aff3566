"""Reasoning of agents among the hits: found by lists of its own, and put below what was said.

    what was said ──candidates──> ranked as if there were no reasoning ──────────┐
    reasoning ──the best by words and by vector──> ranked on the scale of those ──┴──merge by rank──> hits

Reasoning repeats the question and tries answers that were not given, so it is near to everything that is asked about
its session. It would stand between messages, fill the lists of candidates and shift the scales of all signals. So it
does not take part in any of them: words and vectors of what was said are compared with each other alone, and a
reasoning candidate gets the rank that it would have among them, less `ranking.REASONING_WEIGHT`.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from palazzo.errors import EmbedderUnavailable
from palazzo.index import fusion, ranking, reranking
from palazzo.index.fusion import Candidate
from palazzo.index.keyword_candidates import KeywordCandidates
from palazzo.index.lexicon import Lexicon
from palazzo.index.neighbour_search import Around, examine_reasoning, idf
from palazzo.index.posting_lists import RowNumbers
from palazzo.index.query import ParsedQuery, Query
from palazzo.index.ranking import CandidateRank
from palazzo.index.recall_source import PalaceSource
from palazzo.index.search_scope import REASONING
from palazzo.index.token_matching import TokenMatch, TokenMatcher
from palazzo.store import keyword_table
from palazzo.store.database import Connection

EXAMINED_LIMIT = 10
"""The most reasoning candidates that are ranked."""
_COMPARED_LIMIT = 4
"""The most that are compared token by token: each takes 10 to 30 ms the first time."""


class SaidCandidates(NamedTuple):
    """What was found without reasoning: the candidates, their surroundings, and their matches of tokens."""

    candidates: Sequence[Candidate]
    around: Around
    matches: Mapping[int, TokenMatch]


class ReasoningRanks(NamedTuple):
    """Reasoning candidates in their order, and the share of the query words' worth that the best holder has."""

    candidate_ranks: Sequence[CandidateRank]
    most_held: float = 0.0

    @property
    def candidates(self) -> list[Candidate]:
        """Return the candidates alone."""
        return [candidate_rank.candidate for candidate_rank in self.candidate_ranks]


def find_rows(connection: Connection, request: Query, lexicon: Lexicon) -> RowNumbers | None:
    """Return the reasoning that a search keeps apart; None if there is none, or if a kind is asked for."""
    if request.kind is not None:
        return None
    rows = lexicon.postings.rows_in_scope(connection, keyword_table.kind_filter(REASONING))
    return rows if len(rows) else None


def rank(
    connection: Connection,
    request: Query,
    parsed_query: ParsedQuery,
    cosines: Mapping[int, float],
    keyword_candidates: KeywordCandidates,
    said_candidates: SaidCandidates,
    matcher: TokenMatcher | None,
) -> ReasoningRanks:
    """Return the best reasoning, by tokens as well if what was said was compared by them."""
    fused_candidates = fusion.fuse_beside(cosines, keyword_candidates.separate_scores, said_candidates.candidates)
    best = [each for each in fused_candidates if request.among is None or each.row in request.among][:EXAMINED_LIMIT]
    if not best:
        return ReasoningRanks(())
    palace_source = PalaceSource(connection, keyword_candidates)
    around = examine_reasoning(palace_source, best, keyword_candidates, said_candidates.around)
    ranks = ranking.rank_reasoning(
        parsed_query, best, around, said_candidates.candidates, said_candidates.around, request.disabled_stages
    )
    if matcher is not None:
        worth = {term: idf(count, keyword_candidates.total) for term, count in keyword_candidates.frequencies.items()}
        rows = [candidate_rank.candidate.row for candidate_rank in ranks[:_COMPARED_LIMIT]]
        try:
            matches = matcher.match(connection, parsed_query.sentence, rows, worth)
        except EmbedderUnavailable:
            return ReasoningRanks(())  # its ranks without tokens are on another scale
        ranks = reranking.rerank_reasoning(ranks, matches, said_candidates.matches, request.disabled_stages)
    return ReasoningRanks(ranks, around.most_held)


def merge(said_ranks: Sequence[CandidateRank], reasoning_ranks: Sequence[CandidateRank]) -> list[CandidateRank]:
    """Return both in the order of their ranks; what was said comes first where they are equal, and keeps its order."""
    return list(heapq.merge(said_ranks, reasoning_ranks, key=lambda candidate_rank: -candidate_rank.rank))
