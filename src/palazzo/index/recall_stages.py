"""The stages that are the same for a palace and for a team's wings: from candidates to ranks, from ranks to scores."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from palazzo.index import ranking, score
from palazzo.index.fusion import Candidate
from palazzo.index.keyword_candidates import KeywordCandidates
from palazzo.index.neighbour_search import Around, look_around
from palazzo.index.query import ParsedQuery
from palazzo.index.ranking import CandidateRank
from palazzo.index.recall_source import RecallSource


class RankedCandidates(NamedTuple):
    """Candidates and their neighbours, best first, and what was read around them."""

    candidate_ranks: list[CandidateRank]
    around: Around


def rank_candidates(
    recall_source: RecallSource,
    parsed_query: ParsedQuery,
    candidates: Sequence[Candidate],
    keyword_candidates: KeywordCandidates,
    near: frozenset[int],
    uses: frozenset[int] | None = None,
    disabled_stages: Collection[str] = (),
) -> RankedCandidates:
    """Look around the best of the fused candidates, and rank all. Some of those `near` are among the best in any case.

    `uses` are the drawers that the asking session has used; None if use does not count.
    """
    best = [candidate.row for candidate in ranking.closest(candidates, near)]
    best_rows = set(best)
    remaining_rows = [candidate.row for candidate in candidates if candidate.row not in best_rows]
    around = look_around(recall_source, best, remaining_rows, keyword_candidates, uses)
    return RankedCandidates(ranking.rank(parsed_query, candidates, around, disabled_stages), around)


def with_evidence(candidate_ranks: Sequence[CandidateRank]) -> list[CandidateRank]:
    """Return those that have a word or a vector of their own: what only stands beside a hit is none."""
    return [
        candidate_rank
        for candidate_rank in candidate_ranks
        if candidate_rank.candidate.bm25 is not None or candidate_rank.candidate.cosine is not None
    ]


class HitScorer:
    """The scores of one answer's hits, which are to be given best first: a score depends on how far the first leads."""

    def __init__(self, max_bm25: float, by_tokens: bool = False) -> None:
        self._max_bm25, self._by_tokens = max_bm25, by_tokens
        self._best: float | None = None

    def score(self, candidate_rank: CandidateRank) -> float:
        """Return the probability that the next hit answers, 0 to 1."""
        candidate, own = candidate_rank.candidate, candidate_rank.of_its_own
        if self._best is None or not candidate_rank.signals.reasoning:
            self._best = own if self._best is None else max(own, self._best)
        share = score.share_of(candidate.bm25, self._max_bm25)
        coverage = candidate_rank.signals.covered
        evidence = score.Evidence(candidate.cosine or 0.0, share, coverage, own, self._best - own)
        scale = score.choose_scale(candidate.cosine is not None, candidate_rank.is_talk, self._by_tokens)
        return score.relevance(evidence, scale)
