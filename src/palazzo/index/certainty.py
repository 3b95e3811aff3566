"""Certainty: whether the hits of an answer are likely to be right, or only the nearest that there is.

    certainty = 1 / (1 + exp(-(a + b · closeness + c · held + d · lead)))

`score.answer_chance` rejects what nothing in the palace comes near. A question about a known project that nobody ever
answered passes it: much is near. What tells such a question from others is that its first hit does not lead, and that
no drawer has its rare words. Fitted on questions that are also asked of the palace without the sources, and without
the project, that answer them (`benchmarks/fit_certainty.py`).

An uncertain answer is shown to a person and to an agent that asked, marked as weak. A hook, which nobody asked, gets
nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from operator import mul
from typing import NamedTuple

from palazzo.index.ranking import NOT_EXAMINED, CandidateRank
from palazzo.index.token_matching import TokenMatch


class AnswerEvidence(NamedTuple):
    """The evidence of an answer; also used for its weights."""

    closeness: float
    """How near the nearest drawer is: its tokens' match with those of the query, weighted by worth, if they were
    compared; else its cosine.
    """
    held: float
    """The largest share of the query words' worth that one drawer contains."""
    lead: float
    """The rank of the first candidate above the mean rank of the fourth to the tenth."""


class CertaintyScale(NamedTuple):
    """A fitted logistic regression, and the certainty below which an answer is uncertain."""

    intercept: float
    weights: AnswerEvidence
    floor: float


BY_TOKENS = CertaintyScale(-5.17, AnswerEvidence(closeness=5.26, held=1.24, lead=1.77), floor=0.16)
"""Where candidates were compared by tokens. The floor is the point at which 5 % of right answers are uncertain, with
29 % of what nobody said (`benchmarks/certainty.svg` shows the others).
"""
BY_VECTORS = CertaintyScale(-5.71, AnswerEvidence(closeness=5.81, held=2.21, lead=1.80), floor=0.16)
"""Without tokens, as hooks search."""
_LOOKED_AT = 10
_FEWEST = 5
"""Candidates below which a lead says nothing."""
_AVERAGE_HELD, _AVERAGE_LEAD = 0.59, 1.2
"""What stands for evidence that is missing: the averages of right answers."""


def gather_evidence(
    candidate_ranks: Sequence[CandidateRank], matches: Mapping[int, TokenMatch], cosine: float, held: float | None
) -> AnswerEvidence:
    """Return the evidence of an answer; `candidate_ranks` are best first."""
    best = [each.of_its_own for each in candidate_ranks[:_LOOKED_AT] if each.signals is not NOT_EXAMINED]
    lead = _AVERAGE_LEAD
    if len(best) >= _FEWEST:
        lead = best[0] - sum(best[3:]) / len(best[3:])
    closeness = max((match.weighted_mean for match in matches.values()), default=cosine)
    return AnswerEvidence(closeness, _AVERAGE_HELD if held is None else held, lead)


def answer_certainty(evidence: AnswerEvidence, scale: CertaintyScale) -> float:
    """Return how likely it is that one of the five best hits answers, 0 to 1."""
    return 1.0 / (1.0 + math.exp(-(scale.intercept + sum(map(mul, evidence, scale.weights)))))


def is_uncertain(
    candidate_ranks: Sequence[CandidateRank], matches: Mapping[int, TokenMatch], cosine: float, held: float | None
) -> bool:
    """Return whether an answer is uncertain. `matches` is empty if no tokens were compared."""
    scale = BY_TOKENS if matches else BY_VECTORS
    return answer_certainty(gather_evidence(candidate_ranks, matches, cosine, held), scale) < scale.floor
