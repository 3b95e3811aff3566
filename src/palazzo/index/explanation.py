"""Explanation of a hit's rank: what each stage found for it, in the order of the stages."""

from __future__ import annotations

from palazzo.index.presentation import Reason
from palazzo.index.ranking import CandidateRank
from palazzo.index.signals import Signals


def reasons(candidate_rank: CandidateRank, max_bm25: float) -> tuple[Reason, ...]:
    """Return the nonzero values: the cosine, the BM25 and its `max_bm25`, each signal with its weight.

    The last is the sum of the weighted signals, which orders the hits.
    """
    candidate = candidate_rank.candidate
    components = []
    if candidate.cosine is not None:
        components.append(Reason("vector", candidate.cosine))
    if candidate.bm25 is not None:
        components.append(Reason("bm25", candidate.bm25, most=max_bm25))
    for name, value, weight in zip(Signals._fields, candidate_rank.signals, candidate_rank.weights, strict=True):
        if value and weight:
            components.append(Reason(f"{name} signal" if name == "vector" else name, value, weight=weight))
    return (*components, Reason("rank", candidate_rank.rank))
